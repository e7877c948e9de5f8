//! Cells as Python's values, and Python's values as parameters.
//!
//! | MySQL | Python |
//! |---|---|
//! | integers, YEAR, BIT | `int` |
//! | FLOAT, DOUBLE | `float` |
//! | DECIMAL | `decimal.Decimal` |
//! | character strings, ENUM, SET, JSON | `str` |
//! | binary strings | `bytes` |
//! | DATE, DATETIME, TIME | `date`, `datetime`, `timedelta`; dates with zero parts are `None` |

use crate::errors::{interface, raise};
use inia::{ColumnKind, Row, Value, ValueRef};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString, PyTuple};

/// Python's classes that values are of.
pub(crate) struct Converter {
    decimal: Py<PyAny>,
    date: Py<PyAny>,
    datetime: Py<PyAny>,
    time: Py<PyAny>,
    timedelta: Py<PyAny>,
}

static CONVERTER: PyOnceLock<Converter> = PyOnceLock::new();

impl Converter {
    pub(crate) fn get(py: Python<'_>) -> PyResult<&Converter> {
        CONVERTER.get_or_try_init(py, || {
            let module = py.import("datetime")?;
            let class = |name: &str| module.getattr(name).map(Bound::unbind);
            Ok(Converter {
                decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
                date: class("date")?,
                datetime: class("datetime")?,
                time: class("time")?,
                timedelta: class("timedelta")?,
            })
        })
    }

    /// A row as a tuple.
    pub(crate) fn row<'py>(&self, py: Python<'py>, row: &Row<'_>) -> PyResult<Bound<'py, PyTuple>> {
        let mut values = Vec::with_capacity(row.len());
        for column in 0..row.len() {
            let cell = row.value(column).map_err(|error| raise(py, &error))?;
            values.push(self.value(py, cell)?);
        }
        PyTuple::new(py, values)
    }

