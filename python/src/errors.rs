//! Errors as the exceptions of PEP 249, which `inia/_errors.py` makes of their numbers.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// `inia._errors.make`.
static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn exception(py: Python<'_>, kind: &str, code: u16, sqlstate: &str, message: &str) -> PyErr {
    let make = MAKE
        .get_or_try_init(py, || PyResult::Ok(py.import("inia._errors")?.getattr("make")?.unbind()));
    match make.and_then(|make| make.bind(py).call1((kind, code, sqlstate, message))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: &inia::Error) -> PyErr {
    let kind = match error.kind() {
        inia::ErrorKind::Statement => "statement",
        inia::ErrorKind::Database => "database",
        inia::ErrorKind::Connection => "connection",
        _ => "conversion",
    };
    exception(py, kind, error.code(), error.sqlstate(), error.message())
}

/// The exception for a call that the interface does not take.
pub(crate) fn interface(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "interface", 0, "HY000", message)
}
