//! Finding rows by MATCH … AGAINST.

use super::choose::Candidate;
use super::{AccessPath, FoundBy, HintedIndexes, Request, SearchPath};
use inia_base::value::Value;
use inia_expr::tree::Match;
use inia_expr::{CmpOp, Expr, ExprKind};

/// The part of the rows that a search is taken to find.
pub(super) const FOUND_SHARE: f64 = 0.01;

/// A path over the rows that a search finds which a condition asks for. A condition that is the
/// search itself is true for all of them.
pub(super) fn search_path(request: &Request<'_>, conditions: &[Expr]) -> Option<Candidate> {
    let slots = request.base..request.base + request.needed.len();
    let is_own = |search: &Match| {
        let own = |column: &Expr| match column.kind {
            ExprKind::Column { index, .. } => slots.contains(&index),
            _ => false,
        };
        search.columns.iter().all(own)
    };
    conditions.iter().enumerate().find_map(|(number, condition)| {
        let (search, whole) = searched(condition)?;
        let index = search.index.filter(|_| is_own(search))?;
        let def = &request.table.def;
        let usable = request.allowed.is_none_or(|allowed| allowed.usable.contains(&index));
        if !usable || !HintedIndexes::shows(request.hinted, &def.indexes[index]) {
            return None;
        }
        let mut path = AccessPath::all(def.clustered_index().is_some());
        let search = SearchPath { index, search: search.clone() };
        path.found_by = Some(Box::new(FoundBy::Search(search)));
        let covered = if whole { vec![number] } else { Vec::new() };
        Some(Candidate { path, covered })
    })
}

/// The search outside of whose rows a condition is not true, and whether it is true for all rows
/// that are found.
fn searched(condition: &Expr) -> Option<(&Match, bool)> {
    match &condition.kind {
        ExprKind::Match(search) => Some((search, true)),
        ExprKind::Compare(compare) => {
            let (search, op, limit) = match (&compare.left.kind, &compare.right.kind) {
                (ExprKind::Match(search), _) => (search, compare.op, &compare.right),
                (_, ExprKind::Match(search)) => (search, compare.op.swapped(), &compare.left),
                _ => return None,
            };
            // Rows that are not found have rank 0.
            let limit = match limit.as_literal()? {
                Value::Int(number) => *number as f64,
                Value::UInt(number) => *number as f64,
                Value::Double(number) => *number,
                Value::Decimal(number) => number.to_f64(),
                _ => return None,
            };
            let bounds = match op {
                CmpOp::Gt => limit >= 0.0,
                CmpOp::Ge | CmpOp::Eq => limit > 0.0,
                _ => false,
            };
            bounds.then_some((&**search, false))
        }
        _ => None,
    }
}
