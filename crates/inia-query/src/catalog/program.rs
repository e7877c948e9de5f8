//! Stored programs: procedures, functions, triggers and events.
//!
//! A program is kept as text: its parameters, what it returns and its body as they were written,
//! with the settings that they were written under. The text is parsed at the first use.
//!
//! Example: of `CREATE FUNCTION f(a INT) RETURNS CHAR(3) RETURN a` the catalog keeps `a INT`,
//! `char(3) CHARSET utf8mb4` and `RETURN a`. To use it, the statement is put together and parsed.

use super::codec::{RecordReader, Writer};
use super::event::{self, EventHead};
use super::mdl::{MdlManager, MdlName};
use crate::catalog::AccountName;
use crate::error::parse_error;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_expr::ExprType;
use inia_expr::charset;
use inia_expr::column_type::{ColumnType, column_type};
use inia_parser::ast::{
    CreateRoutine, ParamMode, Program, RoutineDetail, RoutineParam, SlotKind, Statement,
    TriggerEvent, TypeSpec,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

const FORMAT: u64 = 1;

/// The kinds of stored programs; their names are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgramKind {
    /// CREATE FUNCTION.
    Function,
    /// CREATE PROCEDURE.
    Procedure,
    /// CREATE TRIGGER.
    Trigger,
    /// CREATE EVENT.
    Event,
}

impl ProgramKind {
    /// As statements write it.
    pub fn word(self) -> &'static str {
        match self {
            ProgramKind::Function => "FUNCTION",
            ProgramKind::Procedure => "PROCEDURE",
            ProgramKind::Trigger => "TRIGGER",
            ProgramKind::Event => "EVENT",
        }
    }
}

/// When a trigger fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerHead {
    /// The table, in the trigger's database.
    pub table: String,
    /// BEFORE instead of AFTER.
    pub before: bool,
    /// INSERT, UPDATE or DELETE.
    pub event: TriggerEvent,
    /// Its place among those of the same table, time and event, from 1.
    pub order: u64,
}

/// A stored program's durable definition.
///
/// Wide: one field for each attribute that a program has.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramDef {
    /// The database that holds it.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ProgramKind,
    /// The text of its parameters.
    pub params: String,
    /// RETURNS, as SHOW CREATE FUNCTION prints it.
    pub returns: String,
    /// The text of its body.
    pub body: String,
    /// When it fires, if it is a trigger.
    pub trigger: Option<TriggerHead>,
    /// When it runs, if it is an event.
    pub event: Option<EventHead>,
    /// DEFINER.
    pub definer: AccountName,
    /// SQL SECURITY INVOKER.
    pub invoker: bool,
    /// DETERMINISTIC.
    pub deterministic: bool,
    /// `CONTAINS SQL` and so on.
    pub data_access: String,
    /// COMMENT.
    pub comment: String,
    /// `sql_mode` of the session that made it.
    pub sql_mode: SqlMode,
    /// `character_set_client` of that session.
    pub charset_client: String,
    /// `collation_connection` of that session.
    pub collation_connection: String,
    /// The collation of its database at that time.
    pub database_collation: Collation,
    /// Microseconds since 1970.
    pub created: u64,
    /// The same of the last ALTER.
    pub modified: u64,
}

/// A variable's or parameter's type.
#[derive(Clone, Debug)]
pub struct SlotType {
    /// Name of the variable.
    pub name: String,
    /// Its type; absent for what has its type from elsewhere.
    pub ty: Option<ExprType>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct ProgramParam {
    /// IN, OUT or INOUT.
    pub mode: ParamMode,
    /// Its name.
    pub name: String,
    /// Its type as it is printed.
    pub type_text: String,
    /// Its type as a column would have it.
    pub ty: ExprType,
}

/// A program that has been parsed.
#[derive(Debug)]
pub struct ParsedProgram {
    /// The body.
    pub program: Program,
    /// Parameters, which are the first slots.
    pub params: Vec<ProgramParam>,
    /// Types of the slots.
    pub slots: Vec<SlotType>,
    /// RETURNS: the type, and how it is printed without its character set.
    pub returns: Option<(ExprType, String)>,
    /// RETURNS, as SHOW CREATE FUNCTION prints it.
    pub returns_text: String,
    /// What MySQL warns of about the types.
    pub deprecated: Vec<SqlError>,
}

/// A stored program at run time.
pub struct StoredProgram {
    /// The definition.
    pub def: ProgramDef,
    /// Its metadata lock.
    pub(crate) mdl: Arc<MdlName>,
    parsed: OnceLock<Result<Arc<ParsedProgram>, SqlError>>,
    stale: AtomicBool,
}

impl std::fmt::Debug for StoredProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredProgram({}.{})", self.def.schema, self.def.name)
    }
}

