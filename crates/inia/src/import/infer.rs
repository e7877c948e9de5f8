//! The types that a file's values need.
//!
//! Every value is looked at, so that a table made for a file takes all of it. A column gets the
//! narrowest type that keeps each value as it is written: `007` is a text, since the number would
//! lose its zeros.
//!
//! ```text
//! 1, 20          INT               2024-02-29            DATE
//! 1, 20.50       DECIMAL(4,2)      2024-02-29T10:00:00Z  DATETIME
//! 1, 2e9         DOUBLE            true, false           BOOLEAN
//! 1, x           VARCHAR(255)
//! ```

use super::columns::quoted_name;
use super::row::{CellKind, Row};
use super::table::TableName;
use inia_base::temporal::{Date, DateRules};

/// What a decimal can have in digits, and behind the point.
const MAX_DIGITS: usize = 65;
const MAX_SCALE: usize = 30;
/// A double keeps integers of so many digits.
const EXACT_DIGITS: usize = 15;
/// Bytes that a table's VARCHAR columns may need together; a row may have 65,535.
const ROW_BYTES: usize = 60_000;
/// Bytes of a character.
const WIDEST: usize = 4;

/// The form of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `true` or `false`.
    Boolean,
    /// Digits before the point.
    Integer(usize),
    /// Digits before the point, and behind it.
    Decimal(usize, usize),
    /// With an exponent.
    Double,
    /// A day.
    Date,
    /// A day and a time of day, with so many digits of a second's fraction.
    DateTime(usize),
    /// Anything else.
    Text,
}

impl Form {
    /// Recognises a value.
    pub(super) fn of(value: &[u8]) -> Form {
        if value.eq_ignore_ascii_case(b"true") || value.eq_ignore_ascii_case(b"false") {
            return Form::Boolean;
        }
        number(value).or_else(|| moment(value)).unwrap_or(Form::Text)
    }

    fn bit(self) -> u8 {
        match self {
            Form::Boolean => 1,
            Form::Integer(_) => INTEGER,
            Form::Decimal(..) => DECIMAL,
            Form::Double => DOUBLE,
            Form::Date => DATE,
            Form::DateTime(_) => DATETIME,
            Form::Text => 64,
        }
    }
}

const INTEGER: u8 = 2;
const DECIMAL: u8 = 4;
const DOUBLE: u8 = 8;
const DATE: u8 = 16;
const DATETIME: u8 = 32;

fn number(value: &[u8]) -> Option<Form> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let (mantissa, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let point = mantissa.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&mantissa[..at], Some(&mantissa[at + 1..])),
        None => (mantissa, None),
    };
    let all_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    // Zeros in front would be lost.
    if !all_digits(whole) || (whole.len() > 1 && whole[0] == b'0') {
        return None;
    }
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+"));
        let fits = all_digits(unsigned.unwrap_or(exponent)) && fraction.is_none_or(all_digits);
        let finite = std::str::from_utf8(value).ok()?.parse::<f64>().ok()?.is_finite();
        return (fits && finite).then_some(Form::Double);
    }
    match fraction {
        None => Some(Form::Integer(whole.len())),
        Some(fraction) if all_digits(fraction) => Some(Form::Decimal(whole.len(), fraction.len())),
        Some(_) => None,
    }
}

/// `2024-02-29`, with `10:20:30.5` and an offset from UTC behind it.
fn moment(value: &[u8]) -> Option<Form> {
    let (date, rest) = value.split_at_checked(10)?;
    let (year, month, day) = (&date[..4], &date[5..7], &date[8..]);
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let (year, month, day) = (decimal(year)?, decimal(month)?, decimal(day)?);
    Date::new(year as u16, month as u8, day as u8).check(DateRules::STRICT).ok()?;
    let Some((b'T' | b' ', time)) = rest.split_first() else {
        return rest.is_empty().then_some(Form::Date);
    };
    let (clock, rest) = time.split_at_checked(8)?;
    if clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let (hour, minute, second) =
        (decimal(&clock[..2])?, decimal(&clock[3..5])?, decimal(&clock[6..])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let digits = match rest.split_first() {
        Some((b'.', rest)) => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let behind = if digits > 0 { &rest[digits + 1..] } else { rest };
    (digits <= 6 && is_offset(behind)).then_some(Form::DateTime(digits))
}

/// Nothing, `Z` or `+02:00`: what MySQL takes as an offset.
fn is_offset(text: &[u8]) -> bool {
    match text {
        b"" | b"Z" => true,
        [b'+' | b'-', a, b, b':', c, d] => {
            let hours = decimal(&[*a, *b]).is_some_and(|hours| hours < 14);
            hours && decimal(&[*c, *d]).is_some_and(|minutes| minutes < 60)
        }
        _ => false,
    }
}

fn decimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
    })
}

/// What one column's values have been so far.
#[derive(Clone, Debug, Default)]
struct Observed {
    /// Bits of the forms seen.
    forms: u8,
    negative: bool,
    /// The greatest value and the least.
    most: i128,
    least: i128,
    digits: usize,
    scale: usize,
    fraction: usize,
    characters: usize,
    bytes: usize,
}

impl Observed {
    fn note(&mut self, value: &[u8]) {
        self.bytes = self.bytes.max(value.len());
        if self.characters < value.len() {
            let text = String::from_utf8_lossy(value);
            self.characters = self.characters.max(text.chars().count());
        }
        let form = Form::of(value);
        self.forms |= form.bit();
        match form {
            Form::Integer(digits) => {
                self.digits = self.digits.max(digits);
                let text = std::str::from_utf8(value).unwrap_or_default();
                let number = text.parse().unwrap_or(i128::MAX);
                self.most = self.most.max(number);
                self.least = self.least.min(number);
                self.negative |= value[0] == b'-';
            }
            Form::Decimal(digits, scale) => {
                self.digits = self.digits.max(digits);
                self.scale = self.scale.max(scale);
            }
            Form::DateTime(fraction) => self.fraction = self.fraction.max(fraction),
            _ => {}
        }
    }

