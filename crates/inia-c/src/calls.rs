//! From results to codes: what a call does with errors, panics and handles that are not open.

use crate::handles::{CONNECTIONS, ConnectionState, LastCall, LastError, STATEMENTS};
use crate::slots::Handle;
use crate::statement::StatementState;
use inia::Error;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) const OK: i32 = 0;
pub(crate) const ROW: i32 = 1;
pub(crate) const DONE: i32 = 2;
pub(crate) const ERROR: i32 = -1;
pub(crate) const MISUSE: i32 = -2;

/// Why a call fails.
pub(crate) enum Failure {
    /// The database refused.
    Refused(Error),
    /// The call itself is wrong.
    Misuse(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Refused(error)
    }
}

/// A code, or why there is none.
pub(crate) type Called<T = i32> = Result<T, Failure>;

const PANICKED: &str = "an internal error has ended the call";

thread_local! {
    /// This thread's last error that belongs to no connection.
    static ERROR_HERE: RefCell<Option<LastError>> = const { RefCell::new(None) };
    /// What this thread was given of errors: SQLSTATE, message, address.
    static GIVEN: RefCell<[CString; 3]> = RefCell::default();
}

/// Which text a thread was given.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    Sqlstate,
    Message,
    Url,
}

/// Keeps a text for this thread, and gives where it lies.
pub(crate) fn give(which: Given, text: CString) -> *const std::ffi::c_char {
    GIVEN.with(|given| {
        let place = &mut given.borrow_mut()[which as usize];
        *place = text;
        place.as_ptr()
    })
}

fn described(failure: &Failure) -> (i32, LastError) {
    let own = |message: &str| LastError {
        code: 0,
        sqlstate: "HY000".to_owned(),
        message: message.to_owned(),
    };
    match failure {
        Failure::Refused(error) => (ERROR, LastError::from(error)),
        Failure::Misuse(message) => (MISUSE, own(message)),
    }
}

/// Runs a call that belongs to no connection.
pub(crate) fn call(work: impl FnOnce() -> Called) -> i32 {
    let (code, error) = settle(work);
    ERROR_HERE.with(|here| *here.borrow_mut() = error);
    code
}

/// Runs `work`, whose panic is an error.
fn settle(work: impl FnOnce() -> Called) -> (i32, Option<LastError>) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(code)) => (code, None),
        Ok(Err(failure)) => {
            let (code, error) = described(&failure);
            (code, Some(error))
        }
        Err(_) => (ERROR, Some(described(&Failure::Misuse(PANICKED)).1)),
    }
}

/// Runs a function without a code; `none` where it panics.
pub(crate) fn guarded<T>(none: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(none)
}

fn keep(last: &Mutex<LastCall>, error: Option<LastError>) {
    last.lock().error = error;
}

/// Runs a call on a connection.
pub(crate) fn connection(handle: Handle, work: impl FnOnce(&ConnectionState) -> Called) -> i32 {
    let Some(state) = guarded(None, || CONNECTIONS.get(handle)) else {
        return call(|| Err(Failure::Misuse("the connection is not open")));
    };
    let (code, error) = settle(|| work(&state));
    keep(&state.last, error);
    code
}

/// Runs a call on a statement, whose errors are its connection's.
pub(crate) fn statement(handle: Handle, work: impl FnOnce(&mut StatementState) -> Called) -> i32 {
    let Some(state) = guarded(None, || STATEMENTS.get(handle)) else {
        return call(|| Err(Failure::Misuse("the statement is not open")));
    };
    let mut state = state.lock();
    let (code, error) = settle(|| work(&mut state));
    keep(&state.last, error);
    code
}

/// Reads something of a statement; `none` where it is not open. Leaves the last error as it is.
pub(crate) fn read<T>(
    handle: Handle,
    none: T,
    work: impl FnOnce(&mut StatementState) -> Option<T>,
) -> T
where
    T: Copy,
{
    guarded(none, || {
        let state = STATEMENTS.get(handle);
        state.and_then(|state| work(&mut state.lock())).unwrap_or(none)
    })
}

/// The last error of a connection, or of this thread for NULL and what is not open.
pub(crate) fn last_error(handle: Handle) -> Option<LastError> {
    match CONNECTIONS.get(handle) {
        Some(state) => state.last.lock().error.clone(),
        None => ERROR_HERE.with(|here| here.borrow().clone()),
    }
}

/// What the last statement of a connection did.
pub(crate) fn last_call<T: Default>(handle: Handle, read: impl FnOnce(&LastCall) -> T) -> T {
    let state = CONNECTIONS.get(handle);
    state.map(|state| read(&state.last.lock())).unwrap_or_default()
}
