//! Page operations survive encoding, and garbage never panics.

use super::op::FIRST_PAGE_TAG;
use super::*;
use crate::codec::ByteReader;

fn round_trip(op: &PageOp<'_>, page: &mut PageBytes) {
    let mut log = Vec::new();
    op.encode(PageId(7), &mut log);
    let mut reader = ByteReader::new(&log);
    let tag = reader.u8().unwrap();
    assert!(tag >= FIRST_PAGE_TAG);
    let (id, decoded) = PageOp::decode(tag, &mut reader).unwrap();
    assert_eq!(id, PageId(7));
    assert!(reader.is_empty());
    let mut replayed = PageBuf::new();
    replayed.bytes = *page;
    op.apply(page);
    decoded.apply(&mut replayed.bytes);
    assert!(*page == replayed.bytes, "{op:?}");
}

#[test]
fn an_operation_does_the_same_after_a_trip_through_the_log() {
    let mut page = PageBuf::new();
    op::adopt(&mut page.bytes, PageId(7));
    round_trip(&PageOp::Init { page_type: 9 }, &mut page.bytes);
    round_trip(&PageOp::SetBytes { offset: 100, bytes: b"hello" }, &mut page.bytes);
    round_trip(&PageOp::SpaceBit { bit: 77, used: true }, &mut page.bytes);
    let mut other = PageBuf::new();
    other.bytes = page.bytes;
    other.bytes[PAGE_SIZE - 3..].copy_from_slice(b"end");
    round_trip(&PageOp::image(&other.bytes, 200, PAGE_SIZE - 3), &mut page.bytes);
    assert_eq!(&page.bytes[100..105], b"hello");
    assert_eq!(&page.bytes[PAGE_SIZE - 3..], b"end");
    assert_eq!(page_id(&page.bytes), PageId(7));
    assert_eq!(page_type_of(&page.bytes), 9);
}

#[test]
fn operations_out_of_bounds_change_nothing() {
    let mut page = PageBuf::new();
    PageOp::SetBytes { offset: u16::MAX, bytes: b"x" }.apply(&mut page.bytes);
    PageOp::SetBytes { offset: 4, bytes: b"x" }.apply(&mut page.bytes);
    PageOp::SpaceBit { bit: u32::MAX, used: true }.apply(&mut page.bytes);
    assert!(page.bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn a_flipped_bit_is_noticed() {
    let mut page = PageBuf::new();
    initialize(&mut page.bytes, PageId(3), 1);
    seal(&mut page.bytes);
    assert_eq!(verify(&page.bytes, PageId(3)), Ok(()));
    assert!(verify(&page.bytes, PageId(4)).is_err());
    page.bytes[9000] ^= 4;
    assert!(verify(&page.bytes, PageId(3)).is_err());
}

#[test]
fn reads_past_the_end_are_clamped() {
    let mut page = PageBuf::new();
    page.bytes[PAGE_SIZE - 1] = 5;
    assert_eq!(page.bytes.u8_at(usize::MAX), 5);
    assert_eq!(page.bytes.u32_at(usize::MAX), 5 << 24);
    let mut out = [1; 4];
    page.bytes.copy_out(PAGE_SIZE - 2, &mut out);
    assert_eq!(out, [0, 5, 1, 1]);
}
