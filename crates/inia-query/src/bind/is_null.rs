//! Where `IS NULL` in WHERE means something else than NULL, for clients of old. Only a name of a
//! stored table's column means that, and no name of a merged view's ([`plainly`]).
//!
//! - A DATE or DATETIME that is NOT NULL, in a stored table or in the rows of a derived table: the
//!   zero date. `WHERE d IS NULL AND v > 1` is run as
//!   `WHERE d = 0 AND v > 1`, and where an outer join adds NULLs as
//!   `WHERE (d = 0 OR d IS NULL) AND v > 1`.
//! - Under `sql_auto_is_null`, an AUTO_INCREMENT column as the whole condition: the row that was
//!   inserted last. After an INSERT that made the number 7, `SELECT * FROM t WHERE id IS NULL` is
//!   run as `SELECT * FROM t WHERE id = LAST_INSERT_ID()`. Prepared statements and views keep
//!   their meaning.

use inia_base::datatype::DataType;
use inia_expr::Environment;
use inia_parser::ast::{BinaryOp, ColumnName, Expr, FunctionCall, Literal, Truth, UnaryOp};

/// A column that is declared NOT NULL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Never {
    /// DATE or DATETIME.
    Date {
        /// An outer join may make it NULL.
        outer: bool,
    },
    /// It has AUTO_INCREMENT.
    Numbered,
}

impl Never {
    /// What such a column of a type is.
    pub(crate) fn of(data_type: &DataType, numbered: bool, outer: bool) -> Option<Never> {
        match data_type {
            DataType::Date | DataType::DateTime { .. } => Some(Never::Date { outer }),
            _ => (numbered && !outer).then_some(Never::Numbered),
        }
    }
}

/// The condition that one stands for, where it stands for another one.
pub(crate) fn meant(
    condition: &Expr,
    env: &Environment,
    of_view: bool,
    never: &dyn Fn(&ColumnName) -> Option<Never>,
) -> Option<Expr> {
    let inserted = if of_view { None } else { last_inserted(condition, env, never) };
    inserted.or_else(|| zero_date(condition, never))
}

/// A condition over a view's columns, once it is one over those of its tables: it means what it
/// says.
pub(crate) fn plainly(condition: Expr) -> Expr {
    if let Expr::And(parts) = condition {
        return Expr::And(parts.into_iter().map(plainly).collect());
    }
    let Some(name) = tested_column(&condition) else { return condition };
    let column = Box::new(Expr::Column(name.clone()));
    let null = Expr::IsNull { expr: column, negated: false };
    Expr::IsTruth { expr: Box::new(null), truth: Truth::True, negated: false }
}

fn last_inserted(
    condition: &Expr,
    env: &Environment,
    never: &dyn Fn(&ColumnName) -> Option<Never>,
) -> Option<Expr> {
    if !env.auto_is_null || env.is_prepared || env.last_insert_id == 0 {
        return None;
    }
    let name = tested_column(condition).filter(|name| never(name) == Some(Never::Numbered))?;
    let number = Expr::Function(FunctionCall::native("last_insert_id", Vec::new()));
    Some(equal(name, number))
}

fn zero_date(condition: &Expr, never: &dyn Fn(&ColumnName) -> Option<Never>) -> Option<Expr> {
    if let Expr::And(parts) = condition {
        let mut found = None;
        for (at, part) in parts.iter().enumerate() {
            if let Some(meant) = zero_date(part, never) {
                found.get_or_insert_with(|| parts.clone())[at] = meant;
            }
        }
        return found.map(Expr::And);
    }
    let name = tested_column(condition)?;
    let Some(Never::Date { outer }) = never(name) else { return None };
    let zero = equal(name, Expr::Literal(Literal::Int(0)));
    Some(if outer { Expr::Or(vec![zero, condition.clone()]) } else { zero })
}

/// The column that a condition tests for NULL.
fn tested_column(condition: &Expr) -> Option<&ColumnName> {
    let operand = match condition {
        Expr::IsNull { expr, negated: false }
        | Expr::IsTruth { expr, truth: Truth::Unknown, negated: false } => expr,
        Expr::Unary { op: UnaryOp::Not, expr } => match &**expr {
            Expr::IsNull { expr, negated: true }
            | Expr::IsTruth { expr, truth: Truth::Unknown, negated: true } => expr,
            _ => return None,
        },
        Expr::Function(call) if call.db.is_none() && call.name.eq_ignore_ascii_case("isnull") => {
            call.args.first()?
        }
        _ => return None,
    };
    match operand {
        Expr::Column(name) => Some(name),
        _ => None,
    }
}

fn equal(name: &ColumnName, value: Expr) -> Expr {
    let (left, right) = (Box::new(Expr::Column(name.clone())), Box::new(value));
    Expr::Binary { op: BinaryOp::Eq, left, right }
}
