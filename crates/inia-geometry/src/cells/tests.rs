//! Ranges of a window hold the keys of all boxes that meet it.

use super::Grid;
use crate::shape::{Bounds, Coord};

fn bounds(x: f64, y: f64, width: f64, height: f64) -> Bounds {
    Bounds { min: Coord { x, y }, max: Coord { x: x + width, y: y + height } }
}

/// Numbers without a pattern.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn what_meets_a_window_is_in_its_ranges() {
    let mut state = 7;
    for grid in [Grid::Degrees, Grid::Numbers] {
        for round in 0..300 {
            let mut number = |scale: f64| (random(&mut state) - 0.5) * scale;
            let scale = [1e-3, 1.0, 80.0, 160.0][round % 4];
            let window =
                bounds(number(scale), number(scale), number(scale).abs(), number(9.0).abs());
            let ranges = grid.ranges(&window);
            assert!(ranges.is_sorted() && ranges.len() < 200);
            for turn in 0..50 {
                let size = [0.0, 1e-6, 0.1, 50.0, 90.0][turn % 5];
                let (width, height) = (number(size).abs(), number(size).abs());
                let item = bounds(number(scale), number(scale), width, height);
                let key = grid.key(Some(&item));
                let found = ranges.iter().any(|(from, to)| (from..=to).contains(&&key));
                assert!(found || !item.intersects(&window), "{item:?} {window:?}");
            }
        }
    }
}

#[test]
fn what_is_nowhere_meets_no_window() {
    let all = bounds(-180.0, -90.0, 360.0, 180.0);
    let key = Grid::Degrees.key(None);
    assert!(Grid::Degrees.ranges(&all).iter().all(|(_, to)| *to < key));
}

#[test]
fn small_windows_leave_most_keys_out() {
    let window = bounds(10.0, 10.0, 0.1, 0.1);
    let ranges = Grid::Degrees.ranges(&window);
    let mut state = 3;
    let inside = (0..100_000).filter(|_| {
        let at = bounds(random(&mut state) * 20.0, random(&mut state) * 20.0, 0.0, 0.0);
        let key = Grid::Degrees.key(Some(&at));
        ranges.iter().any(|(from, to)| (from..=to).contains(&&key))
    });
    // The window has 2.5 points of these; the squares that cover it are a little larger.
    assert!(inside.count() < 20);
}
