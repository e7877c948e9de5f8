//! What an expression sees besides its row: the statement's environment, and callbacks to the
//! session and to the executor.

use super::locale::Locale;
use crate::derive::Derivation;
use crate::tree::{Expr, StoredCall, Subquery};
use crate::ty::ExprType;
use inia_base::collation::{Charset, Collation};
use inia_base::error::{ErrorCode, Signalled, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::temporal::{DateRules, DateTime, TimeZone};
use inia_base::value::Value;
use inia_geometry::Srs;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Note.
    Note,
    /// Warning.
    Warning,
    /// Error.
    Error,
}

/// One row of SHOW WARNINGS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Severity.
    pub level: Level,
    /// Number.
    pub code: ErrorCode,
    /// Text.
    pub message: String,
    /// Number and SQLSTATE in place of the table's, where a program chose them.
    pub signalled: Option<Box<Signalled>>,
}

impl Warning {
    /// An error as a condition of a level.
    pub fn of(level: Level, error: SqlError) -> Warning {
        let SqlError { code, message, signalled } = error;
        Warning { level, code, message, signalled }
    }

    /// The condition as an error.
    pub fn error(&self) -> SqlError {
        let (code, message) = (self.code, self.message.clone());
        SqlError { code, message, signalled: self.signalled.clone() }
    }

    /// The number that clients see.
    pub fn number(&self) -> u16 {
        self.signalled.as_ref().map_or(self.code.number(), |signalled| signalled.number)
    }

    /// The five-character SQLSTATE.
    pub fn sqlstate(&self) -> &str {
        self.signalled.as_ref().map_or(self.code.sqlstate(), |signalled| &signalled.sqlstate)
    }
}

/// The statement's diagnostics: all are counted, the first `limit` are kept.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    /// What is kept.
    pub list: Vec<Warning>,
    /// How many were raised.
    pub count: u64,
    /// `max_error_count`.
    pub limit: usize,
}

impl Warnings {
    /// Takes one diagnostic.
    pub fn push(&mut self, warning: Warning) {
        self.count += 1;
        if self.list.len() < self.limit {
            self.list.push(warning);
        }
    }

    /// Forgets everything: a new statement begins.
    pub fn clear(&mut self) {
        self.list.clear();
        self.count = 0;
    }
}

