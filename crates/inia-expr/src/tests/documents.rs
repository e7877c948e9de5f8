//! Runs the documents.

use super::{TestSession, environment};
use crate::context::{EvalContext, NoSubqueries};
use crate::convert;
use crate::{EmptyScope, ExprType, bind, prepare};
use inia_base::column::flags;
use inia_base::datatype::{DataType, LobSize};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

/// One expression of a document with everything expected of it.
struct Case<'d> {
    line: usize,
    sql: &'d str,
    value: &'d str,
    ty: Option<&'d str>,
    warnings: Vec<&'d str>,
}

fn cases(document: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (at, text) in document.lines().enumerate() {
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        if let Some(warning) = text.strip_prefix("  ") {
            cases.last_mut().expect("a warning follows its expression").warnings.push(warning);
            continue;
        }
        let (sql, answer) = text.rsplit_once(" => ").expect("`expression => value`");
        let (value, ty) = match answer.rsplit_once(" : ") {
            Some((value, ty)) if !answer.starts_with("ERROR") => (value, Some(ty)),
            _ => (answer, None),
        };
        cases.push(Case { line: at + 1, sql, value, ty, warnings: Vec::new() });
    }
    cases
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\0', "\\0")
}

fn show(value: &Value, ty: &ExprType) -> String {
    match value {
        Value::Null => String::from("NULL"),
        Value::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            format!("0x{digits}")
        }
        _ => format!("'{}'", escape(&convert::to_text(value, ty))),
    }
}

fn type_name(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Null => "NULL",
        DataType::Int { .. } => "LONGLONG",
        DataType::Bit(_) => "BIT",
        DataType::Decimal { .. } => "NEWDECIMAL",
        DataType::Float { .. } => "FLOAT",
        DataType::Double { .. } => "DOUBLE",
        DataType::Char { .. } | DataType::Binary(_) => "STRING",
        DataType::VarChar { .. } | DataType::VarBinary(_) => "VAR_STRING",
        DataType::Text { size, .. } | DataType::Blob(size) => match size {
            LobSize::Tiny => "TINY_BLOB",
            LobSize::Normal => "BLOB",
            LobSize::Medium => "MEDIUM_BLOB",
            LobSize::Long => "LONG_BLOB",
        },
        DataType::Date => "DATE",
        DataType::Time { .. } => "TIME",
        DataType::DateTime { .. } => "DATETIME",
        DataType::Timestamp { .. } => "TIMESTAMP",
        DataType::Year => "YEAR",
        DataType::Enum { .. } => "ENUM",
        DataType::Set { .. } => "SET",
        DataType::Json => "JSON",
        DataType::Geometry { .. } => "GEOMETRY",
    }
}

fn show_type(ty: &ExprType) -> String {
    let column = ty.result_column("");
    let null = if column.flags & flags::NOT_NULL != 0 { "not-null" } else { "null" };
    let unsigned = if column.flags & flags::UNSIGNED != 0 { " unsigned" } else { "" };
    let name = type_name(&ty.data_type);
    format!("{name} {} {} {null}{unsigned}", sent_length(ty, column.length), column.decimals)
}

/// The length that is sent to a client whose result character set is utf8mb4.
fn sent_length(ty: &ExprType, length: u32) -> u32 {
    let own = match ty.data_type {
        DataType::Json => 4,
        DataType::Text { .. } => ty.collation().charset().min_bytes().into(),
        _ if ty.is_text() => ty.collation().charset().max_bytes().into(),
        _ => return length,
    };
    (length / own).saturating_mul(4)
}

/// Value, type and warnings of an expression.
fn run(sql: &str) -> Result<(String, String, Vec<String>), SqlError> {
    let env = environment();
    let parsed = inia_parser::parse_expr(sql, inia_parser::SqlMode::empty());
    let parsed = parsed.map_err(|error| {
        let code = ErrorCode::from_number(error.code()).unwrap_or(ErrorCode::UnknownError);
        SqlError::with_message(code, error.message())
    })?;
    let host = TestSession::default();
    let mut ctx = EvalContext::new(&env, &host, &NoSubqueries, &[]);
    let mut bound = bind(&parsed, &mut EmptyScope, &env, &host)?;
    prepare(&mut bound, &mut ctx);
    let value = bound.eval(&mut ctx, &[])?;
    let warnings = ctx
        .warnings
        .list
        .iter()
        .map(|w| format!("{:?} {} {}", w.level, w.code.number(), escape(&w.message)));
    Ok((show(&value, &bound.ty), show_type(&bound.ty), warnings.collect()))
}

fn check(document: &str, name: &str) {
    let mut wrong = Vec::new();
    let cases = cases(document);
    for case in &cases {
        let mut differ = |what: &str, found: &str, wanted: &str| {
            let (line, sql) = (case.line, case.sql);
            wrong.push(format!("{name}:{line} {sql}\n  {what} {found}\n  wanted {wanted}"));
        };
        match run(case.sql) {
            Err(error) => {
                let found = format!("ERROR {} {}", error.number(), escape(&error.message));
                if found != case.value {
                    differ("error", &found, case.value);
                }
            }
            Ok((value, ty, warnings)) => {
                if value != case.value {
                    differ("value", &value, case.value);
                }
                if warnings != case.warnings {
                    differ("warnings", &warnings.join(" | "), &case.warnings.join(" | "));
                }
                if case.ty.is_some_and(|wanted| wanted != ty) {
                    differ("type", &ty, case.ty.unwrap_or_default());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! documents {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("data/", stringify!($name), ".txt")), stringify!($name));
        }
    )*};
}

documents!(basics, corners, operators, numeric, strings, temporal, json);
