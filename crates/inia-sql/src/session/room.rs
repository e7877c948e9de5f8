//! Memory for what is made of a statement's text: syntax trees, and prepared statements.
//!
//! Both are counted against the server's budget, and each may have what one session may have.

use super::PreparedStatement;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::memory::{MemoryBudget, MemoryShare};
use inia_parser::{Parser, Room};
use inia_query::context::SessionContext;
use std::sync::Arc;

/// About how many bytes a node of a syntax tree takes, with what is bound to it.
const NODE: u64 = 256;
/// A prepared statement takes so many bytes beside its text and its trees.
const STATEMENT: u64 = 4096;
/// So often a prepared statement's text is kept: by the session, by the connection, in the tree.
const COPIES: u64 = 3;
/// Trees of shorter texts are not counted.
const SHORT: usize = 2048;

/// A parser for one way of running a session's statements.
pub(super) fn parser_of<'s>(session: &SessionContext, sql: &'s [u8], deep: bool) -> Parser<'s> {
    let parser = Parser::from_bytes(sql, session.parser_mode());
    let parser = if deep { parser.deep() } else { parser };
    if sql.len() <= SHORT { parser } else { parser.within(room(&session.db.memory)) }
}

fn room(budget: &Arc<MemoryBudget>) -> Room {
    let (most, mut share) = (budget.part(), MemoryShare::of(Some(budget.clone())));
    Box::new(move |nodes| {
        let bytes = nodes.saturating_mul(NODE);
        if bytes <= most && share.covers(bytes) { Ok(()) } else { Err(most) }
    })
}

/// What a session's prepared statements take.
pub(super) struct PreparedMemory {
    share: MemoryShare,
    most: u64,
    bytes: u64,
}

impl PreparedMemory {
    /// Of a session without statements.
    pub(super) fn new(budget: &Arc<MemoryBudget>) -> PreparedMemory {
        let share = MemoryShare::of(Some(budget.clone()));
        PreparedMemory { share, most: budget.part(), bytes: 0 }
    }

    /// Takes memory for a statement; error 1037 when memory is used up.
    pub(super) fn take(&mut self, text: &[u8], nodes: u64) -> Result<u64, SqlError> {
        let trees = 2 * nodes * NODE;
        let cost = STATEMENT + text.len() as u64 * COPIES + trees;
        let bytes = self.bytes + cost;
        if bytes > self.most || !self.share.covers(bytes) {
            return Err(SqlError::new(ErrorCode::Outofmemory, &[&cost]));
        }
        self.bytes = bytes;
        Ok(cost)
    }

    /// The statement is gone.
    pub(super) fn give(&mut self, statement: &PreparedStatement) {
        self.bytes -= statement.cost;
        self.share.resize(self.bytes);
    }

    /// All statements are gone.
    pub(super) fn clear(&mut self) {
        self.bytes = 0;
        self.share.release();
    }
}
