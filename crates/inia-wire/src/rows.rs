//! What the text and the binary result sets share: the head, the end, and sending early.

use crate::caps::Capabilities;
use crate::codec::put_lenenc;
use crate::column::put_column;
use crate::error::WireError;
use crate::packet::{FLUSH_AT, Flush, PacketReader, PacketWriter};
use crate::reply::{EOF, OK, put_eof, put_err, put_ok};
use inia_base::column::{Completion, ResultColumn, TakeBytes};
use inia_base::error::{ErrorCode, SqlError};

/// The number of decimals that stands for "not declared".
pub(crate) const NOT_FIXED: u8 = 31;

/// The first byte of a packet that asks for a file.
const LOCAL_FILE: u8 = 0xfb;

/// Where the results of one command go.
pub struct Reply<'a> {
    /// Packets of the reply.
    pub out: &'a mut PacketWriter,
    /// Sends early when the reply grows.
    pub flush: &'a mut dyn Flush,
    /// The connection's capabilities.
    pub caps: Capabilities,
    /// Collation id of the connection's result character set; 0 for "as declared".
    pub collation: u16,
    in_rows: bool,
    /// Status flags of the last column list, for the EOF packet behind it.
    status: u16,
    /// A flush failed, so the client is gone.
    broken: bool,
    /// The longest packet that a client may send in the midst of a command.
    max_packet: usize,
}

impl<'a> Reply<'a> {
    /// An empty reply. `status` is the session's status before the command.
    pub fn new(
        out: &'a mut PacketWriter,
        flush: &'a mut dyn Flush,
        caps: Capabilities,
        collation: u16,
        status: u16,
    ) -> Reply<'a> {
        let max_packet = 1 << 30;
        Reply { out, flush, caps, collation, in_rows: false, status, broken: false, max_packet }
    }

    /// Limits the packets of a client's file.
    pub fn with_max_packet(self, max_packet: usize) -> Reply<'a> {
        Reply { max_packet, ..self }
    }

    /// Whether sending failed.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn head(&mut self, columns: &[ResultColumn]) {
        put_lenenc(self.out.begin(), columns.len() as u64);
        self.out.end();
        for column in columns {
            put_column(self.out.begin(), column, self.collation);
            self.out.end();
        }
        if !self.caps.has(Capabilities::DEPRECATE_EOF) {
            let completion = Completion { status: self.status, ..Completion::default() };
            put_eof(self.out.begin(), &completion, false);
            self.out.end();
        }
        self.in_rows = true;
    }

    #[inline]
    pub(crate) fn end_row(&mut self) -> Result<(), SqlError> {
        self.out.end();
        self.end_rows()
    }

    /// Sends early where much has gathered.
    #[inline]
    pub(crate) fn end_rows(&mut self) -> Result<(), SqlError> {
        if self.out.len() >= FLUSH_AT { self.send() } else { Ok(()) }
    }

    #[cold]
    pub(crate) fn send(&mut self) -> Result<(), SqlError> {
        self.out.flush(self.flush).map_err(|_| {
            self.broken = true;
            SqlError::new(ErrorCode::NetErrorOnWrite, &[])
        })
    }

    /// Asks the client for a file. Its bytes come in packets, the last of them empty; all are read,
    /// so that the connection stays in step, even where `take` wants no more.
    pub(crate) fn local_file(
        &mut self,
        path: &[u8],
        take: &mut TakeBytes<'_>,
    ) -> Result<(), SqlError> {
        if !self.caps.has(Capabilities::LOCAL_FILES) {
            return Err(SqlError::new(ErrorCode::ClientLocalFilesDisabled, &[]));
        }
        let head = self.out.begin();
        head.push(LOCAL_FILE);
        head.extend_from_slice(path);
        self.out.end();
        self.send()?;
        let mut reader = PacketReader::new(self.max_packet);
        reader.expect_sequence(self.out.sequence());
        let mut outcome = Ok(());
        loop {
            match reader.next_packet() {
                Ok(Some(packet)) => {
                    let data = reader.payload(packet);
                    if data.is_empty() {
                        break;
                    }
                    if outcome.is_ok() {
                        outcome = take(data);
                    }
                }
                Ok(None) => match self.flush.receive(reader.space()) {
                    Ok(0) | Err(_) => return Err(self.lost()),
                    Ok(n) => reader.received(n),
                },
                Err(WireError::PacketTooLarge) => return Err(self.refuse(reader.next_sequence())),
                Err(_) => return Err(self.lost()),
            }
        }
        self.out.set_sequence(reader.next_sequence());
        outcome
    }

    /// Says that a packet is too long; what follows it cannot be understood.
    #[cold]
    fn refuse(&mut self, sequence: u8) -> SqlError {
        let error = WireError::PacketTooLarge.server_error();
        self.out.set_sequence(sequence.wrapping_add(1));
        put_err(self.out.begin(), &error, self.caps);
        self.out.end();
        // It is the last thing to be sent, whether it arrives or not.
        let _ = self.out.flush(self.flush);
        self.broken = true;
        SqlError::new(ErrorCode::NetPacketTooLarge, &[])
    }

    #[cold]
    fn lost(&mut self) -> SqlError {
        self.broken = true;
        SqlError::new(ErrorCode::NetReadError, &[])
    }

    pub(crate) fn complete(&mut self, completion: &Completion, more: bool) {
        let rows = std::mem::take(&mut self.in_rows);
        self.status = completion.status;
        let out = self.out.begin();
        match (rows, self.caps.has(Capabilities::DEPRECATE_EOF)) {
            (false, _) => put_ok(out, OK, completion, more, self.caps),
            (true, false) => put_eof(out, completion, more),
            (true, true) => {
                // A result set changes nothing, whatever ROW_COUNT() says of it.
                let end = Completion {
                    affected_rows: 0,
                    last_insert_id: 0,
                    info: String::new(),
                    changes: completion.changes.clone(),
                    ..*completion
                };
                put_ok(out, EOF, &end, more, self.caps);
            }
        }
        self.out.end();
    }
}