    fn integer(&self) -> Option<String> {
        let within = |least: i128, most: i128| self.least >= least && self.most <= most;
        let name = match () {
            () if within(i128::from(i32::MIN), i128::from(i32::MAX)) => "INT",
            () if within(i128::from(i64::MIN), i128::from(i64::MAX)) => "BIGINT",
            () if within(0, i128::from(u64::MAX)) && !self.negative => "BIGINT UNSIGNED",
            () => return self.exact(),
        };
        Some(name.to_owned())
    }

    fn exact(&self) -> Option<String> {
        let digits = self.digits + self.scale;
        let fits = digits <= MAX_DIGITS && self.scale <= MAX_SCALE;
        fits.then(|| format!("DECIMAL({digits},{})", self.scale))
    }

    /// The column's type; none where it is a text, whose type depends on the other columns.
    fn plain_type(&self) -> Option<String> {
        let numbers = INTEGER | DECIMAL | DOUBLE;
        match self.forms {
            1 => Some("BOOLEAN".to_owned()),
            INTEGER => self.integer(),
            forms if forms != 0 && forms & !(INTEGER | DECIMAL) == 0 => self.exact(),
            forms if forms & DOUBLE != 0 && forms & !numbers == 0 => {
                (self.digits + self.scale <= EXACT_DIGITS).then(|| "DOUBLE".to_owned())
            }
            DATE => Some("DATE".to_owned()),
            forms if forms & DATETIME != 0 && forms & !(DATE | DATETIME) == 0 => {
                Some(match self.fraction {
                    0 => "DATETIME".to_owned(),
                    digits => format!("DATETIME({digits})"),
                })
            }
            _ => None,
        }
    }

    /// Characters of a VARCHAR that holds the values with room for longer ones.
    fn width(&self) -> usize {
        match self.characters {
            0..=255 => 255,
            more => more.next_power_of_two(),
        }
    }

    /// The TEXT that holds the values.
    fn lob(&self) -> &'static str {
        match self.bytes {
            0..=65_535 => "TEXT",
            65_536..=16_777_215 => "MEDIUMTEXT",
            _ => "LONGTEXT",
        }
    }
}

/// All columns' values.
pub(super) struct Inference {
    names: Vec<String>,
    observed: Vec<Observed>,
    /// Types that the file names; a column without one is a text. None where values decide.
    #[cfg(feature = "parquet")]
    named: Option<Vec<Option<String>>>,
}

impl Inference {
    /// Nothing has been seen yet.
    pub(super) fn new(names: &[String]) -> Inference {
        Inference {
            names: names.to_vec(),
            observed: vec![Observed::default(); names.len()],
            #[cfg(feature = "parquet")]
            named: None,
        }
    }

    /// Columns of these types. Those without one are texts, and their values say how long.
    #[cfg(feature = "parquet")]
    pub(super) fn of_types(names: &[String], types: Vec<Option<String>>) -> Inference {
        Inference { named: Some(types), ..Inference::new(names) }
    }

    /// Looks at a row's values.
    pub(super) fn note(&mut self, row: &Row) {
        for (at, observed) in self.observed.iter_mut().enumerate() {
            match row.cell(at) {
                // An empty text in quotes says nothing where all values stand in quotes.
                (CellKind::Bytes, value) if !value.is_empty() => observed.note(value),
                _ => {}
            }
        }
    }

    /// The types of the columns. Texts are VARCHAR as far as a row has room for them.
    pub(super) fn types(&self) -> Vec<String> {
        let mut types: Vec<Option<String>> =
            self.observed.iter().map(Observed::plain_type).collect();
        #[cfg(feature = "parquet")]
        if let Some(named) = &self.named {
            types.clone_from(named);
        }
        let mut texts: Vec<usize> = (0..types.len()).filter(|at| types[*at].is_none()).collect();
        texts.sort_by_key(|at| self.observed[*at].width());
        let mut room = ROW_BYTES;
        for at in texts {
            let width = self.observed[at].width();
            types[at] = Some(match room.checked_sub(width.saturating_mul(WIDEST)) {
                Some(left) => {
                    room = left;
                    format!("VARCHAR({width})")
                }
                None => self.observed[at].lob().to_owned(),
            });
        }
        types.into_iter().flatten().collect()
    }

    /// CREATE TABLE for the columns.
    pub(super) fn definition(&self, name: &TableName, key: Option<&str>) -> String {
        let types = self.types();
        create_table(name, self.names.iter().zip(types.iter().map(String::as_str)), key)
    }
}

/// CREATE TABLE of names and types.
pub(super) fn create_table<'a>(
    name: &TableName,
    columns: impl Iterator<Item = (&'a String, &'a str)>,
    key: Option<&str>,
) -> String {
    let mut parts: Vec<String> =
        columns.map(|(column, ty)| format!("{} {ty}", quoted_name(column))).collect();
    if let Some(key) = key {
        let columns: Vec<String> = key.split(',').map(|name| quoted_name(name.trim())).collect();
        parts.push(format!("PRIMARY KEY ({})", columns.join(", ")));
    }
    format!("CREATE TABLE {} ({})", name.sql(), parts.join(", "))
}
