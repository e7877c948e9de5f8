//! The types of parameters that follow from where they stand.
//!
//! MySQL gives a parameter a type when its statement is prepared: in `id + ?` that of `id`, as the
//! number that is as wide as any, in `SUBSTRING(s, ?)` BIGINT. Values that EXECUTE brings become
//! values of that type. Where nothing says a type (`SELECT ?`) the parameter is a text.
//!
//! Types are derived while PREPARE plans its statement. An operand is *open* if its type would
//! follow from parameters without a type only: a parameter, `-?`, `? + ?`, `IFNULL(?, ?)`. It takes
//! the type of the operands beside it, and is bound anew. Where all operands are open their
//! parameters have a type for the time being, which an operator around them may replace:
//! `? + ?` is a DOUBLE, and a BIGINT in `id = ? + ?`.

use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::column::ResultColumn;
use inia_base::datatype::{DataType, GeometryKind};
use inia_parser::ast::{self, BinaryOp, UnaryOp};
use std::cell::{Cell, RefCell};

/// What a parameter is described as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A string with as many characters as 65,535 bytes of a character set have at most.
    Text(Collation),
    /// A string of any length, of the connection's collation.
    LongText,
    /// Bytes.
    Bytes,
    /// Bytes of any length.
    LongBytes,
    /// BIGINT.
    Int,
    /// BIGINT UNSIGNED.
    UInt,
    /// A decimal with 30 digits after the point.
    Decimal,
    /// DOUBLE.
    Double,
    /// DATE.
    Date,
    /// DATETIME(6).
    DateTime,
    /// TIME(6).
    Time,
    /// YEAR.
    Year,
    /// BIT.
    Bit,
    /// JSON.
    Json,
    /// GEOMETRY.
    Geometry,
}

/// What becomes of the values that EXECUTE brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUse {
    /// They stay as they are: what takes them converts them.
    AsGiven,
    /// Strings become values of the type; other values do where the type is a number.
    Converted,
    /// All values become values of the type, and NULL where they are no such value.
    Compared,
    /// They say how many rows LIMIT lets through.
    Counted,
}

/// The type of a parameter, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedParam {
    /// What it is described as.
    pub ty: ParamType,
    /// What becomes of its values.
    pub used: ParamUse,
    /// Nothing around it says more: it is what its values are once the statement is planned anew
    /// for another parameter.
    pub loose: bool,
}

impl DerivedParam {
    /// A parameter whose place says its type.
    pub(crate) fn new(ty: ParamType, used: ParamUse) -> DerivedParam {
        DerivedParam { ty, used, loose: false }
    }

    /// A text that nothing says more about.
    pub fn text(collation: Collation) -> DerivedParam {
        DerivedParam::new(ParamType::Text(collation), ParamUse::AsGiven)
    }

    /// Whether a column takes the values as they are given, or another that is no text.
    pub fn is_stored(&self) -> bool {
        self.used == ParamUse::AsGiven && !matches!(self.ty, ParamType::Text(_))
    }

    /// Beside an operand of this type.
    pub(crate) fn beside(ty: &ExprType, connection: Collation, used: ParamUse) -> DerivedParam {
        DerivedParam::new(ParamType::beside(ty, connection), used).sound()
    }

    /// Only numbers and temporal values are converted.
    fn sound(self) -> DerivedParam {
        if self.used == ParamUse::Counted {
            return self;
        }
        use ParamType as T;
        let converted =
            matches!(self.ty, T::Int | T::UInt | T::Decimal | T::Double | T::Date | T::DateTime)
                || matches!(self.ty, T::Time);
        match converted {
            true => self,
            false => DerivedParam { used: ParamUse::AsGiven, ..self },
        }
    }

    /// The type that its expression has in a plan.
    pub fn bound(&self, connection: Collation) -> ExprType {
        match self.used {
            ParamUse::AsGiven => ExprType::text(16_383, connection, true),
            ParamUse::Counted | ParamUse::Converted | ParamUse::Compared => {
                self.ty.described(connection)
            }
        }
    }
}

