//! A row whose key is there already: REPLACE and ON DUPLICATE KEY UPDATE.

use super::{InsertRun, number_of};
use crate::catalog::row_ids::row_id;
use crate::context::SessionContext;
use crate::dml::assign::{Nulls, assign, touch};
use crate::dml::foreign::Foreign;
use crate::dml::is_forgiven;
use crate::dml::write::{RowChange, Written, duplicate_error, values};
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;

impl InsertRun<'_> {
    /// Whether the index is the one that AUTO_INCREMENT numbers are for. A number that is taken,
    /// where there are no more, must not replace the row that has it.
    fn is_numbered(&self, at: usize) -> bool {
        let def = &self.plan.table.def;
        let index = def.indexes.get(at);
        let first = index.and_then(|index| index.parts.first()).map(|part| part.column);
        first.is_some() && first == def.auto_increment_column()
    }

    /// REPLACE: removes the row that holds the key; true where it is equal to the new row, which
    /// then need not be written. As in MySQL the new row takes the place of one that holds the last
    /// unique key.
    pub(super) fn replace(
        &mut self,
        session: &SessionContext,
        at: usize,
        (row, generated): (&[Value], bool),
    ) -> Result<bool, SqlError> {
        if generated && self.is_numbered(at) {
            return Err(duplicate_error(&self.plan.table.def, at, row));
        }
        let found =
            self.writer.holder(&mut session.txn_of(&self.plan.table).borrow_mut(), at, row)?;
        let Some((key, bytes)) = found else { return Ok(false) };
        let mut new = Vec::with_capacity(bytes.len());
        let zone = self.writer.zone();
        self.plan.table.layout.encode_values(row, zone, &mut new)?;
        // What refers to the row is reached even where it stays the same.
        let reached = self.foreign.as_ref().is_some_and(Foreign::has_children);
        let def = &self.writer.stored().def;
        let later = def.indexes[at + 1..].iter().any(|index| index.refuses());
        if new == bytes && !reached && !self.fires {
            // What MySQL would delete and insert counts, though it makes no difference.
            let kept = !later && self.plan.table.def.is_transactional();
            self.tally.deleted += u64::from(!kept);
            return Ok(true);
        }
        let old = match self.fires {
            true => values(&self.plan.table, &bytes, zone)?,
            false => Vec::new(),
        };
        if self.fires {
            self.on_delete(session, true, &old)?;
        }
        self.writer.delete(&mut session.txn_of(&self.plan.table).borrow_mut(), &key, &bytes)?;
        if !later && !reached && !self.fires && def.clustered_index().is_none() {
            self.writer.replaced = row_id(&key).filter(|_| def.is_transactional());
        }
        self.tally.deleted += 1;
        session.row_done(self.writer.stored(), -1);
        if let Some(foreign) = &self.foreign {
            foreign.deleted(session, &values(&self.plan.table, &bytes, self.writer.zone())?)?;
        }
        if self.fires {
            self.on_delete(session, false, &old)?;
        }
        Ok(false)
    }

    /// What ON DUPLICATE KEY UPDATE and the triggers before it make of a row.
    fn assigned(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        old: &[Value],
    ) -> Result<Vec<Value>, SqlError> {
        let (table, fills) = (&self.plan.table, &self.plan.fills);
        let (mut new, nulls) = (old.to_vec(), self.plan.nulls_on_duplicate);
        let deferred = if self.fires { Nulls::Deferred } else { nulls };
        let parts = (&**table, fills);
        assign(parts, &self.plan.on_duplicate, Some(deferred), &mut new, ctx)?;
        if self.fires {
            self.on_update(session, true, (old, &mut new))?;
            nulls.admit_row(table, &mut new, ctx)?;
            fills.compute(&mut new, ctx)?;
        }
        Ok(new)
    }

    /// ON DUPLICATE KEY UPDATE on the row that holds the key of index `at`.
    pub(super) fn update_existing(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        at: usize,
        (tried, beside): (&[Value], &[Value]),
    ) -> Result<(), SqlError> {
        let plan = self.plan;
        let table = &plan.table;
        let found = self.writer.holder(&mut session.txn_of(table).borrow_mut(), at, tried)?;
        let Some((key, bytes)) = found else { return Ok(()) };
        let old = values(table, &bytes, &session.env.time_zone)?;
        // VALUES(), the row alias and the source's columns read this; other names read `new`.
        ctx.inserting = tried.iter().chain(beside).cloned().collect();
        let mut new = self.assigned(session, ctx, &old)?;
        let parts = (&**table, &self.plan.fills);
        let changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| a != b).collect();
        // A row that keeps its values is not touched: its ON UPDATE timestamps stay, too.
        if !changed.contains(&true) {
            self.tally.untouched += 1;
            self.give_back(&new, ctx)?;
            return match self.fires {
                true => self.on_update(session, false, (&old, &mut new)),
                false => Ok(()),
            };
        }
        let changed = touch(parts, &self.plan.on_duplicate, &mut new, changed, ctx)?;
        if let Err(error) = self.plan.fills.check(&new, ctx) {
            if !self.plan.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            self.tally.untouched += 1;
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        // The new values may meet another unique key or a foreign key: IGNORE rolls back to here.
        let start = session.txn_of(&self.plan.table).borrow().savepoint();
        let written = {
            let mut txn = session.txn_of(&self.plan.table).borrow_mut();
            let change = RowChange { key: &key, old: &bytes, new: &new, changed: &changed };
            self.writer.update(&mut txn, &change)?
        };
        let refused = match (written, &self.foreign) {
            (Written::Duplicate(at), _) => Err(duplicate_error(&table.def, at, &new)),
            (Written::Done, Some(foreign)) => foreign.updated(session, &old, &new),
            (Written::Done, None) => Ok(()),
        };
        if let Err(error) = refused {
            if !self.plan.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            session.txn_of(&self.plan.table).borrow_mut().rollback_statement(start).sql()?;
            self.tally.untouched += 1;
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        if let Some(column) = table.def.auto_increment_column() {
            self.numbers.stored(table, &new[column]);
            self.number_child(&new);
            if !self.plan.selects {
                self.tally.last_value = number_of(&new[column]);
            }
        }
        self.tally.updated += 1;
        session.row_done(self.writer.stored(), 0);
        self.give_back(&new, ctx)?;
        match self.fires {
            true => self.on_update(session, false, (&old, &mut new)),
            false => Ok(()),
        }
    }
}
