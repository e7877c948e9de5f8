//! Result sets of the binary protocol.

use super::*;
use crate::caps::Capabilities;
use crate::cursor::{Cursor, Kept};
use crate::packet::{Flush, KeepAll, PacketReader, PacketWriter};
use inia_base::column::status;
use inia_base::datatype::{DataType, IntWidth};

fn column(data_type: DataType) -> ResultColumn {
    ResultColumn {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: "x".to_owned(),
        org_name: String::new(),
        data_type,
        flags: 0,
        length: 6,
        decimals: 31,
    }
}

fn int(width: IntWidth) -> ResultColumn {
    column(DataType::Int { width, unsigned: false })
}

fn encode(run: impl FnOnce(&mut BinaryRows<'_>)) -> Vec<u8> {
    let (mut out, mut layout) = (PacketWriter::new(), BinaryLayout::default());
    out.set_sequence(1);
    let mut keep = KeepAll;
    let reply = Reply::new(&mut out, &mut keep, Capabilities::PROTOCOL_41, 255, 2);
    run(&mut BinaryRows::new(reply, &mut layout));
    out.bytes().to_vec()
}

#[test]
fn cells_take_their_column_s_form() {
    let columns = [
        int(IntWidth::Tiny),
        int(IntWidth::Small),
        int(IntWidth::Medium),
        int(IntWidth::Big),
        column(DataType::VarBinary(9)),
        column(DataType::Double { decimals: None, unsigned: false }),
        int(IntWidth::Int),
        column(DataType::Time { fsp: 0 }),
    ];
    let bytes = encode(|rows| {
        rows.columns(&columns).unwrap();
        rows.begin_row();
        rows.int(-1);
        rows.int(2);
        rows.int(3);
        rows.int(-4);
        rows.bytes(b"abc");
        rows.double(1.0);
        rows.null();
        rows.time(Time { micros: -3_723_000_000 }, 0);
        rows.end_row().unwrap();
    });
    let mut expected = vec![0, 0x00, 0x01, 0xff, 2, 0, 3, 0, 0, 0];
    expected.extend_from_slice(&(-4i64).to_le_bytes());
    expected.extend_from_slice(b"\x03abc");
    expected.extend_from_slice(&1f64.to_le_bytes());
    expected.extend_from_slice(&[8, 1, 0, 0, 0, 0, 1, 2, 3]);
    assert!(bytes.ends_with(&expected));
}

#[test]
fn the_null_bitmap_starts_at_bit_two() {
    let columns: Vec<_> = (0..9).map(|_| int(IntWidth::Tiny)).collect();
    let bytes = encode(|rows| {
        rows.columns(&columns).unwrap();
        rows.begin_row();
        (0..9).for_each(|i| if i % 2 == 0 { rows.null() } else { rows.int(i) });
        rows.end_row().unwrap();
    });
    assert!(bytes.ends_with(&[0, 0b0101_0100, 0b0000_0101, 1, 3, 5, 7]));
}

#[test]
fn cells_that_do_not_fit_their_column_keep_the_stream_readable() {
    let date = Date { year: 2024, month: 1, day: 2 };
    let bytes = encode(|rows| {
        rows.columns(&[column(DataType::VarBinary(9)), int(IntWidth::Big)]).unwrap();
        rows.begin_row();
        rows.date(date);
        rows.bytes(b"12");
        rows.null();
        rows.end_row().unwrap();
    });
    assert!(bytes.ends_with(b"\0\0\x0a2024-01-02\0\0\0\0\0\0\0\0"));
}

/// A reply that is kept in memory.
struct InMemory(Vec<u8>);

impl Flush for InMemory {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        self.0.append(bytes);
        Ok(())
    }
}

impl Kept for InMemory {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, at: u64, buf: &mut [u8]) -> std::io::Result<()> {
        buf.copy_from_slice(&self.0[at as usize..][..buf.len()]);
        Ok(())
    }
}

/// Opens a cursor over a reply of which only the last packet was not flushed yet.
fn open(reply: &[u8], out: &mut PacketWriter) -> Option<Cursor<InMemory>> {
    let mut reader = PacketReader::new(usize::MAX);
    reader.expect_sequence(1);
    reader.space()[..reply.len()].copy_from_slice(reply);
    reader.received(reply.len());
    let (mut kept, mut last) = (InMemory(Vec::new()), PacketWriter::new());
    while let Some(packet) = reader.next_packet().unwrap() {
        last.flush(&mut kept).unwrap();
        last.put(reader.payload(packet));
    }
    Cursor::open(kept, &mut last, Capabilities::PROTOCOL_41, status::AUTOCOMMIT, out).unwrap()
}

