//! Results, held whole or read batch by batch.

use crate::convert::{Cell, append, kind_name, unsigned};
use crate::worker::{Failure, Worker};
use inia::{Results, Rows};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use std::sync::{Arc, Mutex, PoisonError};

/// A column of a result.
#[napi(object, object_from_js = false)]
pub struct Field {
    pub name: String,
    pub kind: &'static str,
    pub unsigned: bool,
    pub nullable: bool,
}

/// How a statement ended.
#[napi(object, object_from_js = false)]
pub struct Header {
    pub affected_rows: Cell,
    pub insert_id: Cell,
    pub warnings: u32,
    pub info: String,
}

/// The result of one statement; without columns where it has none.
#[napi(object, object_from_js = false)]
pub struct HeldResult {
    pub fields: Option<Vec<Field>>,
    /// Cell after cell, row after row.
    pub cells: Vec<Cell>,
    pub header: Header,
}

/// The results of a call. The failure is that of a statement behind others that succeeded.
#[napi(object, object_from_js = false)]
pub struct HeldResults {
    pub results: Vec<HeldResult>,
    pub failure: Option<Failure>,
}

fn fields(results: &Results) -> Option<Vec<Field>> {
    let fields = results.columns().iter().map(|column| Field {
        name: column.name().to_owned(),
        kind: kind_name(column.kind()),
        unsigned: column.is_unsigned(),
        nullable: column.is_nullable(),
    });
    results.has_columns().then(|| fields.collect())
}

fn cells(rows: &Rows) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::with_capacity(rows.len() * rows.columns().len());
    rows.iter().try_for_each(|row| append(&row, &mut cells))?;
    Ok(cells)
}

/// Reads all results.
pub(crate) fn hold(mut results: Results) -> Result<HeldResults, Failure> {
    let mut held = Vec::new();
    loop {
        let fields = fields(&results);
        let mut all = Vec::new();
        while let Some(rows) = results.next_rows()? {
            all.append(&mut cells(&rows)?);
        }
        held.push(HeldResult { fields, cells: all, header: header(&results) });
        match results.next_result() {
            Ok(true) => {}
            Ok(false) => return Ok(HeldResults { results: held, failure: None }),
            Err(error) => return Ok(HeldResults { results: held, failure: Some(error.into()) }),
        }
    }
}

fn header(results: &Results) -> Header {
    let outcome = results.outcome().cloned().unwrap_or_default();
    Header {
        affected_rows: unsigned(outcome.affected_rows),
        insert_id: unsigned(outcome.last_insert_id),
        warnings: outcome.warnings.into(),
        info: outcome.info,
    }
}

/// A result that is read while a program takes it.
#[napi]
pub struct ResultStream {
    /// None once it is closed.
    results: Arc<Mutex<Option<Results>>>,
    worker: Worker,
}

impl ResultStream {
    pub(crate) fn new(results: Results, worker: Worker) -> ResultStream {
        ResultStream { results: Arc::new(Mutex::new(Some(results))), worker }
    }
}

#[napi]
impl ResultStream {
    /// The columns.
    #[napi]
    pub fn fields(&self) -> Vec<Field> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.as_ref().and_then(fields).unwrap_or_default()
    }

    /// Promises the cells of the next rows; `null` at the end.
    #[napi]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let results = self.results.clone();
        self.worker.promise(env, move || {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(results) = results.as_mut() else { return Ok(None) };
            results.next_rows()?.map(|rows| cells(&rows)).transpose()
        })
    }

    /// Ends the statement and gives the connection back.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let results = self.results.clone();
        self.worker.promise(env, move || {
            results.lock().unwrap_or_else(PoisonError::into_inner).take();
            Ok(())
        })
    }
}
