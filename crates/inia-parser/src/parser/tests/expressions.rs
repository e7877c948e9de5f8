//! Precedence, literals and the special syntaxes of expressions.

use super::*;

#[test]
fn operators_bind_as_in_mysql() {
    let cases = [
        ("1 = 1 or 2 = 2 and 3 = 3", "((1 = 1) or ((2 = 2) and (3 = 3)))"),
        ("1 = 1 or 2 = 2 xor 3 = 3 and 4 = 4", "((1 = 1) or ((2 = 2) xor ((3 = 3) and (4 = 4))))"),
        ("not a = 1 and b = 2", "((`a` <> 1) and (`b` = 2))"),
        ("a = b = c", "((`a` = `b`) = `c`)"),
        ("a = b like c", "(`a` = (`b` like `c`))"),
        ("a like b = c", "((`a` like `b`) = `c`)"),
        ("a is null = b is null", "(((`a` is null) = `b`) is null)"),
        ("a between 1 and 2 and b = 3", "((`a` between 1 and 2) and (`b` = 3))"),
        ("a between 1 and b between 2 and 3", "(`a` between 1 and (`b` between 2 and 3))"),
        ("1 | 2 & 3 << 4 + 5 * 6 ^ 7", "(1 | (2 & (3 << (4 + (5 * (6 ^ 7))))))"),
        ("1 - 2 - 3 / 4 / 5", "((1 - 2) - ((3 / 4) / 5))"),
        ("- a ^ b", "(-(`a`) ^ `b`)"),
        ("- a * ~ b", "(-(`a`) * ~(`b`))"),
        ("a + b in (1, 2)", "((`a` + `b`) in (1,2))"),
        ("a collate utf8mb4_bin = b", "((`a` collate utf8mb4_bin) = `b`)"),
        ("binary a = b", "(cast(`a` as char charset binary) = `b`)"),
        ("a + interval 1 day - interval 2 hour", "((`a` + interval 1 day) - interval 2 hour)"),
        ("interval 1 day + a", "(`a` + interval 1 day)"),
        ("5 mod 2 div 3 % 4", "(((5 % 2) DIV 3) % 4)"),
        ("a = 1 && b = 2 || c = 3", "(((`a` = 1) and (`b` = 2)) or (`c` = 3))"),
        ("(a = 1 or b = 2) and c = 3", "(((`a` = 1) or (`b` = 2)) and (`c` = 3))"),
    ];
    for (sql, expected) in cases {
        assert_eq!(canonical(sql), expected, "{sql}");
    }
}

#[test]
fn sql_modes_change_the_reading() {
    let concat = SqlMode::PIPES_AS_CONCAT;
    assert_eq!(canonical_in("a || b || c + 1", concat), "(concat(`a`,`b`,`c`) + 1)");
    assert_eq!(canonical_in("a or b = 1 || c", concat), "((0 <> `a`) or (`b` = concat(1,`c`)))");
    assert_eq!(canonical_in("not a = 1", SqlMode::HIGH_NOT_PRECEDENCE), "((0 = `a`) = 1)");
    assert_eq!(canonical_in("\"a\" + 1", SqlMode::ANSI_QUOTES), "(`a` + 1)");
    assert_eq!(canonical_in(r"'a\n'", SqlMode::NO_BACKSLASH_ESCAPES), r"_utf8mb4'a\\n'");
    assert!(parse_expr("count (*)", SqlMode::empty()).is_err());
    assert!(parse_expr("count (*)", SqlMode::IGNORE_SPACE).is_ok());
}

#[test]
fn chains_of_and_and_or_are_flat() {
    let expr = parse_expr("a and (b and c) and d", SqlMode::empty()).expect("an expression");
    assert!(matches!(expr, Expr::And(list) if list.len() == 4));
}

#[test]
fn literals_keep_their_kind() {
    let literal = |sql| match parse_expr(sql, SqlMode::empty()) {
        Ok(Expr::Literal(literal)) => literal,
        other => panic!("{sql} gave {other:?}"),
    };
    let string = |charset: Option<&str>, value: &str| Literal::String {
        charset: charset.map(str::to_string),
        value: value.to_string(),
    };
    assert_eq!(literal("18446744073709551615"), Literal::Int(u64::MAX));
    let big = "18446744073709551616";
    assert_eq!(literal(big), Literal::Decimal(big.to_string()));
    assert_eq!(literal(".50"), Literal::Decimal(".50".to_string()));
    assert_eq!(literal("1.5e3"), Literal::Float(1500.0));
    assert_eq!(literal("'a''b\\n\\%\\_\\''"), string(None, "a'b\n\\%\\_'"));
    assert_eq!(literal("\"a\"\"b\" 'c' 'd'"), string(None, "a\"bcd"));
    assert_eq!(literal("_latin1'x'"), string(Some("latin1"), "x"));
    assert_eq!(literal("N'x'"), string(Some("utf8mb3"), "x"));
    assert_eq!(literal("0xABC"), Literal::Hex { charset: None, bytes: vec![0x0a, 0xbc] });
    assert_eq!(literal("x'4142'"), Literal::Hex { charset: None, bytes: vec![0x41, 0x42] });
    assert_eq!(literal("b'100000001'"), Literal::Bit { charset: None, bytes: vec![1, 1] });
    assert_eq!(literal("date '2020-01-01'"), Literal::Date("2020-01-01".to_string()));
    assert_eq!(literal("{ts '2020-01-01'}"), Literal::Timestamp("2020-01-01".to_string()));
    assert_eq!(literal("true"), Literal::Bool(true));
}

