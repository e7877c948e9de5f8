//! Expressions: bound, typed, evaluated with MySQL's rules.
//!
//! `bind` turns syntax into an [`Expr`], `prepare` computes what is constant, then
//! [`Expr::eval`] runs once per row. Values that go into a column pass through `store`.

pub mod aggregate;
mod arith;
pub mod bind;
pub mod cast;
pub mod charset;
pub mod collate;
pub mod column_type;
pub mod compare;
mod constant;
mod context;
pub mod convert;
pub mod derive;
mod eval;
mod func;
pub mod interval;
pub mod json;
pub mod like;
pub mod locale;
mod merge;
pub mod narrow;
mod number;
pub mod print;
mod row_set;
mod rows;
mod same;
mod slots;
mod sound;
pub mod store;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod ty;
mod xml;

pub use aggregate::{Accumulator, Aggregate, WindowFunction};
pub use bind::sequence::sequence_of;
pub use bind::unset::unset_item;
pub use bind::{Binder, BoundSubquery, EmptyScope, Scope, bind, prepare, prepare_operand};
pub use collate::from_base64;
pub use constant::{date_constant, wrong_date};
pub use context::{
    Environment, EvalContext, Level, NoSubqueries, RowVisitor, SessionHost, StoredFunction,
    Strictness, SubqueryRunner, UserVar, VarScope, Warning, WarningMark, Warnings,
};
pub use eval::{Args, EvalFn, FnResult, Stop};
pub use func::{
    DateField, crc32, date_field, full_length, is_native_function, new_uuid, schema_failures,
};
pub use merge::merge;
pub use rows::column_types;
pub use slots::{Needs, SlotSet, conjuncts, slots_of, take_ready};
pub use store::store_value;
pub use tree::{CmpOp, Expr, ExprKind, StoredCall};
pub use ty::lob_bytes;
pub use ty::{Coercibility, ExprType, TypeClass};
