//! A connection, with the thread that works for it.

use crate::convert::{Parameter, parameter};
use crate::results::{ResultStream, hold};
use crate::worker::{Failure, Worker};
use inia::{Fetch, SharedConnection, Value};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

/// A condition of the last statement.
#[napi(object, object_from_js = false)]
pub struct Warning {
    pub level: &'static str,
    pub code: u32,
    pub message: String,
}

/// A connection.
#[napi]
pub struct Connection {
    shared: SharedConnection,
    worker: Worker,
}

impl Connection {
    pub(crate) fn new(connection: inia::Connection, several: bool) -> Result<Connection, Failure> {
        connection.allow_several_statements(several)?;
        Ok(Connection { shared: SharedConnection::new(connection), worker: Worker::start()? })
    }
}

fn parameters(values: Vec<Parameter>) -> Result<Vec<Value>, Failure> {
    values.into_iter().map(parameter).collect()
}

#[napi]
impl Connection {
    /// Promises the results of a statement.
    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        sql: String,
        params: Vec<Parameter>,
    ) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker.promise(env, move || {
            hold(shared.run(&sql, parameters(params)?.as_slice(), Fetch::Held)?)
        })
    }

    /// Promises the result of a statement, to be read while it is made.
    #[napi]
    pub fn stream<'env>(
        &self,
        env: &'env Env,
        sql: String,
        params: Vec<Parameter>,
    ) -> napi::Result<Object<'env>> {
        let (shared, worker) = (self.shared.clone(), self.worker.clone());
        self.worker.promise(env, move || {
            let results = shared.run(&sql, parameters(params)?.as_slice(), Fetch::Streamed)?;
            Ok(ResultStream::new(results, worker))
        })
    }

    /// Promises that a statement can be prepared, and the number of its parameters.
    #[napi]
    pub fn prepare<'env>(&self, env: &'env Env, sql: String) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker.promise(env, move || Ok(shared.prepare(&sql)?.param_count() as u32))
    }

    /// Ends the statement that runs.
    #[napi]
    pub fn interrupt(&self) {
        self.shared.interrupt();
    }

    /// Promises the state of a new connection.
    #[napi]
    pub fn reset<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker.promise(env, move || Ok(shared.reset()?))
    }

    /// Makes a database the default one.
    #[napi]
    pub fn use_database<'env>(&self, env: &'env Env, name: String) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker
            .promise(env, move || Ok(shared.with(|connection| connection.use_database(&name))?))
    }

    /// Promises the conditions of the last statement.
    #[napi]
    pub fn warnings<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker.promise(env, move || {
            let warnings = shared.with(|connection| Ok(connection.warnings()))?.into_iter();
            let warnings = warnings.map(|it| Warning {
                level: it.level,
                code: it.code.into(),
                message: it.message,
            });
            Ok(warnings.collect::<Vec<_>>())
        })
    }

    /// Ends the connection behind the statements that were sent.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let shared = self.shared.clone();
        self.worker.promise(env, move || Ok(shared.close()?))
    }

    /// The number that CONNECTION_ID() gives.
    #[napi(getter)]
    pub fn id(&self) -> u32 {
        self.shared.id()
    }
}
