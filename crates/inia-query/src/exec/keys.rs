//! Values as memory-comparable bytes: what sorting, grouping, DISTINCT and hash joins compare.
//!
//! Every part starts with 0 for NULL or 1 for a value. Numbers have fixed sizes; texts are their
//! collation's sort key, which has no zero byte, ended by `00`; in binary strings a zero byte
//! becomes `00 FF`, and the end is `00 00`.

use crate::row::Cell;
use inia_base::collation::Collation;
use inia_base::decimal::{Decimal, MAX_DIGITS, MAX_PRECISION, MAX_SCALE};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::ExprType;
use inia_expr::compare::{CmpClass, natural_class};
use inia_expr::json;

const NULL: u8 = 0;
const PRESENT: u8 = 1;
/// A decimal that no column has room for.
const FINER: u8 = 2;

/// Appends `value` as one key part: equal bytes exactly where SQL calls the values equal, ordered
/// as ORDER BY orders them, NULL first (last when descending).
pub fn encode_key(value: &Value, ty: &ExprType, descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if *value == Value::Null {
        out.push(NULL);
    } else {
        out.push(PRESENT);
        let scale = ty.decimals.min(MAX_SCALE);
        encode_value(value, &natural_class(ty), scale, out);
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Appends a value that is not NULL as a key part of an equality in `class`. A decimal with more
/// digits than a column has room for keeps them all.
pub(super) fn encode_equal(class: &CmpClass, value: &Value, out: &mut Vec<u8>) {
    if *class == CmpClass::Decimal {
        if let Value::Decimal(v) = value
            && let fitted = v.rescale(MAX_PRECISION, MAX_SCALE)
            && (fitted.rounded || fitted.overflow)
        {
            let exact = v.normalized();
            out.extend_from_slice(&[FINER, exact.scale()]);
            return exact.encode(MAX_DIGITS, exact.scale(), out);
        }
        out.push(PRESENT);
    }
    encode_value(value, class, MAX_SCALE, out);
}

/// As [`encode_key`] for a stored cell of a column of type `ty`.
pub(super) fn encode_cell(
    cell: Cell<'_>,
    ty: &ExprType,
    zone: &TimeZone,
    descending: bool,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    match (cell, ty.is_text()) {
        (Cell::Null, _) => out.push(NULL),
        (Cell::Int(v), _) => {
            out.push(PRESENT);
            encode_int(i128::from(v), out);
        }
        (Cell::Text(text), true) => {
            out.push(PRESENT);
            encode_text(ty.collation(), text.as_bytes(), out);
        }
        _ => return encode_key(&cell.value(&ty.data_type, zone), ty, descending, out),
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn encode_value(value: &Value, class: &CmpClass, scale: u8, out: &mut Vec<u8>) {
    match (value, class) {
        (Value::Null, _) => {}
        (Value::Int(v), CmpClass::Decimal) => encode_decimal(Decimal::from(*v), scale, out),
        (Value::UInt(v), CmpClass::Decimal) => encode_decimal(Decimal::from(*v), scale, out),
        (Value::Int(v), CmpClass::Real) => encode_real(*v as f64, out),
        (Value::UInt(v), CmpClass::Real) => encode_real(*v as f64, out),
        (Value::Decimal(v), CmpClass::Real) => encode_real(v.to_f64(), out),
        (Value::Int(v), _) => encode_int(i128::from(*v), out),
        (Value::UInt(v), _) => encode_int(i128::from(*v), out),
        (Value::Decimal(v), _) => encode_decimal(*v, scale, out),
        (Value::Double(v), _) => encode_real(*v, out),
        (Value::Text(text), CmpClass::Text(collation)) => {
            encode_text(*collation, text.as_bytes(), out);
        }
        (Value::Json(text), _) => json::key::write(&json::stored(text), out),
        (Value::Text(text), _) => encode_bytes(text.as_bytes(), out),
        (Value::Bytes(bytes), _) => encode_bytes(bytes, out),
        (Value::Date(v), _) => out.extend_from_slice(&v.at_midnight().pack().to_be_bytes()),
        (Value::DateTime(v), _) => out.extend_from_slice(&v.pack().to_be_bytes()),
        (Value::Time(v), _) => encode_int(i128::from(v.micros), out),
    }
}

/// The low 9 bytes of the number with its sign flipped: enough for both kinds of 64-bit integers.
fn encode_int(value: i128, out: &mut Vec<u8>) {
    let shifted = (value + (1 << 64)).to_be_bytes();
    out.extend_from_slice(&shifted[7..]);
}

fn encode_real(value: f64, out: &mut Vec<u8>) {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

fn encode_decimal(value: Decimal, scale: u8, out: &mut Vec<u8>) {
    value.encode(MAX_PRECISION, scale, out);
}

/// Appends a text as [`encode_equal`] does where texts compare by the collation.
pub(super) fn encode_text(collation: Collation, text: &[u8], out: &mut Vec<u8>) {
    if collation == Collation::BINARY {
        return encode_bytes(text, out);
    }
    collation.sort_key(text, out);
    out.push(0);
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
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
