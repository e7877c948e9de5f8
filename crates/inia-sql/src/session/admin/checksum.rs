//! CHECKSUM TABLE: the sum of the CRC-32 of every row, as MySQL lays rows out.
//!
//! A row is its NULL bits, then the bytes of each column. Of a table without columns of variable
//! length the first bit is always set; bits without a column are set, too. A column that is NULL
//! has the bytes of its default, numbers are little-endian, decimals, times and bits big-endian.
//!
//! Example: (1, NULL) of `(a INT NOT NULL, b INT)` is `ff 01 00 00 00 00 00 00 00`.

use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{Date, DateTime, Time, TimeZone};
use inia_base::value::Value;
use inia_expr::convert::to_text;
use inia_expr::store::implicit_default;
use inia_expr::{ExprType, collate, crc32};
use inia_parser::ast;
use inia_query::catalog::{ColumnDef, ColumnDefault, Table};
use inia_query::context::SessionContext;
use inia_query::exec::Runner;
use inia_query::planner::plan_query;

/// The sum over a table's rows.
pub(super) fn checksum(session: &mut SessionContext, table: &Table) -> Result<u32, SqlError> {
    let zone = std::mem::replace(&mut session.env.time_zone, TimeZone::utc());
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let sum = sum_of_rows(session, table);
    let left = session.leave(start, sum.as_ref().err());
    session.env.time_zone = zone;
    left.and(sum)
}

fn sum_of_rows(session: &SessionContext, table: &Table) -> Result<u32, SqlError> {
    let columns: Vec<&ColumnDef> = table.def.columns.iter().filter(|c| !c.is_hidden()).collect();
    let item = |column: &&ColumnDef| ast::SelectItem::Expr {
        expr: ast::Expr::column(column.name.clone()),
        alias: None,
        text: String::new(),
    };
    let name = ast::ObjectName { db: Some(table.def.schema.clone()), name: table.def.name.clone() };
    let factor = ast::TableFactor { name, partitions: Vec::new(), alias: None, hints: Vec::new() };
    let select = ast::Select {
        items: columns.iter().map(item).collect(),
        from: vec![ast::TableRef::Table(Box::new(factor))],
        ..ast::Select::default()
    };
    let query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    let plan = plan_query(session, &query, None)?;
    let runner = Runner::new(&plan, session.exec_context());
    let mut ctx = session.context(&[], &runner);
    let layout = RowBytes::new(columns);
    let (mut sum, mut row) = (0u32, Vec::new());
    runner.run(&mut ctx, &mut |_, values| {
        session.check_killed()?;
        layout.put(values, &mut row)?;
        sum = sum.wrapping_add(crc32(&row));
        Ok(true)
    })?;
    Ok(sum)
}

/// How rows become bytes.
struct RowBytes<'c> {
    columns: Vec<&'c ColumnDef>,
    /// The bit of the first column that may be NULL.
    first: usize,
    /// Number of NULL bits.
    bits: usize,
}

