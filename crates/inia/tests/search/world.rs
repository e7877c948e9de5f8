//! A world: a few tables and views of one seed, and the statements that make them.

use super::maker::{Maker, Name, Source};
use super::tables::{self, Table};
use super::values::ValueClass;
use inia_testkit::Random;

pub(super) struct World {
    pub(super) tables: Vec<Table>,
    pub(super) sources: Vec<Source>,
    /// CREATE TABLE, INSERT, CREATE VIEW.
    pub(super) setup: Vec<String>,
    pub(super) random: Random,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let mut random = Random::new(seed);
        let number = 1 + random.index(4);
        let tables: Vec<Table> =
            (0..number).map(|at| tables::table(&mut random, &format!("t{at}"))).collect();
        let mut sources: Vec<Source> = tables.iter().map(Source::of).collect();
        let mut setup: Vec<String> = tables.iter().map(Table::create).collect();
        setup.extend(tables.iter().flat_map(|table| table.rows.iter().cloned()));
        for at in 0..random.index(3) {
            let (name, mut maker) = (format!("v{at}"), Maker::new(&mut random, &sources));
            let kinds = maker.kinds(3);
            let body = maker.select(&kinds, &[], 0, Some("c"));
            setup.push(format!("CREATE VIEW {name} AS {body}"));
            let column = |(at, kind): (usize, &ValueClass)| Name(format!("c{at}"), *kind);
            let columns = kinds.iter().enumerate().map(column).collect();
            sources.push(Source {
                name,
                columns,
                keys: Vec::new(),
                parts: Vec::new(),
                by_id: false,
            });
        }
        World { tables, sources, setup, random }
    }

    pub(super) fn maker(&mut self) -> Maker<'_> {
        Maker::new(&mut self.random, &self.sources)
    }

    pub(super) fn change(&mut self) -> String {
        Maker::new(&mut self.random, &self.sources).change(&self.tables)
    }

    /// Statements that give all that the tables hold.
    pub(super) fn contents(&self) -> Vec<String> {
        self.tables.iter().map(|table| format!("SELECT * FROM {}", table.name)).collect()
    }
}
