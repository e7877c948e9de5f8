//! Damaged, missing, cut and superfluous files.

use super::{BLOCK, Damage, Image, Tally, moments, world};

fn log(image: &Image) -> Vec<String> {
    image.keys().filter(|name| name.starts_with("wal-")).cloned().collect()
}

/// Numbers of the blocks of a log file that hold anything.
fn blocks_in_use(file: &[u8]) -> Vec<usize> {
    let blocks = file.chunks(BLOCK).enumerate();
    blocks.filter(|(_, block)| block.iter().any(|byte| *byte != 0)).map(|(at, _)| at).collect()
}

/// The log's last block: its file and number. A block holds the LSN of its first byte; the first
/// block of a file is none of the log's.
fn end_of_log(image: &Image) -> (String, usize) {
    let lsn = |name: &str, block: usize| {
        let bytes = &image[name][block * BLOCK + 8..][..8];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    };
    let files = log(image).into_iter();
    let blocks = files.flat_map(|name| {
        let used = blocks_in_use(&image[&name]).into_iter().skip(1);
        used.map(move |block| (name.clone(), block)).collect::<Vec<_>>()
    });
    blocks.max_by_key(|(name, block)| lsn(name, *block)).expect("something was logged")
}

/// Goes through the cases that `damage` makes of each file of each moment.
fn each_file(damage: impl FnMut(&Image, &str) -> Vec<Image>) -> Tally {
    each_file_of(|_| Damage::Visible, damage)
}

/// As [`each_file`], for damage of a kind.
fn each_file_of(
    kind: impl Fn(&str) -> Damage,
    mut damage: impl FnMut(&Image, &str) -> Vec<Image>,
) -> Tally {
    let mut tally = Tally::default();
    for (moment, image) in moments() {
        for name in image.keys() {
            for (case, damaged) in damage(image, name).iter().enumerate() {
                tally.case(damaged, kind(name), &format!("{moment}, {name}, case {case}"));
            }
        }
    }
    tally
}

