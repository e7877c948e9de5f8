//! EXPLAIN: a plan as MySQL's table, as a tree, or as JSON.
//!
//! [`describe`] walks the plan once and makes one [`Line`] per member of FROM, in the order they
//! are read; subqueries and derived tables follow the SELECT they belong to. The formats print
//! lines.

mod constants;
mod converted;
mod estimate;
mod filtered;
mod grouped;
mod joined;
mod json;
mod line;
mod materialized;
mod merged;
mod numbers;
mod single;
mod skipped;
mod traced;
mod tree;

pub use constants::count_found;
pub use json::{print_json, print_json_lines};
pub use line::{Line, describe};
pub use traced::{TracedTexts, print_trace};
pub use tree::print_tree;