/// The session as one statement sees it; fixed while the statement runs.
///
/// Wide: one field for each setting that expressions may read.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Start of the statement in microseconds since 1970, UTC (or `SET timestamp`).
    pub now_micros: i64,
    /// `time_zone`.
    pub time_zone: TimeZone,
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `collation_connection`.
    pub collation: Collation,
    /// `character_set_client`.
    pub client_charset: Charset,
    /// The current database.
    pub database: Option<String>,
    /// What USER() says, `name@host`.
    pub user: String,
    /// What CURRENT_USER() says.
    pub current_user: String,
    /// What VERSION() says.
    pub version: String,
    /// CONNECTION_ID().
    pub connection_id: u64,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// ROW_COUNT().
    pub row_count: i64,
    /// `div_precision_increment`.
    pub div_precision_increment: u8,
    /// `group_concat_max_len`.
    pub group_concat_max_len: usize,
    /// `tmp_table_size`: bytes that a statement's intermediate results may have in memory.
    pub tmp_table_size: usize,
    /// `max_execution_time` in milliseconds; 0 is without end.
    pub max_execution_time: u64,
    /// `max_allowed_packet`: longer results of functions become NULL.
    pub max_allowed_packet: usize,
    /// `default_week_format`.
    pub default_week_format: u8,
    /// `lc_time_names`; none is English.
    pub locale: Option<&'static Locale>,
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_auto_is_null`.
    pub auto_is_null: bool,
    /// The statement is a prepared one.
    pub is_prepared: bool,
    /// The parameters' types while a statement is planned, by index: those of a text's literals
    /// where the plan is for all texts that differ in them, otherwise those of EXECUTE's values.
    /// Parameters that are not in the list are bound as texts.
    pub param_types: Vec<ExprType>,
    /// The parameters' values while a statement is planned that runs at once. A plan that depends
    /// on one is not kept ([`SessionHost::note_bound_value`]).
    pub param_values: Vec<Value>,
}

impl Default for Environment {
    fn default() -> Environment {
        Environment {
            now_micros: 0,
            time_zone: TimeZone::utc(),
            sql_mode: SqlMode::DEFAULT,
            collation: Collation::DEFAULT,
            client_charset: Charset::Utf8mb4,
            database: None,
            user: String::from("root@localhost"),
            current_user: String::from("root@localhost"),
            version: String::from("8.0.31"),
            connection_id: 1,
            last_insert_id: 0,
            found_rows: 0,
            locale: None,
            row_count: -1,
            div_precision_increment: 4,
            group_concat_max_len: 1024,
            tmp_table_size: 16 << 20,
            max_execution_time: 0,
            max_allowed_packet: 64 << 20,
            default_week_format: 0,
            max_error_count: 1024,
            auto_is_null: false,
            is_prepared: false,
            param_types: Vec::new(),
            param_values: Vec::new(),
        }
    }
}

impl Environment {
    /// The start of the statement in the session's time zone.
    #[inline]
    pub fn now(&self) -> DateTime {
        self.local(self.now_micros)
    }

    /// A moment in UTC microseconds as local time.
    pub fn local(&self, micros: i64) -> DateTime {
        let utc = utc_datetime(micros);
        self.time_zone.from_utc(utc).unwrap_or(utc)
    }

    /// Which unusual dates the mode accepts when it stores or casts.
    pub fn date_rules(&self) -> DateRules {
        DateRules {
            no_zero_date: self.sql_mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: self.sql_mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: self.sql_mode.has(SqlMode::ALLOW_INVALID_DATES),
        }
    }
}

/// A moment in microseconds since 1970 as a UTC date and time.
pub(crate) fn utc_datetime(micros: i64) -> DateTime {
    let (seconds, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    DateTime::from_unix(seconds, rest as u32).unwrap_or(DateTime::ZERO)
}

/// Which kind of statement evaluates, that is what becomes of wrong values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A statement that stores nothing: wrong values warn.
    Query,
    /// INSERT, UPDATE, DELETE and DDL in strict mode: wrong values are errors.
    Strict,
    /// Storing statements with IGNORE or without strict mode: wrong values warn.
    Lenient,
}

/// Which value of a system variable `@@name` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarScope {
    /// `@@name`: the session's value, or else the global one.
    Any,
    /// `@@session.name`.
    Session,
    /// `@@global.name`.
    Global,
}

/// A user variable with the type it last got.
#[derive(Clone, Debug)]
pub struct UserVar {
    /// Current value.
    pub value: Value,
    /// Its type.
    pub ty: ExprType,
}

/// What binding knows of a stored function.
#[derive(Clone, Debug)]
pub struct StoredFunction {
    /// Its database.
    pub schema: String,
    /// Its name as it was created.
    pub name: String,
    /// How many parameters it has.
    pub params: usize,
    /// RETURNS.
    pub returns: ExprType,
    /// Whether equal arguments give equal results.
    pub deterministic: bool,
}

/// What expressions need of the session.
pub trait SessionHost {
    /// Value and type of a system variable; error 1193 where there is none.
    fn sysvar(&self, scope: VarScope, name: &str) -> Result<(Value, ExprType), SqlError>;
    /// A user variable, by name without the `@` (names ignore case).
    fn user_var(&self, name: &str) -> Option<UserVar>;
    /// Notes that the statement being bound assigns to a user variable.
    fn note_assignment(&self, name: &str) {
        let _ = name;
    }
    /// Whether what is bound so far assigns to a user variable.
    fn is_assigned(&self, name: &str) -> bool {
        let _ = name;
        false
    }
    /// Sets a user variable.
    fn set_user_var(&self, name: &str, var: UserVar) -> Result<(), SqlError>;
    /// LAST_INSERT_ID(id): what LAST_INSERT_ID() will say from the next statement on.
    fn set_last_insert_id(&self, id: u64);
    /// What the running statement has set by LAST_INSERT_ID(id).
    fn said_insert_id(&self) -> Option<u64> {
        None
    }
    /// The present time in microseconds since 1970, for SYSDATE() and UUID().
    fn clock_micros(&self) -> i64;
    /// Sleeps; true where the sleep was interrupted.
    fn sleep(&self, micros: u64) -> Result<bool, SqlError>;
    /// Whether the running statement is to end, for functions that take long by themselves.
    fn is_killed(&self) -> bool {
        false
    }
    /// GET_LOCK: `Some(true)` got it, `Some(false)` timed out, `None` failed.
    fn get_lock(&self, name: &str, timeout_micros: Option<u64>) -> Result<Option<bool>, SqlError>;
    /// RELEASE_LOCK: `None` where nobody holds it.
    fn release_lock(&self, name: &str) -> Result<Option<bool>, SqlError>;
    /// RELEASE_ALL_LOCKS: how many were released.
    fn release_all_locks(&self) -> u64;
    /// The connection that holds the lock.
    fn lock_holder(&self, name: &str) -> Option<u64>;
    /// Where RAND() without seed goes on, once that is known.
    fn rand_state(&self) -> Option<(u64, u64)> {
        None
    }
    /// Notes where RAND() goes on.
    fn set_rand_state(&self, state: (u64, u64)) {
        let _ = state;
    }
    /// Notes that the plan being made depends on a parameter's value.
    fn note_bound_value(&self) {}
    /// Notes that the plan being made converts a parameter to a collation whose character set lacks
    /// characters.
    fn note_narrow_param(&self, index: usize, collation: Collation) {
        let _ = (index, collation);
    }
    /// Where the types of parameters are derived, if they may be.
    fn derivation(&self) -> Option<&Derivation> {
        None
    }
    /// The stored function of that name; `schema` is the current database where none is written.
    fn find_function(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<StoredFunction>, SqlError> {
        let _ = (schema, name);
        Ok(None)
    }
    /// The sequence of that name, by its database and own name: errors 1146 and 4090.
    fn find_sequence(&self, schema: &str, name: &str) -> Result<(String, String), SqlError> {
        Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]))
    }
    /// Calls a stored function.
    fn call_function(
        &self,
        call: &StoredCall,
        args: Vec<(Value, ExprType)>,
        warnings: &mut Warnings,
    ) -> Result<Value, SqlError> {
        let _ = (args, warnings);
        Err(SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &call.full_name()]))
    }
    /// The first `limit` bytes of a file on the server, `None` where the account may not read it or
    /// it cannot be read.
    fn read_file(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        let _ = (path, limit);
        None
    }
    /// The roles in force, each as CURRENT_ROLE() writes it.
    fn active_roles(&self) -> Vec<String> {
        Vec::new()
    }
    /// Who has been granted which roles, as a document of GraphML; an empty one where the account
    /// may not see it.
    fn roles_graph(&self) -> String {
        String::new()
    }
    /// The reference system of an SRID, where there is one.
    fn reference_system(&self, srid: u32) -> Option<Arc<Srs>> {
        inia_geometry::srs::find(srid)
    }
    /// Whether reference systems are others than those of the program's table.
    fn has_own_references(&self) -> bool {
        false
    }
    /// Whether a connection of this number is open.
    fn has_connection(&self, id: u64) -> bool {
        let _ = id;
        false
    }
}

/// Takes rows of a subquery; returns whether it wants more.
pub type RowVisitor<'v> = dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool, SqlError> + 'v;

/// Runs subqueries for expressions. The outer row is already on [`EvalContext::outer`].
pub trait SubqueryRunner {
    /// Gives each row of subquery `id` to `visit` until that returns false.
    fn rows(
        &self,
        id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<(), SqlError>;

    /// The answer of `values IN (subquery)` (`= ANY`) by a hash table of the rows; the outer `None`
    /// where the table cannot answer it.
    fn contains(
        &self,
        sub: &Subquery,
        values: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Option<bool>>, SqlError> {
        let _ = (sub, values, ctx);
        Ok(None)
    }

    /// How relevant a row with these texts is to search `id` for `against`; 0 where it is none of
    /// what is searched for.
    fn relevance(
        &self,
        id: usize,
        against: Option<&str>,
        texts: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<f64, SqlError> {
        let _ = (id, against, texts, ctx);
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"MATCH ... AGAINST here"]))
    }

    /// The clustered keys of the rows that search `id` for `against` finds, the most relevant
    /// first.
    fn search(
        &self,
        id: usize,
        against: Option<&str>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Vec<u8>>, SqlError> {
        let _ = (id, against, ctx);
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"MATCH ... AGAINST here"]))
    }
}

/// A runner for contexts without subqueries.
#[derive(Debug, Default)]
pub struct NoSubqueries;

impl SubqueryRunner for NoSubqueries {
    fn rows(
        &self,
        _id: usize,
        _ctx: &mut EvalContext<'_>,
        _visit: &mut RowVisitor<'_>,
    ) -> Result<(), SqlError> {
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"a subquery here"]))
    }
}

/// For keys that are places in memory. Unlike the usual state it costs nothing to make.
type PlainHasher = BuildHasherDefault<DefaultHasher>;

/// Everything an evaluation needs besides its row.
///
/// Wide: one field for each kind of value that an expression may read besides its row.
pub struct EvalContext<'s> {
    /// The session's fixed part.
    pub env: &'s Environment,
    /// Callbacks to the session.
    pub host: &'s dyn SessionHost,
    /// Callbacks to the executor.
    pub subqueries: &'s dyn SubqueryRunner,
    /// Values of the statement's `?`.
    pub params: &'s [Value],
    /// Rows of the enclosing queries, outermost first.
    pub outer: Vec<Vec<Value>>,
    /// Results of the current group's aggregates.
    pub aggregates: Vec<Value>,
    /// Results of the current row's functions over windows.
    pub windows: Vec<Value>,
    /// For `VALUES(col)`: the row that INSERT tried.
    pub inserting: Vec<Value>,
    /// Diagnostics so far.
    pub warnings: Warnings,
    /// What becomes of wrong values.
    pub strictness: Strictness,
    /// The statement says IGNORE: a subquery of several rows is NULL.
    pub ignores: bool,
    /// The value is for a user variable: a decimal keeps its own digits after the point.
    pub(crate) keeps_scale: bool,
    /// Name of the table being written, for error texts that show it.
    pub target_table: String,
    /// Row number that error texts show, from 1.
    pub row_number: u64,
    /// Columns for which a statement that warns once of each has warned of NULL.
    pub null_columns: Vec<usize>,
    /// Constants whose conversion was warned of already, by their place in memory.
    warned: HashSet<usize, PlainHasher>,
    /// Rows that the statement's SELECT has read, from 1; what warnings about dates call "row".
    pub scanned: u64,
    /// States of RAND(seed), by call.
    pub seeded_rand: HashMap<usize, (u64, u64), PlainHasher>,
}

/// What a run of a statement had warned of at some moment.
#[derive(Debug)]
pub struct WarningMark {
    count: u64,
    kept: usize,
    warned: HashSet<usize, PlainHasher>,
}

impl<'s> EvalContext<'s> {
    /// A context for a query.
    pub fn new(
        env: &'s Environment,
        host: &'s dyn SessionHost,
        subqueries: &'s dyn SubqueryRunner,
        params: &'s [Value],
    ) -> EvalContext<'s> {
        EvalContext {
            env,
            host,
            subqueries,
            params,
            outer: Vec::new(),
            aggregates: Vec::new(),
            windows: Vec::new(),
            inserting: Vec::new(),
            warnings: Warnings { limit: env.max_error_count, ..Warnings::default() },
            strictness: Strictness::Query,
            ignores: false,
            keeps_scale: false,
            target_table: String::new(),
            row_number: 1,
            null_columns: Vec::new(),
            warned: HashSet::default(),
            scanned: 1,
            seeded_rand: HashMap::default(),
        }
    }

    /// `sql_mode`.
    #[inline]
    pub fn mode(&self) -> SqlMode {
        self.env.sql_mode
    }

    /// Raises a warning; in a strict storing statement the kinds that mean a wrong value are
    /// errors instead.
    pub fn warn(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) -> Result<(), SqlError> {
        self.raise(Level::Warning, SqlError::new(code, args))
    }

    /// Runs a conversion of the constant `of`; a run of the statement hears its warnings once.
    pub fn once<T>(
        &mut self,
        of: &Expr,
        convert: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if self.warned.insert(std::ptr::from_ref(of).addr()) {
            return convert(self);
        }
        let (count, kept) = (self.warnings.count, self.warnings.list.len());
        let result = convert(self);
        self.warnings.count = count;
        self.warnings.list.truncate(kept);
        result
    }

    /// Whether IGNORE makes a warning of an error that the node `of` brings about. A run of the
    /// statement hears it once, or for each row where the node is correlated.
    pub(crate) fn forgives<T>(&mut self, of: &T, error: &SqlError, correlated: bool) -> bool {
        if self.ignores && (correlated || self.warned.insert(std::ptr::from_ref(of).addr())) {
            self.warnings.push(Warning::of(Level::Warning, error.clone()));
        }
        self.ignores
    }

    /// What was warned of so far, before a part of the run that may have to be done anew.
    pub fn mark_warnings(&self) -> WarningMark {
        let (count, kept) = (self.warnings.count, self.warnings.list.len());
        WarningMark { count, kept, warned: self.warned.clone() }
    }

    /// Forgets what was warned of since: that part of the run is done anew.
    pub fn forget_warnings(&mut self, since: WarningMark) {
        self.warnings.count = since.count;
        self.warnings.list.truncate(since.kept);
        self.warned = since.warned;
    }

    /// Raises a note.
    pub fn note(&mut self, code: ErrorCode, args: &[&dyn fmt::Display]) {
        self.warnings.push(Warning::of(Level::Note, SqlError::new(code, args)));
    }

    /// Raises `error` as a diagnostic of `level`, or as an error where strictness says so.
    pub fn raise(&mut self, level: Level, error: SqlError) -> Result<(), SqlError> {
        if self.strictness == Strictness::Strict && is_wrong_value(error.code) {
            return Err(error);
        }
        self.warnings.push(Warning::of(level, error));
        Ok(())
    }
}

/// The warnings that strict mode turns into errors.
fn is_wrong_value(code: ErrorCode) -> bool {
    use ErrorCode as E;
    matches!(
        code,
        E::TruncatedWrongValue
            | E::WrongValueForType
            | E::WarnDataOutOfRange
            | E::DataOutOfRange
            | E::DivisionByZero
            | E::TruncatedWrongValueForField
            | E::WarnDataTruncated
            | E::DataTooLong
            | E::DatetimeFunctionOverflow
            | E::BadNull
            | E::NoDefaultForField
            | E::CutValueGroupConcat
            | E::InvalidArgumentForLogarithm
            | E::InvalidCharacterString
            | E::InvalidJsonValueForCast
    )
}
