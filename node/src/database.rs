//! Databases, their copies, and servers for them.

use crate::connection::Connection;
use crate::worker::{Failure, promise_once};
use inia::{Options, RunningServer};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use std::sync::{Arc, Mutex, PoisonError};

/// How a database is opened.
#[napi(object, object_to_js = false)]
pub struct OpenOptions {
    /// Bytes of memory for pages.
    pub buffer_pool_size: Option<f64>,
    /// Bytes of memory for statements.
    pub work_memory: Option<f64>,
    /// Where LOAD DATA and INTO OUTFILE may go.
    pub secure_file_priv: Option<String>,
    /// A directory is not made where there is none.
    pub must_exist: Option<bool>,
}

impl From<OpenOptions> for Options {
    fn from(given: OpenOptions) -> Options {
        let mut options = Options::new();
        if let Some(bytes) = given.buffer_pool_size {
            options = options.buffer_pool_size(bytes as u64);
        }
        if let Some(bytes) = given.work_memory {
            options = options.work_memory(bytes as u64);
        }
        if let Some(dir) = given.secure_file_priv {
            options = options.secure_file_priv(dir);
        }
        if given.must_exist == Some(true) {
            options = options.must_exist();
        }
        options
    }
}

/// Something that can be closed, and then is `None`.
type Closable<T> = Arc<Mutex<Option<T>>>;

fn closable<T>(value: T) -> Closable<T> {
    Arc::new(Mutex::new(Some(value)))
}

fn take<T>(value: &Closable<T>) -> Option<T> {
    value.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// An open database.
#[napi]
pub struct Database {
    database: Closable<inia::Database>,
}

fn is_closed() -> Failure {
    Failure::of("the database is closed")
}

impl Database {
    fn get(&self) -> Result<inia::Database, Failure> {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        database.clone().ok_or_else(is_closed)
    }
}

#[napi]
impl Database {
    /// Promises the database of a directory, or one in memory for ":memory:".
    #[napi]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        options: OpenOptions,
    ) -> napi::Result<Object<'env>> {
        let options = Options::from(options);
        promise_once(env, move || {
            let database = match path.as_str() {
                ":memory:" => options.in_memory(),
                path => options.open(path),
            };
            Ok(Database { database: closable(database?) })
        })
    }

    /// Promises a connection whose default database is `schema`, which is made where there is none.
    #[napi]
    pub fn connect<'env>(
        &self,
        env: &'env Env,
        schema: String,
        several: bool,
    ) -> napi::Result<Object<'env>> {
        let database = self.get();
        promise_once(env, move || {
            let connection = database?.connect()?;
            let name = schema.replace('`', "``");
            connection.execute(&format!("CREATE DATABASE IF NOT EXISTS `{name}`"), ())?;
            connection.use_database(&schema)?;
            Connection::new(connection, several)
        })
    }

    /// Opens the database to MySQL clients.
    #[napi]
    pub fn serve<'env>(&self, env: &'env Env, address: String) -> napi::Result<Object<'env>> {
        let database = self.get();
        promise_once(env, move || {
            let server = match address.strip_prefix("unix:") {
                Some(path) => database?.serve_unix(path),
                None => database?.serve(address.as_str()),
            };
            let server = server?;
            Ok(Server { url: server.url(), server: closable(server) })
        })
    }

    /// Closes a database in memory and keeps it as a template.
    #[napi]
    pub fn make_template<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let database = take(&self.database);
        promise_once(env, move || {
            let template = database.ok_or_else(is_closed)?.into_template()?;
            Ok(Template { template: Arc::new(template) })
        })
    }

    /// Closes the database; it stays open until its last connection is closed.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let database = take(&self.database);
        promise_once(env, move || {
            drop(database);
            Ok(())
        })
    }
}

/// A database in memory of which copies are opened.
#[napi]
pub struct Template {
    template: Arc<inia::Template>,
}

#[napi]
impl Template {
    /// Promises a copy.
    #[napi]
    pub fn open<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let template = self.template.clone();
        promise_once(env, move || Ok(Database { database: closable(template.open()?) }))
    }
}

/// A server for a database.
#[napi]
pub struct Server {
    url: String,
    server: Closable<RunningServer>,
}

#[napi]
impl Server {
    /// How root connects.
    #[napi(getter)]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Ends the clients' connections.
    #[napi]
    pub fn stop<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let server = take(&self.server);
        promise_once(env, move || Ok(server.map_or(Ok(()), RunningServer::stop)?))
    }
}
