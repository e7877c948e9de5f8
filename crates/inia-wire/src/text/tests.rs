//! Result sets of the text protocol.

use super::*;
use crate::caps::Capabilities;
use crate::packet::{FLUSH_AT, Flush, KeepAll, PacketWriter};
use crate::testing::Random;
use inia_base::collation::Collation;
use inia_base::column::status;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::ErrorCode;

fn column(data_type: DataType, decimals: u8) -> ResultColumn {
    ResultColumn {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: "x".to_owned(),
        org_name: String::new(),
        data_type,
        flags: 0,
        length: 6,
        decimals,
    }
}

fn int() -> ResultColumn {
    column(DataType::Int { width: IntWidth::Int, unsigned: false }, 0)
}

fn done() -> Completion {
    Completion { status: status::AUTOCOMMIT, ..Completion::default() }
}

fn encode(caps: Capabilities, run: impl FnOnce(&mut TextRows<'_>)) -> Vec<u8> {
    let (mut out, mut layout) = (PacketWriter::new(), TextLayout::default());
    out.set_sequence(1);
    let mut keep = KeepAll;
    let reply = Reply::new(&mut out, &mut keep, caps, 255, status::AUTOCOMMIT);
    run(&mut TextRows::new(reply, &mut layout));
    out.bytes().to_vec()
}

fn two_rows(rows: &mut TextRows<'_>) {
    rows.columns(&[int()]).unwrap();
    rows.begin_row();
    rows.int(-7);
    rows.end_row().unwrap();
    rows.begin_row();
    rows.null();
    rows.end_row().unwrap();
    rows.complete(&done(), false).unwrap();
}

const COLUMN: &[u8] = b"\x17\0\0\x02\x03def\0\0\0\x01x\0\x0c\x3f\0\x06\0\0\0\x03\0\0\0\0\0";

#[test]
fn a_result_set_with_eof_packets() {
    let mut expected = b"\x01\0\0\x01\x01".to_vec();
    expected.extend_from_slice(COLUMN);
    expected.extend_from_slice(b"\x05\0\0\x03\xfe\0\0\x02\0");
    expected.extend_from_slice(b"\x03\0\0\x04\x02-7\x01\0\0\x05\xfb");
    expected.extend_from_slice(b"\x05\0\0\x06\xfe\0\0\x02\0");
    assert_eq!(encode(Capabilities::PROTOCOL_41, two_rows), expected);
}

#[test]
fn a_result_set_without_eof_packets() {
    let caps = Capabilities::PROTOCOL_41.with(Capabilities::DEPRECATE_EOF);
    let mut expected = b"\x01\0\0\x01\x01".to_vec();
    expected.extend_from_slice(COLUMN);
    expected.extend_from_slice(b"\x03\0\0\x03\x02-7\x01\0\0\x04\xfb");
    expected.extend_from_slice(b"\x07\0\0\x05\xfe\0\0\x02\0\0\0");
    assert_eq!(encode(caps, two_rows), expected);
}

#[test]
fn statements_without_rows_are_ok_packets() {
    let bytes = encode(Capabilities::PROTOCOL_41, |rows| {
        rows.complete(&done(), true).unwrap();
        rows.complete(&done(), false).unwrap();
    });
    assert_eq!(bytes, b"\x07\0\0\x01\0\0\0\x0a\0\0\0\x07\0\0\x02\0\0\0\x02\0\0\0");
}

#[test]
fn declared_decimals_and_zerofill_change_the_text() {
    let mut filled = column(DataType::Int { width: IntWidth::Int, unsigned: true }, 0);
    filled.flags = flags::ZEROFILL;
    let real = DataType::Double { decimals: Some(2), unsigned: false };
    let mut filled_real = column(real.clone(), 2);
    let decimal = DataType::Decimal { precision: 5, scale: 2, unsigned: true };
    let mut filled_decimal = column(decimal, 2);
    (filled_real.flags, filled_real.length) = (flags::ZEROFILL, 6);
    (filled_decimal.flags, filled_decimal.length) = (flags::ZEROFILL, 6);
    let bytes = encode(Capabilities::PROTOCOL_41, |rows| {
        rows.columns(&[filled, column(real, 2), filled_real, filled_decimal]).unwrap();
        rows.begin_row();
        rows.uint(42);
        rows.double(1.0);
        rows.double(1.0);
        rows.bytes(b"1.00");
        rows.end_row().unwrap();
    });
    assert!(bytes.ends_with(b"\x06000042\x041.00\x06001.00\x06001.00"));
}

#[test]
fn numbers_of_more_than_250_digits_have_a_long_length() {
    let real = DataType::Double { decimals: Some(2), unsigned: false };
    let bytes = encode(Capabilities::PROTOCOL_41, |rows| {
        rows.columns(&[column(real, 2)]).unwrap();
        rows.begin_row();
        rows.double(1e300);
        rows.end_row().unwrap();
    });
    let at = bytes.len() - 304 - 3;
    assert_eq!(bytes[at..at + 4], [0xfc, 0x30, 0x01, b'1']);
}

/// Counts what it is given.
struct Sent(Vec<usize>);

impl Flush for Sent {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        self.0.push(bytes.len());
        bytes.clear();
        Ok(())
    }
}

