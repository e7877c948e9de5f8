//! Values from outside: damaged texts of numbers, dates and times, and damaged keys.
#![allow(clippy::unwrap_used)]

mod mutated;
