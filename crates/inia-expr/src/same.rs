//! Whether two bound expressions compute the same.
//!
//! The printed form leaves out what decides a value: the unit of EXTRACT, which parameter a `?` is,
//! the escape character of LIKE, conversions that binding adds, collations, and which of two tables
//! of one name a column belongs to. So the trees are compared node by node.
//!
//! Example: in `SUM(EXTRACT(YEAR FROM d)), SUM(EXTRACT(MONTH FROM d))` both arguments are a call of
//! `extract` on the same slot; their tags differ, so these are two sums.

use crate::compare::CmpClass;
use crate::tree::{CastKind, Compare, Expr, ExprKind};

impl Expr {
    /// Whether both always have the same value of the same type in the same row. Names of columns
    /// do not matter, slots do; subqueries are the same where they are one.
    pub fn same(&self, other: &Expr) -> bool {
        // A column's type here may say more or less about NULL; its slot says all.
        if let (ExprKind::Column { index: a, .. }, ExprKind::Column { index: b, .. }) =
            (&self.kind, &other.kind)
        {
            return a == b;
        }
        self.ty.data_type == other.ty.data_type
            && self.ty.zerofill == other.ty.zerofill
            && same_node(&self.kind, &other.kind)
            && same_children(self, other)
    }
}

fn same_children(a: &Expr, b: &Expr) -> bool {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    a.children(&mut |child| left.push(child));
    b.children(&mut |child| right.push(child));
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same(b))
}

/// Whether two nodes do the same to their children.
fn same_node(a: &ExprKind, b: &ExprKind) -> bool {
    use ExprKind as K;
    match (a, b) {
        (K::Literal(a), K::Literal(b)) => a == b,
        (K::HexLiteral(a), K::HexLiteral(b)) => a == b,
        (K::OuterColumn { depth, index, .. }, K::OuterColumn { depth: d, index: i, .. }) => {
            (depth, index) == (d, i)
        }
        (K::Param(a), K::Param(b))
        | (K::Aggregate(a), K::Aggregate(b))
        | (K::Window(a), K::Window(b))
        | (K::InsertValue(a), K::InsertValue(b)) => a == b,
        (K::UserVar(a), K::UserVar(b)) | (K::AssignUserVar(a, _), K::AssignUserVar(b, _)) => a == b,
        (K::SysVar(scope, a), K::SysVar(other, b)) => scope == other && a == b,
        (K::IsNull(_, a), K::IsNull(_, b)) => a == b,
        (K::IsTruth(_, truth, not), K::IsTruth(_, t, n)) => (truth, not) == (t, n),
        (K::Neg(_, a), K::Neg(_, b)) => a == b,
        (K::Cast(_, a), K::Cast(_, b)) => same_conversion(a, b),
        (K::And(_), K::And(_))
        | (K::Or(_), K::Or(_))
        | (K::Row(_), K::Row(_))
        | (K::Xor(..), K::Xor(..))
        | (K::Not(_), K::Not(_))
        | (K::Collate(_), K::Collate(_)) => true,
        _ => same_compound(a, b),
    }
}

/// Whether two conversions do the same. An item's name is in its warnings alone.
fn same_conversion(a: &CastKind, b: &CastKind) -> bool {
    let written = |kind: &CastKind| matches!(kind, CastKind::Explicit | CastKind::Item(_));
    a == b || (written(a) && written(b))
}

fn same_compound(a: &ExprKind, b: &ExprKind) -> bool {
    use ExprKind as K;
    let same_compare = |a: &Compare, b: &Compare| a.op == b.op && a.class == b.class;
    match (a, b) {
        (K::Compare(a), K::Compare(b)) => same_compare(a, b),
        (K::CompareRows(op, a), K::CompareRows(other, b)) => {
            op == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_compare(a, b))
        }
        (K::Arith(a), K::Arith(b)) => (a.op, a.class) == (b.op, b.class),
        (K::Call(a), K::Call(b)) => (a.name, a.tag) == (b.name, b.tag),
        (K::Stored(a), K::Stored(b)) => a.schema == b.schema && a.name == b.name,
        (K::Case(a), K::Case(b)) => {
            a.whens.len() == b.whens.len() && a.otherwise.is_some() == b.otherwise.is_some()
        }
        (K::In(a), K::In(b)) => {
            let classes = |list: &[(CmpClass, Expr)]| -> Vec<CmpClass> {
                list.iter().map(|(class, _)| class.clone()).collect()
            };
            a.negated == b.negated && classes(&a.items) == classes(&b.items)
        }
        (K::Between(a), K::Between(b)) => a.negated == b.negated && a.classes == b.classes,
        (K::Like(a), K::Like(b)) => {
            (a.negated, a.escape, a.collation) == (b.negated, b.escape, b.collation)
        }
        (K::DateArith(a), K::DateArith(b)) => (a.unit, a.subtract) == (b.unit, b.subtract),
        (K::Subquery(a), K::Subquery(b)) => a.id == b.id,
        (K::Match(a), K::Match(b)) => a.id == b.id,
        _ => false,
    }
}