#[test]
fn big_results_are_sent_early() {
    let (mut out, mut layout, mut sent) =
        (PacketWriter::new(), TextLayout::default(), Sent(Vec::new()));
    let reply = Reply::new(&mut out, &mut sent, Capabilities::PROTOCOL_41, 255, 2);
    let mut rows = TextRows::new(reply, &mut layout);
    rows.columns(&[int()]).unwrap();
    for _ in 0..3000 {
        rows.begin_row();
        rows.bytes(&[b'x'; 1000]);
        rows.end_row().unwrap();
    }
    assert_eq!(sent.0.len(), 2);
    assert!(sent.0.iter().all(|n| (FLUSH_AT..FLUSH_AT + 2000).contains(n)));
}

/// A client that is asked for a file, and what it sends.
struct Giver<'a> {
    rest: &'a [u8],
    random: Random,
    /// The connection fails at the end, and does not just end.
    breaks: bool,
}

impl Flush for Giver<'_> {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        bytes.clear();
        Ok(())
    }

    fn receive(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        assert!(buf.len() <= 2 * (1 << 16) + 4 * self.rest.len(), "room for what never came");
        if self.rest.is_empty() && self.breaks {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let n = self.random.below(self.rest.len() + 1).max(1).min(self.rest.len()).min(buf.len());
        buf[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        Ok(n)
    }
}

#[test]
fn whatever_comes_in_place_of_a_file_ends_or_is_refused() {
    let mut random = Random::new(11);
    let most = 2000;
    for round in 0..4000 {
        let mut packets = PacketWriter::new();
        packets.set_sequence(2);
        let mut sent = 0;
        for _ in 0..random.below(5) {
            let data = random.bytes(300);
            sent += data.len();
            packets.put(&data);
        }
        packets.put(b"");
        let whole = packets.bytes().to_vec();
        let stream = match round % 4 {
            0 => whole.clone(),
            1 => random.bytes(40),
            2 => whole[..random.below(whole.len())].to_vec(),
            _ => random.damage(&whole),
        };
        let breaks = random.below(2) == 0;
        let mut giver = Giver { rest: &stream, random: Random::new(round), breaks };
        let (mut out, mut layout) = (PacketWriter::new(), TextLayout::default());
        out.set_sequence(1);
        let caps = Capabilities::CLIENT.with(Capabilities::LOCAL_FILES);
        let reply = Reply::new(&mut out, &mut giver, caps, 0, 0).with_max_packet(most);
        let mut rows = TextRows::new(reply, &mut layout);
        let (mut got, refuses) = (0, random.below(3) == 0);
        let result = rows.local_file(b"name", &mut |bytes| {
            got += bytes.len();
            match refuses {
                true => Err(SqlError::new(ErrorCode::UnknownError, &[&"no"])),
                false => Ok(()),
            }
        });
        assert!(got <= stream.len(), "round {round}");
        // The connection is in step, or it is given up.
        let in_step = result.is_ok() || (refuses && got > 0 && !rows.is_broken());
        assert!(in_step || rows.is_broken(), "round {round}");
        if round % 4 == 0 {
            assert!(in_step && (refuses || got <= sent), "round {round}");
        }
    }
}

#[test]
fn rows_at_once_are_the_same_bytes_as_one_by_one() {
    let long = "x".repeat(251);
    let texts: [&[u8]; 4] = [b"", b"short", &long.as_bytes()[..250], long.as_bytes()];
    let all = CellRun { nulls: &[], cells: Cells::Bytes(&texts) };
    let some = CellRun { nulls: &[false, true, false, false], cells: Cells::Bytes(&texts) };
    let ints = CellRun { nulls: &[], cells: Cells::Ints(&[1, -2, i64::MAX, 0]) };
    let latin1 = DataType::VarChar { chars: 300, collation: Collation(8) };
    let (bytes, latin1) = (column(DataType::VarBinary(300), 0), column(latin1, 0));
    let cases = [
        (vec![bytes.clone()], vec![all]),
        (vec![bytes.clone()], vec![some]),
        (vec![latin1], vec![all]),
        (vec![bytes, int()], vec![all, ints]),
    ];
    for (columns, cells) in &cases {
        let rows = |put: &dyn Fn(&mut TextRows<'_>) -> Result<(), SqlError>| {
            encode(Capabilities::PROTOCOL_41, |rows| {
                rows.reply.collation = 0;
                rows.columns(columns).unwrap();
                put(rows).unwrap();
            })
        };
        let one_by_one = rows(&|rows| put_rows(rows, texts.len(), cells));
        assert_eq!(rows(&|rows| rows.rows(texts.len(), cells)), one_by_one);
    }
}
