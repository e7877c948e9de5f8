//! Conditions below a grouping: those that hold for all rows of a group or for none.
//!
//! Rows are of one group where their keys are equal, which need not mean the same: `'a'` and `'A'`
//! are in a collation without case. `k = 'a'` says the same of both, `BINARY k = 'a'` does not.

use crate::optimize::is_natural;
use inia_base::datatype::DataType;
use inia_expr::compare::CmpClass;
use inia_expr::{Expr, ExprKind};

/// Whether a condition has one value for all rows whose keys are equal; `is_key` says which
/// expressions are keys.
pub(in crate::bind) fn is_same_for_equals(
    condition: &Expr,
    is_key: &dyn Fn(&Expr) -> bool,
) -> bool {
    let deeper = |expr: &Expr| is_same_for_equals(expr, is_key);
    let compared = |expr: &Expr, class: &CmpClass| {
        is_key(expr) && (is_exact(expr) || is_natural(expr, class)) || deeper(expr)
    };
    if is_key(condition) {
        return is_exact(condition);
    }
    match &condition.kind {
        ExprKind::Column { .. }
        | ExprKind::Aggregate(_)
        | ExprKind::Window(_)
        | ExprKind::Subquery(_)
        | ExprKind::InsertValue(_) => false,
        ExprKind::Compare(compare) => {
            compared(&compare.left, &compare.class) && compared(&compare.right, &compare.class)
        }
        ExprKind::In(list) => list
            .items
            .iter()
            .all(|(class, item)| compared(&list.value, class) && compared(item, class)),
        ExprKind::Between(between) => {
            compared(&between.value, &between.classes.0)
                && compared(&between.value, &between.classes.1)
                && compared(&between.low, &between.classes.0)
                && compared(&between.high, &between.classes.1)
        }
        ExprKind::IsNull(inner, _) => is_key(inner) || deeper(inner),
        _ => {
            let mut all = true;
            condition.children(&mut |child| all &= deeper(child));
            all
        }
    }
}

/// Whether equal values of the expression are the same value.
fn is_exact(expr: &Expr) -> bool {
    use DataType::{Date, DateTime, Int, Time, Timestamp, Year};
    matches!(
        expr.ty.data_type,
        Int { .. } | Date | DateTime { .. } | Time { .. } | Timestamp { .. } | Year
    )
}
