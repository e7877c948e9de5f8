//! Expressions: bound, typed, evaluated with MySQL's rules.
//!
//! `bind` turns syntax into an [`Expr`], `prepare` computes what is constant, then
//! [`Expr::eval`] runs once per row. Values that go into a column pass through `store`.

pub mod aggregate;
mod arith;
pub mod bind;
pub mod cast;
pub mod collate;
pub mod compare;
mod constant;
pub mod context;
pub mod convert;
pub mod eval;
pub mod func;
pub(crate) mod interval;
pub mod json;
pub mod like;
pub(crate) mod locale;
pub mod merge;
pub mod number;
pub mod print;
mod rows;
mod same;
pub mod store;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod ty;

pub use aggregate::{Accumulator, Aggregate, WindowFunction};
pub use bind::{Binder, BoundSubquery, EmptyScope, Scope, bind, prepare, prepare_operand};
pub use context::{
    Environment, EvalContext, Level, NoHost, NoSubqueries, SessionHost, SqlMode, Strictness,
    SubqueryRunner, UserVar, VarScope, Warning, Warnings,
};
pub use merge::merge;
pub(crate) use rows::column_types;
pub use store::store_value;
pub use tree::{CmpOp, Expr, ExprKind};
pub(crate) use ty::lob_bytes;
pub use ty::{Coercibility, ExprType, TypeClass};