impl<'c> RowBytes<'c> {
    fn new(columns: Vec<&'c ColumnDef>) -> RowBytes<'c> {
        let varies = |column: &&ColumnDef| column.data_type.has_variable_length();
        let first = usize::from(!columns.iter().any(varies));
        let nullable = columns.iter().filter(|column| column.nullable).count();
        RowBytes { columns, first, bits: first + nullable }
    }

    fn put(&self, values: &[Value], row: &mut Vec<u8>) -> Result<(), SqlError> {
        row.clear();
        row.resize(self.bits.div_ceil(8), 0xff);
        // The last byte of NULL bits does not count where it is full.
        let counted = match self.bits % 8 {
            0 => self.bits.saturating_sub(8),
            _ => self.bits,
        };
        let mut bit = self.first;
        for (column, value) in self.columns.iter().zip(values) {
            if column.nullable {
                if *value != Value::Null && bit < counted {
                    row[bit / 8] &= !(1 << (bit % 8));
                }
                bit += 1;
            }
            match value {
                Value::Null => put_value(&column.data_type, &default_of(column), row),
                value => put_value(&column.data_type, value, row),
            }?;
        }
        Ok(())
    }
}

/// What stands in the place of NULL.
fn default_of(column: &ColumnDef) -> Value {
    match (&column.default, &column.data_type) {
        (ColumnDefault::Value(value), _) if *value != Value::Null => value.clone(),
        (_, DataType::Enum { .. }) => Value::UInt(0),
        (_, DataType::Json) => Value::Text(String::from("null")),
        (_, data_type) => implicit_default(data_type),
    }
}

fn put_value(data_type: &DataType, value: &Value, row: &mut Vec<u8>) -> Result<(), SqlError> {
    let number = match value {
        Value::Int(number) => *number as u64,
        Value::UInt(number) => *number,
        _ => 0,
    };
    match (data_type, value) {
        (DataType::Int { width, .. }, _) => little(number, width.bytes().into(), row),
        (DataType::Year, _) => row.push(number.saturating_sub(1900) as u8),
        (DataType::Enum { members, .. }, _) => {
            little(number, if members.len() > 255 { 2 } else { 1 }, row);
        }
        (DataType::Set { members, .. }, _) => {
            let bytes = members.len().div_ceil(8);
            little(number, if bytes > 4 { 8 } else { bytes }, row);
        }
        (DataType::Bit(bits), _) => big(number, usize::from(*bits).div_ceil(8), row),
        (DataType::Float { .. }, Value::Double(value)) => {
            row.extend((*value as f32).to_le_bytes());
        }
        (DataType::Double { .. }, Value::Double(value)) => row.extend(value.to_le_bytes()),
        (DataType::Decimal { precision, scale, .. }, Value::Decimal(value)) => {
            put_decimal(*value, (*precision).into(), (*scale).into(), row)?;
        }
        (DataType::Date, Value::Date(date)) => put_date(*date, row),
        (DataType::Time { fsp }, Value::Time(time)) => put_time(*time, *fsp, row),
        (DataType::DateTime { fsp }, Value::DateTime(moment)) => {
            put_datetime(moment, row);
            put_fraction(moment.micros, *fsp, row);
        }
        (DataType::Timestamp { fsp }, Value::DateTime(moment)) => {
            let seconds = if moment.date.is_zero() { 0 } else { moment.to_unix() };
            big(seconds as u64, 4, row);
            put_fraction(moment.micros, *fsp, row);
        }
        (DataType::Char { chars, collation }, Value::Text(text)) => {
            let full = row.len() + *chars as usize * usize::from(collation.charset().max_bytes());
            row.extend(collate::encode(*collation, text));
            let space = collate::encode(*collation, " ");
            while row.len() < full {
                row.extend(&space);
            }
        }
        (DataType::VarChar { collation, .. } | DataType::Text { collation, .. }, value) => {
            if let Value::Text(text) = value {
                row.extend(collate::encode(*collation, text));
            }
        }
        (DataType::Binary(length), Value::Bytes(bytes)) => {
            let full = row.len() + *length as usize;
            row.extend(bytes);
            row.resize(full, 0);
        }
        (_, Value::Bytes(bytes)) => row.extend(bytes),
        (data_type, value) => {
            let ty = ExprType::of_column(data_type.clone(), true);
            row.extend(to_text(value, &ty).as_bytes());
        }
    }
    Ok(())
}

fn little(number: u64, bytes: usize, row: &mut Vec<u8>) {
    row.extend(&number.to_le_bytes()[..bytes]);
}

fn big(number: u64, bytes: usize, row: &mut Vec<u8>) {
    row.extend(&number.to_be_bytes()[8 - bytes..]);
}

/// Nine digits are four bytes, and fewer as many as they need; the sign is the first bit.
fn put_decimal(
    value: Decimal,
    precision: usize,
    scale: usize,
    row: &mut Vec<u8>,
) -> Result<(), SqlError> {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let failed = |_| SqlError::new(ErrorCode::InternalError, &[&"a decimal of a column fits it"]);
    let text = value.with_scale(scale as u8).map_err(failed)?.to_string();
    let (whole, fraction) = text.trim_start_matches('-').split_once('.').unwrap_or((&text, ""));
    let whole = whole.trim_start_matches(['-', '0']);
    let digits = format!("{whole:0>width$}{fraction}", width = precision - scale);
    let start = row.len();
    let mut rest = digits.as_str();
    let (first, last) = ((precision - scale) % 9, scale % 9);
    let middle = (precision - first - last) / 9;
    for length in std::iter::once(first).chain(std::iter::repeat_n(9, middle)).chain([last]) {
        let (group, behind) = rest.split_at(length.min(rest.len()));
        big(group.parse().unwrap_or(0), BYTES[length], row);
        rest = behind;
    }
    if value.is_negative() {
        row[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    row[start] ^= 0x80;
    Ok(())
}

fn put_date(date: Date, row: &mut Vec<u8>) {
    let packed = u64::from(date.year) << 9 | u64::from(date.month) << 5 | u64::from(date.day);
    little(packed, 3, row);
}

fn put_datetime(moment: &DateTime, row: &mut Vec<u8>) {
    let Date { year, month, day } = moment.date;
    let days = (u64::from(year) * 13 + u64::from(month)) << 5 | u64::from(day);
    let clock = clock(moment.hour.into(), moment.minute.into(), moment.second.into());
    big((days << 17 | clock) + 0x80_0000_0000, 5, row);
}

fn clock(hour: u64, minute: u64, second: u64) -> u64 {
    hour << 12 | minute << 6 | second
}

/// Half as many bytes as there are digits, which are counted in pairs.
fn put_fraction(micros: u32, fsp: u8, row: &mut Vec<u8>) {
    let (fraction, bytes) = fraction(micros.into(), fsp);
    big(fraction, bytes, row);
}

fn fraction(micros: u64, fsp: u8) -> (u64, usize) {
    match fsp {
        0 => (0, 0),
        1 | 2 => (micros / 10_000, 1),
        3 | 4 => (micros / 100, 2),
        _ => (micros, 3),
    }
}

/// Negative times count down from the middle.
fn put_time(time: Time, fsp: u8, row: &mut Vec<u8>) {
    let micros = time.micros.unsigned_abs();
    let seconds = micros / 1_000_000;
    let whole = clock(seconds / 3600, seconds / 60 % 60, seconds % 60);
    let (fraction, bytes) = fraction(micros % 1_000_000, fsp);
    let packed = whole << (8 * bytes) | fraction;
    let zero = 0x80_0000u64 << (8 * bytes);
    let number = if time.micros < 0 { zero - packed } else { zero + packed };
    big(number, 3 + bytes, row);
}