/// A copy of an image with one file changed.
fn with_file(image: &Image, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Image {
    let mut image = image.clone();
    change(image.get_mut(name).unwrap());
    image
}

#[test]
fn missing_files() {
    let tally = each_file(|image, name| {
        let mut image = image.clone();
        image.remove(name);
        vec![image]
    });
    assert!(tally.refused > 9, "{tally:?}");
}

#[test]
fn cut_files() {
    let tally = each_file(|image, name| {
        let len = image[name].len();
        let cut = |to: usize| with_file(image, name, |bytes| bytes.truncate(to));
        [0, 1, 100, BLOCK, len / 2, len.saturating_sub(BLOCK), len.saturating_sub(1)]
            .into_iter()
            .filter(|to| *to < len)
            .map(cut)
            .collect()
    });
    assert!(tally.refused > 30, "{tally:?}");
}

#[test]
fn longer_files() {
    let tally = each_file(|image, name| {
        let more = |bytes: &[u8]| with_file(image, name, |file| file.extend_from_slice(bytes));
        vec![more(&[0; 1]), more(&vec![0; 4 * BLOCK]), more(&vec![0xa5; 4 * BLOCK + 3])]
    });
    assert!(tally.harmless > 5, "{tally:?}");
}

#[test]
fn superfluous_files() {
    let tally = each_file(|image, name| {
        if log(image).iter().skip(1).any(|other| other == name) {
            return Vec::new();
        }
        let with = |other: &str, bytes: &[u8]| {
            let mut image = image.clone();
            image.insert(other.to_owned(), bytes.to_vec());
            image
        };
        let bytes = &image[name];
        let mut cases = vec![
            with("readme.txt", b"hello"),
            with("wal-new", bytes),
            with("inia.control.new", bytes),
            with("inia.undo", bytes),
            with("wal-", bytes),
            with("wal-x", bytes),
            with("wal-000000000999", bytes),
            with("wal-18446744073709551615", bytes),
        ];
        let numbers: Vec<u64> =
            log(image).iter().filter_map(|name| name[4..].parse().ok()).collect();
        let next = numbers.iter().max().unwrap() + 1;
        cases.push(with(&format!("wal-{next:012}"), bytes));
        cases
    });
    assert!(tally.harmless > 30, "{tally:?}");
}

#[test]
fn damaged_log_blocks() {
    let mut tally = Tally::default();
    for (moment, image) in moments() {
        let end = end_of_log(image);
        for name in log(image) {
            let used = blocks_in_use(&image[&name]);
            // Each block of the first ones, then fewer, and the last.
            for (at, &block) in used.iter().enumerate() {
                let last = (&*name, block) == (&*end.0, end.1);
                if at > 6 && at % 9 != 0 && !last {
                    continue;
                }
                // A lost end looks like one that was never written, unless all was closed.
                let lost = last && moment != "closed";
                let kind = if lost { Damage::OldFile } else { Damage::Visible };
                let label = |what: &str| format!("{moment}, {name}, block {block} {what}");
                let change = |change: &dyn Fn(&mut [u8])| {
                    with_file(image, &name, |file| change(&mut file[block * BLOCK..][..BLOCK]))
                };
                let flipped = change(&|bytes| bytes[(at * 37) % BLOCK] ^= 0x10);
                tally.case(&flipped, kind, &label("flipped"));
                let zeroed = change(&|bytes| bytes.fill(0));
                tally.case(&zeroed, kind, &label("zeroed"));
                let other = used[(at + 1) % used.len()];
                let other = image[&name][other * BLOCK..][..BLOCK].to_vec();
                let swapped = change(&|bytes| bytes.copy_from_slice(&other));
                tally.case(&swapped, kind, &label("replaced by the next"));
            }
        }
    }
    assert!(tally.refused > 20, "{tally:?}");
}

#[test]
fn files_from_earlier() {
    let old = &world().old;
    let seen = |name: &str| !name.starts_with("wal-");
    let kind = |name: &str| if seen(name) { Damage::Visible } else { Damage::OldFile };
    let tally = each_file_of(kind, |image, name| match old.get(name) {
        Some(bytes) if *bytes != image[name] => {
            vec![with_file(image, name, |file| *file = bytes.clone())]
        }
        _ => Vec::new(),
    });
    assert!(tally.total() > 5, "{tally:?}");
}

#[test]
fn the_data_file_from_before_the_last_checkpoint_is_refused() {
    let old = &world().old["inia.data"];
    let mut tally = Tally::default();
    for (moment, image) in moments().into_iter().filter(|(moment, _)| *moment != "killed") {
        let damaged = with_file(image, "inia.data", |file| file.clone_from(old));
        tally.case(&damaged, Damage::Visible, moment);
    }
    assert_eq!(tally.refused, tally.total(), "{tally:?}");
}

#[test]
fn a_damaged_control_file() {
    let mut tally = Tally::default();
    for (moment, image) in moments() {
        for at in (0..2 * BLOCK).step_by(7) {
            let damaged = with_file(image, "inia.control", |bytes| bytes[at] ^= 0x40);
            if at % BLOCK > 56 && at % 31 != 0 {
                continue;
            }
            tally.case(&damaged, Damage::Visible, &format!("{moment}, byte {at}"));
        }
        let swapped = with_file(image, "inia.control", |bytes| bytes.rotate_left(BLOCK));
        tally.case(&swapped, Damage::Visible, &format!("{moment}, blocks swapped"));
    }
    assert!(tally.total() > 50, "{tally:?}");
}

#[test]
fn a_damaged_doublewrite_file_does_no_harm_where_no_page_needs_it() {
    let mut tally = Tally::default();
    for (moment, image) in moments() {
        for at in (0..image["inia.doublewrite"].len()).step_by(200_001) {
            let damaged = with_file(image, "inia.doublewrite", |bytes| bytes[at] ^= 1);
            tally.case(&damaged, Damage::Visible, &format!("{moment}, byte {at}"));
        }
    }
    assert_eq!(tally.harmless, tally.total(), "{tally:?}");
}
