//! Rows of literals say what each row says alone.

use crate::{Parser, SqlMode, ast::*, parse, parse_bytes};

fn source(sql: &str, mode: SqlMode) -> InsertSource {
    match parse(sql, mode) {
        Ok(Statement::Insert(insert)) => insert.source,
        Ok(other) => panic!("no insert: {other:?}"),
        Err(error) => panic!("{sql}\n{error}"),
    }
}

fn expand(source: InsertSource) -> Vec<Vec<Expr>> {
    match source {
        InsertSource::Values(rows) => rows,
        InsertSource::Rows(rows) => rows.to_exprs(),
        InsertSource::Query(_) => panic!("a query"),
    }
}

const ROWS: &[&str] = &[
    "(1,'a')",
    "( 12 , \"b\" )",
    "(\n-5,\t'c\\n\\'\\\\\\%\\0\\é')",
    "(+5, 'it''s')",
    "(1.50, -2.5)",
    "(.5, 5.)",
    "(1e3, -1.5e-3)",
    "(0, 00012)",
    "(9223372036854775807, -9223372036854775808)",
    "(9999999999999999999, 18446744073709551615)",
    "(99999999999999999999, -123456789012345678901234567890)",
    "(NULL, null)",
    "(DEFAULT, default)",
    "(default(a), nullif(1, 2))",
    "(true, false)",
    "(0x1f, x'1F')",
    "(b'01', 0b01)",
    "(_latin1'a', n'b')",
    "('a' 'b', 'c'\n'd')",
    "('a' || 'b', 'a' collate utf8mb4_bin)",
    "(1 + 2, 3 -- end\n)",
    "(/* one */ 1, 2 /* two */)",
    "(- 5, --5)",
    "(now(), date '2020-01-01')",
    "('', '日本語')",
    "((1), (select 1))",
    "(a, 1)",
    "(@x, @@y)",
    "(:=1, 2)",
    "('\\', 2)",
];

/// Every row behind every other, the first of them plain.
#[test]
fn rows_of_literals_are_what_each_is_by_itself() {
    let modes = [
        SqlMode::empty(),
        SqlMode::ANSI_QUOTES,
        SqlMode::NO_BACKSLASH_ESCAPES,
        SqlMode::ANSI_QUOTES.with(SqlMode::NO_BACKSLASH_ESCAPES),
    ];
    let mut as_rows = 0;
    for mode in modes {
        let alone: Vec<(&str, Vec<Expr>)> = ROWS
            .iter()
            .filter_map(|row| match parse(&format!("insert into t values {row}"), mode) {
                Ok(Statement::Insert(insert)) => {
                    Some((*row, expand(insert.source).pop().expect("a row")))
                }
                _ => None,
            })
            .collect();
        for (a, first) in &alone {
            for (b, second) in &alone {
                let sql = format!("insert into t values (7,'x') , {a} /* */ ,{b},(8,'y')");
                let found = source(&sql, mode);
                as_rows += usize::from(matches!(found, InsertSource::Rows(_)));
                let found = expand(found);
                assert_eq!((&found[1], &found[2], found.len()), (first, second, 4), "{sql}");
            }
        }
    }
    assert!(as_rows > 1000);
}

#[test]
fn an_error_in_a_row_names_its_place() {
    let refused = [
        ("insert into t values (1,'a'),(2,'b'", ""),
        ("insert into t values (1,'a'),(2,'b')(3,'c')", "(3,'c')"),
        ("insert into t values (1,'a'),(2,'b'),", ""),
        ("insert into t values (1,'a'),(2,,'b')", ",'b')"),
        ("insert into t values (1,'a'),(2,'b),(3,'c')", "c')"),
        ("insert into t values (1,'a'),(2,'b') on duplicate", ""),
        ("insert into t values (1,'a'),(2,)", ")"),
        ("insert into t values (1,'a'),(2 3,'b')", "3,'b')"),
        ("insert into t values (1,'a'),x", "x"),
    ];
    for (sql, near) in refused {
        let error = parse(sql, SqlMode::empty()).expect_err(sql);
        assert_eq!(error.near, near, "{sql}");
    }
}

/// Uneven rows are for the statement to refuse, and so stay as they are.
#[test]
fn uneven_rows_are_kept() {
    let widths = |sql: &str| -> Vec<usize> {
        let rows = expand(source(sql, SqlMode::empty()));
        rows.iter().map(Vec::len).collect()
    };
    assert_eq!(widths("insert into t values (1,2),(3),(4,5)"), [2, 1, 2]);
    assert_eq!(widths("insert into t values (1,2),(3,4,5,6),(4,5)"), [2, 4, 2]);
    assert_eq!(widths("insert into t values (1),(),( ),(1)"), [1, 0, 0, 1]);
    assert_eq!(widths("insert into t values (1,2),(3,now(),4),(5)"), [2, 3, 1]);
}

#[test]
fn a_statement_ends_with_its_rows() {
    let sql = "insert into t values (1,'a'),(2,'b') ; insert into t values (1),(2) as n on \
               duplicate key update a = n.a; select 1";
    let mut parser = Parser::new(sql, SqlMode::empty());
    let mut next = || parser.next_statement().expect("statements").expect("one more");
    let (_, span) = next();
    assert_eq!(&sql[span.start..span.end], "insert into t values (1,'a'),(2,'b')");
    let (statement, span) = next();
    assert!(sql[span.start..span.end].ends_with("n.a"));
    let Statement::Insert(insert) = statement else { panic!("no insert") };
    assert!(insert.row_alias.is_some() && insert.on_duplicate.len() == 1);
    let (statement, _) = next();
    assert!(matches!(statement, Statement::Select(_)));
}

/// Strings of other bytes are found by the grammar, with its warning.
#[test]
fn bytes_that_are_not_utf8_stay_bytes() {
    let sql = b"insert into t values (1,'a'),(2,'\xff')";
    let Ok(Statement::Insert(insert)) = parse_bytes(sql, SqlMode::empty()) else {
        panic!("no insert")
    };
    let rows = expand(insert.source);
    assert_eq!(rows[1][1], Expr::Literal(Literal::RawBytes { charset: None, bytes: vec![0xff] }));
}

/// Bytes that are no UTF-8 concern the statements before them and their own, and no later ones.
#[test]
fn statements_of_one_text_are_what_each_is_by_itself() {
    let statements: [&[u8]; 5] = [
        b"insert into t values (1, 'a'), (2, 'b')",
        b"insert into t values (1, 'a'), (2, '\xff')",
        b"insert into t values (1, '\xc3\xa9'), (2, '\xc3\xa9')",
        b"insert into t values (1, '\xfe'), (2, '\xc3')",
        b"insert into t values (1, '\xe6\x97\xa5'), (2, NULL), (3, 'c')",
    ];
    let together = statements.join(&b"; "[..]);
    for times in [1, 2] {
        let text = [together.as_slice()].repeat(times).join(&b"; "[..]);
        let mut parser = Parser::from_bytes(&text, SqlMode::empty());
        for statement in statements.iter().cycle().take(5 * times) {
            let Ok(Some((Statement::Insert(found), _))) = parser.next_statement() else {
                panic!("no insert");
            };
            let Ok(Statement::Insert(alone)) = parse_bytes(statement, SqlMode::empty()) else {
                panic!("no insert alone");
            };
            assert_eq!(expand(found.source), expand(alone.source));
        }
        assert!(matches!(parser.next_statement(), Ok(None)));
    }
}