impl ParamType {
    /// The type of a parameter beside an operand.
    pub(crate) fn beside(ty: &ExprType, connection: Collation) -> ParamType {
        match &ty.data_type {
            DataType::Year => return ParamType::Year,
            DataType::Bit(_) => return ParamType::Bit,
            DataType::Geometry { .. } => return ParamType::Geometry,
            DataType::Date => return ParamType::Date,
            _ => {}
        }
        let text = ParamType::Text(connection);
        match ty.class() {
            TypeClass::Int if ty.is_unsigned() => ParamType::UInt,
            TypeClass::Int => ParamType::Int,
            TypeClass::Decimal => ParamType::Decimal,
            TypeClass::Real => ParamType::Double,
            TypeClass::Dated => ParamType::DateTime,
            TypeClass::Time => ParamType::Time,
            TypeClass::Json => ParamType::Json,
            TypeClass::Null => text,
            TypeClass::String => {
                let long = matches!(ty.data_type, DataType::Text { .. } | DataType::Blob { .. });
                match (ty.is_text(), long) {
                    (true, true) => ParamType::LongText,
                    (true, false) => ParamType::Text(ty.collation()),
                    (false, true) => ParamType::LongBytes,
                    (false, false) => ParamType::Bytes,
                }
            }
        }
    }

    /// The type of an expression that is described so.
    pub(crate) fn described(self, connection: Collation) -> ExprType {
        let computed = |data_type| ExprType::computed(data_type, true);
        match self {
            ParamType::Text(collation) => {
                let chars = 65_535 / u32::from(collation.charset().max_bytes());
                computed(DataType::VarChar { chars, collation: connection })
            }
            ParamType::LongText => ExprType::text(u64::from(u32::MAX), connection, true),
            ParamType::Bytes => ExprType::binary(65_535, true),
            ParamType::LongBytes => ExprType::binary(u64::from(u32::MAX), true),
            ParamType::Int => ExprType::int(21, true),
            ParamType::UInt => ExprType::uint(21, true),
            ParamType::Decimal => ExprType::decimal(65, 30, false, true),
            ParamType::Double => ExprType::double(true),
            ParamType::Date => computed(DataType::Date),
            ParamType::DateTime => computed(DataType::DateTime { fsp: 6 }),
            ParamType::Time => computed(DataType::Time { fsp: 6 }),
            ParamType::Year => ExprType { length: 5, ..computed(DataType::Year) },
            ParamType::Bit => computed(DataType::Bit(21)),
            ParamType::Json => computed(DataType::Json),
            ParamType::Geometry => {
                let kind = GeometryKind::Geometry;
                computed(DataType::Geometry { kind, srid: None })
            }
        }
    }

    /// How PREPARE describes the parameter to the client.
    pub fn column(self, connection: Collation) -> ResultColumn {
        let column = self.described(connection).result_column("?");
        let text = |chars: u32, decimals| {
            // MySQL describes moments with the connection's character set.
            let length = chars * u32::from(connection.charset().max_bytes());
            ResultColumn { length, decimals, flags: 0, ..column.clone() }
        };
        match self {
            ParamType::Date => text(10, 0),
            ParamType::DateTime => text(26, 6),
            ParamType::Time => text(17, 6),
            _ => column,
        }
    }
}

/// The types of a statement's parameters while it is prepared.
#[derive(Debug, Default)]
pub struct Derivation {
    /// Whether a statement is being prepared.
    on: Cell<bool>,
    /// By parameter; `true` where the type is final.
    types: RefCell<Vec<Option<(DerivedParam, bool)>>>,
}

impl Derivation {
    /// Begins with no types.
    pub fn begin(&self) {
        self.on.set(true);
        self.types.borrow_mut().clear();
    }

    /// The types that were derived, by parameter; those at the end without one are left out.
    pub fn end(&self, connection: Collation) -> Vec<DerivedParam> {
        self.on.set(false);
        let types = self.types.take();
        let text = DerivedParam::text(connection);
        types.into_iter().map(|found| found.map_or(text, |(param, _)| param)).collect()
    }

