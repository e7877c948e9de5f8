//! The `inia` program.

fn main() {}
