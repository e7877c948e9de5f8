//! Damage is noticed, and reads out of bounds are harmless.

use super::*;

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
