//! In which order the plan reads tables, and which derived tables it keeps.

use crate::plan::dedup::DedupStrategy;
use crate::plan::{Body, QueryPlan, RowSource, SelectPlan, StatementPlan};
use inia_expr::{Expr, ExprKind};

/// A member of FROM: its database, empty for derived tables, and the name it goes by.
pub(super) type Key = (String, String);

/// An alias without what distinguishes it from another one.
fn name_of(alias: &str) -> &str {
    alias.split(inia_parser::TWIN).next().unwrap_or(alias)
}

/// A subquery that is asked with each row for one that is equal.
struct Asked {
    tables: Vec<Key>,
    lookup: Option<Lookup>,
}

/// How an index finds the rows of a single table by the values that are asked for.
#[derive(Clone)]
pub(super) struct Lookup {
    pub(super) table: String,
    pub(super) index: String,
    /// One row at most is found.
    pub(super) unique: bool,
    /// How many of its parts have values.
    pub(super) parts: usize,
}

impl Lookup {
    fn of(select: &SelectPlan) -> Option<Lookup> {
        let RowSource::Table(source) = &select.source else { return None };
        let path = &source.access;
        let asked = |expr: &Expr| match &expr.kind {
            ExprKind::OuterColumn { name, .. } => name.starts_with("<cache>"),
            _ => expr.is_constant_in_statement(),
        };
        let found = !path.equal.is_empty() && path.own_exprs().all(asked);
        let index = &source.table.def.indexes[path.index.filter(|_| found)?];
        let (table, index) = (source.alias.clone(), index.name.clone());
        Some(Lookup { table, index, unique: path.point, parts: path.equal.len() })
    }
}

/// The order of tables of each SELECT of a plan.
#[derive(Default)]
pub(super) struct ReadOrder {
    blocks: Vec<Vec<Key>>,
    /// The tables of each subquery that is joined and materialized.
    made: Vec<Vec<Key>>,
    /// The tables of SELECTs that read none of them.
    unread: Vec<Vec<Key>>,
    /// The subqueries that are asked with each row.
    asked: Vec<Asked>,
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
                if let Body::Select(select) = &subplan.query.body
                    && subplan.asked
                {
                    let tables = order.blocks.last().cloned().unwrap_or_default();
                    order.asked.push(Asked { tables, lookup: Lookup::of(select) });
                }
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
        if select.extrema().is_some() {
            self.unread.push(block.clone());
        }
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

    /// Whether a SELECT of these tables reads none of them.
    pub(super) fn reads_none(&self, tables: &[Key]) -> bool {
        self.unread.iter().any(|unread| unread == tables)
    }

    /// How a subquery of these tables is asked with each row, where it is: by which lookup.
    pub(super) fn asks(&self, tables: &[Key]) -> Option<Option<Lookup>> {
        let has = |asked: &Asked, table: &Key| {
            asked.tables.iter().any(|own| own.1 == name_of(&table.1) && own.0 == table.0)
        };
        let found = self.asked.iter().find(|asked| {
            tables.len() == asked.tables.len() && tables.iter().all(|table| has(asked, table))
        });
        found.map(|asked| asked.lookup.clone())
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
