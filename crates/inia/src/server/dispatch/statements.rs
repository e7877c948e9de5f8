//! Prepared statements: PREPARE, EXECUTE, long data, and the cursors that FETCH reads.

use super::{Outcome, Worker};
use crate::server::backend::{HandleUse, Prepared};
use crate::server::kept::{KeptRows, read_failed};
use inia_base::column::Completion;
use inia_base::value::Value;
use inia_wire::caps::Capabilities;
use inia_wire::column::put_column;
use inia_wire::command::execute_flags::CURSOR_READ_ONLY;
use inia_wire::cursor::Cursor;
use inia_wire::error::ServerError;
use inia_wire::packet::FLUSH_AT;
use inia_wire::params::Params;
use inia_wire::rows::Reply;
use inia_wire::{BinaryRows, PacketWriter, WireError};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A connection's prepared statements by their ids.
pub(super) type Statements = HashMap<u32, Statement, BuildHasherDefault<IdHasher>>;

/// Bytes of parameters that a connection may have sent ahead of their executions: as many as one
/// parameter may ever have, whatever `max_allowed_packet` is.
const MAX_LONG_DATA: usize = 1 << 30;

/// What waits takes so many times its bytes.
const LONG_DATA_COST: u64 = 3;
/// Parameters of an execution that is longer are not kept for their buffers.
const LONG_VALUES: usize = 64 << 10;

const NO_STATEMENT: &str = "mysql_stmt_precheck";

/// A prepared statement as the connection knows it.
pub(super) struct Statement {
    sql: Arc<str>,
    params: Params,
    values: Vec<Value>,
    cursor: Option<Cursor<KeptRows>>,
}

