//! MySQL's client/server protocol as pure bytes: no sockets, no threads.
//!
//! The way of a request: [`packet::PacketReader`] cuts received bytes into packets,
//! [`command::Command::decode`] names the request, [`params`] turns bound parameters into values;
//! replies are packets appended to one [`packet::PacketWriter`] by [`reply`], [`text::TextRows`]
//! and [`binary::BinaryRows`]. [`client`] is the other side of all this.

pub mod auth;
pub mod binary;
pub mod caps;
pub mod client;
pub mod codec;
pub mod column;
pub mod command;
pub mod compress;
pub mod cursor;
pub mod error;
pub mod handshake;
pub mod packet;
pub mod params;
pub mod reply;
pub mod rows;
#[cfg(test)]
mod testing;
pub mod text;

pub use binary::BinaryRows;
pub use client::Client;
pub use command::Command;
pub use error::WireError;
pub use packet::{Flush, PacketReader, PacketWriter};
pub use text::TextRows;
