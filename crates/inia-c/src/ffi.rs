//! The functions that C sees: they read C's arguments, and pass them on to safe code.
//!
//! Unsafe code is in [`CText`], [`CBytes`] and [`Out`] only. Values of these types are arguments of
//! the functions below and come from C; `include/inia.h` says what a C program promises about them.
//! Handles are numbers and need no promise.
#![allow(unsafe_code)]

use crate::calls::{
    Called, DONE, ERROR, Failure, Given, MISUSE, OK, ROW, call, connection, give, guarded,
    last_call, last_error, read, statement,
};
use crate::handles::{CONNECTIONS, ConnectionState, DATABASES, LastError, SERVERS, STATEMENTS};
use crate::slots::Handle;
use crate::statement::{StatementState, Step, Work, c_string, double, integer, type_of};
use inia::{Database, Options, Value, ValueRef};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;
use std::sync::Arc;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("handles need pointers of 64 bits");

/// The version of the interface, as in `include/inia.h`.
const VERSION: u32 = 1;

/// A text argument: null, or bytes that end with a zero.
#[repr(transparent)]
pub struct CText(*const c_char);

impl CText {
    fn optional(&self) -> Called<Option<&str>> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller of a function with this argument promises a text that ends with a
        // zero byte and stays as it is until the function returns, which `self` does not outlive.
        let text = unsafe { CStr::from_ptr(self.0) };
        let text = text.to_str().map_err(|_| Failure::Misuse("a text is not UTF-8"))?;
        Ok(Some(text))
    }

    fn required(&self) -> Called<&str> {
        self.optional()?.ok_or(Failure::Misuse("a text is NULL"))
    }
}

/// An argument of bytes whose number is another argument.
#[repr(transparent)]
pub struct CBytes(*const c_void);

impl CBytes {
    fn read(&self, length: usize) -> Called<Option<&[u8]>> {
        if self.0.is_null() {
            return match length {
                0 | usize::MAX => Ok(None),
                _ => Err(Failure::Misuse("bytes are NULL")),
            };
        }
        if length > isize::MAX as usize {
            return Err(Failure::Misuse("a length is out of range"));
        }
        // SAFETY: the caller promises so many bytes, which stay until the function returns.
        Ok(Some(unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), length) }))
    }
}

/// Where a result goes: null, or memory for one value.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    fn set(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the caller promises memory for a value, which may hold none yet.
            unsafe { self.0.write(value) };
        }
    }

    fn required(&self) -> Called<()> {
        match self.0.is_null() {
            true => Err(Failure::Misuse("the place for a result is NULL")),
            false => Ok(()),
        }
    }
}

/// The optional settings of a database.
#[repr(transparent)]
pub struct OptionsArgument(*const DatabaseOptions);

/// `inia_options`.
#[repr(C)]
pub struct DatabaseOptions {
    buffer_pool_size: u64,
    work_memory: u64,
    secure_file_priv: CText,
    must_exist: c_int,
    reserved: [c_int; 7],
}

const _: () = assert!(size_of::<DatabaseOptions>() == 56);

/// `inia_moment`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Moment {
    year: u16,
    month: u8,
    day: u8,
    hour: u16,
    minute: u8,
    second: u8,
    micros: u32,
    negative: c_int,
}

impl OptionsArgument {
    fn read(&self) -> Called<Options> {
        // SAFETY: the caller promises null or the settings, until the function returns.
        let Some(given) = (unsafe { self.0.as_ref() }) else { return Ok(Options::new()) };
        if given.reserved != [0; 7] {
            return Err(Failure::Misuse("an option is not known here"));
        }
        let mut options = Options::new();
        if given.buffer_pool_size > 0 {
            options = options.buffer_pool_size(given.buffer_pool_size);
        }
        if given.work_memory > 0 {
            options = options.work_memory(given.work_memory);
        }
        if let Some(dir) = given.secure_file_priv.optional()? {
            options = options.secure_file_priv(dir);
        }
        Ok(if given.must_exist != 0 { options.must_exist() } else { options })
    }
}

/// Defines what C calls.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*)
    => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Pointers are as `include/inia.h` says.
        // SAFETY: no other library's symbols begin with `inia_`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result $body
    )*};
}

fn added(handle: Option<Handle>) -> Called<Handle> {
    handle.ok_or(Failure::Misuse("there are too many handles"))
}

fn database(handle: Handle) -> Called<Arc<Database>> {
    DATABASES.get(handle).ok_or(Failure::Misuse("the database is not open"))
}