#[test]
fn special_syntaxes_become_plain_calls() {
    let cases = [
        ("substring('a' from 2 for 3)", "substr(_utf8mb4'a',2,3)"),
        ("position('x' in a)", "locate(_utf8mb4'x',`a`)"),
        ("trim('x' from a)", "trim(_utf8mb4'x' from `a`)"),
        ("trim(leading 'x' from a)", "trim(leading _utf8mb4'x' from `a`)"),
        ("adddate(a, 3)", "(`a` + interval 3 day)"),
        (
            "date_sub(a, interval '1:2' minute_second)",
            "(`a` - interval _utf8mb4'1:2' minute_second)",
        ),
        ("timestampadd(sql_tsi_day, 1, a)", "(`a` + interval 1 day)"),
        ("timestampdiff(month, a, b)", "timestampdiff(MONTH,`a`,`b`)"),
        ("current_timestamp(3)", "now(3)"),
        ("localtime", "now()"),
        ("get_format(date, 'USA')", "get_format(DATE, _utf8mb4'USA')"),
        ("a->>'$.b'", "json_unquote(json_extract(`a`,_utf8mb4'$.b'))"),
        ("mod(a, 2)", "(`a` % 2)"),
        ("a rlike 'x'", "regexp_like(`a`,_utf8mb4'x')"),
        ("day(a)", "dayofmonth(`a`)"),
    ];
    for (sql, expected) in cases {
        assert_eq!(canonical(sql), expected, "{sql}");
    }
}

#[test]
fn aggregates_and_windows() {
    let expr = |sql| parse_expr(sql, SqlMode::empty()).expect("an expression");
    let Expr::Aggregate(call) = expr("group_concat(distinct a, b order by c desc separator '; ')")
    else {
        panic!("no aggregate")
    };
    assert!(call.distinct && call.order_by[0].desc);
    assert_eq!((call.args.len(), call.separator.as_deref()), (2, Some("; ")));
    let Expr::Aggregate(call) = expr("count(*) over (partition by a order by b)") else {
        panic!("no aggregate")
    };
    assert_eq!(call.func, AggregateFunc::CountStar);
    assert!(matches!(call.over, Some(Over::Spec(spec)) if spec.partition_by.len() == 1));
    let Expr::Window(call) = expr("lag(a, 2) over w") else { panic!("no window function") };
    assert_eq!((call.func, call.over), (WindowFunc::Lag, Over::Name("w".to_string())));
    let frame = "sum(a) over (rows between 1 preceding and unbounded following)";
    let Expr::Aggregate(call) = expr(frame) else { panic!("no aggregate") };
    let Some(Over::Spec(spec)) = call.over else { panic!("no window") };
    assert_eq!(spec.frame.expect("a frame").end, FrameBound::UnboundedFollowing);
}

#[test]
fn a_function_name_away_from_its_parenthesis_is_a_stored_function() {
    let expr = parse_expr("now ()", SqlMode::empty()).expect("a call");
    assert!(matches!(expr, Expr::Function(call) if call.name == "now"));
}

#[test]
fn variables() {
    let expr = |sql| parse_expr(sql, SqlMode::empty()).expect("an expression");
    assert_eq!(expr("@`a b`"), Expr::UserVar("a b".to_string()));
    assert_eq!(expr("@a.b$c"), Expr::UserVar("a.b$c".to_string()));
    let Expr::SysVar(var) = expr("@@GLOBAL.Sql_Mode") else { panic!("no variable") };
    assert_eq!((var.scope, var.name.as_str()), (Some(VarScope::Global), "sql_mode"));
    assert_eq!(var.text, "@@GLOBAL.Sql_Mode");
    let Expr::Binary { right, .. } = expr("1 + @a := 2 + 3") else { panic!("no sum") };
    assert!(matches!(*right, Expr::AssignVar { .. }));
}

#[test]
fn subqueries_in_expressions() {
    let expr = |sql| parse_expr(sql, SqlMode::empty()).expect("an expression");
    assert!(matches!(expr("((select 1))"), Expr::Subquery(_)));
    assert!(matches!(expr("((select 1) + 1)"), Expr::Binary { .. }));
    let Expr::Subquery(query) = expr("((select 1) union select 2 limit 1)") else {
        panic!("no subquery")
    };
    assert!(query.limit.is_some());
    assert!(matches!(expr("a in ((select 1))"), Expr::InSubquery { .. }));
    assert!(matches!(expr("a in ((select 1), 2)"), Expr::InList { list, .. } if list.len() == 2));
    assert!(matches!(expr("(a, b) in ((1, 2))"), Expr::InList { list, .. } if list.len() == 1));
    let all = expr("a > all (select 1)");
    assert!(matches!(all, Expr::Quantified { quantifier: Quantifier::All, .. }));
}