impl StoredProgram {
    pub(crate) fn new(def: ProgramDef, locks: &MdlManager) -> StoredProgram {
        let (schema, name) = program_lock(def.kind, &def.schema, &def.name);
        let mdl = locks.name(&schema, &name);
        StoredProgram { def, mdl, parsed: OnceLock::new(), stale: AtomicBool::new(false) }
    }

    /// The program's statements.
    pub fn parsed(&self) -> Result<Arc<ParsedProgram>, SqlError> {
        self.parsed.get_or_init(|| parse(&self.def).map(Arc::new)).clone()
    }

    /// Whether DDL has put something else in its place.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    pub(super) fn make_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }

    /// `schema.name`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.def.schema, self.def.name)
    }
}

/// The name of a program's metadata lock, among those of its database's tables: no table's name
/// begins like it.
pub fn program_lock(kind: ProgramKind, schema: &str, name: &str) -> (String, String) {
    let (kind, name) = (kind.word(), program_key(kind, name).1);
    (schema.to_owned(), format!("\0{kind}{name}"))
}

/// The key of a program among those of its database: routines' names ignore case.
pub fn program_key(kind: ProgramKind, name: &str) -> (ProgramKind, String) {
    match kind {
        ProgramKind::Trigger => (kind, name.to_owned()),
        _ => (kind, name.to_lowercase()),
    }
}

/// The statement that a definition was made by, with names that do not matter.
fn source(def: &ProgramDef) -> String {
    let ProgramDef { params, returns, body, .. } = def;
    match &def.trigger {
        Some(head) => {
            let time = if head.before { "BEFORE" } else { "AFTER" };
            let event = event_word(head.event);
            format!("CREATE TRIGGER t {time} {event} ON t FOR EACH ROW {body}")
        }
        None if def.kind == ProgramKind::Function => {
            format!("CREATE FUNCTION f({params}) RETURNS {returns} {body}")
        }
        None => format!("CREATE PROCEDURE p({params}) {body}"),
    }
}

/// INSERT, UPDATE or DELETE.
pub fn event_word(event: TriggerEvent) -> &'static str {
    match event {
        TriggerEvent::Insert => "INSERT",
        TriggerEvent::Update => "UPDATE",
        TriggerEvent::Delete => "DELETE",
    }
}

fn parse(def: &ProgramDef) -> Result<ParsedProgram, SqlError> {
    let parsed = inia_parser::parse(&source(def), def.sql_mode.parsing()).map_err(parse_error)?;
    let Statement::CreateRoutine(create) = parsed else {
        return Err(SqlError::new(ErrorCode::SpLoadFailed, &[&def.name]));
    };
    check(*create, def.database_collation, def.sql_mode)
}

/// Checks the types that a program declares.
pub fn check(
    create: CreateRoutine,
    collation: Collation,
    mode: SqlMode,
) -> Result<ParsedProgram, SqlError> {
    let Some(program) = create.program else {
        return Err(SqlError::new(ErrorCode::SpLoadFailed, &[&create.name.name]));
    };
    let mut deprecated = Vec::new();
    let mut slots = Vec::with_capacity(program.slots.len());
    for slot in &program.slots {
        let ty = match &slot.kind {
            SlotKind::Declared(spec) => Some(declared(spec, collation, mode, &mut deprecated)?.0),
            _ => None,
        };
        slots.push(SlotType { name: slot.name.clone(), ty });
    }
    let (written, returned): (Vec<RoutineParam>, Option<TypeSpec>) = match create.detail {
        RoutineDetail::Procedure { params, .. } => (params, None),
        RoutineDetail::Function { params, returns, .. } => (params, Some(returns)),
        _ => (Vec::new(), None),
    };
    let mut params = Vec::with_capacity(written.len());
    for param in written {
        let (ty, type_text, _) = declared(&param.ty, collation, mode, &mut Vec::new())?;
        params.push(ProgramParam { mode: param.mode, name: param.name, type_text, ty });
    }
    let (mut returns, mut returns_text) = (None, String::new());
    if let Some(spec) = returned {
        let (ty, text, full) = declared(&spec, collation, mode, &mut deprecated)?;
        returns_text = full;
        returns = Some((ty, text));
    }
    Ok(ParsedProgram { program: *program, params, slots, returns, returns_text, deprecated })
}

