//! Conditions in the form in which they are looked at: NOT inside, AND and OR flat.

use inia_parser::ast::*;

/// A call of what is no SQL.
pub(super) fn internal(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function(FunctionCall::native(name, args))
}

/// A truth value.
pub(super) fn truth(value: bool) -> Expr {
    Expr::Literal(Literal::Bool(value))
}

/// `left op right`.
pub(super) fn binary(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    Expr::Binary { op, left: Box::new(left), right: Box::new(right) }
}

/// `left AND right`, flat.
pub(super) fn and(left: Expr, right: Expr) -> Expr {
    let mut all = conjuncts(left);
    all.extend(conjuncts(right));
    Expr::And(all)
}

/// AND of any number; `None` of none.
pub(super) fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::And(conditions)),
    }
}

/// The operands of AND.
pub(super) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::And(list) => list.into_iter().flat_map(conjuncts).collect(),
        Expr::Binary { op: BinaryOp::Eq, left, right } if are_rows(&left, &right) => {
            let (Expr::Row(left), Expr::Row(right)) = (*left, *right) else { return Vec::new() };
            let pairs = left.into_iter().zip(right);
            pairs.flat_map(|(l, r)| conjuncts(binary(l, BinaryOp::Eq, r))).collect()
        }
        other => vec![other],
    }
}

/// Whether two operands are rows of one width.
fn are_rows(left: &Expr, right: &Expr) -> bool {
    matches!((left, right), (Expr::Row(a), Expr::Row(b)) if a.len() == b.len())
}

/// The condition with NOT moved inside and with AND and OR flat.
pub(super) fn normal(condition: Expr) -> Expr {
    match condition {
        Expr::And(list) => Expr::And(list.into_iter().map(normal).flat_map(conjuncts).collect()),
        Expr::Or(list) => {
            let flat = list.into_iter().map(normal).flat_map(|operand| match operand {
                Expr::Or(inner) => inner,
                other => vec![other],
            });
            Expr::Or(flat.collect())
        }
        Expr::Unary { op: UnaryOp::Not, expr } => negated(*expr),
        Expr::Unary { op: UnaryOp::Plus, expr } => normal(*expr),
        Expr::InList { expr, mut list, negated } if list.len() == 1 => {
            let op = if negated { BinaryOp::Ne } else { BinaryOp::Eq };
            binary(*expr, op, list.swap_remove(0))
        }
        Expr::Quantified { left, op: BinaryOp::Eq, quantifier: Quantifier::Any, query } => {
            Expr::InSubquery { expr: left, query, negated: false }
        }
        Expr::Quantified { left, op: BinaryOp::Ne, quantifier: Quantifier::All, query } => {
            Expr::InSubquery { expr: left, query, negated: true }
        }
        other => other,
    }
}

/// What is true where a condition is false.
fn negated(condition: Expr) -> Expr {
    match condition {
        Expr::And(list) => normal(Expr::Or(list.into_iter().map(negated).collect())),
        Expr::Or(list) => normal(Expr::And(list.into_iter().map(negated).collect())),
        Expr::Unary { op: UnaryOp::Not, expr } => normal(*expr),
        Expr::Unary { op: UnaryOp::Plus, expr } => negated(*expr),
        Expr::IsNull { expr, negated } => Expr::IsNull { expr, negated: !negated },
        Expr::IsTruth { expr, truth, negated } => Expr::IsTruth { expr, truth, negated: !negated },
        Expr::InList { expr, list, negated } => {
            normal(Expr::InList { expr, list, negated: !negated })
        }
        Expr::InSubquery { expr, query, negated } => {
            Expr::InSubquery { expr, query, negated: !negated }
        }
        Expr::Between { expr, low, high, negated } => {
            Expr::Between { expr, low, high, negated: !negated }
        }
        Expr::Like { expr, pattern, escape, negated } => {
            Expr::Like { expr, pattern, escape, negated: !negated }
        }
        Expr::Regexp { expr, pattern, negated } => {
            Expr::Regexp { expr, pattern, negated: !negated }
        }
        Expr::Quantified { left, op, quantifier, query } if op != BinaryOp::NullSafeEq => {
            let quantifier = match quantifier {
                Quantifier::Any => Quantifier::All,
                Quantifier::All => Quantifier::Any,
            };
            let op = op.opposite().unwrap_or(op);
            normal(Expr::Quantified { left, op, quantifier, query })
        }
        Expr::Binary { op, left, right } if let Some(op) = op.opposite() => {
            Expr::Binary { op, left, right }
        }
        column @ Expr::Column(_) => binary(Expr::int(0), BinaryOp::Eq, column),
        other => Expr::Unary { op: UnaryOp::Not, expr: Box::new(other) },
    }
}

/// Calls `visit` with each column that an expression names, without its queries.
pub(super) fn each_column<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e ColumnName)) {
    if let Expr::Column(name) = expr {
        visit(name);
    }
    expr.for_each_child(&mut |child| each_column(child, visit));
}

/// Whether an expression has a query in it.
pub(super) fn has_query(expr: &Expr) -> bool {
    let mut found = matches!(
        expr,
        Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. }
    );
    expr.for_each_child(&mut |child| found = found || has_query(child));
    found
}

/// Whether the value is the same for all rows: no column, query, aggregate or what varies.
pub(super) fn is_constant(expr: &Expr) -> bool {
    let mut constant = match expr {
        Expr::Column(_)
        | Expr::Aggregate(_)
        | Expr::Window(_)
        | Expr::AssignVar { .. }
        | Expr::InsertValue(_)
        | Expr::DefaultOf(_)
        | Expr::Default
        | Expr::Match { .. }
        | Expr::JsonExtract { .. } => false,
        Expr::Function(call) => call.db.is_none() && !crate::bind::is_varying(&call.name),
        other => !matches!(
            other,
            Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. }
        ),
    };
    expr.for_each_child(&mut |child| constant = constant && is_constant(child));
    constant
}
