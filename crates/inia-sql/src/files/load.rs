//! LOAD DATA [LOCAL] INFILE and LOAD XML.
//!
//! The file's text comes in pieces. Each line becomes a row of INSERT: its fields go to columns and
//! user variables, SET computes the rest. LOCAL forgives like IGNORE, since the server
//! cannot stop the client.

use super::format::Format;
use super::reader::{FileReader, FileRow};
use super::xml::XmlReader;
use super::{backslashes_escape, file_error, server_path, width};
use inia_base::collation::Collation;
use inia_base::column::{RowSink, TakeBytes};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprType, SessionHost, UserVar, collate};
use inia_parser::ast::{LoadData, LoadDuplicate, LoadTarget};
use inia_query::bind::table_scope::TableScope;
use inia_query::catalog::Table;
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::dml::insert::{InsertPlan, LoadRun, LoadedLine, field_value};
use inia_query::dml::{self, Guard};
use inia_query::plan::StatementPlan;
use inia_query::spill::Grant;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// How much of a server's file is read at once.
const PIECE: usize = 256 << 10;

/// A row is held as text, as fields, as values and as it is stored.
const ROW_COPIES: usize = 4;

/// Where a line's fields go.
enum FieldTarget {
    /// A column.
    Column(usize),
    /// A user variable.
    Variable(String),
}

/// A planned LOAD DATA.
struct LoadPlan {
    insert: InsertPlan,
    places: Vec<FieldTarget>,
    /// A field goes to a user variable.
    sets_variables: bool,
    assignments: Vec<(usize, Option<Expr>)>,
    queries: Option<StatementPlan>,
    collation: Collation,
}

/// LOAD DATA that is ready to run: its table is open and held.
pub(crate) struct PreparedLoad<'l> {
    load: Cow<'l, LoadData>,
    plan: LoadPlan,
    format: Format,
}

impl PreparedLoad<'_> {
    /// The table that gets rows.
    pub(crate) fn target(&self) -> &Arc<Table> {
        &self.plan.insert.table
    }

    /// The plan of the subqueries in SET; a second call gives none.
    pub(crate) fn take_queries(&mut self) -> Option<StatementPlan> {
        self.plan.queries.take()
    }
}

/// Plans LOAD DATA, and holds its table.
pub(crate) fn prepare_load<'l>(
    session: &SessionContext,
    load: &'l LoadData,
) -> Result<PreparedLoad<'l>, SqlError> {
    if load.local && !session.flag("local_infile") {
        return Err(SqlError::new(ErrorCode::ClientLocalFilesDisabled, &[]));
    }
    let format = Format::new(&load.format, backslashes_escape(session))?;
    // A view is replaced by its base table; `guard` keeps what the view demands of rows.
    let (load, guard) = dml::load_through(session, load)?;
    session.check_view_rights(&guard.views)?;
    let table = session.open_table(load.table.db.as_deref(), &load.table.name)?;
    let table = table.selecting(&load.partitions)?;
    let plan = plan(session, &load, &table, guard)?;
    if let Some(queries) = &plan.queries {
        session.check_view_rights(&queries.views)?;
    }
    session.hold_to_write(&table)?;
    Ok(PreparedLoad { load, plan, format })
}

