//! What UPDATE makes of a row: new bytes, made from those that the row has.
//!
//! Columns are decoded that an expression reads, and encoded that get another value; all others
//! keep their bytes. A value that is the same for every row is computed and converted for the first
//! one. With `t (id, a, b, c)`, where `b` and `c` are strings:
//!
//! ```text
//!   UPDATE t SET a = a + 1, b = 'x'     reads a, may write a and b
//!   1, 10, 'x', 'y'                     a = 11 overwrites four bytes; b is 'x' already
//!   2, 20, 'z', 'y'                     a = 21 and the 'x' at hand overwrite five
//! ```
//!
//! Invariant: between rows, `row` holds the values of assignments that are `kept`. Nothing else is
//! written to their columns, for they are not read before they are assigned.

use crate::access::{FoundRow, RowData};
use crate::catalog::Table;
use crate::dml::assign::{Nulls, assigned};
use crate::dml::auto_increment;
use crate::dml::fill::{Fills, now_for};
use crate::error::Damaged;
use crate::row::Cell;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};
use inia_expr::{SlotSet, slots_of};

/// One assignment of SET.
struct Assignment {
    target: usize,
    /// `None` is DEFAULT.
    value: Option<Expr>,
    /// What the first row gets all rows get.
    steady: bool,
}

/// The assignments of an UPDATE, and what they read and write.
pub(crate) struct Rewriting {
    assignments: Vec<Assignment>,
    /// Columns whose old values are read.
    reads: Vec<usize>,
    /// Columns that are assigned or computed.
    writes: Vec<usize>,
    /// Other columns with ON UPDATE CURRENT_TIMESTAMP.
    moments: Vec<usize>,
    /// All generated columns, where one reads a column of `moments`: they are computed again.
    recomputed: Vec<usize>,
    /// Indexes whose entries hold one of these columns.
    indexes: Vec<usize>,
}

impl Rewriting {
    pub(super) fn new(
        table: &Table,
        fills: &Fills,
        assignments: Vec<(usize, Option<Expr>)>,
    ) -> Rewriting {
        let assignment =
            |(target, value): (usize, Option<Expr>)| Assignment { target, value, steady: false };
        let mut rewriting = Rewriting {
            assignments: assignments.into_iter().map(assignment).collect(),
            reads: Vec::new(),
            writes: Vec::new(),
            moments: Vec::new(),
            recomputed: Vec::new(),
            indexes: Vec::new(),
        };
        rewriting.prepare(table, fills);
        rewriting
    }

    /// Determines what is read and written; called again when `fills` has more conditions.
    pub(super) fn prepare(&mut self, table: &Table, fills: &Fills) {
        let columns = &table.def.columns;
        let (mut reads, mut written) = (SlotSet::default(), SlotSet::default());
        // An old value is needed only where a column is read before it is assigned: assignments go
        // from left to right, and generated columns and conditions come after all of them.
        let mut read = |expr: &Expr, written: &SlotSet| {
            let needs = slots_of(expr);
            let wanted = |c: &usize| needs.whole_row || needs.slots.contains(*c);
            let old = (0..columns.len()).filter(wanted).filter(|c| !written.contains(*c));
            old.for_each(|column| reads.insert(column));
        };
        for Assignment { target, value, .. } in &self.assignments {
            if let Some(expr) = value.as_ref().or_else(|| fills.default_expr(*target)) {
                read(expr, &written);
            }
            written.insert(*target);
        }
        let named = written.clone();
        for (column, expr) in fills.generated() {
            read(expr, &written);
            written.insert(column);
        }
        fills.conditions().for_each(|condition| read(condition, &written));
        let all = || 0..columns.len();
        self.reads = all().filter(|c| reads.contains(*c)).collect();
        self.writes = all().filter(|c| written.contains(*c)).collect();
        // ON UPDATE CURRENT_TIMESTAMP is for columns that SET does not name, and only for rows that
        // change otherwise: what is generated from such a column is computed again then.
        let moment = |c: &usize| columns[*c].on_update_now && !named.contains(*c);
        self.moments = all().filter(moment).collect();
        let again = !self.moments.is_empty() && fills.reads_update_time(table);
        let recomputed = fills.generated().map(|(column, _)| column).filter(|_| again);
        self.recomputed = recomputed.collect();
        self.indexes = (0..table.indexes.len()).filter(|at| self.touches(table, *at)).collect();
        // A value may be kept in its column between rows only where nothing else writes the column
        // and no expression reads its old value.
        let targets: Vec<usize> = self.assignments.iter().map(|a| a.target).collect();
        for Assignment { target, value, steady } in &mut self.assignments {
            let constant = match value {
                Some(expr) => expr.is_constant_in_statement(),
                None => !fills.is_late(*target),
            };
            let once = targets.iter().filter(|other| *other == target).count() == 1;
            let unshared = once && !reads.contains(*target) && !fills.is_generated(*target);
            *steady = constant && unshared;
        }
    }

    /// Whether a row's column may change.
    pub(super) fn may_write(&self, column: usize) -> bool {
        self.writes.contains(&column) || self.moments.contains(&column)
    }

