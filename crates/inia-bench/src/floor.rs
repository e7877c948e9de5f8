//! The null server: answers sysbench's point-select and read-only workloads with canned packets.
//!
//! Its throughput is what the client, the kernel and the network allow; no database can be faster
//! in the same setting. Its design is the server's: one blocking thread a connection, one read and
//! one write a request. Every reply is made once, at the start, and only copied to the socket.

use inia_base::collation::Collation;
use inia_base::column::{Completion, ResultColumn, RowSink, status};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::SqlError;
use inia_wire::auth::{NATIVE, NONCE};
use inia_wire::binary::BinaryLayout;
use inia_wire::caps::Capabilities;
use inia_wire::column::put_column;
use inia_wire::handshake::{FirstPacket, Greeting};
use inia_wire::packet::{KeepAll, Received};
use inia_wire::reply::{OK, put_eof, put_err, put_ok};
use inia_wire::rows::Reply;
use inia_wire::text::TextLayout;
use inia_wire::{BinaryRows, Command, PacketReader, PacketWriter, TextRows};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;

const STACK: usize = 256 << 10;
const OFFERED: Capabilities =
    Capabilities::SERVER.without(Capabilities::COMPRESS).without(Capabilities::ZSTD_COMPRESSION);
const MAX_PACKET: usize = 16 << 20;
/// Rows of sysbench's ranges.
const RANGE: usize = 100;

/// What a statement is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// OK: BEGIN, COMMIT, writes.
    Done,
    /// One row of one CHAR(120).
    Point,
    /// One row with a sum.
    Sum,
    /// A hundred rows of one CHAR(120).
    Range,
}

impl Shape {
    const ALL: [Shape; 4] = [Shape::Done, Shape::Point, Shape::Sum, Shape::Range];

    fn of(sql: &[u8]) -> Shape {
        let has =
            |word: &[u8]| sql.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
        match () {
            () if !sql
                .trim_ascii_start()
                .get(..6)
                .is_some_and(|s| s.eq_ignore_ascii_case(b"select")) =>
            {
                Shape::Done
            }
            () if has(b"sum(") => Shape::Sum,
            () if has(b"between") => Shape::Range,
            () => Shape::Point,
        }
    }

    fn columns(self) -> Vec<ResultColumn> {
        let (name, data_type, length) = match self {
            Shape::Done => return Vec::new(),
            Shape::Point | Shape::Range => {
                ("c", DataType::Char { chars: 120, collation: Collation::DEFAULT }, 480)
            }
            Shape::Sum => {
                ("SUM(k)", DataType::Decimal { precision: 32, scale: 0, unsigned: false }, 33)
            }
        };
        vec![column(name, data_type, length)]
    }

    fn run(self, sink: &mut dyn RowSink) -> Result<(), SqlError> {
        let done = Completion { status: status::AUTOCOMMIT, ..Completion::default() };
        let (rows, cell) = match self {
            Shape::Done => return sink.complete(&done, false),
            Shape::Point => (1, vec![b'7'; 119]),
            Shape::Sum => (1, b"5012345".to_vec()),
            Shape::Range => (RANGE, vec![b'7'; 119]),
        };
        sink.columns(&self.columns())?;
        for _ in 0..rows {
            sink.begin_row();
            sink.bytes(&cell);
            sink.end_row()?;
        }
        sink.complete(&done, false)
    }
}

fn column(name: &str, data_type: DataType, length: u32) -> ResultColumn {
    ResultColumn {
        schema: "sbtest".to_owned(),
        table: "sbtest1".to_owned(),
        org_table: "sbtest1".to_owned(),
        name: name.to_owned(),
        org_name: name.to_owned(),
        data_type,
        flags: 0,
        length,
        decimals: 0,
    }
}

/// The replies for one set of capabilities, indexed by shape.
struct Canned {
    caps: Capabilities,
    text: Vec<Vec<u8>>,
    binary: Vec<Vec<u8>>,
}

impl Canned {
    fn new(caps: Capabilities) -> Result<Canned, SqlError> {
        let make = |shape: Shape, binary: bool| {
            let (mut out, mut keep) = (PacketWriter::new(), KeepAll);
            out.set_sequence(1);
            let reply = Reply::new(&mut out, &mut keep, caps, 255, status::AUTOCOMMIT);
            if binary {
                shape.run(&mut BinaryRows::new(reply, &mut BinaryLayout::default()))?;
            } else {
                shape.run(&mut TextRows::new(reply, &mut TextLayout::default()))?;
            }
            Ok(out.bytes().to_vec())
        };
        Ok(Canned {
            caps,
            text: Shape::ALL.iter().map(|&s| make(s, false)).collect::<Result<_, _>>()?,
            binary: Shape::ALL.iter().map(|&s| make(s, true)).collect::<Result<_, _>>()?,
        })
    }
}

/// A bound null server.
pub struct Floor {
    listener: TcpListener,
    address: SocketAddr,
}

