//! Compressed streams: there and back by both methods, in pieces of any size.

use super::*;
use crate::testing::Random;

const METHODS: [Method; 2] = [Method::Zlib, Method::Zstd(3)];
const LIMIT: usize = 64 << 20;

fn read_all(side: &mut Compressor) -> Result<Vec<u8>, WireError> {
    let mut all = Vec::new();
    let mut buf = [0; 1000];
    loop {
        match side.read(&mut buf)? {
            0 => return Ok(all),
            n => all.extend_from_slice(&buf[..n]),
        }
    }
}

#[test]
fn short_pieces_are_left_as_they_are() {
    for method in METHODS {
        let mut side = Compressor::new(method, LIMIT);
        assert_eq!(side.pack(b"\x01\0\0\0\x0e").unwrap(), b"\x05\0\0\0\0\0\0\x01\0\0\0\x0e");
        assert_eq!(side.pack(b"x").unwrap(), b"\x01\0\0\x01\0\0\0x");
        side.start_request();
        assert_eq!(side.pack(b"x").unwrap(), b"\x01\0\0\0\0\0\0x");
    }
}

#[test]
fn bytes_there_and_back() {
    let mut random = Random::new(6);
    let texts = [
        vec![b'a'; 49],
        vec![b'a'; 100_000],
        (0..5000).map(|_| random.next() as u8).collect(),
        vec![b'z'; MAX_PIECE + 1000],
    ];
    for method in METHODS {
        for text in &texts {
            let mut sender = Compressor::new(method, LIMIT);
            let packed = sender.pack(text).unwrap().to_vec();
            assert!(packed.len() <= text.len() + 2 * HEADER);
            for piece in [1000, usize::MAX] {
                let mut receiver = Compressor::new(method, LIMIT);
                let mut got = Vec::new();
                for part in packed.chunks(piece.min(packed.len())) {
                    receiver.receive(part);
                    got.extend(read_all(&mut receiver).unwrap());
                }
                assert!(got == *text);
            }
        }
    }
}

#[test]
fn replies_continue_the_request_s_numbers() {
    let mut side = Compressor::new(Method::Zlib, LIMIT);
    side.receive(b"\x01\0\0\x04\0\0\0x");
    assert_eq!(read_all(&mut side).unwrap(), b"x");
    assert_eq!(side.pack(b"y").unwrap()[3], 5);
}

#[test]
fn a_small_piece_cannot_unpack_to_a_huge_one() {
    let mut side = Compressor::new(Method::Zlib, 1 << 20);
    side.receive(b"\x01\0\0\0\xff\xff\xff");
    assert_eq!(read_all(&mut side), Err(WireError::PacketTooLarge));
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(7);
    for method in METHODS {
        let packed = Compressor::new(method, LIMIT).pack(&[b'x'; 500]).unwrap().to_vec();
        for _ in 0..5000 {
            for bytes in [random.damage(&packed), random.bytes(60)] {
                let mut side = Compressor::new(method, 1 << 16);
                side.receive(&bytes);
                let _ = read_all(&mut side);
            }
        }
    }
}

#[test]
fn claims_that_cannot_be_true_take_no_memory() {
    for (method, len) in [(Method::Zlib, 100), (Method::Zstd(3), 100)] {
        let mut side = Compressor::new(method, LIMIT);
        side.receive(&[len, 0, 0, 0, 0xff, 0xff, 0xff]);
        side.receive(&[7; 100]);
        assert_eq!(read_all(&mut side), Err(BAD));
        assert!(side.held() < 10_000);
        // A header alone takes none either, whatever length it claims.
        let mut side = Compressor::new(method, LIMIT);
        side.receive(b"\xff\xff\xff\0\xff\xff\xff");
        assert_eq!(read_all(&mut side), Ok(Vec::new()));
        assert!(side.held() < 10_000);
    }
}

#[test]
fn what_packs_best_is_believed() {
    for method in [Method::Zlib, Method::Zstd(1), Method::Zstd(19)] {
        for byte in [0, b'x'] {
            let bytes = vec![byte; 2 << 20];
            let mut sender = Compressor::new(method, LIMIT);
            let packed = sender.pack(&bytes).unwrap().to_vec();
            let mut receiver = Compressor::new(method, LIMIT);
            receiver.receive(&packed);
            assert!(read_all(&mut receiver).unwrap() == bytes);
        }
    }
}

#[test]
fn big_buffers_are_given_back() {
    let bytes: Vec<u8> = {
        let mut random = Random::new(8);
        (0..2 << 20).map(|_| random.next() as u8).collect()
    };
    for method in METHODS {
        let mut sender = Compressor::new(method, LIMIT);
        let mut receiver = Compressor::new(method, LIMIT);
        receiver.receive(sender.pack(&bytes).unwrap());
        sender.sent();
        assert!(read_all(&mut receiver).unwrap() == bytes);
        assert!(sender.held() <= KEEP_BUFFER && receiver.held() <= KEEP_BUFFER);
    }
}

/// A stream of several requests: short pieces, long ones, and some that do not pack.
fn conversation(method: Method, random: &mut Random) -> Vec<u8> {
    let mut side = Compressor::new(method, LIMIT);
    let mut stream = Vec::new();
    for _ in 0..1 + random.below(6) {
        let len = [3, 60, 500, 9000][random.below(4)];
        let plain = random.below(2) == 0;
        let bytes: Vec<u8> =
            (0..len).map(|_| if plain { b'a' } else { random.next() as u8 }).collect();
        side.start_request();
        stream.extend_from_slice(side.pack(&bytes).unwrap());
    }
    stream
}

/// Changes one of the lengths in a header.
fn lie(random: &mut Random, stream: &mut [u8]) {
    let (mut at, skip) = (0, random.below(6));
    for _ in 0..skip {
        let Some(&[a, b, c]) = stream.get(at..at + 3).and_then(|h| h.first_chunk()) else { return };
        at += HEADER + u32::from_le_bytes([a, b, c, 0]) as usize;
    }
    let field = at + [0, 4][random.below(2)];
    let length = [0, 1, 49, 50, 0xffff, 0x01_0000, 0xff_fffe, 0xff_ffff][random.below(8)];
    if let Some(bytes) = stream.get_mut(field..field + 3) {
        bytes.copy_from_slice(&u32::to_le_bytes(length)[..3]);
    }
}

#[test]
fn damaged_streams_end_or_fail_within_the_memory_that_they_pay_for() {
    let mut random = Random::new(9);
    for round in 0..1500 {
        let method = METHODS[round % 2];
        let whole = conversation(method, &mut random);
        let mut stream = whole.clone();
        for _ in 0..=random.below(2) {
            lie(&mut random, &mut stream);
        }
        if random.below(2) == 0 {
            stream = random.damage(&stream);
        }
        let mut side = Compressor::new(method, 1 << 20);
        let (mut got, mut rest) = (0, &stream[..]);
        while !rest.is_empty() {
            let (part, tail) = rest.split_at(1 + random.below(rest.len()));
            side.receive(part);
            rest = tail;
            match read_all(&mut side) {
                Ok(bytes) => got += bytes.len(),
                Err(_) => break,
            }
            assert!(side.held() <= 2 * stream.len() + 2 * KEEP_BUFFER, "round {round}");
        }
        assert!(got <= max_unpacked(method, stream.len()), "round {round}");
    }
}
