//! Names of columns.

use super::same_name;

#[test]
fn column_names_ignore_case() {
    assert!(same_name("Id", "iD"));
    assert!(same_name("Größe", "GRÖSSE") || same_name("größe", "GRÖßE"));
    assert!(!same_name("a", "b"));
}