    /// Whether types are derived.
    pub(crate) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// The type that a parameter has so far.
    pub(crate) fn param(&self, index: usize) -> Option<DerivedParam> {
        self.types.borrow().get(index).copied().flatten().map(|(param, _)| param)
    }

    fn is_final(&self, index: usize) -> bool {
        matches!(self.types.borrow().get(index), Some(Some((_, true))))
    }

    /// Gives a parameter a type that is no final one yet.
    fn set(&self, index: usize, param: DerivedParam, is_final: bool) {
        if !self.is_final(index) {
            let mut types = self.types.borrow_mut();
            if types.len() <= index {
                types.resize(index + 1, None);
            }
            types[index] = Some((DerivedParam { loose: !is_final, ..param }, is_final));
        }
    }

    /// Gives the parameters of an open operand their type.
    pub(crate) fn give(&self, operand: &ast::Expr, param: DerivedParam, is_final: bool) {
        match operand {
            ast::Expr::Param(index) => self.set(*index as usize, param, is_final),
            other => inner(other).for_each(|inner| self.give(inner, param, is_final)),
        }
    }

    /// Whether nothing says yet what an operand's type is.
    pub(crate) fn is_open(&self, operand: &ast::Expr) -> bool {
        match operand {
            ast::Expr::Param(index) => !self.is_final(*index as usize),
            other => {
                let mut operands = inner(other).peekable();
                operands.peek().is_some() && operands.all(|inner| self.is_open(inner))
            }
        }
    }
}

/// The operands that an operand takes its type from, where it has the type of theirs.
fn inner(operand: &ast::Expr) -> Box<dyn Iterator<Item = &ast::Expr> + '_> {
    match operand {
        ast::Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => {
            Box::new(std::iter::once(&**expr))
        }
        ast::Expr::Binary { op, left, right } if is_arithmetic(*op) => {
            Box::new([&**left, &**right].into_iter())
        }
        ast::Expr::Case { whens, else_, .. } => {
            Box::new(whens.iter().map(|(_, result)| result).chain(else_.as_deref()))
        }
        ast::Expr::Function(call) if call.db.is_none() => match call.name.as_str() {
            "if" => Box::new(call.args.iter().skip(1)),
            "abs" | "ceil" | "ceiling" | "floor" | "mod" | "ifnull" | "coalesce" | "nullif"
            | "greatest" | "least" => Box::new(call.args.iter()),
            _ => Box::new(std::iter::empty()),
        },
        _ => Box::new(std::iter::empty()),
    }
}

/// Whether an operator computes in the numbers of its operands.
pub(crate) fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::Add | B::Sub | B::Mul | B::Div | B::IntDiv | B::Mod)
}

