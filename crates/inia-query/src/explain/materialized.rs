//! Semi and anti joins whose right side is kept in a hash table: MySQL calls it a materialized
//! subquery, in which the rows of the left side are looked up by an index of its columns.
//!
//! ```text
//!   1  SIMPLE        c             ALL
//!   1  SIMPLE        <subquery2>   eq_ref  <auto_distinct_key>
//!   2  MATERIALIZED  n             ALL
//! ```

use super::line::{Line, compared_with, join_extra};
use crate::catalog::width::row_bytes;
use crate::plan::{Body, HashKey, JoinMethod, JoinPlan, JoinType, RowSource, Subplan};
use inia_base::datatype::DataType;
use inia_expr::{Expr, ExprKind, ExprType};

const KEY: &str = "<auto_distinct_key>";

/// The line of a subquery whose distinct rows are joined: they are looked up where they are the
/// right side of the join, and read first otherwise. Its number is not known yet.
pub(super) fn members_line(
    (id, source): (usize, &RowSource),
    join: Option<&JoinPlan>,
    blank: &Line,
) -> Line {
    let table = Some(format!("<subplan{id}>"));
    let right = join.filter(|join| std::ptr::eq(&raw const join.right, source));
    match right.filter(|join| !keys(join).is_empty()) {
        Some(join) => Line { table, ..lookup_line(join, 0, blank) },
        None => {
            let (access, filtered) = (Some("ALL"), Some(100.0));
            Line { table, access, filtered, ..blank.clone() }
        }
    }
}

/// The line of a subquery whose distinct rows are read.
pub(super) fn scanned_line(id: usize, join: Option<&JoinPlan>, blank: &Line) -> Line {
    let mut extra = Vec::new();
    join_extra(join, &mut extra);
    Line {
        table: Some(format!("<subquery{id}>")),
        access: Some("ALL"),
        filtered: Some(100.0),
        extra,
        ..blank.clone()
    }
}

/// Whether a join looks a derived table's rows up by all columns of a UNION, whose rows differ.
pub(super) fn is_distinct(subplan: &Subplan, join: &JoinPlan, width: usize) -> bool {
    let Body::SetOperation(set) = &subplan.query.body else { return false };
    let whole = keys(join).len() == width;
    whole && set.counted == set.rest.len() && subplan.recursive.is_none()
}

/// The line of a derived table of so many rows, all of which are read.
pub(super) fn scanned_derived(
    rows: f64,
    (filter, join): (&[Expr], Option<&JoinPlan>),
    blank: &Line,
) -> Line {
    let inner = join.is_none_or(|join| join.kind == JoinType::Inner);
    let single = rows <= 1.0 && inner;
    let mut extra = Vec::new();
    if !single {
        if !filter.is_empty() {
            extra.push("Using where");
        }
        join_extra(join, &mut extra);
    }
    let least = if rows > 0.0 { 1.0 } else { 0.0 };
    Line {
        access: Some(if single { "system" } else { "ALL" }),
        rows: Some(rows.round().max(least) as u64),
        filtered: Some(100.0),
        extra,
        ..blank.clone()
    }
}

/// The line of a derived table of so many rows and columns, which are looked up by an index that is
/// made of them; `distinct` where that is one of all columns, by which no two rows are alike.
pub(super) fn keyed_line(
    join: &JoinPlan,
    (rows, width): (f64, usize),
    distinct: bool,
    blank: &Line,
) -> Line {
    let name = if distinct { KEY } else { "<auto_key0>" };
    let keys = keys(join);
    let references: Vec<String> = keys.iter().map(|key| compared_with(&key.left)).collect();
    let length = keys.iter().map(|key| key_length(&key.right.ty)).sum::<u64>();
    let mut extra = Vec::new();
    if !join.on.is_empty() || !keys.iter().all(is_plain) {
        extra.push("Using where");
    }
    if keys.len() == width {
        extra.push("Using index");
    }
    let found = if distinct { 1.0 } else { (rows * 0.1).clamp(2.0, 10.0) };
    Line {
        access: Some(if distinct { "eq_ref" } else { "ref" }),
        possible_keys: Some(name.to_owned()),
        key: Some(name.to_owned()),
        key_len: Some(length.to_string()),
        reference: Some(references.join(",")),
        rows: Some(found as u64),
        filtered: Some(100.0),
        extra,
        ..blank.clone()
    }
}

/// The line of the lookup in the rows of a query block.
pub(super) fn lookup_line(join: &JoinPlan, id: usize, blank: &Line) -> Line {
    let keys = keys(join);
    let references: Vec<String> = keys.iter().map(|key| compared_with(&key.left)).collect();
    let anti = join.kind == JoinType::Anti;
    // The rows of an anti join's table may be rows of NULLs.
    let may_be_null = |key: &HashKey| u64::from(anti && !key.right.ty.nullable);
    let length = |key: &HashKey| key_length(&key.right.ty) + may_be_null(key);
    let length = keys.iter().map(length).sum::<u64>();
    let mut extra = Vec::new();
    if anti || !join.on.is_empty() || !keys.iter().all(is_plain) {
        extra.push("Using where");
    }
    if anti {
        extra.push("Not exists");
    }
    Line {
        table: Some(format!("<subquery{id}>")),
        access: Some("eq_ref"),
        possible_keys: Some(KEY.to_owned()),
        key: Some(KEY.to_owned()),
        key_len: Some(length.to_string()),
        reference: Some(references.join(",")),
        rows: Some(1),
        filtered: Some(100.0),
        extra,
        ..blank.clone()
    }
}

fn keys(join: &JoinPlan) -> &[HashKey] {
    match &join.method {
        JoinMethod::Hash(keys) => keys,
        JoinMethod::NestedLoop => &[],
    }
}

/// Whether the index finds exactly the rows that are equal: columns of one type are compared.
fn is_plain(key: &HashKey) -> bool {
    let column = |expr: &Expr| matches!(expr.kind, ExprKind::Column { .. });
    column(&key.left) && column(&key.right) && key.left.ty.data_type == key.right.ty.data_type
}

/// The bytes of a value in the index.
fn key_length(ty: &ExprType) -> u64 {
    let bytes = match &ty.data_type {
        DataType::VarChar { chars, collation } => {
            u64::from(*chars) * u64::from(collation.charset().max_bytes()) + 2
        }
        DataType::VarBinary(bytes) => u64::from(*bytes) + 2,
        other => row_bytes(other),
    };
    bytes + u64::from(ty.nullable)
}
