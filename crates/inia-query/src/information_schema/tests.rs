//! The declarations fit their rows.

use super::*;
use crate::account::Access;
use crate::database::{Database, DatabaseOptions};
use crate::information::Focus;
use inia_base::io::MemDisk;
use inia_base::temporal::TimeZone;

#[test]
fn every_filled_table_is_declared() {
    for (schema, name, _) in FILLS {
        assert!(find(schema, name).is_some(), "{schema}.{name}");
    }
}

#[test]
fn names_are_found_in_the_case_that_mysql_accepts() {
    assert!(find("INFORMATION_SCHEMA", "tables").is_some());
    assert!(find("mysql", "user").is_some());
    assert!(find("mysql", "USER").is_none());
    assert!(find("nosuch", "TABLES").is_none());
}

#[test]
fn rows_have_as_many_values_as_the_table_has_columns() {
    let options = DatabaseOptions { background: false, ..DatabaseOptions::default() };
    let db = Database::open(Arc::new(MemDisk::new()), options).unwrap();
    let accounts = db.accounts.current();
    let root = crate::account::AccountName::new("root", "localhost");
    let info = Information {
        db: &db,
        catalog: db.catalog().current(),
        access: Arc::new(Access::new(&accounts, &root, &Default::default())),
        zone: TimeZone::utc(),
        focus: Focus::default(),
        variables: Box::new(|_| vec![(String::from("a"), String::from("b"))]),
        counters: &db.counters.session(Default::default()),
        traces: Vec::new(),
        profiles: Vec::new(),
    };
    for table in TABLES.iter() {
        let Some(fill) = table.fill else { continue };
        let mut rows = Rows::new();
        fill(&info, &mut rows);
        for row in &rows {
            assert_eq!(
                row.len(),
                table.declared.columns.len(),
                "{}.{}",
                table.declared.schema,
                table.declared.name
            );
        }
    }
}
