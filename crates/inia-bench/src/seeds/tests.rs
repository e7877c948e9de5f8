//! The reports name workloads that exist, and their figures stand in full tables.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::workload;
use std::collections::BTreeSet;

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

#[test]
fn every_workload_of_the_lab_is_in_some_table() {
    let tables = REPORTS.iter().flat_map(|report| report.tables);
    let run: BTreeSet<&str> = tables.flat_map(|table| table.workloads).copied().collect();
    let missing: Vec<_> =
        workload::all().map(Workload::name).filter(|n| !run.contains(n)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn all_needs(scale: Scale, processors: usize) -> Vec<Need> {
    needs(&REPORTS.iter().collect::<Vec<_>>(), scale, processors)
}

#[test]
fn what_several_tables_show_is_run_once() {
    let mut seen = BTreeSet::new();
    for need in all_needs(Scale::Small, 4) {
        let distribution = need.parameters.distribution.to_string();
        for clients in need.clients {
            let run = (need.workload.name(), distribution.clone(), need.processors, clients);
            assert!(seen.insert(run.clone()), "{run:?} is run twice");
        }
    }
    let on = |n| seen.iter().filter(|run| run.0 == "oltp_read_only" && run.2 == n).count();
    assert_eq!([on(1), on(2), on(3), on(4)], [4, 4, 0, 4]);
}

/// Runs on one data set come together, and those that use it up come last.
#[test]
fn a_data_set_is_loaded_once_for_all_that_leave_it_as_it_is() {
    for scale in [Scale::Tiny, Scale::Small, Scale::Medium, Scale::Full] {
        let mut ended = BTreeSet::new();
        let mut last = None;
        for need in all_needs(scale, 2) {
            let data = need.workload.data(&need.parameters, crate::target::Dialect::MySql).unwrap();
            let key = (data.name, need.parameters.rows, need.parameters.scale);
            let now = (key, need.workload.keeps_data());
            if last != Some(now) {
                assert!(ended.insert(now), "{now:?} is loaded again at {scale:?}");
                last = Some(now);
            }
        }
        let kept = |(key, _): &(_, bool)| ended.contains(&(*key, true));
        let sets: BTreeSet<_> = ended.iter().filter(|set| kept(set)).map(|(key, _)| *key).collect();
        let names: BTreeSet<_> = sets.iter().map(|(name, ..)| *name).collect();
        assert_eq!(sets.len(), names.len(), "two sizes of one data set push each other out");
    }
}

#[test]
fn single_clients_work_is_given_one_client() {
    for need in all_needs(Scale::Full, 2) {
        if need.workload.figure() == crate::workload::Figure::Time {
            assert_eq!(need.clients, [1], "{}", need.workload.name());
        }
    }
}
