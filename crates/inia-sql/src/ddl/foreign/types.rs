//! Which columns can refer to each other.

use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};

/// What two columns of a foreign key have in common.
#[derive(PartialEq)]
enum Family {
    Text(Collation),
    Binary,
    Decimal,
    /// Numbers without sign, ENUM and SET, by their bytes.
    Unsigned(u8),
    Signed(IntWidth),
    Moment,
    Other(std::mem::Discriminant<DataType>),
}

impl Family {
    fn of(data_type: &DataType) -> Family {
        use DataType as T;
        match data_type {
            T::Char { collation, .. } | T::VarChar { collation, .. } => Family::Text(*collation),
            T::Binary(_) | T::VarBinary(_) => Family::Binary,
            T::Decimal { .. } => Family::Decimal,
            T::Int { width, unsigned: true } => Family::Unsigned(width.bytes()),
            T::Int { width, .. } => Family::Signed(*width),
            T::Enum { members, .. } => Family::Unsigned(if members.len() > 255 { 2 } else { 1 }),
            T::Set { members, .. } => Family::Unsigned(match members.len() {
                0..=8 => 1,
                9..=16 => 2,
                17..=24 => 3,
                25..=32 => 4,
                _ => 8,
            }),
            T::DateTime { .. } | T::Timestamp { .. } => Family::Moment,
            other => Family::Other(std::mem::discriminant(other)),
        }
    }
}

/// Whether a child column of one type can refer to a parent column of the other.
pub(super) fn compatible(child: &DataType, parent: &DataType) -> bool {
    Family::of(child) == Family::of(parent)
}