/// A declared type, its text, and its text with the character set.
fn declared(
    spec: &TypeSpec,
    collation: Collation,
    mode: SqlMode,
    deprecated: &mut Vec<SqlError>,
) -> Result<(ExprType, String, String), SqlError> {
    let found = column_type("", spec, collation, mode.is_strict())?;
    let ColumnType { data_type, display_width, zerofill, deprecated: more, .. } = found;
    deprecated.extend(more);
    let text = inia_expr::column_type::type_text(&data_type, display_width, zerofill);
    let mut full = text.clone();
    let mut ty = ExprType::of_column(data_type, true);
    let own = ty.collation();
    if ty.is_text() && own != Collation::BINARY && ty.data_type != DataType::Json {
        full.push_str(&format!(" CHARSET {}", charset::charset_name(own)));
        if !own.is_default() && (spec.collation.is_some() || spec.charset.is_some() || spec.binary)
        {
            full.push_str(&format!(" COLLATE {}", own.name()));
        }
    }
    ty.zerofill = zerofill;
    if let Some(width) = display_width {
        ty.length = u32::from(width);
    }
    Ok((ty, text, full))
}

/// The record of a program.
pub fn put_program(def: &ProgramDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.int(def.kind as u64);
    for text in [&def.schema, &def.name, &def.params, &def.returns, &def.body] {
        w.text(text);
    }
    w.option(def.trigger.as_ref(), |w, head| {
        w.text(&head.table);
        w.bool(head.before);
        w.int(head.event as u64);
        w.int(head.order);
    });
    w.text(&def.definer.user);
    w.text(&def.definer.host);
    w.bool(def.invoker);
    w.bool(def.deterministic);
    w.text(&def.data_access);
    w.text(&def.comment);
    w.int(def.sql_mode.0);
    w.text(&def.charset_client);
    w.text(&def.collation_connection);
    w.int(u64::from(def.database_collation.0));
    w.int(def.created);
    w.int(def.modified);
    if let Some(head) = &def.event {
        event::put_head(&mut w, head);
    }
    w.0
}

/// Reads [`put_program`]'s record.
pub fn program(bytes: &[u8]) -> Option<ProgramDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    let kind = match r.int()? {
        0 => ProgramKind::Function,
        1 => ProgramKind::Procedure,
        2 => ProgramKind::Trigger,
        3 => ProgramKind::Event,
        _ => return None,
    };
    Some(ProgramDef {
        kind,
        schema: r.text()?,
        name: r.text()?,
        params: r.text()?,
        returns: r.text()?,
        body: r.text()?,
        trigger: r.option(|r| {
            Some(TriggerHead {
                table: r.text()?,
                before: r.bool()?,
                event: match r.int()? {
                    0 => TriggerEvent::Insert,
                    1 => TriggerEvent::Update,
                    2 => TriggerEvent::Delete,
                    _ => return None,
                },
                order: r.int()?,
            })
        })?,
        definer: AccountName { user: r.text()?, host: r.text()? },
        invoker: r.bool()?,
        deterministic: r.bool()?,
        data_access: r.text()?,
        comment: r.text()?,
        sql_mode: SqlMode(r.int()?),
        charset_client: r.text()?,
        collation_connection: r.text()?,
        database_collation: Collation(r.small()?),
        created: r.int()?,
        modified: r.int()?,
        event: match kind {
            ProgramKind::Event => Some(event::head(&mut r)?),
            _ => None,
        },
    })
}
