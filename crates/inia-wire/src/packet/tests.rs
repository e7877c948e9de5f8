//! Framing: what is written is read back, in pieces of any size, and lies cost nothing.

use super::*;

fn feed(reader: &mut PacketReader, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let space = reader.space();
        let n = space.len().min(bytes.len());
        space[..n].copy_from_slice(&bytes[..n]);
        reader.received(n);
        bytes = &bytes[n..];
    }
}

fn read_all(reader: &mut PacketReader) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        packets.push(reader.payload(packet).to_vec());
    }
    packets
}

#[test]
fn a_packet_is_a_header_and_its_payload() {
    let mut writer = PacketWriter::new();
    writer.set_sequence(7);
    writer.put(b"\x03DO 1");
    assert_eq!(writer.bytes(), b"\x05\0\0\x07\x03DO 1");
    assert_eq!(writer.sequence(), 8);
}

#[test]
fn an_aborted_packet_leaves_no_trace() {
    let mut writer = PacketWriter::new();
    writer.put(b"one");
    writer.begin().extend_from_slice(b"half a row");
    writer.abort();
    writer.put(b"two");
    assert_eq!(writer.bytes(), b"\x03\0\0\0one\x03\0\0\x01two");
}

#[test]
fn sequence_numbers_wrap_around() {
    let mut writer = PacketWriter::new();
    (0..300).for_each(|_| writer.put(b"x"));
    let mut reader = PacketReader::new(1024);
    feed(&mut reader, writer.bytes());
    assert_eq!(read_all(&mut reader).len(), 300);
}

#[test]
fn packets_arrive_in_pieces_of_any_size() {
    let mut writer = PacketWriter::new();
    let payloads: Vec<Vec<u8>> = (0..200).map(|n| (0..n * 37).map(|i| i as u8).collect()).collect();
    payloads.iter().for_each(|payload| writer.put(payload));
    for piece in [1, 2, 3, 5, 7, 1000, 100_000] {
        let mut reader = PacketReader::new(1 << 20);
        let mut seen = Vec::new();
        for part in writer.bytes().chunks(piece) {
            feed(&mut reader, part);
            seen.extend(read_all(&mut reader));
        }
        assert_eq!(seen, payloads, "in pieces of {piece} bytes");
        assert!(!reader.is_partial());
    }
}

#[test]
fn long_payloads_are_split_and_joined() {
    for extra in [-1i64, 0, 1, 10_000] {
        let len = (MAX_FRAME as i64 + extra) as usize;
        let payload: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut writer = PacketWriter::new();
        writer.put(&payload);
        let frames = if extra < 0 { 1 } else { 2 };
        assert_eq!(usize::from(writer.sequence()), frames);
        assert_eq!(writer.len(), len + frames * HEADER);
        let mut reader = PacketReader::new(1 << 30);
        feed(&mut reader, writer.bytes());
        let packet = reader.next_packet().unwrap().unwrap();
        assert!(reader.payload(packet) == payload);
        reader.shrink();
        assert!(reader.buf.is_empty() && reader.joined.is_empty());
    }
}

#[test]
fn too_long_packets_are_refused_at_their_header() {
    let mut reader = PacketReader::new(1000);
    feed(&mut reader, b"\xe9\x03\0\0");
    assert_eq!(reader.next_packet(), Err(WireError::PacketTooLarge));
}

#[test]
fn many_full_frames_count_together() {
    let mut reader = PacketReader::new(MAX_FRAME + 5);
    let mut frame = vec![0xff, 0xff, 0xff, 0];
    frame.resize(HEADER + MAX_FRAME, 0);
    feed(&mut reader, &frame);
    assert_eq!(reader.next_packet(), Ok(None));
    feed(&mut reader, b"\x06\0\0\x01");
    assert_eq!(reader.next_packet(), Err(WireError::PacketTooLarge));
}

#[test]
fn a_wrong_sequence_number_is_out_of_order() {
    let mut reader = PacketReader::new(1000);
    feed(&mut reader, b"\x01\0\0\x05\x0e");
    assert_eq!(reader.next_packet(), Err(WireError::OutOfOrder));
}

#[test]
fn a_lying_header_does_not_take_memory() {
    let mut reader = PacketReader::new(1 << 30);
    feed(&mut reader, b"\xfe\xff\xff\0abc");
    assert_eq!(reader.next_packet(), Ok(None));
    reader.space();
    assert!(reader.buf.len() <= READ_BUFFER);
}