/// The types of a function's arguments, a letter each, where the last one stands for all behind it:
/// `s`tring, `i`nteger, decimal `n`umber, do`u`ble, `d`ate, date and `t`ime, time of day (`h`),
/// `j`son, `g`eometry. Capital letters stand for values that stay as they are given, those of `H`
/// for values that all become times.
const ARGUMENTS: &[(&str, &str)] = &[
    ("aes_decrypt", "s"),
    ("bin", "I"),
    ("bin_to_uuid", "si"),
    ("char", "i"),
    ("conv", "I"),
    ("elt", "is"),
    ("export_set", "issss"),
    ("format", "nis"),
    ("get_lock", "si"),
    ("inet_ntoa", "i"),
    ("insert", "siis"),
    ("interval", "i"),
    ("last_insert_id", "i"),
    ("left", "si"),
    ("locate", "ssi"),
    ("lpad", "sis"),
    ("make_set", "is"),
    ("mid", "sii"),
    ("oct", "I"),
    ("random_bytes", "i"),
    ("repeat", "si"),
    ("right", "si"),
    ("rpad", "sis"),
    ("sha2", "si"),
    ("space", "i"),
    ("substr", "sii"),
    ("substring", "sii"),
    ("substring_index", "ssi"),
    ("uuid_to_bin", "si"),
    ("benchmark", "i"),
    ("sleep", "U"),
    // Numbers.
    ("acos", "U"),
    ("asin", "U"),
    ("atan", "U"),
    ("atan2", "U"),
    ("cos", "U"),
    ("cot", "U"),
    ("degrees", "U"),
    ("exp", "U"),
    ("ln", "U"),
    ("log", "U"),
    ("log10", "U"),
    ("log2", "U"),
    ("pow", "U"),
    ("power", "U"),
    ("radians", "U"),
    ("rand", "U"),
    ("round", "ni"),
    ("sign", "u"),
    ("sin", "U"),
    ("sqrt", "U"),
    ("tan", "U"),
    ("truncate", "ni"),
    // Dates and times.
    ("addtime", "H"),
    ("convert_tz", "tss"),
    ("date", "d"),
    ("date_format", "ts"),
    ("datediff", "t"),
    ("day", "t"),
    ("dayname", "t"),
    ("dayofmonth", "t"),
    ("dayofweek", "t"),
    ("dayofyear", "t"),
    ("from_days", "i"),
    ("from_unixtime", "ns"),
    ("hour", "t"),
    ("last_day", "t"),
    ("makedate", "i"),
    ("maketime", "iin"),
    ("microsecond", "t"),
    ("minute", "t"),
    ("month", "t"),
    ("monthname", "t"),
    ("period_add", "i"),
    ("period_diff", "i"),
    ("quarter", "t"),
    ("sec_to_time", "n"),
    ("second", "t"),
    ("subtime", "H"),
    ("time", "t"),
    ("time_format", "ts"),
    ("time_to_sec", "H"),
    ("timestamp", "th"),
    ("to_days", "t"),
    ("to_seconds", "t"),
    ("unix_timestamp", "t"),
    ("week", "ti"),
    ("weekday", "t"),
    ("weekofyear", "t"),
    ("year", "t"),
    ("yearweek", "ti"),
    // Documents.
    ("json_contains", "JS"),
    ("json_contains_path", "JS"),
    ("json_depth", "J"),
    ("json_extract", "JS"),
    ("json_keys", "JS"),
    ("json_length", "JS"),
    ("json_merge_patch", "J"),
    ("json_merge_preserve", "J"),
    ("json_pretty", "J"),
    ("json_remove", "JS"),
    ("json_search", "JS"),
    ("json_storage_size", "J"),
    ("json_type", "J"),
    ("json_valid", "J"),
    // Geometries.
    ("linestring", "G"),
    ("mbrcontains", "G"),
    ("point", "U"),
    ("st_astext", "G"),
    ("st_buffer", "GU"),
    ("st_contains", "G"),
    ("st_distance", "G"),
    ("st_geomfromtext", "SI"),
    ("st_srid", "GI"),
    ("st_x", "G"),
    ("st_y", "G"),
];

/// What the argument at a position of a function is.
pub(crate) fn argument(name: &str, at: usize, connection: Collation) -> DerivedParam {
    let listed = ARGUMENTS.iter().find(|(function, _)| *function == name);
    let letters = listed.map_or("s", |(_, letters)| letters).as_bytes();
    let letter = match name {
        // Paths and values in turns follow the document.
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            match at % 2 {
                1 => b'S',
                _ => b'J',
            }
        }
        _ => letters.get(at).or(letters.last()).copied().unwrap_or(b's'),
    };
    let ty = match letter.to_ascii_lowercase() {
        b'i' => ParamType::Int,
        b'n' => ParamType::Decimal,
        b'u' => ParamType::Double,
        b'd' => ParamType::Date,
        b't' => ParamType::DateTime,
        b'h' => ParamType::Time,
        b'j' => ParamType::Json,
        b'g' => ParamType::Geometry,
        _ => ParamType::Text(connection),
    };
    let used = match letter {
        b'H' => ParamUse::Compared,
        letter if letter.is_ascii_uppercase() => ParamUse::AsGiven,
        _ => ParamUse::Converted,
    };
    DerivedParam::new(ty, used).sound()
}
