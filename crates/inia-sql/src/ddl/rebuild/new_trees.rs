//! The trees of a table's new definition, while rows are copied into them.

use super::filler::{Duplicate, Filler};
use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_base::io::Disk;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_query::catalog::TableDef;
use inia_query::context::SessionContext;
use inia_query::dml::write::duplicate_error;
use inia_query::error::StorageResult;
use inia_query::interrupt::Interrupt;
use inia_query::row::{Cell, IndexCodec, RowLayout, SeveralCodec};
use inia_query::spill::Workspace;
use inia_storage::Txn;

/// Sorted records of all trees of a new definition.
pub(super) struct NewTrees<'n> {
    new: &'n TableDef,
    zone: &'n TimeZone,
    layout: RowLayout,
    codecs: Vec<IndexCodec>,
    /// Those of indexes that have several entries for a row.
    several: Vec<Option<SeveralCodec>>,
    /// Those of the indexes, and behind them that of the rows.
    fillers: Vec<Filler<'n>>,
    /// The number of the next row, where rows get numbers.
    next_row_id: u64,
}

impl<'n> NewTrees<'n> {
    /// Trees without rows; records are sorted on `disk`. As many others as `share` says are made at
    /// the same time.
    pub(super) fn new(
        session: &'n SessionContext,
        new: &'n TableDef,
        zone: &'n TimeZone,
        (disk, interrupt): (&'n dyn Disk, Interrupt<'n>),
        share: usize,
    ) -> NewTrees<'n> {
        let budget = session.db.build_memory / share;
        let within = Workspace::within(disk, budget).until(interrupt);
        let within = within.from(&session.host.memory);
        let mut trees: Vec<TreeId> = new.indexes.iter().map(|index| index.tree).collect();
        trees.push(new.clustered);
        NewTrees {
            new,
            zone,
            layout: RowLayout::new(new.columns.iter().map(|c| (&c.data_type, c.nullable))),
            codecs: (0..new.indexes.len()).map(|at| IndexCodec::new(new, at)).collect(),
            several: (0..new.indexes.len()).map(|at| SeveralCodec::of(new, at)).collect(),
            fillers: Filler::of((within, session.db.catalog().store(new)), &new.name, &trees),
            next_row_id: 1,
        }
    }

    /// Adds a row. Without a primary key its key is `kept`, or the next number.
    pub(super) fn push(&mut self, row: &[Value], kept: Option<&[u8]>) -> Result<(), SqlError> {
        let NewTrees { new, zone, layout, codecs, several, fillers, next_row_id } = self;
        let cell = |column: usize| Ok(Cell::of(&row[column], &new.columns[column].data_type, zone));
        let mut key = Vec::new();
        match (new.clustered_index(), kept) {
            (Some(_), _) => codecs[0].put_clustered_key(cell, &mut key)?,
            (None, Some(kept)) => key.extend_from_slice(kept),
            (None, None) => {
                key.extend_from_slice(&next_row_id.to_be_bytes());
                *next_row_id += 1;
            }
        }
        for (at, codec) in codecs.iter().enumerate() {
            if let Some(several) = &several[at] {
                let entries = several.entries(cell, &key)?;
                entries.iter().try_for_each(|(key, value)| fillers[at].push(key, value))?;
            } else if !new.indexes[at].clustered {
                let (mut entry, mut value) = (Vec::new(), Vec::new());
                codec.put_entry(cell, &key, &mut entry, &mut value)?;
                fillers[at].push(&entry, &value)?;
            }
        }
        let mut bytes = Vec::new();
        layout.encode(cell, &mut bytes)?;
        fillers[codecs.len()].push(&key, &bytes)
    }

    /// Fills the trees. The second of two rows with one unique key is a duplicate error.
    pub(super) fn finish(self, txn: &mut Txn, interrupt: Interrupt<'_>) -> Result<(), SqlError> {
        let NewTrees { new, zone, layout, codecs, mut fillers, .. } = self;
        let values = |row: &[u8]| {
            let mut values = Vec::new();
            layout.decode(row, zone, &mut values).map(|()| values)
        };
        let Some(clustered) = fillers.pop() else { return Ok(()) };
        let rows = clustered.tree.clone();
        if let Some(Duplicate(_, row)) = clustered.finish(txn, interrupt)? {
            return Err(duplicate_error(new, 0, &values(&row)?));
        }
        for (at, filler) in fillers.into_iter().enumerate() {
            if new.indexes[at].clustered {
                continue;
            }
            if let Some(Duplicate(key, value)) = filler.finish(txn, interrupt)? {
                let primary = codecs[at].primary_key(&key, &value)?;
                let row = txn.get(&rows, primary, values).sql()?;
                let row = row.ok_or(inia_query::error::Damaged)??;
                return Err(duplicate_error(new, at, &row));
            }
        }
        Ok(())
    }
}
