//! Each distribution has the shape its name promises.

use super::{Distribution, Rng};

const ROWS: u64 = 10_000;
const PICKS: usize = 200_000;

/// How often each row was chosen; index 0 is row 1.
fn picks(distribution: Distribution) -> Vec<u32> {
    let (picker, mut rng) = (distribution.picker(ROWS), Rng::new(7));
    let mut counts = vec![0; ROWS as usize];
    for _ in 0..PICKS {
        counts[picker.pick(&mut rng) as usize - 1] += 1;
    }
    counts
}

fn share(counts: &[u32]) -> f64 {
    f64::from(counts.iter().sum::<u32>()) / PICKS as f64
}

#[test]
fn uniform_choices_are_even() {
    let counts = picks(Distribution::Uniform);
    for tenth in counts.chunks(ROWS as usize / 10) {
        assert!((share(tenth) - 0.1).abs() < 0.01, "{}", share(tenth));
    }
}

#[test]
fn special_puts_three_quarters_on_one_per_cent_in_the_middle() {
    let counts = picks(Distribution::SPECIAL);
    let middle = &counts[4_949..5_052];
    assert!((0.75..0.80).contains(&share(middle)), "{}", share(middle));
    let (below, above) = (share(&counts[..4_949]), share(&counts[5_052..]));
    assert!((below - above).abs() < 0.01, "{below} {above}");
}

#[test]
fn zipfian_choices_fall_with_the_row_number() {
    let counts = picks(Distribution::Zipfian { theta: 1.0 });
    // The harmonic number of 10,000 is 9.79: row 1 gets about a tenth.
    assert!((share(&counts[..1]) - 1.0 / 9.79).abs() < 0.005, "{}", share(&counts[..1]));
    let ratio = share(&counts[..1]) / share(&counts[9..10]);
    assert!((8.0..12.5).contains(&ratio), "{ratio}");
    let gentle = picks(Distribution::ZIPFIAN);
    assert!(gentle[0] < counts[0] && gentle[0] > gentle[99]);
}

#[test]
fn equal_seeds_give_equal_numbers_and_streams_differ() {
    let draw = |mut rng: Rng| (0..4).map(|_| rng.bits()).collect::<Vec<_>>();
    assert_eq!(draw(Rng::stream(1, 5)), draw(Rng::stream(1, 5)));
    assert_ne!(draw(Rng::stream(1, 5)), draw(Rng::stream(1, 6)));
    assert_ne!(draw(Rng::stream(1, 5)), draw(Rng::stream(5, 1)));
}

#[test]
fn one_row_is_always_chosen_and_names_are_read_back() {
    let names = ["uniform", "special", "special:5:50", "zipfian", "zipfian:1.2"];
    for name in names {
        let distribution: Distribution = name.parse().unwrap();
        assert_eq!(distribution.to_string(), name);
        assert_eq!(distribution.picker(1).pick(&mut Rng::new(3)), 1);
    }
    for wrong in ["", "normal", "special:1", "zipfian:0", "zipfian:x", "special:1:100"] {
        assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
    }
}

#[test]
fn templates_are_filled() {
    let mut out = String::new();
    Rng::new(1).fill("##-@@", &mut out);
    let bytes = out.as_bytes();
    assert!(bytes[0].is_ascii_digit() && bytes[2] == b'-' && bytes[4].is_ascii_lowercase());
}