    fn value<'py>(&self, py: Python<'py>, cell: ValueRef<'_>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match cell {
            ValueRef::Null => py.None().into_bound(py),
            ValueRef::Int(number) => number.into_pyobject(py)?.into_any(),
            ValueRef::UInt(number) => number.into_pyobject(py)?.into_any(),
            ValueRef::Double(number) => PyFloat::new(py, number).into_any(),
            ValueRef::Text(text) | ValueRef::Json(text) => PyString::new(py, text).into_any(),
            ValueRef::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
            ValueRef::Decimal(digits) => self.decimal.bind(py).call1((digits,))?,
            ValueRef::Date(date) if date.year == 0 || date.month == 0 || date.day == 0 => {
                py.None().into_bound(py)
            }
            ValueRef::Date(date) => self.date.bind(py).call1((date.year, date.month, date.day))?,
            ValueRef::DateTime(moment, _) => {
                let date = moment.date;
                if date.year == 0 || date.month == 0 || date.day == 0 {
                    return Ok(py.None().into_bound(py));
                }
                let (hour, minute, second) = (moment.hour, moment.minute, moment.second);
                let parts = (date.year, date.month, date.day, hour, minute, second, moment.micros);
                self.datetime.bind(py).call1(parts)?
            }
            ValueRef::Time(time, _) => {
                let micros = micros_of(time);
                let seconds = micros.div_euclid(1_000_000);
                self.timedelta.bind(py).call1((0, seconds, micros.rem_euclid(1_000_000)))?
            }
            _ => return Err(interface(py, "a value is of a type that is not known here")),
        })
    }

    /// The values of a tuple as parameters.
    pub(crate) fn parameters(&self, values: &Bound<'_, PyTuple>) -> PyResult<Vec<Value>> {
        values.iter().map(|value| self.parameter(&value)).collect()
    }

    fn parameter(&self, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        if value.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Value::Text(text.to_cow()?.into_owned()));
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Value::Int(flag.is_true().into()));
        }
        if value.is_instance_of::<PyInt>() {
            return self.integer(value);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            return Ok(Value::Double(number.value()));
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let bytes = value.py().get_type::<PyBytes>().call1((value,))?;
            return Ok(Value::Bytes(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
        }
        self.object(value)
    }

    fn integer(&self, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Value::Int(number));
        }
        if let Ok(number) = value.extract::<u64>() {
            return Ok(Value::UInt(number));
        }
        decimal(&value.str()?)
    }

    /// A value of a class.
    fn object(&self, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        let py = value.py();
        let is = |class: &Py<PyAny>| value.is_instance(class.bind(py));
        let part = |name: &str| value.getattr(name);
        let number = |name: &str| -> PyResult<u8> { part(name)?.extract() };
        let date = || -> PyResult<inia::Date> {
            let year = part("year")?.extract()?;
            Ok(inia::Date { year, month: number("month")?, day: number("day")? })
        };
        if is(&self.datetime)? {
            let date = date()?;
            let (hour, minute, second) = (number("hour")?, number("minute")?, number("second")?);
            let micros = part("microsecond")?.extract()?;
            let moment = inia::DateTime { date, hour, minute, second, micros };
            return Ok(Value::DateTime(moment));
        }
        if is(&self.date)? {
            return Ok(Value::Date(date()?));
        }
        if is(&self.time)? {
            let (hour, minute, second) = (number("hour")?, number("minute")?, number("second")?);
            let micros = part("microsecond")?.extract()?;
            let time = inia::Time::new(false, hour.into(), minute, second, micros);
            return time.map(Value::Time).ok_or_else(|| interface(py, "a time is out of range"));
        }
        if is(&self.timedelta)? {
            return timedelta(value);
        }
        if is(&self.decimal)? {
            let text = value.call_method1("__format__", ("f",))?;
            return decimal(text.cast::<PyString>()?);
        }
        if value.hasattr("__index__")? {
            return self.integer(&value.call_method0("__index__")?);
        }
        if value.hasattr("__float__")? {
            return Ok(Value::Double(value.call_method0("__float__")?.extract()?));
        }
        let name = value.get_type().name()?;
        Err(interface(py, &format!("a parameter cannot be of type {name}")))
    }
}

/// Microseconds of a time, below 0 where it is negative.
pub(crate) fn micros_of(time: inia::Time) -> i64 {
    let hours = i64::from(time.hour());
    let seconds = (hours * 60 + i64::from(time.minute())) * 60 + i64::from(time.second());
    let micros = seconds * 1_000_000 + i64::from(time.fraction());
    if time.is_negative() { -micros } else { micros }
}

fn timedelta(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let part = |name: &str| -> PyResult<i64> { value.getattr(name)?.extract() };
    let seconds = part("days")?.saturating_mul(86_400).saturating_add(part("seconds")?);
    let micros = seconds.saturating_mul(1_000_000).saturating_add(part("microseconds")?);
    let (time, is_out) = inia::Time::clamped(micros);
    match is_out {
        true => Err(interface(value.py(), "a timedelta is beyond 838:59:59")),
        false => Ok(Value::Time(time)),
    }
}

/// A decimal by its text; NaN and infinities have none that MySQL takes.
fn decimal(text: &Bound<'_, PyString>) -> PyResult<Value> {
    let digits = text.to_cow()?;
    let number = digits.parse::<inia::Decimal>();
    let refused = |_| interface(text.py(), &format!("{digits} cannot be a DECIMAL"));
    number.map(Value::Decimal).map_err(refused)
}

/// The name of a kind of columns.
pub(crate) fn kind_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Null => "null",
        ColumnKind::Integer => "integer",
        ColumnKind::Bit => "bit",
        ColumnKind::Decimal => "decimal",
        ColumnKind::Double => "double",
        ColumnKind::Bytes => "bytes",
        ColumnKind::Date => "date",
        ColumnKind::Time => "time",
        ColumnKind::DateTime => "datetime",
        ColumnKind::Json => "json",
        _ => "text",
    }
}
