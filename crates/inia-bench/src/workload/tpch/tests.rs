//! The generator's rows, and the texts in each dialect.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::random::Rng;
use crate::target::BulkFormat;
use crate::workload::query_set::chosen;
use crate::workload::{Rows, Table};

const TINY: f64 = 0.001;

fn tables() -> Vec<Table> {
    tables::all(TINY, Dialect::MySql)
}

/// All rows of a table, as COPY would have them.
fn rows(table: &Table) -> String {
    let mut out = Rows::new(Dialect::Postgres, BulkFormat::Copy);
    for call in 0..table.rows {
        (table.fill)(call, &mut Rng::stream(0, call), &mut out);
    }
    out.text().to_owned()
}

#[test]
fn every_table_has_the_rows_of_its_scale() {
    let tables = tables();
    let counts: Vec<(&str, usize)> =
        tables.iter().map(|table| (table.name.as_str(), rows(table).lines().count())).collect();
    let expected = [
        ("region", 5),
        ("nation", 25),
        ("supplier", 10),
        ("customer", 150),
        ("part", 200),
        ("partsupp", 700),
        ("orders", 1500),
        ("lineitem", 6005),
    ];
    assert_eq!(counts, expected);
    for (query, count) in tables::counts(TINY) {
        let name = query.rsplit(' ').next().unwrap();
        assert!(expected.contains(&(name, count as usize)), "{query}: {count}");
    }
}

/// dbgen's first rows, which its documentation and every data set made by it show.
#[test]
fn rows_are_those_that_dbgen_makes() {
    let tables = tables();
    let first = |name: &str| {
        let table = tables.iter().find(|table| table.name == name).unwrap();
        rows(table).lines().next().unwrap().replace('\t', "|")
    };
    assert!(first("region").starts_with("0|AFRICA|lar deposits. blithely final packages cajole."));
    assert_eq!(
        first("orders").split('|').take(8).collect::<Vec<_>>().join("|"),
        "1|37|O|131251.81|1996-01-02|5-LOW|Clerk#000000951|0"
    );
    assert_eq!(
        first("lineitem"),
        "1|156|4|1|17|17954.55|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|\
         DELIVER IN PERSON|TRUCK|egular courts above the"
    );
}

#[test]
fn rows_do_not_depend_on_how_they_are_loaded() {
    let [.., orders, _] = &tables()[..] else { panic!("eight tables") };
    let mut backwards: Vec<String> = Vec::new();
    for call in (0..orders.rows).rev() {
        let mut out = Rows::new(Dialect::Postgres, BulkFormat::Copy);
        (orders.fill)(call, &mut Rng::stream(9, call), &mut out);
        backwards.insert(0, out.text().to_owned());
    }
    assert!(orders.rows > 1);
    assert_eq!(backwards.concat(), rows(orders));
}

#[test]
fn no_part_has_a_supplier_twice() {
    let tables = tables();
    let partsupp = tables.iter().find(|table| table.name == "partsupp").unwrap();
    let text = rows(partsupp);
    let mut keys: Vec<Vec<&str>> =
        text.lines().map(|line| line.split('\t').take(2).collect()).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn each_dialect_has_its_own_words() {
    let texts = |dialect| QUERIES.map(|(_, query, _)| text(query, 1.0, dialect));
    assert_eq!(texts(Dialect::MySql), QUERIES.map(|(_, query, _)| query.trim_end().to_owned()));
    for text in texts(Dialect::Sqlite) {
        for word in ["INTERVAL", "EXTRACT", "DATE '", "SUBSTRING"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
    let [first, .., last] = texts(Dialect::Sqlite);
    assert!(first.contains("<= date('1998-12-01', '-90 day')\nGROUP"), "{first}");
    assert!(last.contains("SUBSTR(c_phone, 1, 2) IN"), "{last}");
    let year = &texts(Dialect::Sqlite)[6];
    assert!(year.contains("CAST(strftime('%Y', l_shipdate) AS INTEGER) AS l_year"), "{year}");
}

#[test]
fn the_share_of_query_11_belongs_to_the_scale() {
    let (_, query, _) = QUERIES[10];
    assert!(text(query, 0.01, Dialect::MySql).contains("* 0.0100000000\n"));
    assert!(text(query, 100.0, Dialect::MySql).contains("* 0.0000010000\n"));
}

#[test]
fn queries_are_chosen_by_their_numbers() {
    let with = |text: &str| {
        let mut parameters = TpcH.defaults();
        parameters.options.insert("queries".to_owned(), text.to_owned());
        chosen(&parameters, 22)
    };
    assert_eq!(with("6+1"), Ok(vec![5, 0]));
    assert_eq!(
        with("6+23").unwrap_err().message,
        "option queries: '23' is not a number from 1 to 22"
    );
    assert_eq!(TpcH.length(&TpcH.defaults()), Some(22));
}
