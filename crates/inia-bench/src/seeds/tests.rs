//! The reports name workloads that exist, and their figures stand in full tables.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_workload_of_a_report_exists() {
    for table in REPORTS.iter().flat_map(|report| report.tables) {
        assert_eq!(table.runs().count(), table.workloads.len(), "{}", table.title);
    }
}

#[test]
fn published_tables_have_a_cell_in_every_place() {
    for table in REPORTS.iter().flat_map(|report| report.tables) {
        let cells = table.published_cells();
        let columns = cells.first().map_or(0, Vec::len);
        assert!(cells.iter().all(|line| line.len() == columns), "{}", table.title);
    }
}

#[test]
fn a_published_figure_is_found_where_the_report_has_it() {
    let table = &report("rdbms").unwrap().tables[1];
    let cells = table.published_cells();
    assert_eq!(cells[4][..3], ["8", "1048.55", "1047.36"]);
    let users = &report("whitepaper").unwrap().tables[0];
    assert_eq!(users.published_cells()[10][..3], ["1000", "590.488", "624.386"]);
}

#[test]
fn small_runs_have_few_clients() {
    for table in REPORTS.iter().flat_map(|report| report.tables) {
        let clients = Scale::Small.clients(table);
        assert!(clients.iter().all(|&n| n <= 8) && !clients.is_empty(), "{}", table.title);
    }
}
