//! LOAD DATA [LOCAL] INFILE.
//!
//! The file's text comes in pieces. Each line becomes a row of INSERT: its fields go to columns and
//! user variables, SET computes the rest. LOCAL forgives like IGNORE, since the client cannot be
//! told to stop.

use super::format::{Field, Format, Line};
use super::{file_error, server_path};
use crate::catalog::Table;
use crate::dml::insert::{InsertPlan, LoadRun, bind_plain};
use crate::dml::scope::TableScope;
use crate::expr::{EvalContext, Expr, ExprType, SessionHost, UserVar, collate};
use crate::session::Outcome;
use crate::session::core::Core;
use inia_base::collation::Collation;
use inia_base::column::{RowSink, TakeBytes};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{Expr as AstExpr, LoadData, LoadDuplicate, LoadTarget};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// How much of a server's file is read at once.
const PIECE: usize = 256 << 10;

/// Where a line's fields go.
pub(crate) enum Place {
    /// A column.
    Column(usize),
    /// A user variable.
    Variable(String),
}

/// A planned LOAD DATA.
struct Plan {
    insert: InsertPlan,
    places: Vec<Place>,
    assignments: Vec<(usize, Option<Expr>)>,
    collation: Collation,
}

/// Runs LOAD DATA in the open transaction.
pub(crate) fn load_data(
    core: &Core,
    load: &LoadData,
    ctx: &mut EvalContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<Outcome, SqlError> {
    if load.local && !core.flag("local_infile") {
        return Err(SqlError::new(ErrorCode::ClientLocalFilesDisabled, &[]));
    }
    let format = Format::new(&load.format)?;
    let table = core.open_table(load.table.db.as_deref(), &load.table.name)?;
    let plan = plan(core, load, &table)?;
    core.hold_to_write(&table)?;
    core.lock_alone(&[&table])?;
    let mut run = plan.insert.start_load(core, ctx)?;
    let mut lines = Lines { format, text: Vec::new(), skip: load.ignore_lines };
    let mut take = |piece: Option<&[u8]>| {
        core.check_killed()?;
        lines.text.extend_from_slice(piece.unwrap_or_default());
        lines.rows(piece.is_none(), &mut |fields| plan.row(core, ctx, &mut run, fields))
    };
    let read = match load.local {
        true => sink.local_file(&load.path, &mut |bytes| take(Some(bytes))),
        false => server_file(core, &load.path, &mut |bytes| take(Some(bytes))),
    };
    let read = read.and_then(|()| take(None));
    run.finish(core, ctx, read)
}

/// Gives the pieces of a file of the server to `take`.
fn server_file(core: &Core, path: &str, take: &mut TakeBytes<'_>) -> Result<(), SqlError> {
    let path = server_path(core, path)?;
    let failed = |error| file_error(ErrorCode::CantGetStat, &path, &error);
    let mut file = File::open(&path).map_err(failed)?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(()),
            count => take(&piece[..count])?,
        }
    }
}

fn plan(core: &Core, load: &LoadData, table: &Arc<Table>) -> Result<Plan, SqlError> {
    let mut scope = TableScope::new(table, None);
    let mut places = Vec::new();
    for target in &load.targets {
        places.push(match target {
            LoadTarget::Column(name) => Place::Column(scope.position(name)?),
            LoadTarget::UserVar(name) => {
                let name = name.to_lowercase();
                set_variable(core, &name, Value::Null);
                Place::Variable(name)
            }
        });
    }
    if load.targets.is_empty() {
        let columns = table.def.columns.iter().enumerate();
        places.extend(columns.filter(|(_, c)| !c.invisible).map(|(at, _)| Place::Column(at)));
    }
    let mut assignments = Vec::with_capacity(load.assignments.len());
    for assignment in &load.assignments {
        let target = scope.position(&assignment.column)?;
        assignments.push(match &assignment.value {
            AstExpr::Default => (target, None),
            value => (target, Some(bind_plain(core, &mut scope, value)?)),
        });
    }
    let column = |place: &Place| match place {
        Place::Column(at) => Some(*at),
        Place::Variable(_) => None,
    };
    let set = assignments.iter().map(|(target, _)| *target);
    let targets = places.iter().filter_map(column).chain(set).collect();
    let forgiving = load.local && load.on_duplicate == LoadDuplicate::Default;
    let ignore = forgiving || load.on_duplicate == LoadDuplicate::Ignore;
    let replace = load.on_duplicate == LoadDuplicate::Replace;
    let collation = match load.charset.as_deref() {
        Some(name) => collate::charset_default(name)?,
        None => Collation::DEFAULT,
    };
    let insert = InsertPlan::of_rows(core, table, targets, None, replace, ignore)?;
    Ok(Plan { insert, places, assignments, collation })
}

fn set_variable(core: &Core, name: &str, value: Value) {
    let ty = match value {
        Value::Bytes(_) => ExprType::binary(65_532, true),
        _ => ExprType::text(16_383, Collation::DEFAULT, true),
    };
    core.host.set_user_var(name, UserVar { value, ty });
}

impl Plan {
    fn row(
        &self,
        core: &Core,
        ctx: &mut EvalContext<'_>,
        run: &mut LoadRun<'_>,
        fields: Vec<Field>,
    ) -> Result<(), SqlError> {
        let count = fields.len();
        let lacks = self.places.len().saturating_sub(count);
        let mut values = Vec::with_capacity(self.places.len());
        for (field, place) in fields.into_iter().zip(&self.places) {
            let value = self.value(field);
            match place {
                Place::Column(at) => values.push((*at, value)),
                Place::Variable(name) => set_variable(core, name, value),
            }
        }
        for place in self.places.iter().skip(count) {
            if let Place::Variable(name) = place {
                set_variable(core, name, Value::Null);
            }
        }
        let extra = count > self.places.len();
        run.put(core, ctx, values, &self.assignments, (lacks, extra))
    }

    /// A field as text of the file's character set; what is none are bytes.
    fn value(&self, field: Field) -> Value {
        if field.null {
            return Value::Null;
        }
        match collate::decode(self.collation, &field.bytes) {
            Some(text) => Value::Text(text),
            None => Value::Bytes(field.bytes),
        }
    }
}

/// The lines of a text that comes in pieces.
struct Lines {
    format: Format,
    text: Vec<u8>,
    /// IGNORE n LINES.
    skip: u64,
}

impl Lines {
    /// Gives the rows that are there whole to `put`.
    fn rows(
        &mut self,
        whole: bool,
        put: &mut dyn FnMut(Vec<Field>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let mut done = 0;
        let result = loop {
            match self.format.read(&self.text[done..], whole) {
                Line::Row(_, length) if self.skip > 0 => {
                    self.skip -= 1;
                    done += length;
                }
                Line::Row(fields, length) => {
                    done += length;
                    if let Err(error) = put(fields) {
                        break Err(error);
                    }
                }
                Line::More | Line::End => break Ok(()),
            }
        };
        self.text.drain(..done);
        result
    }
}