    fn touches(&self, table: &Table, at: usize) -> bool {
        let (index, def) = (&table.indexes[at], &table.def.indexes[at]);
        let mut written = self.writes.iter().chain(&self.moments);
        let holds =
            |c: &usize| index.codec.covers(*c) || def.parts.iter().any(|part| part.column == *c);
        def.has_entries() && written.any(holds)
    }
}

/// Rewrites one row after the other.
pub(in crate::dml) struct Rewrite<'r> {
    plan: &'r Rewriting,
    table: &'r Table,
    fills: &'r Fills,
    zone: &'r TimeZone,
    /// Values of the columns that are read or written.
    row: Vec<Value>,
    /// For each assignment, whether `row` holds its value already.
    kept: Vec<bool>,
    bytes: Vec<u8>,
    changed: Vec<bool>,
}

impl<'r> Rewrite<'r> {
    pub(super) fn new(
        plan: &'r Rewriting,
        table: &'r Table,
        fills: &'r Fills,
        zone: &'r TimeZone,
    ) -> Rewrite<'r> {
        let columns = table.def.columns.len();
        Rewrite {
            plan,
            table,
            fills,
            zone,
            row: vec![Value::Null; columns],
            kept: vec![false; plan.assignments.len()],
            bytes: Vec::new(),
            changed: vec![false; columns],
        }
    }

    /// Takes a stored row; whether it changes.
    pub(super) fn take(&mut self, old: &[u8], ctx: &mut EvalContext<'_>) -> Result<bool, SqlError> {
        let found = FoundRow { clustered_key: &[], data: RowData::Row(old) };
        found.fill(self.table, &self.plan.reads, self.zone, &mut self.row)?;
        debug_assert!(self.kept_are_unread(), "a value that is kept is not read back");
        self.assign(ctx)?;
        self.fills.compute(&mut self.row, ctx)?;
        let mut changes = false;
        for &column in &self.plan.writes {
            self.changed[column] = self.differs(old, column)?;
            if self.changed[column] {
                if !changes {
                    self.bytes.clear();
                    self.bytes.extend_from_slice(old);
                }
                changes = true;
                self.put(column)?;
            }
        }
        if changes {
            for &column in &self.plan.moments {
                self.row[column] = now_for(self.table.layout.data_type(column), ctx);
                self.changed[column] = true;
                self.put(column)?;
            }
            if !self.plan.recomputed.is_empty() {
                self.fills.compute(&mut self.row, ctx)?;
            }
            for &column in &self.plan.recomputed {
                self.changed[column] = self.differs(old, column)?;
                self.put(column)?;
            }
        }
        Ok(changes)
    }

    /// Whether the values of assignments that are `kept` are still in `row`: no column that is read
    /// from the stored row is one of theirs.
    fn kept_are_unread(&self) -> bool {
        let mut kept = self.plan.assignments.iter().zip(&self.kept).filter(|(_, kept)| **kept);
        kept.all(|(assignment, _)| !self.plan.reads.contains(&assignment.target))
    }

    fn assign(&mut self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        let (table, fills) = (self.table, self.fills);
        for (assignment, kept) in self.plan.assignments.iter().zip(&mut self.kept) {
            if *kept {
                continue;
            }
            let warnings = ctx.warnings.count;
            let Assignment { target, value, steady } = assignment;
            let assignment = (*target, value.as_ref());
            let value = assigned((table, fills), assignment, &self.row, ctx)?;
            self.row[*target] = Nulls::Warned.admit(table, *target, value, ctx)?;
            // What warns does so for every row.
            *kept = *steady && ctx.warnings.count == warnings;
        }
        Ok(())
    }

    fn differs(&self, old: &[u8], column: usize) -> Result<bool, Damaged> {
        let (layout, value) = (&self.table.layout, &self.row[column]);
        let data_type = layout.data_type(column);
        // An hour that a clock passes twice is one to the session.
        if matches!(data_type, DataType::Timestamp { .. }) {
            return Ok(layout.value(old, column, self.zone)? != *value);
        }
        Ok(!layout.holds(old, column, &Cell::of(value, data_type, self.zone))?)
    }

    fn put(&mut self, column: usize) -> Result<(), Damaged> {
        let layout = &self.table.layout;
        let cell = Cell::of(&self.row[column], layout.data_type(column), self.zone);
        self.table.def.debug_check_value(column, &self.row[column]);
        layout.put(&mut self.bytes, column, &cell)
    }

    /// Checks the changed row's constraints.
    pub(super) fn check(&self, ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        self.fills.check(&self.row, ctx)
    }

    /// The changed row.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which of its columns are changed.
    pub(super) fn changed(&self) -> &[bool] {
        &self.changed
    }

    /// The indexes whose entries may change.
    pub(super) fn indexes(&self) -> &'r [usize] {
        &self.plan.indexes
    }

    /// Moves the AUTO_INCREMENT counter behind a number that the row has got.
    pub(super) fn note_number(&self, counted: &Table) {
        if let Some(column) = self.table.def.auto_increment_column()
            && self.changed[column]
        {
            auto_increment::updated(counted, column, &self.row[column]);
        }
    }
}
