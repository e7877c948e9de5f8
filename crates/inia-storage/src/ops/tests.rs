//! Page operations survive encoding, and garbage never panics.

use super::*;
use crate::codec::ByteReader;
use crate::page::{self, PAGE_SIZE, PageBuf};

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
    page::adopt(&mut page.bytes, PageId(7));
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
    assert_eq!(page::page_type_of(&page.bytes), 9);
}

#[test]
fn operations_out_of_bounds_change_nothing() {
    let mut page = PageBuf::new();
    PageOp::SetBytes { offset: u16::MAX, bytes: b"x" }.apply(&mut page.bytes);
    PageOp::SetBytes { offset: 4, bytes: b"x" }.apply(&mut page.bytes);
    PageOp::SpaceBit { bit: u32::MAX, used: true }.apply(&mut page.bytes);
    assert!(page.bytes.iter().all(|&byte| byte == 0));
}