/// A number of C as a position.
fn position(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

functions! {
    /// The interface's version.
    fn inia_version() -> u32 {
        VERSION
    }

    /// The release.
    fn inia_release() -> *const c_char {
        const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
        RELEASE.as_ptr().cast()
    }

    /// Opens a database.
    fn inia_open(path: CText, options: OptionsArgument, opened: Out<Handle>) -> c_int {
        opened.set(0);
        call(|| {
            opened.required()?;
            let options = options.read()?;
            let database = match path.required()? {
                ":memory:" => options.in_memory(),
                path => options.open(path),
            };
            opened.set(added(DATABASES.insert(database?))?);
            Ok(OK)
        })
    }

    /// Closes a database.
    fn inia_close(handle: Handle) -> c_int {
        call(|| {
            if handle == 0 {
                return Ok(OK);
            }
            let state = DATABASES.remove(handle);
            let state = state.ok_or(Failure::Misuse("the database is not open"))?;
            // Connections may keep it open; it then closes with the last of them.
            let _ = Arc::into_inner(state).map(Database::close);
            Ok(OK)
        })
    }

    /// Starts a server.
    fn inia_serve(handle: Handle, address: CText, started: Out<Handle>) -> c_int {
        started.set(0);
        call(|| {
            started.required()?;
            let database = database(handle)?;
            let address = address.required()?;
            let server = match address.strip_prefix("unix:") {
                Some(path) => database.serve_unix(path),
                None => database.serve(address),
            };
            started.set(added(SERVERS.insert(Mutex::new(Some(server?))))?);
            Ok(OK)
        })
    }

    /// How root connects to a server.
    fn inia_server_url(handle: Handle) -> *const c_char {
        guarded(null(), || {
            let Some(state) = SERVERS.get(handle) else { return null() };
            let state = state.lock();
            let url = state.as_ref().map(inia::RunningServer::url).unwrap_or_default();
            give(Given::Url, c_string(&url))
        })
    }

    /// Stops a server.
    fn inia_server_stop(handle: Handle) -> c_int {
        call(|| {
            if handle == 0 {
                return Ok(OK);
            }
            let state = SERVERS.remove(handle);
            let state = state.ok_or(Failure::Misuse("the server is not running"))?;
            if let Some(server) = state.lock().take() {
                server.stop()?;
            }
            Ok(OK)
        })
    }

    /// Makes a connection.
    fn inia_connect(handle: Handle, schema: CText, made: Out<Handle>) -> c_int {
        made.set(0);
        call(|| {
            made.required()?;
            let database = database(handle)?;
            let connection = match schema.optional()? {
                Some(schema) => database.connect_to(schema)?,
                None => database.connect()?,
            };
            let connection = inia::SharedConnection::new(connection);
            let state = ConnectionState { connection, last: Arc::default() };
            made.set(added(CONNECTIONS.insert(state))?);
            Ok(OK)
        })
    }

    /// Ends a connection.
    fn inia_disconnect(handle: Handle) -> c_int {
        call(|| {
            if handle == 0 {
                return Ok(OK);
            }
            let state = CONNECTIONS.get(handle);
            state.ok_or(Failure::Misuse("the connection is not open"))?.connection.close()?;
            CONNECTIONS.remove(handle);
            Ok(OK)
        })
    }

    /// Runs statements without their rows.
    fn inia_execute(handle: Handle, sql: CText) -> c_int {
        connection(handle, |state| execute(state, sql.required()?))
    }

    /// Begins a transaction.
    fn inia_begin(handle: Handle) -> c_int {
        connection(handle, |state| execute(state, "START TRANSACTION"))
    }

    /// Commits.
    fn inia_commit(handle: Handle) -> c_int {
        connection(handle, |state| execute(state, "COMMIT"))
    }

    /// Rolls back.
    fn inia_rollback(handle: Handle) -> c_int {
        connection(handle, |state| execute(state, "ROLLBACK"))
    }

    /// Whether a transaction is open.
    fn inia_in_transaction(handle: Handle) -> c_int {
        connection(handle, |state| {
            Ok(c_int::from(state.connection.with(|connection| Ok(connection.in_transaction()))?))
        })
    }

    /// Ends what a connection runs.
    fn inia_interrupt(handle: Handle) -> c_int {
        guarded(ERROR, || match CONNECTIONS.get(handle) {
            Some(state) => {
                state.connection.interrupt();
                OK
            }
            None => MISUSE,
        })
    }

    /// The number of a connection.
    fn inia_connection_id(handle: Handle) -> u32 {
        guarded(0, || CONNECTIONS.get(handle).map_or(0, |state| state.connection.id()))
    }

    /// Rows that the last statement changed.
    fn inia_affected_rows(handle: Handle) -> u64 {
        last_call(handle, |last| last.affected_rows)
    }

    /// The first AUTO_INCREMENT value that the last statement made.
    fn inia_last_insert_id(handle: Handle) -> u64 {
        last_call(handle, |last| last.last_insert_id)
    }

    /// Conditions of the last statement.
    fn inia_warning_count(handle: Handle) -> u32 {
        last_call(handle, |last| u32::from(last.warnings))
    }

    /// The number of the last error.
    fn inia_errno(handle: Handle) -> c_int {
        guarded(ERROR, || c_int::from(last_error(handle).map_or(0, |error| error.code)))
    }

    /// The SQLSTATE of the last error.
    fn inia_sqlstate(handle: Handle) -> *const c_char {
        guarded(null(), || {
            let text = last_error(handle).map_or_else(|| "00000".to_owned(), |it| it.sqlstate);
            give(Given::Sqlstate, c_string(&text))
        })
    }

    /// The text of the last error.
    fn inia_message(handle: Handle) -> *const c_char {
        guarded(null(), || {
            let LastError { message, .. } = last_error(handle).unwrap_or_default();
            give(Given::Message, c_string(&message))
        })
    }

    /// Prepares a statement.
    fn inia_prepare(handle: Handle, sql: CText, made: Out<Handle>) -> c_int {
        made.set(0);
        connection(handle, |state| {
            made.required()?;
            let prepared = state.connection.prepare(sql.required()?)?;
            add(state, Work::Prepared(prepared), &made)
        })
    }

    /// Makes a statement of a text that is not prepared.
    fn inia_query(handle: Handle, sql: CText, made: Out<Handle>) -> c_int {
        made.set(0);
        connection(handle, |state| {
            made.required()?;
            let text = sql.required()?.to_owned();
            add(state, Work::Text(text), &made)
        })
    }

    /// Closes a statement.
    fn inia_finalize(handle: Handle) -> c_int {
        call(|| {
            if handle == 0 {
                return Ok(OK);
            }
            let state = STATEMENTS.remove(handle);
            state.ok_or(Failure::Misuse("the statement is not open"))?.lock().reset();
            Ok(OK)
        })
    }

    /// How many parameters a statement has.
    fn inia_param_count(handle: Handle) -> c_int {
        read(handle, MISUSE, |state| c_int::try_from(state.param_count()).ok())
    }

    /// Binds NULL.
    fn inia_bind_null(handle: Handle, at: c_int) -> c_int {
        bind(handle, at, || Ok(Value::Null))
    }

    /// Binds a signed integer.
    fn inia_bind_int64(handle: Handle, at: c_int, value: i64) -> c_int {
        bind(handle, at, || Ok(Value::Int(value)))
    }

    /// Binds an unsigned integer.
    fn inia_bind_uint64(handle: Handle, at: c_int, value: u64) -> c_int {
        bind(handle, at, || Ok(Value::UInt(value)))
    }

    /// Binds a number.
    fn inia_bind_double(handle: Handle, at: c_int, value: f64) -> c_int {
        bind(handle, at, || Ok(Value::Double(value)))
    }

    /// Binds a text; NULL for a null pointer.
    fn inia_bind_text(handle: Handle, at: c_int, text: CBytes, length: usize) -> c_int {
        bind(handle, at, || {
            if length == usize::MAX {
                let text = CText(text.0.cast());
                return Ok(text.optional()?.map_or(Value::Null, |text| Value::Text(text.into())));
            }
            let Some(bytes) = text.read(length)? else { return Ok(Value::Null) };
            let text = std::str::from_utf8(bytes);
            let text = text.map_err(|_| Failure::Misuse("a text is not UTF-8"))?;
            Ok(Value::Text(text.to_owned()))
        })
    }

    /// Binds bytes; NULL for a null pointer.
    fn inia_bind_blob(handle: Handle, at: c_int, bytes: CBytes, length: usize) -> c_int {
        bind(handle, at, || {
            Ok(bytes.read(length)?.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec())))
        })
    }

    /// Whether rows are read while they are stepped through.
    fn inia_set_streaming(handle: Handle, on: c_int) -> c_int {
        statement(handle, |state| {
            state.set_streaming(on != 0);
            Ok(OK)
        })
    }

    /// Goes to the next row.
    fn inia_step(handle: Handle) -> c_int {
        statement(handle, |state| {
            Ok(match state.step()? {
                Step::Row => ROW,
                Step::Done => DONE,
            })
        })
    }

    /// Goes to the next result.
    fn inia_next_result(handle: Handle) -> c_int {
        statement(handle, |state| Ok(if state.next_result()? { OK } else { DONE }))
    }

    /// Ends a run.
    fn inia_reset(handle: Handle) -> c_int {
        statement(handle, |state| {
            state.reset();
            Ok(OK)
        })
    }

    /// How many columns the result has.
    fn inia_column_count(handle: Handle) -> c_int {
        read(handle, MISUSE, |state| c_int::try_from(state.column_count()).ok())
    }

    /// The name of a column.
    fn inia_column_name(handle: Handle, column: c_int) -> *const c_char {
        read(handle, null(), |state| state.column_name(position(column)).map(|it| it.as_ptr()))
    }

    /// What a column holds.
    fn inia_column_type(handle: Handle, column: c_int) -> c_int {
        read(handle, MISUSE, |state| state.column_type(position(column)))
    }

    /// The type of a value.
    fn inia_type(handle: Handle, column: c_int) -> c_int {
        read(handle, MISUSE, |state| state.value(position(column)).map(type_of))
    }

    /// A value as a signed integer.
    fn inia_int64(handle: Handle, column: c_int) -> i64 {
        read(handle, 0, |state| {
            let value = integer(state.value(position(column))?);
            Some(value.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        })
    }

    /// A value as an unsigned integer.
    fn inia_uint64(handle: Handle, column: c_int) -> u64 {
        read(handle, 0, |state| {
            let value = integer(state.value(position(column))?);
            Some(value.clamp(0, u64::MAX.into()) as u64)
        })
    }

    /// A value as a number.
    fn inia_double(handle: Handle, column: c_int) -> f64 {
        read(handle, 0.0, |state| state.value(position(column)).map(double))
    }

    /// A value as a text.
    fn inia_text(handle: Handle, column: c_int, length: Out<usize>) -> *const c_char {
        bytes(handle, column, &length).cast()
    }

    /// The bytes of a value.
    fn inia_blob(handle: Handle, column: c_int, length: Out<usize>) -> *const c_void {
        bytes(handle, column, &length).cast()
    }

    /// The parts of a date or a time.
    fn inia_moment_of(handle: Handle, column: c_int, moment: Out<Moment>) -> c_int {
        statement(handle, |state| {
            moment.required()?;
            let value = state.value(position(column)).and_then(parts);
            moment.set(value.ok_or(Failure::Misuse("the value is no date or time"))?);
            Ok(OK)
        })
    }
}

