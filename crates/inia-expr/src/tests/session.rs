//! What expressions take from around them: columns, parameters, variables, outer rows, strict
//! mode, subqueries, prepared lists and patterns.

use super::{TestSession, environment};
use crate::context::{EvalContext, NoSubqueries, RowVisitor, Strictness, SubqueryRunner};
use crate::{BoundSubquery, Expr, ExprKind, ExprType, Scope, bind, prepare};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast;
use std::sync::Arc;

/// Columns i INT, s VARCHAR, e ENUM('small', 'large'), d DATE, u INT UNSIGNED; any subquery has
/// one INT column.
struct Row;

impl Scope for Row {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let members: Arc<[String]> = ["small", "large"].map(String::from).into();
        let (index, data_type) = match name.name.as_str() {
            "i" => (0, DataType::Int { width: IntWidth::Int, unsigned: false }),
            "s" => (1, DataType::VarChar { chars: 10, collation: Collation::DEFAULT }),
            "e" => (2, DataType::Enum { members, collation: Collation::DEFAULT }),
            "d" => (3, DataType::Date),
            _ => (4, DataType::Int { width: IntWidth::Int, unsigned: true }),
        };
        let printed = format!("`db`.`t`.`{}`", name.name);
        Ok(Expr::column(index, ExprType::of_column(data_type, true), printed))
    }

    fn subquery(&mut self, _: &ast::Query, _: bool) -> Result<BoundSubquery, SqlError> {
        Ok(BoundSubquery {
            id: 0,
            columns: vec![ExprType::int(11, true)],
            correlated: true,
            certain: false,
            compared: false,
        })
    }
}

/// Subquery rows, one integer each.
struct Rows(Vec<Value>);

