//! Triggers of rows that INSERT and REPLACE write.

use super::InsertRun;
use crate::context::{SessionContext, TriggerRows};
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_parser::ast::TriggerEvent;

type Done = Result<(), SqlError>;

impl InsertRun<'_> {
    /// Runs what comes before a row is written. NULL in a NOT NULL column is refused only after it,
    /// and a number that is to be generated reads as 0.
    pub(super) fn before_insert(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Done {
        let table = &self.plan.table;
        if table.triggers.of_event(true, TriggerEvent::Insert).is_empty() {
            return Ok(());
        }
        let numbered = table.def.auto_increment_column().filter(|at| row[*at] == Value::Null);
        if let Some(at) = numbered {
            row[at] = inia_expr::store::implicit_default(&table.def.columns[at].data_type);
        }
        let zero = numbered.map(|at| row[at].clone());
        let rows = TriggerRows { old: None, new: Some(row) };
        session.fire(table, (true, TriggerEvent::Insert), rows)?;
        if let (Some(at), Some(zero)) = (numbered, zero)
            && row[at] == zero
        {
            row[at] = Value::Null;
        }
        for (at, column) in table.def.columns.iter().enumerate() {
            let waits = column.auto_increment || self.plan.fills.is_generated(at);
            if !waits && row[at] == Value::Null && !column.nullable {
                row[at] = self.plan.nulls.instead(table, at, ctx)?;
            }
        }
        Ok(())
    }

    /// Runs what comes after a row was written.
    pub(super) fn after_insert(&self, session: &SessionContext, row: &[Value]) -> Done {
        let mut new = row.to_vec();
        let rows = TriggerRows { old: None, new: Some(&mut new) };
        let when = (false, TriggerEvent::Insert);
        session.fire(&self.plan.table, when, rows)
    }

    /// Runs what comes before or after a row is deleted.
    pub(super) fn on_delete(&self, session: &SessionContext, before: bool, old: &[Value]) -> Done {
        let rows = TriggerRows { old: Some(old), new: None };
        let when = (before, TriggerEvent::Delete);
        session.fire(&self.plan.table, when, rows)
    }

    /// Runs what comes before or after a row is updated.
    pub(super) fn on_update(
        &self,
        session: &SessionContext,
        before: bool,
        (old, new): (&[Value], &mut [Value]),
    ) -> Done {
        let rows = TriggerRows { old: Some(old), new: Some(new) };
        let when = (before, TriggerEvent::Update);
        session.fire(&self.plan.table, when, rows)
    }
}
