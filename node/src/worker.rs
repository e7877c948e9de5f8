//! Work on other threads than JavaScript's, and promises of what it gives.
//!
//! A promise is always fulfilled: with what the work gave, or with a [`Failure`], of which the
//! JavaScript part makes an error that knows where it was called.

use napi::Env;
use napi::bindgen_prelude::{Either, Object, ToNapiValue};
use napi_derive::napi;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

/// Why a call failed.
#[napi(object, object_from_js = false)]
pub struct Failure {
    /// MySQL's number; 0 where no statement met the error.
    pub errno: u32,
    pub sql_state: String,
    pub message: String,
}

impl From<inia::Error> for Failure {
    fn from(error: inia::Error) -> Failure {
        Failure {
            errno: error.code().into(),
            sql_state: error.sqlstate().to_owned(),
            message: error.message().to_owned(),
        }
    }
}

impl Failure {
    pub(crate) fn of(message: &str) -> Failure {
        Failure { errno: 0, sql_state: "HY000".to_owned(), message: message.to_owned() }
    }
}

/// What a promise is fulfilled with.
pub(crate) type Answer<T> = Either<Failure, T>;
type Resolver<T> = Box<dyn FnOnce(Env) -> napi::Result<Answer<T>>>;
type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one job after another. It ends when nobody can send one any more.
#[derive(Clone)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
}

impl Worker {
    pub(crate) fn start() -> Result<Worker, Failure> {
        let (jobs, queue) = channel::<Job>();
        let run = move || queue.into_iter().for_each(|job| job());
        let thread = Builder::new().name("inia-connection".to_owned()).spawn(run);
        thread.map_err(|error| Failure::of(&format!("no thread for a connection: {error}")))?;
        Ok(Worker { jobs })
    }

    /// Does the work behind all that was sent before.
    pub(crate) fn promise<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> napi::Result<Object<'env>> {
        promise(env, work, |job| self.jobs.send(job).is_ok())
    }
}

/// Does the work on a thread that ends with it.
pub(crate) fn promise_once<'env, T: ToNapiValue + Send + 'static>(
    env: &'env Env,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> napi::Result<Object<'env>> {
    promise(env, work, |job| Builder::new().name("inia-call".to_owned()).spawn(job).is_ok())
}

fn promise<'env, T: ToNapiValue + Send + 'static>(
    env: &'env Env,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    start: impl FnOnce(Job) -> bool,
) -> napi::Result<Object<'env>> {
    let (deferred, promise) = env.create_deferred::<Answer<T>, Resolver<T>>()?;
    let job = Box::new(move || {
        let panicked = |_| Err(Failure::of("an internal error has ended the call"));
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked);
        deferred.resolve(Box::new(move |_| {
            Ok(match done {
                Ok(value) => Either::B(value),
                Err(failure) => Either::A(failure),
            })
        }));
    });
    match start(job) {
        true => Ok(promise),
        false => Err(napi::Error::from_reason("no thread for a call")),
    }
}
