//! The server: listens, gives every connection a thread of its own, and stops in order.
//!
//! A connection's thread blocks in one read per request and answers with one write
//! ([`connection`]). Everything that several threads touch is in [`registry::Registry`].

pub mod auth;
pub mod backend;
mod charset;
mod connection;
mod deferred;
mod dispatch;
pub mod engine;
mod kept;
mod listener;
mod login;
pub mod registry;
mod statistics;
mod stream;
mod tls;

pub(crate) use listener::registry_of;
pub use listener::{Opened, Server, StartError};

use auth::Authenticator;
use backend::Backend;
use registry::Registry;
use std::sync::Arc;
use tls::Certificate;

/// The version that clients get; they branch on its numbers.
pub const VERSION: &str = concat!("8.0.31-inia-", env!("CARGO_PKG_VERSION"));

/// What all connections share.
struct Shared {
    backend: Arc<dyn Backend>,
    registry: Arc<Registry>,
    authenticator: Authenticator,
    tls: Arc<Certificate>,
    max_allowed_packet: usize,
}

impl Shared {
    /// How many connections there may be, now.
    fn limits(&self) -> registry::Limits {
        registry::Limits {
            connections: self.backend.setting("max_connections"),
            user_connections: self.backend.setting("max_user_connections").unwrap_or(0),
        }
    }
}
