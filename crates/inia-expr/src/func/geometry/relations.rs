//! Relations of two geometries and of their boxes.

use crate::eval::{Args, FnResult, Stop};
use crate::func::types::int_null;
use crate::func::{Function, ft};
use inia_base::value::Value;
use inia_geometry::relate::{BoxRelation, Relation, boxes, holds};

const RELATIONS: [Relation; 8] = [
    Relation::Contains,
    Relation::Within,
    Relation::Intersects,
    Relation::Disjoint,
    Relation::Equals,
    Relation::Touches,
    Relation::Crosses,
    Relation::Overlaps,
];

const BOXES: [BoxRelation; 9] = [
    BoxRelation::Contains,
    BoxRelation::Within,
    BoxRelation::Covers,
    BoxRelation::CoveredBy,
    BoxRelation::Disjoint,
    BoxRelation::Equals,
    BoxRelation::Intersects,
    BoxRelation::Overlaps,
    BoxRelation::Touches,
];

const fn shape(name: &'static str, relation: Relation) -> Function {
    ft(name, 2, 2, int_null::<1>, of_shapes, relation as i64)
}

const fn mbr(name: &'static str, relation: BoxRelation) -> Function {
    ft(name, 2, 2, int_null::<1>, of_boxes, relation as i64)
}

pub(in crate::func) const TABLE: &[Function] = &[
    shape("st_contains", Relation::Contains),
    shape("st_within", Relation::Within),
    shape("st_intersects", Relation::Intersects),
    shape("st_disjoint", Relation::Disjoint),
    shape("st_equals", Relation::Equals),
    shape("st_touches", Relation::Touches),
    shape("st_crosses", Relation::Crosses),
    shape("st_overlaps", Relation::Overlaps),
    mbr("mbrcontains", BoxRelation::Contains),
    mbr("mbrwithin", BoxRelation::Within),
    mbr("mbrcovers", BoxRelation::Covers),
    mbr("mbrcoveredby", BoxRelation::CoveredBy),
    mbr("mbrdisjoint", BoxRelation::Disjoint),
    mbr("mbrequals", BoxRelation::Equals),
    mbr("mbrintersects", BoxRelation::Intersects),
    mbr("mbroverlaps", BoxRelation::Overlaps),
    mbr("mbrtouches", BoxRelation::Touches),
];

fn of_shapes(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    let relation = RELATIONS[usize::try_from(a.call.tag).unwrap_or(0)];
    let known = holds(relation, &first.shape, &second.shape).map_err(|_| a.failed())?;
    Ok(Value::Int(known.ok_or(Stop::Null)?.into()))
}

fn of_boxes(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    let relation = BOXES[usize::try_from(a.call.tag).unwrap_or(0)];
    let (left, right) = match (first.shape.bounds(), second.shape.bounds()) {
        (left, right) if relation == BoxRelation::Equals => {
            return Ok(Value::Int((left == right).into()));
        }
        (left, right) => (left.ok_or(Stop::Null)?, right.ok_or(Stop::Null)?),
    };
    Ok(Value::Int(boxes(relation, &left, &right).into()))
}
