//! Cursors hold no more in memory than they may, and give their rows whatever that is.

use super::*;
use inia_base::column::Completion;
use inia_base::io::{Disk, MemDisk};
use inia_wire::PacketWriter;
use inia_wire::caps::Capabilities;
use inia_wire::cursor::Cursor;
use inia_wire::packet::FLUSH_AT;
use inia_wire::reply::{EOF, put_ok};

const CAPS: Capabilities = Capabilities::CLIENT;

fn on(disk: &Arc<MemDisk>, limit: usize) -> KeptRows {
    let disk = disk.clone();
    KeptRows::new(limit, Box::new(move || Some(disk.scratch())))
}

/// A reply of one column with rows of these lengths; what is left in the writer comes last.
fn reply(kept: &mut KeptRows, lengths: &[usize]) -> PacketWriter {
    let mut out = PacketWriter::new();
    out.put(&[1]);
    out.put(b"\x03defa column");
    for (at, len) in lengths.iter().enumerate() {
        out.put(&vec![at as u8; *len]);
        if out.len() >= FLUSH_AT {
            out.flush(kept).unwrap();
            assert!(kept.memory.len() <= kept.limit);
        }
    }
    put_ok(out.begin(), EOF, &Completion::default(), false, CAPS);
    out.end();
    out
}

/// The packets' payloads.
fn payloads(out: &PacketWriter) -> Vec<Vec<u8>> {
    let mut reader = inia_wire::PacketReader::new(usize::MAX);
    let mut rest = out.bytes();
    let mut found = Vec::new();
    loop {
        while let Some(packet) = reader.next_packet().unwrap() {
            found.push(reader.payload(packet).to_vec());
        }
        if rest.is_empty() {
            return found;
        }
        let space = reader.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        reader.received(n);
        rest = &rest[n..];
    }
}

#[test]
fn rows_beyond_the_limit_wait_in_a_file() {
    let lengths: Vec<usize> =
        (0..3000).map(|at| if at == 77 { (1 << 24) + 5 } else { 1000 + at % 7 }).collect();
    for limit in [0, 3 << 20, usize::MAX] {
        let disk = Arc::new(MemDisk::new());
        let mut kept = on(&disk, limit);
        let mut last = reply(&mut kept, &lengths);
        let mut out = PacketWriter::new();
        let mut cursor = Cursor::open(kept, &mut last, CAPS, 0, &mut out).unwrap().unwrap();
        assert!(last.is_empty());
        assert_eq!(payloads(&out)[..2], [vec![1], b"\x03defa column".to_vec()]);
        let mut at = 0;
        while !cursor.is_exhausted() {
            let mut out = PacketWriter::new();
            for _ in 0..700 {
                cursor.next_row(&mut out).unwrap();
            }
            for row in payloads(&out) {
                assert!(row == vec![at as u8; lengths[at]], "row {at}");
                at += 1;
            }
        }
        assert_eq!(at, lengths.len());
    }
}

#[test]
fn memory_and_file_are_read_as_one() {
    let disk = Arc::new(MemDisk::new());
    let mut kept = on(&disk, 10);
    for part in ["abcdef", "ghij", "klm", "nopqrst"] {
        kept.flush(&mut part.as_bytes().to_vec()).unwrap();
    }
    assert_eq!((kept.memory.len(), kept.len()), (10, 20));
    for (at, len) in (0..20).flat_map(|at| (0..=20 - at).map(move |len| (at, len))) {
        let mut buf = vec![0; len];
        kept.read(at as u64, &mut buf).unwrap();
        assert_eq!(buf, &b"abcdefghijklmnopqrst"[at..at + len]);
    }
    assert!(kept.read(15, &mut [0; 6]).is_err());
}

#[test]
fn a_reply_without_rows_is_passed_on() {
    let disk = Arc::new(MemDisk::new());
    let (mut last, mut out) = (PacketWriter::new(), PacketWriter::new());
    last.put(b"\0\0\0\x02\0\0\0");
    let cursor = Cursor::open(on(&disk, 0), &mut last, CAPS, 0, &mut out).unwrap();
    assert!(cursor.is_none());
    assert_eq!(payloads(&out), [b"\0\0\0\x02\0\0\0"]);
}

#[test]
fn a_full_disk_is_error_1114() {
    let full = || Some(Err(io::Error::from(io::ErrorKind::StorageFull)));
    let mut kept = KeptRows::new(3, Box::new(full));
    kept.flush(&mut b"abc".to_vec()).unwrap();
    kept.flush(&mut b"d".to_vec()).unwrap_err();
    let error = kept.error(SqlError::new(ErrorCode::NetErrorOnWrite, &[]));
    assert_eq!(error.code, ErrorCode::RecordFileFull);
}
