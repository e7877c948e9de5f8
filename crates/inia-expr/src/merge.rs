//! The common type of several expressions: CASE, IF, COALESCE, UNION.

use crate::collate;
use crate::ty::{Coercibility, ExprType, TypeClass};
use inia_base::datatype::{DataType, GeometryKind, IntWidth, LobSize};
use inia_base::error::{ErrorCode, SqlError};

/// The type that values of all `types` are converted to; nullable if any is.
pub fn merge(types: &[&ExprType], operation: &str) -> Result<ExprType, SqlError> {
    let nullable = types.iter().any(|ty| ty.nullable);
    let known: Vec<&ExprType> =
        types.iter().copied().filter(|ty| ty.class() != TypeClass::Null).collect();
    let Some(first) = known.first() else {
        return Ok(ExprType::null());
    };
    if known.iter().all(|ty| ty.data_type == first.data_type && !ty.is_geometry())
        && !is_listed(&first.data_type)
    {
        return merge_equal(&known, nullable, operation);
    }
    let geometry = |ty: &&ExprType| match ty.data_type {
        DataType::Geometry { kind, .. } => Some(kind),
        _ => None,
    };
    if let Some(kinds) = known.iter().map(geometry).collect::<Option<Vec<GeometryKind>>>() {
        let same = kinds.iter().all(|kind| *kind == kinds[0]);
        let kind = if same && operation != "if" { kinds[0] } else { GeometryKind::Geometry };
        return Ok(ExprType::geometry(kind).with_nullable(nullable));
    }
    // Other functions make numbers of bits.
    if let (Some(bits), "UNION" | "VALUES" | "if" | "case") = (merge_bits(&known), operation) {
        return Ok(ExprType::computed(DataType::Bit(bits), nullable));
    }
    let all = |wanted: fn(TypeClass) -> bool| known.iter().all(|ty| wanted(ty.class()));
    if all(|class| class == TypeClass::Int) {
        return Ok(merge_ints(&known, nullable));
    }
    if all(|class| matches!(class, TypeClass::Int | TypeClass::Decimal)) {
        return Ok(merge_decimals(&known, nullable));
    }
    if all(|class| matches!(class, TypeClass::Int | TypeClass::Decimal | TypeClass::Real)) {
        let float = stays_float(&known);
        let mut ty = ExprType::double(nullable);
        if float {
            ty = ExprType::computed(DataType::Float { decimals: None, unsigned: false }, nullable);
        }
        ty.length = known.iter().map(|ty| ty.length).max().unwrap_or(23);
        return Ok(ty);
    }
    if all(|class| matches!(class, TypeClass::Dated | TypeClass::Time)) {
        let fsp = known.iter().map(|ty| ty.fsp()).max().unwrap_or(0);
        let data_type = if all(|class| class == TypeClass::Time) {
            DataType::Time { fsp }
        } else {
            DataType::DateTime { fsp }
        };
        return Ok(ExprType::computed(data_type, nullable));
    }
    merge_strings(types, nullable, operation)
}

/// Whether FLOAT and what is with it is FLOAT. It is DOUBLE with INT and DECIMAL, and where BIGINT
/// comes first.
fn stays_float(known: &[&ExprType]) -> bool {
    let mut seen = false;
    known.iter().all(|ty| match ty.data_type {
        DataType::Float { .. } => {
            seen = true;
            true
        }
        DataType::Int { width: IntWidth::Big, .. } => seen,
        DataType::Int { width, .. } => width != IntWidth::Int,
        _ => ty.data_type == DataType::Year,
    })
}

fn is_listed(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Enum { .. } | DataType::Set { .. } | DataType::Bit(_))
}

/// The width of BITs where there is nothing else.
fn merge_bits(known: &[&ExprType]) -> Option<u8> {
    let bits = known.iter().map(|ty| match ty.data_type {
        DataType::Bit(bits) => Some(bits),
        _ => None,
    });
    bits.collect::<Option<Vec<u8>>>()?.into_iter().max()
}

fn merge_equal(known: &[&ExprType], nullable: bool, operation: &str) -> Result<ExprType, SqlError> {
    let mut ty = known[0].clone().with_nullable(nullable).into_computed();
    if ty.class() == TypeClass::String {
        return merge_strings(known, nullable, operation);
    }
    ty.length = known.iter().map(|ty| ty.length).max().unwrap_or(0);
    ty.decimals = known.iter().map(|ty| ty.decimals).max().unwrap_or(0);
    Ok(ty)
}

