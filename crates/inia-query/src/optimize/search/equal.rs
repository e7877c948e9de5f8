//! Columns that a group's conditions make equal, and the equalities that follow.
//!
//! `a.x = b.x AND b.x = c.x` puts three columns in one class: whatever two of them are joined
//! first, an equality between them is at hand. `a.x = 5` beside it gives `b.x = 5` and `c.x = 5`.
//!
//! An equality is an equivalence only among values that are compared alike: all columns of a class
//! compare by the class of their own type, and that is one for all of them. `int = varchar`, texts
//! of two collations or `int = decimal` therefore put nothing in a class.

use super::group::Group;
use inia_base::datatype::DataType;
use inia_expr::compare::{CmpClass, hashable, natural_class};
use inia_expr::tree::Compare;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// A column of a member.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) member: usize,
    pub(super) slot: usize,
    expr: Expr,
}

/// Columns that are equal in every row of the group.
#[derive(Clone, Debug)]
pub(super) struct Equal {
    pub(super) columns: Vec<Column>,
    class: CmpClass,
    /// One of the equalities, which others are made like.
    like: Expr,
    /// Each column is compared with the same constant besides.
    pub(super) constant: bool,
}

impl Equal {
    /// The equality of two of its columns.
    pub(super) fn between(&self, a: &Column, b: &Column) -> Expr {
        self.equality(a.expr.clone(), b.expr.clone())
    }

    fn equality(&self, left: Expr, right: Expr) -> Expr {
        let mut made = self.like.clone();
        let compare = Compare { op: CmpOp::Eq, class: self.class.clone(), left, right };
        made.ty.nullable = compare.left.ty.nullable || compare.right.ty.nullable;
        made.kind = ExprKind::Compare(Box::new(compare));
        made
    }

    /// Whether each of its columns is of another member.
    pub(super) fn is_apart(&self) -> bool {
        let after = |at: usize| &self.columns[at + 1..];
        let other = |at: usize, member| after(at).iter().all(|column| column.member != member);
        self.columns.iter().enumerate().all(|(at, column)| other(at, column.member))
    }

    /// Whether the condition is an equality of two of its columns; which slots.
    pub(super) fn slots_in(&self, condition: &Expr) -> Option<(usize, usize)> {
        let ExprKind::Compare(compare) = &condition.kind else { return None };
        if compare.op != CmpOp::Eq || compare.class != self.class {
            return None;
        }
        let (left, right) = (plain(&compare.left)?, plain(&compare.right)?);
        (self.has(left) && self.has(right)).then_some((left, right))
    }

    pub(super) fn has(&self, slot: usize) -> bool {
        self.columns.iter().any(|column| column.slot == slot)
    }
}

/// The slot of a column.
pub(super) fn plain(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    }
}

/// Whether the class compares values of the expression as they are.
pub(crate) fn is_natural(expr: &Expr, class: &CmpClass) -> bool {
    use DataType::{Enum, Json, Set};
    natural_class(&expr.ty) == *class
        && !matches!(expr.ty.data_type, Enum { .. } | Set { .. } | Json)
}

/// The classes of equal columns of a group's members.
pub(super) fn classes(group: &Group, conditions: &[Expr]) -> Vec<Equal> {
    let mut classes: Vec<Equal> = Vec::new();
    for condition in conditions {
        let ExprKind::Compare(compare) = &condition.kind else { continue };
        let Compare { op: CmpOp::Eq, class, left, right } = &**compare else { continue };
        let (Some(l), Some(r)) = (column(group, left), column(group, right)) else { continue };
        let alike = is_natural(left, class) && is_natural(right, class);
        if !alike || !hashable(class, &left.ty, &right.ty) || l.member == r.member {
            continue;
        }
        let of_class = class;
        let touched = |equal: &mut Equal| {
            equal.class == *of_class && (equal.has(l.slot) || equal.has(r.slot))
        };
        let (columns, class, like) = (Vec::new(), class.clone(), condition.clone());
        let mut merged = Equal { columns, class, like, constant: false };
        for equal in classes.extract_if(.., touched).collect::<Vec<_>>() {
            merged.columns.extend(equal.columns);
        }
        for column in [l, r] {
            if !merged.has(column.slot) {
                merged.columns.push(column);
            }
        }
        classes.push(merged);
    }
    classes
}

/// The column of an inner member that an expression is.
fn column(group: &Group, expr: &Expr) -> Option<Column> {
    let slot = plain(expr)?;
    let member = group.members.iter().position(|member| member.slots.contains(slot))?;
    let inner = group.members[member].kind == crate::plan::JoinType::Inner;
    inner.then(|| Column { member, slot, expr: expr.clone() })
}

/// Equalities with constants that follow from those of other columns of the same class.
pub(super) fn constants(classes: &mut [Equal], conditions: &[Expr]) -> Vec<Expr> {
    let mut found = Vec::new();
    for equal in classes {
        let known: Vec<(usize, &Expr)> =
            conditions.iter().filter_map(|condition| constant(equal, condition)).collect();
        let Some((_, value)) = known.first() else { continue };
        let same = known.iter().all(|(_, other)| other.same(value));
        for column in &equal.columns {
            if !known.iter().any(|(slot, _)| *slot == column.slot) {
                found.push(equal.equality(column.expr.clone(), (*value).clone()));
            }
        }
        equal.constant = same;
    }
    found
}

/// The column of a class that a condition compares with a constant, and the constant.
fn constant<'e>(equal: &Equal, condition: &'e Expr) -> Option<(usize, &'e Expr)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if compare.op != CmpOp::Eq || compare.class != equal.class {
        return None;
    }
    let of = |column: &Expr, value: &'e Expr| {
        let slot = plain(column).filter(|slot| equal.has(*slot))?;
        let reads = slots_of(value);
        let constant = reads.slots == SlotSet::default()
            && !reads.whole_row
            && is_natural(value, &equal.class)
            && matches!(
                value.kind,
                ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::OuterColumn { .. }
            );
        constant.then_some((slot, value))
    };
    of(&compare.left, &compare.right).or_else(|| of(&compare.right, &compare.left))
}