/// Runs LOAD DATA in the open transaction; its tables are locked.
pub(crate) fn load_data(
    session: &SessionContext,
    prepared: PreparedLoad<'_>,
    ctx: &mut EvalContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let PreparedLoad { load, plan, format } = prepared;
    if let Some(code) = format.warning() {
        ctx.warn(code, &[])?;
    }
    let mut reader = RowReader::new(&load, &plan, format)?;
    let mut memory = Grant::new(session.workspace());
    plan.insert.load(session, ctx, (plan.collation, &plan.assignments), |run, ctx| {
        // Each piece becomes rows at once: memory holds one piece and the unfinished line before
        // it.
        let mut take = |piece: Option<&[u8]>| {
            session.check_killed()?;
            match piece {
                Some(bytes) => {
                    let held = (reader.holds() + bytes.len()) * ROW_COPIES;
                    memory.grant(held).then_some(()).ok_or_else(|| no_memory(held))?;
                    reader.push(bytes);
                }
                None => reader.finish(),
            }
            while let Some(line) = reader.next()? {
                plan.row(session, ctx, run, line)?;
            }
            Ok(())
        };
        match load.local {
            true => {
                let path = session.env.client_charset.encode(&load.path);
                sink.local_file(&path, &mut |bytes| take(Some(bytes)))?;
            }
            false => server_file(session, &load.path, &mut |bytes| take(Some(bytes)))?,
        }
        // The last line may have no terminator.
        take(None)
    })
}

/// What takes a file's text apart.
enum RowReader {
    /// Lines of fields.
    Lines(Box<FileReader>),
    /// Elements.
    Xml(XmlReader),
}

impl RowReader {
    fn new(load: &LoadData, plan: &LoadPlan, format: Format) -> Result<RowReader, SqlError> {
        if let Some(row) = &load.xml_rows {
            let reader = XmlReader::new(row, plan.names(load), load.ignore_lines);
            return Ok(RowReader::Xml(reader));
        }
        let widths = format.is_fixed().then(|| plan.widths()).transpose()?;
        let (charset, wanted) = (plan.collation.charset(), plan.places.len());
        let reader = FileReader::new(format, charset, wanted, widths, load.ignore_lines);
        Ok(RowReader::Lines(Box::new(reader)))
    }

    fn holds(&self) -> usize {
        match self {
            RowReader::Lines(reader) => reader.holds(),
            RowReader::Xml(reader) => reader.holds(),
        }
    }

    fn push(&mut self, piece: &[u8]) {
        match self {
            RowReader::Lines(reader) => reader.push(piece),
            RowReader::Xml(reader) => reader.push(piece),
        }
    }

    fn finish(&mut self) {
        // What an XML text ends in the middle of is no row.
        if let RowReader::Lines(reader) = self {
            reader.finish();
        }
    }

    fn next(&mut self) -> Result<Option<&FileRow>, SqlError> {
        match self {
            RowReader::Lines(reader) => reader.next(),
            RowReader::Xml(reader) => reader.next(),
        }
    }
}

/// Error 1037: a row is too long for what the session may hold.
fn no_memory(bytes: usize) -> SqlError {
    SqlError::new(ErrorCode::Outofmemory, &[&bytes])
}

/// Gives the pieces of a file of the server to `take`.
fn server_file(
    session: &SessionContext,
    path: &str,
    take: &mut TakeBytes<'_>,
) -> Result<(), SqlError> {
    let path = server_path(session, path)?;
    let failed = |error| file_error(ErrorCode::NoFileStatus, &path, &error);
    // Opening a pipe would wait for a writer.
    if !std::fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(SqlError::new(ErrorCode::TextfileNotReadable, &[&path.display()]));
    }
    let mut file = File::open(&path).map_err(failed)?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(()),
            count => take(&piece[..count])?,
        }
    }
}

