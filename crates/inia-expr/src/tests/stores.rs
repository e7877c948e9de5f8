//! Runs the document of stored values: strict mode first, then without it.

use super::{TestSession, environment};
use crate::context::{Environment, EvalContext, NoSubqueries, Strictness};
use crate::store::{implicit_default, store_value};
use crate::{EmptyScope, ExprType, bind, convert, prepare_operand};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_parser::ast;

/// The type that a column definition names.
fn column_type(text: &str) -> DataType {
    let sql = format!("CREATE TABLE st (c {text})");
    let parsed = inia_parser::parse(&sql, inia_parser::SqlMode::empty()).expect("a column type");
    let ast::Statement::CreateTable(table) = parsed else { panic!("{sql}") };
    let column = table.elements.iter().find_map(|element| match element {
        ast::TableElement::Column(column) => Some(column),
        _ => None,
    });
    let spec = &column.expect("one column").ty;
    let ty = crate::column_type::column_type("c", spec, Collation::DEFAULT, true);
    ty.expect("a valid type").data_type
}

fn store(sql: &str, column: &DataType, strict: bool) -> Result<(String, Vec<String>), SqlError> {
    let mut env = environment();
    if !strict {
        env.sql_mode = SqlMode(0);
    }
    let host = TestSession::default();
    let mut ctx = EvalContext::new(&env, &host, &NoSubqueries, &[]);
    ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
    ctx.target_table = String::from("st");
    let parsed =
        inia_parser::parse_expr(sql, inia_parser::SqlMode::empty()).expect("an expression");
    let mut bound = bind(&parsed, &mut EmptyScope, &env, &host)?;
    prepare_operand(&mut bound, &mut ctx);
    let value = bound.eval(&mut ctx, &[])?;
    let stored = store_value(value, &bound.ty, column, &mut ctx, "c")?;
    let warnings = ctx.warnings.list.iter().map(|w| {
        let message = w.message.replace('\\', "\\\\").replace('\n', "\\n");
        format!("{:?} {} {message}", w.level, w.code.number())
    });
    Ok((show(&stored, column), warnings.collect()))
}

fn show(stored: &Value, column: &DataType) -> String {
    let ty = ExprType::of_column(column.clone(), true);
    match (stored, column) {
        (Value::Null, _) => String::from("NULL"),
        (Value::UInt(bits), DataType::Bit(_)) => format!("'{bits:X}'"),
        (Value::Bytes(bytes), _) => {
            let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            format!("'{digits}'")
        }
        _ => format!("'{}'", convert::to_text(stored, &ty)),
    }
}

#[test]
fn values_become_values_of_the_column() {
    let document = include_str!("data/stores.txt");
    let mut lines = document.lines().enumerate().peekable();
    let mut strict = true;
    let mut wrong = Vec::new();
    while let Some((at, line)) = lines.next() {
        if line.starts_with('#') {
            continue;
        }
        if let Some(mode) = line.strip_prefix("mode ") {
            strict = mode == "strict";
            continue;
        }
        let (column, rest) = line.split_once(" <- ").expect("`type <- value`");
        let (sql, wanted) = rest.rsplit_once(" => ").expect("`value => stored`");
        let mut warnings = Vec::new();
        while let Some((_, warning)) = lines.next_if(|(_, next)| next.starts_with("  ")) {
            warnings.push(warning.trim_start().to_owned());
        }
        let (found, raised) = match store(sql, &column_type(column), strict) {
            Ok(result) => result,
            Err(error) => {
                let message = error.message.replace('\\', "\\\\");
                (format!("ERROR {} {message}", error.number()), Vec::new())
            }
        };
        if found != wanted || raised != warnings {
            let at = at + 1;
            wrong.push(format!("{at} {line}\n  value {found} {raised:?}\n  wanted {warnings:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn implicit_defaults_are_values_of_their_type() {
    let env = Environment { sql_mode: SqlMode(0), ..environment() };
    for text in [
        "INT",
        "INT UNSIGNED",
        "DECIMAL(5,2)",
        "DOUBLE",
        "DATE",
        "TIME",
        "DATETIME(3)",
        "TIMESTAMP",
        "YEAR",
        "CHAR(3)",
        "TEXT",
        "BINARY(3)",
        "BLOB",
        "ENUM('a')",
        "SET('a')",
        "BIT(3)",
    ] {
        let column = column_type(text);
        let host = TestSession::default();
        let mut ctx = EvalContext::new(&env, &host, &NoSubqueries, &[]);
        ctx.strictness = Strictness::Lenient;
        let value = implicit_default(&column);
        let ty = ExprType::of_column(column.clone(), false);
        let stored = store_value(value.clone(), &ty, &column, &mut ctx, "c").expect(text);
        assert_eq!(stored, value, "{text}");
        assert_eq!(ctx.warnings.count, 0, "{text}");
    }
}
