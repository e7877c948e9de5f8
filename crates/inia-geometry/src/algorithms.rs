//! What is computed of shapes in the plane.

pub mod buffer;
mod convert;
pub mod distance;
pub mod lines;
pub mod measure;
pub mod overlay;
mod plane;
pub mod relate;
pub mod simplify;
pub mod valid;

use crate::shape::Shape;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The library gave up: it is made for geometries that are valid, and of usual sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// What the library computes; its panics end no statement but this computation.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Failed)
}

/// A power of two that brings all coordinates to numbers of at most one, and its inverse: they are
/// multiplied by it without rounding.
fn scale_of(shapes: &[&Shape]) -> (f64, f64) {
    let mut far = 0f64;
    for shape in shapes {
        shape.for_each(&mut |at| far = far.max(at.x.abs()).max(at.y.abs()));
    }
    let exponent = if far > 0.0 { far.log2().ceil().clamp(-1000.0, 1000.0) } else { 0.0 };
    ((-exponent).exp2(), exponent.exp2())
}

/// A shape whose coordinates are so many times as large.
fn scaled(shape: &Shape, factor: f64) -> Shape {
    let mut shape = shape.clone();
    shape.change(&mut |at| (at.x, at.y) = (at.x * factor, at.y * factor));
    shape
}
