//! The statements are those that the names say.

use super::*;

#[test]
fn statements_stand_where_their_names_say() {
    let texts = texts(" FOR UPDATE");
    for (name, start) in [
        (S::Item, "SELECT i_price"),
        (S::Stock, "SELECT s_quantity, s_data, s_dist_01"),
        (S::StockTaken, "UPDATE stock"),
        (S::ByName, "SELECT c_id"),
        (S::Oldest, "SELECT no_o_id"),
        (S::LowStock, "SELECT COUNT(DISTINCT"),
    ] {
        assert!(texts[name as usize].starts_with(start), "{start}");
    }
    assert_eq!(texts.len(), S::LowStock as usize + 1);
}