#[test]
fn a_cursor_hands_out_rows_in_pieces() {
    let whole = encode(|rows| {
        rows.columns(&[int(IntWidth::Tiny)]).unwrap();
        for n in 0..5 {
            rows.begin_row();
            rows.int(n);
            rows.end_row().unwrap();
        }
        rows.complete(&Completion::default(), false).unwrap();
    });
    let caps = Capabilities::PROTOCOL_41;
    let mut out = PacketWriter::new();
    let mut cursor = open(&whole, &mut out).unwrap();
    let fetch = |cursor: &mut Cursor<InMemory>, out: &mut PacketWriter| {
        for _ in 0..3 {
            cursor.next_row(out).unwrap();
        }
        cursor.end_fetch(caps, 2, out);
        !cursor.is_exhausted()
    };
    assert!(out.bytes().ends_with(b"\x05\0\0\x02\xfe\0\0\x42\0"));
    out.clear();
    out.set_sequence(1);
    assert!(fetch(&mut cursor, &mut out));
    assert_eq!(
        out.bytes(),
        b"\x03\0\0\x01\0\0\0\x03\0\0\x02\0\0\x01\x03\0\0\x03\0\0\x02\x05\0\0\x04\xfe\0\0\x42\0"
    );
    assert!(!fetch(&mut cursor, &mut out));
    assert!(out.bytes().ends_with(b"\x05\0\0\x07\xfe\0\0\x82\0"));
}

#[test]
fn a_reply_without_rows_opens_no_cursor() {
    let ok = encode(|rows| rows.complete(&Completion::default(), false).unwrap());
    let mut out = PacketWriter::new();
    out.set_sequence(1);
    assert!(open(&ok, &mut out).is_none());
    assert_eq!(out.bytes(), ok);
}

#[test]
fn rows_at_once_are_the_same_bytes_as_one_by_one() {
    let text = || column(DataType::VarBinary(900));
    let long = "x".repeat(300);
    let (ints, uints) = ([1, -2, i64::MAX], [u64::MAX, 0, 7]);
    let texts: [&[u8]; 3] = [b"", b"abc", long.as_bytes()];
    let null: [bool; 3] = [false, true, false];
    let all = |cells| CellRun { nulls: &[], cells };
    let some = |cells| CellRun { nulls: &null, cells };
    let widths = [IntWidth::Tiny, IntWidth::Small, IntWidth::Int, IntWidth::Medium, IntWidth::Big];
    let mut cases: Vec<(Vec<ResultColumn>, Vec<CellRun<'_>>)> = vec![
        (vec![text()], vec![all(Cells::Bytes(&texts))]),
        (vec![text()], vec![some(Cells::Bytes(&texts))]),
        (vec![text(), text()], vec![all(Cells::Bytes(&texts)), some(Cells::Bytes(&texts))]),
        (
            vec![text(), int(IntWidth::Int)],
            vec![all(Cells::Bytes(&texts)), all(Cells::Ints(&ints))],
        ),
        // Cells of another type than the column's.
        (vec![text()], vec![all(Cells::Ints(&ints))]),
        (vec![int(IntWidth::Int)], vec![all(Cells::Bytes(&texts))]),
        (
            vec![column(DataType::Double { decimals: None, unsigned: false })],
            vec![all(Cells::UInts(&uints))],
        ),
    ];
    for width in widths {
        cases.push((vec![int(width)], vec![all(Cells::Ints(&ints))]));
        cases.push((vec![int(width)], vec![some(Cells::UInts(&uints))]));
    }
    let numbers = widths.iter().map(|_| all(Cells::UInts(&uints)));
    cases.push((widths.map(int).to_vec(), numbers.collect()));
    for (columns, cells) in cases {
        let together = encode(|rows| {
            rows.columns(&columns).unwrap();
            rows.rows(3, &cells).unwrap();
            rows.rows(0, &cells).unwrap();
        });
        let alone = encode(|rows| {
            rows.columns(&columns).unwrap();
            for row in 0..3 {
                rows.begin_row();
                for column in &cells {
                    match column.cells {
                        _ if column.nulls.get(row) == Some(&true) => rows.null(),
                        Cells::Ints(values) => rows.int(values[row]),
                        Cells::UInts(values) => rows.uint(values[row]),
                        Cells::Bytes(values) => rows.bytes(values[row]),
                    }
                }
                rows.end_row().unwrap();
            }
        });
        assert_eq!(together, alone, "{cells:?}");
    }
}
