//! Aggregates over a few rows; answers of MySQL 8.0.31.

use super::{TestSession, environment};
use crate::aggregate::{Accumulator, Aggregate};
use crate::context::{Environment, EvalContext, NoSubqueries};
use crate::{Expr, ExprType, Scope, bind, convert};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::decimal::Decimal;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_parser::ast;

/// A table (a INT, b VARCHAR(10), c DECIMAL(5,2), d DOUBLE), and the aggregates of a query.
#[derive(Default)]
struct Table {
    calls: Vec<Aggregate>,
}

impl Scope for Table {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let (index, data_type) = match name.name.as_str() {
            "a" => (0, DataType::Int { width: IntWidth::Int, unsigned: false }),
            "b" => (1, DataType::VarChar { chars: 10, collation: Collation::DEFAULT }),
            "c" => (2, DataType::Decimal { precision: 5, scale: 2, unsigned: false }),
            _ => (3, DataType::Double { decimals: None, unsigned: false }),
        };
        Ok(Expr::column(index, ExprType::of_column(data_type, true), name.name.as_str()))
    }

    fn enter_aggregate(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn aggregate(&mut self, call: Aggregate) -> Result<Expr, SqlError> {
        let ty = call.ty.clone();
        self.calls.push(call);
        Ok(Expr { kind: crate::ExprKind::Aggregate(self.calls.len() - 1), ty })
    }
}

fn rows() -> Vec<Vec<Value>> {
    let row = |a: i64, b: &str, c: i128, d: f64| {
        let c = Value::Decimal(Decimal::from_i128(c, 2));
        vec![Value::Int(a), Value::Text(b.to_owned()), c, Value::Double(d)]
    };
    let mut rows = vec![row(1, "x", 150, 1.5), row(2, "y", 250, 2.5), row(2, "X", 225, 4.0)];
    rows.push(vec![Value::Null, Value::Null, Value::Null, Value::Null]);
    rows
}

/// The result over `rows`, with its type as DECIMAL(p,s), BIGINT or another name, and warnings.
fn run(sql: &str, rows: &[Vec<Value>], env: &Environment) -> (String, String) {
    let parsed =
        inia_parser::parse_expr(sql, inia_parser::SqlMode::empty()).expect("an expression");
    let mut table = Table::default();
    let host = TestSession::default();
    let bound = bind(&parsed, &mut table, env, &host).expect("a valid expression");
    let mut ctx = EvalContext::new(env, &host, &NoSubqueries, &[]);
    for call in &table.calls {
        let mut state: Accumulator = call.start();
        for row in rows {
            state.add(call, &mut ctx, row).expect("no error");
        }
        let value = state.finish(call, &mut ctx).expect("no error");
        ctx.aggregates.push(value);
    }
    let value = bound.eval(&mut ctx, &[]).expect("no error");
    let shown = match value {
        Value::Null => String::from("NULL"),
        value => convert::to_text(&value, &bound.ty).into_owned(),
    };
    let warnings: Vec<String> = ctx.warnings.list.into_iter().map(|w| w.message).collect();
    (shown, warnings.join("; "))
}

#[test]
fn aggregates_skip_null_and_count_what_is_left() {
    let expected = [
        ("COUNT(*)", "4"),
        ("COUNT(a)", "3"),
        ("COUNT(DISTINCT a)", "2"),
        ("COUNT(DISTINCT a, b)", "3"),
        ("COUNT(DISTINCT b)", "2"),
        ("SUM(a)", "5"),
        ("SUM(DISTINCT a)", "3"),
        ("SUM(b)", "0"),
        ("SUM(c)", "6.25"),
        ("SUM(d)", "8"),
        ("AVG(a)", "1.6667"),
        ("AVG(DISTINCT a)", "1.5000"),
        ("AVG(c)", "2.083333"),
        ("AVG(d)", "2.6666666666666665"),
        ("MIN(a)", "1"),
        ("MAX(a)", "2"),
        ("MIN(b)", "x"),
        ("MAX(b)", "y"),
        ("MAX(c)", "2.50"),
        ("BIT_AND(a)", "0"),
        ("BIT_OR(a)", "3"),
        ("BIT_XOR(a)", "1"),
        ("STDDEV(a)", "0.4714045207910317"),
        ("STDDEV_SAMP(a)", "0.5773502691896257"),
        ("VAR_POP(a)", "0.2222222222222222"),
        ("VAR_SAMP(a)", "0.3333333333333333"),
        ("GROUP_CONCAT(b)", "x,y,X"),
        ("GROUP_CONCAT(DISTINCT b)", "x,y"),
        ("GROUP_CONCAT(a ORDER BY a DESC SEPARATOR '-')", "2-2-1"),
        ("GROUP_CONCAT(b, a ORDER BY 2, 1)", "x1,X2,y2"),
        ("JSON_ARRAYAGG(a)", "[1, 2, 2, null]"),
        ("SUM(a) + COUNT(*)", "9"),
        ("SUM(a) / 2", "2.5000"),
    ];
    for (sql, wanted) in expected {
        assert_eq!(run(sql, &rows(), &environment()).0, wanted, "{sql}");
    }
}

#[test]
fn an_empty_group_has_count_zero_and_null_for_the_rest() {
    let expected = [
        ("COUNT(*)", "0"),
        ("COUNT(DISTINCT a)", "0"),
        ("SUM(a)", "NULL"),
        ("AVG(c)", "NULL"),
        ("MIN(b)", "NULL"),
        ("BIT_AND(a)", "18446744073709551615"),
        ("BIT_OR(a)", "0"),
        ("STD(a)", "NULL"),
        ("GROUP_CONCAT(b)", "NULL"),
        ("JSON_ARRAYAGG(a)", "NULL"),
        ("JSON_OBJECTAGG(b, a)", "NULL"),
    ];
    for (sql, wanted) in expected {
        assert_eq!(run(sql, &[], &environment()).0, wanted, "{sql}");
    }
    assert_eq!(run("VAR_SAMP(a)", &rows()[..1], &environment()).0, "NULL");
}

#[test]
fn group_concat_is_cut_at_its_limit_with_a_warning() {
    let env = Environment { group_concat_max_len: 4, ..environment() };
    let (value, warnings) = run("GROUP_CONCAT(a)", &rows(), &env);
    assert_eq!(value, "1,2,");
    assert_eq!(warnings, "Row 3 was cut by GROUP_CONCAT()");
}

#[test]
fn sums_and_averages_are_as_wide_as_mysql_makes_them() {
    let ty = |sql: &str| {
        let parsed = inia_parser::parse_expr(sql, inia_parser::SqlMode::empty()).expect(sql);
        let host = TestSession::default();
        bind(&parsed, &mut Table::default(), &environment(), &host).expect(sql).ty.data_type
    };
    let decimal = |precision, scale| DataType::Decimal { precision, scale, unsigned: false };
    assert_eq!(ty("SUM(a)"), decimal(32, 0));
    assert_eq!(ty("AVG(a)"), decimal(14, 4));
    assert_eq!(ty("SUM(c)"), decimal(27, 2));
    assert_eq!(ty("AVG(c)"), decimal(9, 6));
    assert_eq!(ty("SUM(b)"), DataType::Double { decimals: None, unsigned: false });
}

#[test]
fn integer_sums_do_not_overflow() {
    let rows = vec![vec![Value::Int(i64::MAX)], vec![Value::Int(i64::MAX)]];
    assert_eq!(run("SUM(a)", &rows, &environment()).0, "18446744073709551614");
}