/// Statement ids are small and dense; they need no strong hash.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Worker {
    pub(super) fn execute(&mut self, id: u32, flags: u8, body: &[u8]) -> Outcome {
        let outcome = self.execute_with(id, flags, body);
        if body.len() > LONG_VALUES || self.long_data > 0 {
            self.forget_values(id);
        }
        outcome
    }

    /// Frees what an execution's parameters took, and what waited for it.
    #[cold]
    fn forget_values(&mut self, id: u32) {
        if let Some(statement) = self.statements.get_mut(&id) {
            statement.values = Vec::new();
        }
        self.count_long_data();
    }

    /// Counts what waits for executions, after there may be less of it.
    fn count_long_data(&mut self) {
        self.long_data = self.statements.values().map(|one| one.params.long_data()).sum();
        self.long_share.resize(self.long_data as u64 * LONG_DATA_COST);
    }

    fn execute_with(&mut self, id: u32, flags: u8, body: &[u8]) -> Outcome {
        let charset = self.session.client_charset();
        let statement = find(&mut self.statements, id)?;
        statement.cursor = None;
        statement
            .params
            .decode(body, flags, self.caps, charset, &mut statement.values)
            .map_err(|error| error.server_error())?;
        self.slot.set_prepared(&statement.sql);
        if flags & CURSOR_READ_ONLY != 0 {
            return self.open_cursor(id);
        }
        let status = self.session.status_flags();
        let collation = self.session.result_collation();
        let reply = Reply::new(&mut self.out, &mut self.stream, self.caps, collation, status)
            .with_max_packet(self.max_packet);
        let mut rows = BinaryRows::new(reply, &mut self.binary);
        let result = self.session.execute_prepared(id, &statement.values, &mut rows);
        self.broken |= rows.is_broken();
        result.map_err(|error| ServerError::from(&error))
    }

    fn open_cursor(&mut self, id: u32) -> Outcome {
        let statement = find(&mut self.statements, id)?;
        let (status, collation) = (self.session.status_flags(), self.session.result_collation());
        let (mut last, mut kept) = (PacketWriter::new(), KeptRows::of(&*self.session));
        let reply = Reply::new(&mut last, &mut kept, self.caps, collation, status);
        let mut rows = BinaryRows::new(reply, &mut self.binary);
        let result = self.session.execute_prepared(id, &statement.values, &mut rows);
        result.map_err(|error| ServerError::from(&kept.error(error)))?;
        let status = self.session.status_flags();
        let opened = Cursor::open(kept, &mut last, self.caps, status, &mut self.out);
        statement.cursor = opened.map_err(|error| read_failed(&error))?;
        Ok(())
    }

    pub(super) fn fetch(&mut self, id: u32, rows: u32) -> Outcome {
        self.session.count_handle(HandleUse::Fetch);
        let statement = find(&mut self.statements, id)?;
        let Some(cursor) = &mut statement.cursor else {
            return Err(WireError::NoCursor(id).server_error());
        };
        for _ in 0..rows {
            if !cursor.next_row(&mut self.out).map_err(|error| read_failed(&error))? {
                break;
            }
            if self.out.len() >= FLUSH_AT && self.out.flush(&mut self.stream).is_err() {
                self.broken = true;
                break;
            }
        }
        cursor.end_fetch(self.caps, self.session.status_flags(), &mut self.out);
        if cursor.is_exhausted() {
            statement.cursor = None;
        }
        Ok(())
    }

    pub(super) fn prepare(&mut self, sql: &[u8]) -> Outcome {
        let text = String::from_utf8_lossy(sql);
        self.slot.set_text(sql);
        let prepared = self.session.prepare(sql).map_err(|error| ServerError::from(&error))?;
        self.put_prepared(&prepared);
        let statement = Statement {
            sql: Arc::from(&*text),
            params: Params::new(prepared.params.len()),
            values: Vec::new(),
            cursor: None,
        };
        self.statements.insert(prepared.id, statement);
        Ok(())
    }

    fn put_prepared(&mut self, prepared: &Prepared) {
        let head = self.out.begin();
        head.push(0);
        head.extend_from_slice(&prepared.id.to_le_bytes());
        head.extend_from_slice(&(prepared.columns.len() as u16).to_le_bytes());
        head.extend_from_slice(&(prepared.params.len() as u16).to_le_bytes());
        head.push(0);
        head.extend_from_slice(&prepared.warnings.to_le_bytes());
        self.out.end();
        let collation = self.session.result_collation();
        for columns in [&prepared.params, &prepared.columns] {
            for column in columns {
                put_column(self.out.begin(), column, collation);
                self.out.end();
            }
            if !columns.is_empty() && !self.caps.has(Capabilities::DEPRECATE_EOF) {
                self.put_end(&Completion::default());
            }
        }
    }

    /// Forgets the long data of a statement and closes its cursor.
    pub(super) fn reset_statement(&mut self, id: u32) -> Outcome {
        self.session.count_handle(HandleUse::Reset);
        let statement = find(&mut self.statements, id)?;
        statement.params.reset();
        statement.cursor = None;
        self.count_long_data();
        Ok(())
    }

    /// A parameter's limit is that of a packet, as in MySQL; all that wait have one together too.
    pub(super) fn send_long_data(&mut self, id: u32, param: u16, data: &[u8]) {
        self.session.count_handle(HandleUse::SendLongData);
        let Some(statement) = self.statements.get_mut(&id) else { return };
        let wanted = (self.long_data + data.len()) as u64;
        // A vector that grows may hold twice its bytes, and the value is a copy of them.
        if !self.long_share.covers(wanted * LONG_DATA_COST) {
            return statement.params.refuse_long_data(WireError::NoMemoryFor(wanted));
        }
        let room = MAX_LONG_DATA.saturating_sub(self.long_data);
        let before = statement.params.long_data();
        statement.params.add_long_data(param, data, self.max_packet, room);
        self.long_data += statement.params.long_data() - before;
    }

    /// Forgets all statements.
    pub(super) fn forget_statements(&mut self) {
        self.statements.clear();
        self.count_long_data();
    }

    pub(super) fn close_statement(&mut self, id: u32) {
        if self.statements.remove(&id).is_some() {
            self.session.note_command("Close stmt", "");
            self.session.close_prepared(id);
            if self.long_data > 0 {
                self.count_long_data();
            }
        }
    }
}

/// The statement of an id; error 1243.
fn find(statements: &mut Statements, id: u32) -> Result<&mut Statement, ServerError> {
    let missing = || WireError::UnknownStatement(id, NO_STATEMENT).server_error();
    statements.get_mut(&id).ok_or_else(missing)
}