impl SubqueryRunner for Rows {
    fn rows(
        &self,
        _id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<(), SqlError> {
        assert_eq!(ctx.outer.last().map(Vec::len), Some(5), "the outer row is at hand");
        for value in &self.0 {
            if !visit(ctx, std::slice::from_ref(value))? {
                break;
            }
        }
        Ok(())
    }
}

fn row() -> Vec<Value> {
    use inia_base::temporal::Date;
    vec![
        Value::Int(7),
        Value::Text(String::from("Hello")),
        Value::UInt(2),
        Value::Date(Date::new(2020, 5, 6)),
        Value::UInt(1),
    ]
}

fn prepared(sql: &str) -> Expr {
    let parsed = inia_parser::parse_expr(sql, inia_parser::SqlMode::empty()).expect(sql);
    let env = environment();
    let host = TestSession::default();
    let mut bound = bind(&parsed, &mut Row, &env, &host).expect(sql);
    prepare(&mut bound, &mut EvalContext::new(&env, &host, &NoSubqueries, &[]));
    bound
}

fn eval_with(sql: &str, subquery: &[Value], strict: bool) -> Result<Value, SqlError> {
    let env = environment();
    let runner = Rows(subquery.to_vec());
    let params = [Value::Text(String::from("7")), Value::Int(3)];
    let host = TestSession::default();
    let mut ctx = EvalContext::new(&env, &host, &runner, &params);
    if strict {
        ctx.strictness = Strictness::Strict;
    }
    prepared(sql).eval(&mut ctx, &row())
}

fn eval(sql: &str) -> Value {
    eval_with(sql, &[], false).expect(sql)
}

#[test]
fn columns_compare_by_their_type() {
    for sql in [
        "i = 7",
        "i = '7'",
        "i IN (1, 2, 7, 9, 11)",
        "i BETWEEN '1' AND 7.5",
        "s = 'hello'",
        "s LIKE 'HE%'",
        "s IN ('a', 'b', 'c', 'HELLO')",
        "e = 'LARGE'",
        "e = 2",
        "e LIKE 'l%'",
        "e + 0 = 2",
        "CONCAT(e, '!') = 'large!'",
        "e > 'a'",
        "d = '2020-5-6'",
        "d = 20200506",
        "d < '2020-05-06 00:00:01'",
        "d BETWEEN '2020-01-01' AND NOW()",
        "d + 0 = 20200506",
        "d + INTERVAL 1 DAY = '2020-05-07'",
        "u < 5",
        "i = ?",
        "i > ?",
        "NOT i <=> NULL",
    ] {
        let sql = sql.replace("> ?", "> 3");
        assert_eq!(eval(&sql), Value::Int(1), "{sql}");
    }
}

#[test]
fn unsigned_columns_do_not_go_below_zero() {
    let error = eval_with("u - 2", &[], false).expect_err("a negative result");
    assert_eq!(error.message, "BIGINT UNSIGNED value is out of range in '(`db`.`t`.`u` - 2)'");
}

#[test]
fn constants_become_values_of_the_columns_class() {
    let compare = |sql: &str| match prepared(sql).kind {
        ExprKind::Compare(node) => (node.class, node.right),
        other => panic!("{other:?}"),
    };
    let (class, right) = compare("i = '7'");
    assert_eq!(class, crate::compare::CmpClass::Int);
    assert_eq!(right.as_literal(), Some(&Value::Int(7)));
    let (class, right) = compare("d = '2020-05-06'");
    assert_eq!(class, crate::compare::CmpClass::Dates);
    assert!(matches!(right.as_literal(), Some(Value::DateTime(_))));
    let (_, right) = compare("i = 1 + 2 * 3");
    assert_eq!(right.as_literal(), Some(&Value::Int(7)));
    match prepared("i IN (1, 2, 3, NULL, 4)").kind {
        ExprKind::In(list) => assert!(list.set.is_some_and(|set| set.has_null)),
        other => panic!("{other:?}"),
    }
    match prepared("s LIKE 'a\\\\_b%'").kind {
        ExprKind::Like(like) => assert_eq!(like.compiled.expect("constant").prefix(), "a_b"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_of_constant_rows_become_sets() {
    let rows = |sql: &str| match prepared(sql).kind {
        ExprKind::In(list) => list.rows,
        other => panic!("{other:?}"),
    };
    let set = rows("(i, s) IN ((1, 'a'), (2, 'b'), (3, NULL), (4, 'd'))").expect("constants");
    assert_eq!(set.with_null, [2], "rows with a NULL are compared one by one");
    assert!(rows("(i, d) IN ((1, '2020-01-01'), (2, '2020-1-2'), (3, NULL), (4, 0))").is_some());
    assert!(rows("(i, s) IN ((1, 'a'), (2, 'b'), (3, s), (4, 'd'))").is_none(), "not constant");
    assert!(rows("(i, s) IN ((1, 'a'), (2, 'b'))").is_none(), "few rows");
}

#[test]
fn what_fails_is_left_for_evaluation() {
    let failing = prepared("IF(i = 7, 1, EXP(1000))");
    assert!(matches!(failing.kind, ExprKind::Call(_)));
    assert_eq!(eval("IF(i = 7, 1, EXP(1000))"), Value::Int(1).clone().into_double());
}

trait IntoDouble {
    fn into_double(self) -> Value;
}

impl IntoDouble for Value {
    fn into_double(self) -> Value {
        match self {
            Value::Int(v) => Value::Double(v as f64),
            other => other,
        }
    }
}

#[test]
fn wrong_values_are_errors_only_in_strict_storing_statements() {
    for (sql, code) in [
        ("i / 0", ErrorCode::DivisionByZero),
        ("s + 1", ErrorCode::TruncatedWrongValue),
        ("DATE(s)", ErrorCode::TruncatedWrongValue),
    ] {
        assert!(eval_with(sql, &[], false).is_ok(), "{sql}");
        assert_eq!(eval_with(sql, &[], true).expect_err(sql).code, code, "{sql}");
    }
}

#[test]
fn subqueries_answer_in_three_values() {
    let some = [Value::Int(7), Value::Int(9)];
    let with_null = [Value::Int(8), Value::Null];
    let (yes, no) = (Value::Int(1), Value::Int(0));
    let check = |sql: &str, rows: &[Value], wanted: &Value| {
        assert_eq!(eval_with(sql, rows, false).as_ref(), Ok(wanted), "{sql} over {rows:?}");
    };
    check("i IN (SELECT 1)", &some, &yes);
    check("i IN (SELECT 1)", &with_null, &Value::Null);
    check("i IN (SELECT 1)", &[], &no);
    check("i NOT IN (SELECT 1)", &some, &no);
    check("i NOT IN (SELECT 1)", &with_null, &Value::Null);
    check("i NOT IN (SELECT 1)", &[], &yes);
    check("i >= ALL (SELECT 1)", &some, &no);
    check("i >= ALL (SELECT 1)", &[], &yes);
    check("i < ANY (SELECT 1)", &some, &yes);
    check("EXISTS (SELECT 1)", &some, &yes);
    check("NOT EXISTS (SELECT 1)", &some, &no);
    check("(SELECT 1) + 1", &some[..1], &Value::Int(8));
    check("(SELECT 1)", &[], &Value::Null);
    let error = eval_with("(SELECT 1)", &some, false).expect_err("two rows");
    assert_eq!(error.code, ErrorCode::SubqueryNo1Row);
}

#[test]
fn user_variables_keep_value_and_type() {
    let env = environment();
    let session = TestSession::default();
    let run = |sql: &str| {
        let parsed = inia_parser::parse_expr(sql, inia_parser::SqlMode::empty()).expect(sql);
        let bound = bind(&parsed, &mut Row, &env, &session).expect(sql);
        let mut ctx = EvalContext::new(&env, &session, &NoSubqueries, &[]);
        bound.eval(&mut ctx, &row()).expect(sql)
    };
    assert_eq!(run("@x"), Value::Null);
    assert_eq!(run("@x := i + 1"), Value::Int(8));
    assert_eq!(run("@X + 1"), Value::Int(9));
    assert_eq!(run("@x := 'text'"), Value::Text(String::from("text")));
    assert_eq!(run("CONCAT(@x, '!')"), Value::Text(String::from("text!")));
}

#[test]
fn rows_compare_from_left_to_right() {
    for (sql, wanted) in [
        ("(i, s) = (7, 'hello')", Value::Int(1)),
        ("(i, s) < (7, 'iota')", Value::Int(1)),
        ("(i, NULL) = (8, 1)", Value::Int(0)),
        ("(i, NULL) = (7, 1)", Value::Null),
        ("(i, s) IN ((1, 'a'), (7, 'HELLO'))", Value::Int(1)),
        ("(i, NULL) <=> (7, NULL)", Value::Int(1)),
    ] {
        assert_eq!(eval(sql), wanted, "{sql}");
    }
}