impl Floor {
    /// Listens on the address.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Floor> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Floor { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends.
    pub fn run(&self) -> io::Result<()> {
        let plain = OFFERED.without(Capabilities::DEPRECATE_EOF);
        let canned = |caps| Canned::new(caps).map(Arc::new).map_err(io::Error::other);
        let (old, new) = (canned(plain)?, canned(OFFERED)?);
        for (id, stream) in self.listener.incoming().enumerate() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            let (old, new) = (old.clone(), new.clone());
            thread::Builder::new().stack_size(STACK).spawn(move || {
                // The client has left; nobody is there to get the error.
                let _ = Client::greet(stream, id as u32, &old, &new).and_then(Client::run);
            })?;
        }
        Ok(())
    }
}

struct Client {
    stream: TcpStream,
    reader: PacketReader,
    out: PacketWriter,
    canned: Arc<Canned>,
    /// Shape of the statement with id i + 1.
    statements: Vec<Shape>,
}

impl Client {
    fn greet(
        stream: TcpStream,
        connection_id: u32,
        old: &Arc<Canned>,
        new: &Arc<Canned>,
    ) -> io::Result<Client> {
        let mut client = Client {
            stream,
            reader: PacketReader::new(MAX_PACKET),
            out: PacketWriter::new(),
            canned: new.clone(),
            statements: Vec::new(),
        };
        let greeting = Greeting {
            version: "8.0.31-inia-floor".to_owned(),
            connection_id,
            nonce: [b'n'; NONCE],
            capabilities: OFFERED,
            collation: 255,
            status: status::AUTOCOMMIT,
            // Built into every client library, where others are loaded, which races between
            // threads.
            plugin: NATIVE.to_owned(),
        };
        greeting.encode(client.out.begin());
        client.out.end();
        client.send()?;
        client.reader.expect_sequence(1);
        let packet = client.receive()?;
        let payload = client.reader.payload(packet);
        let first = FirstPacket::decode(payload, OFFERED).map_err(io::Error::other)?;
        let FirstPacket::Login(login) = first else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if !login.capabilities.has(Capabilities::DEPRECATE_EOF) {
            client.canned = old.clone();
        }
        client.out.set_sequence(client.reader.next_sequence());
        client.put_ok();
        client.send()?;
        Ok(client)
    }

    fn run(mut self) -> io::Result<()> {
        loop {
            self.reader.expect_sequence(0);
            let packet = self.receive()?;
            let payload = self.reader.payload(packet);
            let caps = self.canned.caps.without(Capabilities::QUERY_ATTRIBUTES);
            match Command::decode(payload, caps) {
                Ok(Command::Execute { id, .. }) => {
                    let at = (id as usize).wrapping_sub(1);
                    let shape = self.statements.get(at).copied().unwrap_or(Shape::Done);
                    self.stream.write_all(&self.canned.binary[shape as usize])?;
                }
                Ok(Command::Query { sql, .. }) => {
                    self.stream.write_all(&self.canned.text[Shape::of(sql) as usize])?;
                }
                Ok(Command::Prepare(sql)) => {
                    let shape = Shape::of(sql);
                    let params = sql.iter().filter(|&&byte| byte == b'?').count();
                    self.statements.push(shape);
                    self.out.set_sequence(1);
                    self.put_prepared(shape, params);
                    self.send()?;
                }
                Ok(Command::CloseStatement(_)) => {}
                Ok(Command::Quit) => return Ok(()),
                Ok(_) => {
                    self.out.set_sequence(1);
                    self.put_ok();
                    self.send()?;
                }
                Err(error) => {
                    self.out.set_sequence(1);
                    put_err(self.out.begin(), &error.server_error(), caps);
                    self.out.end();
                    self.send()?;
                }
            }
        }
    }

    fn put_prepared(&mut self, shape: Shape, params: usize) {
        let columns = shape.columns();
        let head = self.out.begin();
        head.push(0);
        head.extend_from_slice(&(self.statements.len() as u32).to_le_bytes());
        head.extend_from_slice(&(columns.len() as u16).to_le_bytes());
        head.extend_from_slice(&(params as u16).to_le_bytes());
        head.extend_from_slice(&[0, 0, 0]);
        self.out.end();
        let param = column("?", DataType::Int { width: IntWidth::Big, unsigned: false }, 20);
        self.put_columns(&vec![param; params]);
        self.put_columns(&columns);
    }

    fn put_columns(&mut self, columns: &[ResultColumn]) {
        for column in columns {
            put_column(self.out.begin(), column, 255);
            self.out.end();
        }
        if !columns.is_empty() && !self.canned.caps.has(Capabilities::DEPRECATE_EOF) {
            put_eof(self.out.begin(), &Completion::default(), false);
            self.out.end();
        }
    }

    fn put_ok(&mut self) {
        let done = Completion { status: status::AUTOCOMMIT, ..Completion::default() };
        put_ok(self.out.begin(), OK, &done, false, self.canned.caps);
        self.out.end();
    }

    fn send(&mut self) -> io::Result<()> {
        let sent = self.stream.write_all(self.out.bytes());
        self.out.clear();
        sent
    }

    fn receive(&mut self) -> io::Result<Received> {
        loop {
            if let Some(packet) = self.reader.next_packet().map_err(io::Error::other)? {
                return Ok(packet);
            }
            match self.stream.read(self.reader.space())? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.reader.received(n),
            }
        }
    }
}

#[cfg(test)]
mod tests;