fn execute(state: &ConnectionState, sql: &str) -> Called {
    let mut results = match state.connection.query(sql) {
        Ok(results) => results,
        Err(error) => {
            let mut last = state.last.lock();
            (last.affected_rows, last.last_insert_id, last.warnings) = (0, 0, 0);
            return Err(error.into());
        }
    };
    loop {
        while results.next_rows()?.is_some() {}
        if let Some(outcome) = results.outcome() {
            let mut last = state.last.lock();
            last.affected_rows = outcome.affected_rows;
            last.last_insert_id = outcome.last_insert_id;
            last.warnings = outcome.warnings;
        }
        if !results.next_result()? {
            return Ok(OK);
        }
    }
}

fn add(state: &ConnectionState, work: Work, made: &Out<Handle>) -> Called {
    let statement = StatementState::new(state.connection.clone(), state.last.clone(), work);
    made.set(added(STATEMENTS.insert(Mutex::new(statement)))?);
    Ok(OK)
}

fn bind(handle: Handle, at: c_int, value: impl FnOnce() -> Called<Value>) -> c_int {
    statement(handle, |state| match state.bind(position(at), value()?) {
        true => Ok(OK),
        false => Err(Failure::Misuse("there is no parameter at this position")),
    })
}

/// Where the bytes of a value lie, with a zero behind them.
fn bytes(handle: Handle, column: c_int, length: &Out<usize>) -> *const u8 {
    length.set(0);
    let (start, count) = read(handle, (null(), 0), |state| {
        let bytes = state.text(position(column))?;
        Some((bytes.as_ptr(), bytes.len() - 1))
    });
    length.set(count);
    start
}

fn parts(value: ValueRef<'_>) -> Option<Moment> {
    let day = |date: inia::Date| Moment {
        year: date.year,
        month: date.month,
        day: date.day,
        ..Moment::default()
    };
    Some(match value {
        ValueRef::Date(date) => day(date),
        ValueRef::DateTime(moment, _) => Moment {
            hour: moment.hour.into(),
            minute: moment.minute,
            second: moment.second,
            micros: moment.micros,
            ..day(moment.date)
        },
        ValueRef::Time(time, _) => Moment {
            hour: time.hour() as u16,
            minute: time.minute(),
            second: time.second(),
            micros: time.fraction(),
            negative: time.is_negative().into(),
            ..Moment::default()
        },
        _ => return None,
    })
}
