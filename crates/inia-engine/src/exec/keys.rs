//! Values as memory-comparable bytes: what sorting, grouping, DISTINCT and hash joins compare.

use crate::expr::ExprType;
use inia_base::key;
use inia_base::value::Value;

/// Appends `value` as one key part: equal bytes exactly where SQL calls the values equal, ordered
/// as ORDER BY orders them, NULL first (last when descending).
pub(super) fn encode_key(value: &Value, ty: &ExprType, descending: bool, out: &mut Vec<u8>) {
    key::encode(value, &ty.data_type, descending, None, out);
}

/// A whole tuple as bytes.
pub(super) struct TupleKey(Vec<u8>);

impl TupleKey {
    /// The key of `tuple`, whose columns have `types`.
    pub(super) fn new(tuple: &[Value], types: &[ExprType]) -> TupleKey {
        let mut bytes = Vec::with_capacity(16 * types.len());
        for (value, ty) in tuple.iter().zip(types) {
            encode_key(value, ty, false, &mut bytes);
        }
        TupleKey(bytes)
    }

    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
