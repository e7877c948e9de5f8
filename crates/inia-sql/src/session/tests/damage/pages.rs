//! Damaged pages: header, space map, inner nodes, leaves, overflow pages, free pages.

use super::{Damage, Image, PAGE, Tally, moments, page, used_pages, with_page, world};
use inia_testkit::Random;

/// Copies would restore the pages.
fn without_copies(image: &Image) -> Image {
    let mut image = image.clone();
    image.get_mut("inia.doublewrite").unwrap().fill(0);
    image
}

/// Each page of the closed files, and every third where the log has the changes.
fn chosen_pages(name: &str, image: &Image) -> Vec<usize> {
    used_pages(image).into_iter().filter(|at| name == "closed" || at % 3 == 0).collect()
}

/// Goes through the cases that `damage` makes of the pages of each moment.
fn each_page(kind: Damage, mut damage: impl FnMut(&Image, usize) -> Vec<Vec<u8>>) -> Tally {
    let mut tally = Tally::default();
    for (name, image) in moments() {
        let image = without_copies(image);
        for number in chosen_pages(name, &image) {
            for (case, bytes) in damage(&image, number).iter().enumerate() {
                let label = format!("{name}, page {number}, case {case}");
                tally.case(&with_page(&image, number, bytes), kind, &label);
            }
        }
    }
    tally
}

#[test]
fn a_flipped_bit() {
    let mut random = Random::new(1);
    let tally = each_page(Damage::Visible, |image, number| {
        let mut bytes = page(image, number).to_vec();
        bytes[random.index(PAGE)] ^= 1 << random.below(8);
        vec![bytes]
    });
    assert!(tally.reported > 20 && tally.refused > 1, "{tally:?}");
}

#[test]
fn a_page_of_zeros_and_a_half_written_one() {
    let tally = each_page(Damage::Visible, |image, number| {
        let mut torn = page(image, number).to_vec();
        torn[PAGE / 2..].fill(0);
        vec![vec![0; PAGE], torn]
    });
    assert!(tally.reported > 20 && tally.refused > 1, "{tally:?}");
}

#[test]
fn another_page_in_its_place() {
    let tally = each_page(Damage::Visible, |image, number| {
        let used = used_pages(image);
        let at = used.iter().position(|other| *other == number).unwrap();
        let other = used[(at + 1) % used.len()];
        vec![page(image, other).to_vec()]
    });
    assert!(tally.reported > 20 && tally.refused > 1, "{tally:?}");
}

#[test]
fn the_page_as_it_was_before() {
    let old = &world().old;
    let old_pages = used_pages(old);
    let tally = each_page(Damage::OldPage, |image, number| {
        let differs = old_pages.contains(&number) && page(old, number) != page(image, number);
        if differs { vec![page(old, number).to_vec()] } else { Vec::new() }
    });
    assert!(tally.reported > 5, "{tally:?}");
}

/// Damage with a right checksum, as bad memory or a mistake in the program would make it. What is
/// in a row's bytes nobody can notice then, but nothing may panic or loop for ever.
#[test]
fn senseless_contents_with_a_right_checksum() {
    let mut random = Random::new(2);
    for (name, image) in moments() {
        let image = without_copies(image);
        for number in chosen_pages(name, &image) {
            for case in [number % 4, (number + 1) % 4] {
                let mut bytes = page(&image, number).to_vec();
                let (from, to) = [(16, 32), (32, 144), (144, 400), (32, PAGE)][case];
                for _ in 0..1 + random.index(3) {
                    let at = random.range(from..to as i64) as usize;
                    bytes[at] = random.below(256) as u8;
                }
                seal(&mut bytes);
                let damaged = with_page(&image, number, &bytes);
                let outcome = std::panic::catch_unwind(|| super::examine(&damaged));
                assert!(outcome.is_ok(), "{name}, page {number}, case {case}: panicked");
            }
        }
    }
}

fn seal(page: &mut [u8]) {
    let crc = crc32c::crc32c(&page[4..]);
    page[..4].copy_from_slice(&crc.to_le_bytes());
}
