//! The results of a call, row by row or as columns.

use crate::arrow;
use crate::convert::{Converter, kind_name};
use crate::errors::{interface, raise};
use inia::Rows;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Results that a program goes through once.
#[pyclass(frozen, module = "inia._inia")]
pub(crate) struct Results {
    state: Mutex<State>,
}

struct State {
    results: inia::Results,
    /// Rows at hand, of which some are taken.
    rows: Rows,
    taken: usize,
}

impl State {
    /// Makes a row be at hand; false at the end of the result. Statements that stream work for it.
    fn fill(&mut self, py: Python<'_>) -> PyResult<bool> {
        while self.taken >= self.rows.len() {
            let rows = py.detach(|| self.results.next_rows());
            match rows.map_err(|error| raise(py, &error))? {
                Some(rows) => (self.rows, self.taken) = (rows, 0),
                None => {
                    (self.rows, self.taken) = (Rows::default(), 0);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Results {
    pub(crate) fn of(results: inia::Results) -> Results {
        Results { state: Mutex::new(State { results, rows: Rows::default(), taken: 0 }) }
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> PyResult<T>) -> PyResult<T> {
        match self.state.try_lock() {
            Some(mut state) => work(&mut state),
            None => Err(interface(py, "another thread reads from the cursor")),
        }
    }
}

#[pymethods]
impl Results {
    /// Name, kind, whether unsigned, and whether it may be NULL, of each column; `None` where the
    /// statement has no result.
    fn columns(&self, py: Python<'_>) -> PyResult<Option<Vec<(String, &'static str, bool, bool)>>> {
        self.with(py, |state| {
            let described = state.results.columns().iter().map(|column| {
                let kind = kind_name(column.kind());
                (column.name().to_owned(), kind, column.is_unsigned(), column.is_nullable())
            });
            Ok(state.results.has_columns().then(|| described.collect()))
        })
    }

    /// How many rows are at hand: all of them, where the result does not stream.
    fn at_hand(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| {
            state.fill(py)?;
            Ok(state.rows.len() - state.taken)
        })
    }

    /// The next row, or `None`.
    fn fetch_one<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let converter = Converter::get(py)?;
        self.with(py, |state| {
            if !state.fill(py)? {
                return Ok(None);
            }
            state.taken += 1;
            let row = state.rows.get(state.taken - 1);
            row.map(|row| converter.row(py, &row)).transpose()
        })
    }

    /// Up to so many rows; all that are left, without a number.
    #[pyo3(signature = (count=None))]
    fn fetch<'py>(&self, py: Python<'py>, count: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let converter = Converter::get(py)?;
        let list = PyList::empty(py);
        let mut left = count.unwrap_or(usize::MAX);
        self.with(py, |state| {
            while left > 0 && state.fill(py)? {
                let end = state.rows.len().min(state.taken.saturating_add(left));
                left -= end - state.taken;
                for at in state.taken..end {
                    state.taken = at + 1;
                    if let Some(row) = state.rows.get(at) {
                        list.append(converter.row(py, &row)?)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(list)
    }

    /// The rows at hand as columns for Arrow, or `None` at the end: their number, and for each
    /// column its type, precision, scale, bitmap of values that are there, and buffers.
    fn fetch_columns(&self, py: Python<'_>) -> PyResult<Option<(usize, Vec<arrow::PyColumn>)>> {
        self.with(py, |state| {
            if !state.fill(py)? {
                return Ok(None);
            }
            let (rows, from) = (std::mem::take(&mut state.rows), std::mem::take(&mut state.taken));
            let columns = py.detach(|| arrow::columns(&rows, from));
            let columns = columns.map_err(|error| raise(py, &error))?;
            let columns = columns.into_iter().map(|column| column.into_python(py)).collect();
            Ok(Some((rows.len() - from, columns)))
        })
    }

    /// Goes to the next result; false where there is none.
    fn next_result(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |state| {
            (state.rows, state.taken) = (Rows::default(), 0);
            let next = py.detach(|| state.results.next_result());
            next.map_err(|error| raise(py, &error))
        })
    }

    /// Rows changed, first id made and number of warnings; `None` while there are rows to read.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<(u64, u64, u16)>> {
        self.with(py, |state| {
            let outcome = state.results.outcome();
            Ok(outcome.map(|it| (it.affected_rows, it.last_insert_id, it.warnings)))
        })
    }
}