fn merge_ints(known: &[&ExprType], nullable: bool) -> ExprType {
    let unsigned = known.iter().all(|ty| ty.is_unsigned());
    let mixed = !unsigned && known.iter().any(|ty| ty.is_unsigned());
    let length = known.iter().map(|ty| ty.length).max().unwrap_or(1);
    let width = known.iter().filter_map(|ty| match ty.data_type {
        DataType::Int { width, .. } => Some(width),
        _ => None,
    });
    let big_unsigned = |ty: &&ExprType| {
        ty.is_unsigned() && matches!(ty.data_type, DataType::Int { width: IntWidth::Big, .. })
    };
    if mixed && known.iter().any(big_unsigned) {
        return ExprType::decimal(20, 0, false, nullable);
    }
    if mixed && known.iter().any(|ty| matches!(ty.data_type, DataType::Bit(_))) {
        let digits = known.iter().map(|ty| ty.precision()).max().unwrap_or(1);
        return ExprType::decimal(digits, 0, false, nullable);
    }
    let widest = width.max().unwrap_or(IntWidth::Big);
    // A year needs more than a byte.
    let years = known.iter().any(|ty| ty.data_type == DataType::Year);
    let widest = if years && mixed { widest.max(IntWidth::Small) } else { widest };
    let unsigned_widest =
        |ty: &&ExprType| ty.data_type == DataType::Int { width: widest, unsigned: true };
    let width = match mixed && known.iter().any(unsigned_widest) {
        true => wider(widest),
        false => widest,
    };
    let ty = ExprType::computed(DataType::Int { width, unsigned }, nullable);
    ExprType { length, ..ty }
}

/// The signed integer that holds the unsigned ones of this width.
fn wider(width: IntWidth) -> IntWidth {
    match width {
        IntWidth::Tiny => IntWidth::Small,
        IntWidth::Small => IntWidth::Medium,
        IntWidth::Medium => IntWidth::Int,
        IntWidth::Int | IntWidth::Big => IntWidth::Big,
    }
}

fn merge_decimals(known: &[&ExprType], nullable: bool) -> ExprType {
    let scale = known.iter().map(|ty| u32::from(ty.decimals)).max().unwrap_or(0);
    let whole = |ty: &&ExprType| ty.precision().saturating_sub(u32::from(ty.decimals));
    let whole = known.iter().map(whole).max().unwrap_or(1);
    let unsigned = known.iter().all(|ty| ty.is_unsigned());
    ExprType::decimal(whole + scale, scale, unsigned, nullable)
}

fn merge_strings(
    types: &[&ExprType],
    nullable: bool,
    operation: &str,
) -> Result<ExprType, SqlError> {
    let (collation, coercibility) = collate::aggregate(types, operation)?;
    if operation == "UNION" && coercibility == Coercibility::NoCollation {
        return Err(SqlError::new(ErrorCode::CantAggregateNcollations, &[&operation]));
    }
    let length = types.iter().map(|ty| ty.length_in(collation)).max().unwrap_or(0);
    let mut ty = ExprType::text(length, collation, nullable);
    // CHAR stays so beside all but strings of other kinds.
    let fixed = |ty: &&ExprType| {
        ty.class() != TypeClass::String || matches!(ty.data_type, DataType::Char { .. })
    };
    let json = types.iter().any(|ty| ty.class() == TypeClass::Json);
    let any_char = types.iter().any(|ty| matches!(ty.data_type, DataType::Char { .. }));
    if let (DataType::VarChar { chars, .. }, true) = (&ty.data_type, any_char && !json)
        && *chars <= 255
        && types.iter().all(fixed)
    {
        ty.data_type = DataType::Char { chars: *chars, collation };
    }
    // The tuples of a set operation are stored, in columns of BINARY that pad them.
    let fixed = |ty: &&ExprType| {
        ty.class() != TypeClass::String
            || matches!(
                ty.data_type,
                DataType::Binary(_)
                    | DataType::Char { .. }
                    | DataType::Enum { .. }
                    | DataType::Set { .. }
            )
    };
    let any_binary = types.iter().any(|ty| matches!(ty.data_type, DataType::Binary(_)));
    if let (DataType::VarBinary(bytes @ 0..=255), "UNION") = (&ty.data_type, operation)
        && any_binary
        && !json
        && types.iter().all(fixed)
    {
        ty.data_type = DataType::Binary(*bytes);
    }
    // What has a TEXT or BLOB among its operands is one, however short.
    let long = |ty: &&ExprType| matches!(ty.data_type, DataType::Text { .. } | DataType::Blob(_));
    match ty.data_type {
        DataType::VarChar { .. } if types.iter().any(long) => {
            ty.data_type = DataType::Text { size: LobSize::Normal, collation };
        }
        DataType::VarBinary(_) if types.iter().any(long) => {
            ty.data_type = DataType::Blob(LobSize::Normal);
        }
        _ => {}
    }
    ty.coercibility = coercibility.max(Coercibility::Explicit);
    Ok(ty)
}
