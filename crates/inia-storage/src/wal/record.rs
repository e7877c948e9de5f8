//! Log records that are not page changes: what transactions and trees need to know after a crash.
//!
//! Encoded form: `tag u8, length u32, body`.

use crate::codec::{ByteReader, ByteWriter};
use inia_base::ids::TxnId;

const COMMIT: u8 = 1;
const ROLLED_BACK: u8 = 2;

/// A record that changes no page by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogRecord<'a> {
    /// The transaction is committed.
    Commit {
        /// Which.
        txn: TxnId,
    },
    /// The transaction has been rolled back to its start.
    RolledBack {
        /// Which.
        txn: TxnId,
    },
    /// A record of another kind, opaque here.
    Other {
        /// Its tag.
        tag: u8,
        /// Its body.
        body: &'a [u8],
    },
}

impl<'a> LogRecord<'a> {
    /// Appends the encoded form.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let tag = match *self {
            LogRecord::Commit { .. } => COMMIT,
            LogRecord::RolledBack { .. } => ROLLED_BACK,
            LogRecord::Other { tag, .. } => tag,
        };
        out.put_u8(tag);
        let length_at = out.len();
        out.put_u32(0);
        match *self {
            LogRecord::Commit { txn } | LogRecord::RolledBack { txn } => out.put_u64(txn.0),
            LogRecord::Other { body, .. } => out.put_bytes(body),
        }
        let body = out.len() - length_at - 4;
        let body = u32::try_from(body).expect("invariant: log records stay below 4 GiB");
        out[length_at..length_at + 4].copy_from_slice(&body.to_le_bytes());
    }

    /// Reads what [`LogRecord::encode`] wrote after the tag.
    pub(crate) fn decode(tag: u8, from: &mut ByteReader<'a>) -> Option<LogRecord<'a>> {
        let mut body = ByteReader::new(from.bytes32()?);
        Some(match tag {
            COMMIT => LogRecord::Commit { txn: TxnId(body.u64()?) },
            ROLLED_BACK => LogRecord::RolledBack { txn: TxnId(body.u64()?) },
            _ => LogRecord::Other { tag, body: body.tail() },
        })
    }
}