fn plan(
    session: &SessionContext,
    load: &LoadData,
    table: &Arc<Table>,
    guard: Guard,
) -> Result<LoadPlan, SqlError> {
    let collation = match load.charset.as_deref() {
        Some(name) => collate::charset_default(name)?,
        None => collate::find(&session.var("collation_database").unwrap_or_default())?,
    };
    let scope = TableScope::new(table, None);
    let mut places = Vec::new();
    for target in &load.targets {
        places.push(match target {
            LoadTarget::Column(name) => FieldTarget::Column(scope.position(name)?),
            LoadTarget::UserVar(name) => {
                let name = name.to_lowercase();
                // The variable gets the type of a field before SET's expressions are bound.
                set_variable(session, &name, Value::Null, collation)?;
                FieldTarget::Variable(name)
            }
        });
    }
    // Invisible columns get fields only if the statement names them.
    if load.targets.is_empty() {
        let columns = table.def.columns.iter().enumerate();
        places.extend(columns.filter(|(_, c)| !c.invisible).map(|(at, _)| FieldTarget::Column(at)));
    }
    let column = |place: &FieldTarget| match place {
        FieldTarget::Column(at) => Some(*at),
        FieldTarget::Variable(_) => None,
    };
    let fields = places.iter().filter_map(column).collect();
    let forgiving = load.local && load.on_duplicate == LoadDuplicate::Default;
    let ignore = forgiving || load.on_duplicate == LoadDuplicate::Ignore;
    let (mut insert, assignments, queries) =
        InsertPlan::of_file(session, load, table, fields, ignore)?;
    insert.guard(session, guard)?;
    let sets_variables = places.iter().any(|place| column(place).is_none());
    Ok(LoadPlan { insert, places, sets_variables, assignments, queries, collation })
}

fn set_variable(
    session: &SessionContext,
    name: &str,
    value: Value,
    collation: Collation,
) -> Result<(), SqlError> {
    let ty = match value {
        Value::Bytes(_) => ExprType::binary(65_532, true),
        _ => ExprType::text(16_383, collation, true),
    };
    session.host.set_user_var(name, UserVar { value, ty })
}

/// Whether fields of a column of this type have no width.
fn is_lob(data_type: &DataType) -> bool {
    use DataType::{Blob, Geometry, Json, Text};
    matches!(data_type, Text { .. } | Blob { .. } | Json | Geometry { .. })
}

impl LoadPlan {
    /// The names of the fields, as elements and attributes have them.
    fn names(&self, load: &LoadData) -> Vec<String> {
        if load.targets.is_empty() {
            let column = |place: &FieldTarget| match place {
                FieldTarget::Column(at) => self.insert.table.def.columns[*at].name.clone(),
                FieldTarget::Variable(name) => name.clone(),
            };
            return self.places.iter().map(column).collect();
        }
        let written = |target: &LoadTarget| match target {
            LoadTarget::Column(name) => name.name.clone(),
            LoadTarget::UserVar(name) => name.clone(),
        };
        load.targets.iter().map(written).collect()
    }

    /// The bytes of each field where fields have fixed widths; errors 1084 and 1409.
    fn widths(&self) -> Result<Vec<usize>, SqlError> {
        let width_of = |place: &FieldTarget| {
            let FieldTarget::Column(at) = place else {
                return Err(SqlError::new(ErrorCode::LoadFromFixedSizeRowsToVar, &[]));
            };
            let ty = self.insert.table.def.columns[*at].data_type.clone();
            if is_lob(&ty) {
                return Err(SqlError::new(ErrorCode::BlobsAndNoTerminated, &[]));
            }
            Ok(width(&ExprType::of_column(ty, true)) as usize)
        };
        self.places.iter().map(width_of).collect()
    }

    /// Puts the row of a line.
    fn row(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        run: &mut LoadRun<'_, '_>,
        line: &FileRow,
    ) -> Result<(), SqlError> {
        let column = |place: &FieldTarget| match place {
            FieldTarget::Column(at) => Some(*at),
            FieldTarget::Variable(_) => None,
        };
        if self.sets_variables {
            let fields = line.fields().chain(std::iter::repeat(None));
            for (place, field) in self.places.iter().zip(fields) {
                if let FieldTarget::Variable(name) = place {
                    let value = field_value(field, self.collation);
                    set_variable(session, name, value, self.collation)?;
                }
            }
        }
        let places = self.places.iter().map(column);
        let loaded = LoadedLine {
            fields: places.clone().zip(line.fields()).filter_map(|(at, field)| Some((at?, field))),
            lacking: places.skip(line.fields().len()).flatten(),
            extra: line.extra,
        };
        run.put(session, ctx, loaded, &self.assignments)
    }
}
