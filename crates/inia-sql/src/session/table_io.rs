//! What a run of a plan adds to the counts of the tables that it reads and writes.

use super::plan::PlannedStatement;
use inia_query::catalog::{IndexIo, Table};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::plan::TableRead;
use inia_storage::ThreadCounts;

/// Notes a run that has ended. Of several tables that are read whole, or by indexes, it is not
/// known how the records that were read are shared among them: each counts as one then.
#[cold]
pub(super) fn note(session: &SessionContext, plan: &PlannedStatement, outcome: &StatementOutcome) {
    let counters = &session.host.counters;
    let before = counters.reads();
    counters.take_reads();
    let counts = counters.reads().since(&before);
    let affected = outcome.affected_rows;
    match plan {
        PlannedStatement::Query(query) => read(&query.reads(), &counts),
        PlannedStatement::Insert(insert) => {
            if let Some(source) = insert.source() {
                read(&source.reads(), &counts);
            }
            let inserted = IndexIo { inserted: affected, ..IndexIo::default() };
            insert.table.shared.io.add(None, inserted);
        }
        PlannedStatement::Change(change) => {
            read(&[change.read()], &counts);
            let io = match change.deletes() {
                true => IndexIo { deleted: affected, ..IndexIo::default() },
                false => IndexIo { updated: affected, ..IndexIo::default() },
            };
            write(&change.table, io);
        }
        PlannedStatement::Joined(joined) => {
            read(&joined.query.reads(), &counts);
            if let Some(table) = joined.targets().next() {
                write(table, IndexIo { updated: affected, ..IndexIo::default() });
            }
        }
    }
}

fn read(reads: &[TableRead<'_>], counts: &ThreadCounts) {
    let scans = reads.iter().filter(|read| read.indexes.is_empty()).count();
    let records = |whole: bool| match (reads.len(), scans) {
        (1, _) => counts.records(),
        (_, 1) if whole => counts.scanned,
        (all, scans) if !whole && all - scans == 1 => counts.records() - counts.scanned,
        _ => 1,
    };
    for read in reads {
        let io = |fetched| IndexIo { fetched, ..IndexIo::default() };
        let name = |index: &usize| read.table.def.indexes[*index].name.as_str();
        let each = records(read.indexes.is_empty()).max(1);
        match read.indexes.as_slice() {
            [] => read.table.shared.io.add(None, io(each)),
            [index] => read.table.shared.io.add(Some(name(index)), io(each)),
            several => {
                several.iter().for_each(|index| read.table.shared.io.add(Some(name(index)), io(1)));
            }
        }
    }
}

/// Changed rows count for the index that they are kept in.
fn write(table: &Table, io: IndexIo) {
    if io != IndexIo::default() {
        table.shared.io.add(table.def.clustered_index().map(|index| index.name.as_str()), io);
    }
}
