//! COLUMN_STATISTICS: the histograms that ANALYZE TABLE … UPDATE HISTOGRAM made.

use super::tables::visible;
use super::{Information, Rows, row};
use crate::catalog::{Histogram, HistogramBucket, TableDef};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use inia_expr::collate;
use inia_expr::json::Json;

/// The collation that MySQL names for types that have none: `latin1_swedish_ci`.
const NUMERIC: Collation = Collation(8);
/// The number by which the protocol calls a string of fixed length, and histograms all strings.
const STRING: u8 = 254;

pub(super) fn column_statistics(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        let def = &table.def;
        for histogram in &def.histograms {
            let Some(column) = def.column(&histogram.column) else { continue };
            let json = Value::Json(document(def, column, histogram).carried());
            rows.push(row![
                def.schema.as_str(),
                def.name.as_str(),
                histogram.column.as_str(),
                json
            ]);
        }
    }
}

/// A histogram as MySQL writes it.
fn document(def: &TableDef, column: usize, histogram: &Histogram) -> Json {
    let data_type = &def.columns[column].data_type;
    let (name, collation) = kind(data_type);
    let micros = histogram.updated.rem_euclid(1_000_000) as u32;
    let updated = DateTime::from_unix(histogram.updated.div_euclid(1_000_000), micros);
    let histogram_type = if histogram.equi_height { "equi-height" } else { "singleton" };
    let bucket = |bucket: &HistogramBucket| {
        let value = |value: &Value| scalar(value, data_type);
        let share = Json::Double(bucket.cumulative);
        Json::Array(match histogram.equi_height {
            false => vec![value(&bucket.upper), share],
            true => {
                let distinct = Json::UInt(bucket.distinct);
                vec![value(&bucket.lower), value(&bucket.upper), share, distinct]
            }
        })
    };
    let members = [
        ("buckets", Json::Array(histogram.buckets.iter().map(bucket).collect())),
        ("data-type", Json::String(name.to_owned())),
        ("null-values", Json::Double(histogram.null_share)),
        ("collation-id", Json::UInt(u64::from(collation.0))),
        ("last-updated", Json::DateTime(updated.unwrap_or(DateTime::ZERO))),
        ("sampling-rate", Json::Double(histogram.sampling_rate)),
        ("histogram-type", Json::String(histogram_type.to_owned())),
        ("number-of-buckets-specified", Json::Int(i64::from(histogram.wanted))),
    ];
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
}

/// What histograms call a type, and the collation that they name.
fn kind(data_type: &DataType) -> (&'static str, Collation) {
    match data_type {
        DataType::Int { width: IntWidth::Big, unsigned: true } => ("uint", NUMERIC),
        DataType::Int { .. } | DataType::Year => ("int", NUMERIC),
        DataType::Bit(_) => ("int", Collation::BINARY),
        DataType::Decimal { .. } => ("decimal", NUMERIC),
        DataType::Float { .. } | DataType::Double { .. } => ("double", NUMERIC),
        DataType::Date => ("date", NUMERIC),
        DataType::Time { .. } => ("time", NUMERIC),
        DataType::DateTime { .. } | DataType::Timestamp { .. } => ("datetime", NUMERIC),
        DataType::Enum { collation, .. } => ("enum", *collation),
        DataType::Set { collation, .. } => ("set", *collation),
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => ("string", *collation),
        _ => ("string", Collation::BINARY),
    }
}

fn scalar(value: &Value, data_type: &DataType) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => match data_type {
            DataType::Int { width: IntWidth::Big, .. } => Json::UInt(*number),
            _ => Json::Int(*number as i64),
        },
        Value::Double(number) => Json::Double(*number),
        Value::Decimal(number) => Json::Decimal(*number),
        Value::Date(date) => Json::Date(*date),
        Value::Time(time) => Json::Time(*time),
        Value::DateTime(moment) => Json::DateTime(*moment),
        Value::Text(text) | Value::Json(text) => {
            Json::Opaque(STRING, collate::encode(kind(data_type).1, text))
        }
        Value::Bytes(bytes) => Json::Opaque(STRING, bytes.clone()),
    }
}
