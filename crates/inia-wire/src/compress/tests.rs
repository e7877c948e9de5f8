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
