//! Fuzz targets: each takes any bytes, and nothing may panic, overflow a stack or run without end.
//!
//! Coverage-guided, with cargo-fuzz and a nightly toolchain, from seeds that the second form wrote:
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml --bin inia-fuzz -- seeds
//! cargo +nightly fuzz run statements -- -max_total_time=600 -timeout=20 -rss_limit_mb=4096
//! ```
//!
//! On any toolchain, with mutations of the seeds from a number:
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml --bin inia-fuzz -- statements 600
//! ```

pub mod image;
pub mod packets;
pub mod parameters;
pub mod patterns;
pub mod seeds;
pub mod session;
pub mod statements;
pub mod text;
pub mod values;

/// A target: its name, what runs it, and the inputs to begin with.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: [Target; 7] = [
    Target { name: "text", run: text::run, seeds: seeds::statements },
    Target { name: "packets", run: packets::run, seeds: seeds::packets },
    Target { name: "parameters", run: parameters::run, seeds: seeds::parameters },
    Target { name: "values", run: values::run, seeds: seeds::values },
    Target { name: "patterns", run: patterns::run, seeds: seeds::patterns },
    Target { name: "statements", run: statements::run, seeds: seeds::scripts },
    Target { name: "image", run: image::run, seeds: seeds::damage },
];
