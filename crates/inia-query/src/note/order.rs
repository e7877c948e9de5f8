//! In which order the plan reads tables, and which derived tables it keeps.

use crate::plan::dedup::DedupStrategy;
use crate::plan::{Body, QueryPlan, RowSource, SelectPlan, StatementPlan};

/// A member of FROM: its database, empty for derived tables, and the name it goes by.
pub(super) type Key = (String, String);

/// An alias without what distinguishes it from another one.
fn name_of(alias: &str) -> &str {
    alias.split(inia_parser::TWIN).next().unwrap_or(alias)
}

/// The order of tables of each SELECT of a plan.
#[derive(Default)]
pub(super) struct ReadOrder {
    blocks: Vec<Vec<Key>>,
    /// The tables of each subquery that is joined and materialized.
    made: Vec<Vec<Key>>,
    /// Derived tables that are not merged.
    derived: Vec<String>,
    /// There is a function over a window.
    pub(super) windows: bool,
}

impl ReadOrder {
    pub(super) fn of(plans: &[&StatementPlan]) -> ReadOrder {
        let mut order = ReadOrder::default();
        for plan in plans {
            order.query(&plan.root);
            for subplan in &plan.subplans {
                order.query(&subplan.query);
                subplan.recursive.iter().for_each(|recursive| order.query(&recursive.step));
            }
        }
        order
    }

    fn query(&mut self, query: &QueryPlan) {
        self.body(&query.body);
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Select(select) => self.select(select),
            Body::SetOperation(set) => {
                self.body(&set.first);
                set.rest.iter().for_each(|step| self.body(&step.body));
            }
            Body::Nested(query) => self.query(query),
            Body::Values(_) => {}
        }
    }

    fn select(&mut self, select: &SelectPlan) {
        self.windows |= !select.windows.is_empty();
        let mut block = Vec::new();
        self.source(&select.source, &mut block);
        self.blocks.push(block);
    }

    fn source(&mut self, source: &RowSource, block: &mut Vec<Key>) {
        match source {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Table(table) => {
                block.push((table.table.def.schema.clone(), table.alias.clone()));
            }
            RowSource::Subplan { alias, .. } => {
                self.derived.push(alias.clone());
                block.push((String::new(), alias.clone()));
            }
            RowSource::Virtual(table) => block.push((String::new(), table.alias.clone())),
            RowSource::JsonTable(table) => block.push((String::new(), table.alias.clone())),
            RowSource::Dedup(dedup) => {
                let first = block.len();
                self.source(&dedup.source, block);
                if let DedupStrategy::Materialize(_) = dedup.strategy {
                    self.made.push(block[first..].to_vec());
                }
            }
            RowSource::Join(join) if join.keeps_rows() => {
                self.source(&join.left, block);
                let first = block.len();
                self.source(&join.right, block);
                self.made.push(block[first..].to_vec());
            }
            RowSource::Join(join) => {
                join.in_order().into_iter().for_each(|side| self.source(side, block));
            }
        }
    }

    /// Whether a derived table of that name is computed before it is read.
    pub(super) fn materializes(&self, alias: &str) -> bool {
        self.derived.iter().any(|derived| derived == alias)
    }

    /// Whether the tables of a subquery that is joined are those of a materialized one.
    pub(super) fn makes(&self, tables: &[Key]) -> bool {
        let has = |made: &[Key], table: &Key| {
            made.iter()
                .any(|own| own.1 == name_of(&table.1) && (own.0 == table.0 || own.0.is_empty()))
        };
        !tables.is_empty()
            && self.made.iter().any(|made| tables.iter().all(|table| has(made, table)))
    }

    /// Whether one SELECT of the plan reads tables of a query and of another inside it.
    pub(super) fn joins(&self, outer: &[Key], inner: &[Key]) -> bool {
        let has = |block: &[Key], table: &Key| {
            block
                .iter()
                .any(|own| own.1 == name_of(&table.1) && (own.0 == table.0 || own.0.is_empty()))
        };
        let reads = |block: &Vec<Key>| {
            inner.iter().all(|table| has(block, table))
                && outer.iter().any(|table| has(block, table))
        };
        self.blocks.iter().any(reads)
    }

    /// The places of a SELECT's tables in the order of reading; that of FROM where the plan has no
    /// SELECT of them.
    pub(super) fn places(&self, tables: &[Key]) -> Vec<usize> {
        let same = |a: &Key, b: &Key| name_of(&a.1) == b.1 && (a.0 == b.0 || b.0.is_empty());
        let holds = |block: &&Vec<Key>| {
            block.len() >= tables.len()
                && tables.iter().all(|table| block.iter().any(|own| same(table, own)))
        };
        let Some(block) = self.blocks.iter().filter(holds).min_by_key(|block| block.len()) else {
            return (0..tables.len()).collect();
        };
        let mut taken = vec![false; block.len()];
        let mut places = Vec::with_capacity(tables.len());
        for table in tables {
            let at = (0..block.len()).find(|at| !taken[*at] && same(table, &block[*at]));
            let at = at.unwrap_or(0);
            taken[at] = true;
            places.push(at);
        }
        places
    }
}
