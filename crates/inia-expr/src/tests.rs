//! Expressions checked against the answers of MySQL 8.0.31.
//!
//! Each document under `data/` holds one expression a line, then its value, then (where given) the
//! result column's type, length, decimals and nullability, and below it the warnings:
//!
//! ```text
//! 'a'+1 => '1' : DOUBLE 23 31 not-null
//!   Warning 1292 Truncated incorrect DOUBLE value: 'a'
//! 1 + => ERROR 1064 …
//! ```
//!
//! The session's time zone is UTC and its clock stands at 1700000000.

mod aggregates;
mod documents;
mod session;
mod stores;

use crate::{Environment, ExprType, SessionHost, UserVar, VarScope};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// The session that the answers were taken from.
fn environment() -> Environment {
    Environment {
        now_micros: 1_700_000_000_000_000,
        database: Some(String::from("oracle_expr")),
        ..Environment::default()
    }
}

/// A session for contexts: user variables, no system variables, no locks, clock at zero.
#[derive(Default)]
struct TestSession {
    vars: RefCell<HashMap<String, UserVar>>,
}

impl SessionHost for TestSession {
    fn sysvar(&self, _scope: VarScope, name: &str) -> Result<(Value, ExprType), SqlError> {
        Err(SqlError::new(ErrorCode::UnknownSystemVariable, &[&name]))
    }
    fn user_var(&self, name: &str) -> Option<UserVar> {
        self.vars.borrow().get(name).cloned()
    }
    fn set_user_var(&self, name: &str, var: UserVar) -> Result<(), SqlError> {
        self.vars.borrow_mut().insert(name.to_owned(), var);
        Ok(())
    }
    fn set_last_insert_id(&self, _id: u64) {}
    fn clock_micros(&self) -> i64 {
        0
    }
    fn sleep(&self, _micros: u64) -> Result<bool, SqlError> {
        Ok(false)
    }
    fn get_lock(&self, _name: &str, _timeout: Option<u64>) -> Result<Option<bool>, SqlError> {
        Ok(Some(true))
    }
    fn release_lock(&self, _name: &str) -> Result<Option<bool>, SqlError> {
        Ok(None)
    }
    fn release_all_locks(&self) -> u64 {
        0
    }
    fn lock_holder(&self, _name: &str) -> Option<u64> {
        None
    }
}
