//! The byte form of a table's partitions, behind the rest of the table's record.

use super::{RecordReader, Writer, put_value, value};
use crate::table_def::{
    Division, DivisionMethod, LeafDef, PartitionBounds, PartitionDef, Partitioning, TableDef,
};
use inia_base::ids::TreeId;

pub(super) fn put(w: &mut Writer, by: &Partitioning) {
    put_division(w, &by.by);
    w.option(by.sub.as_ref(), put_division);
    w.bool(by.counted);
    w.bool(by.says_count);
    w.bool(by.sub_counted);
    w.bool(by.says_sub_count);
    w.list(&by.partitions, |w, partition| {
        w.text(&partition.name);
        match &partition.values {
            PartitionBounds::Hash => w.int(0),
            PartitionBounds::LessThan(limits) => {
                w.int(1);
                w.list(limits, |w, limit| w.option(limit.as_ref(), put_value));
            }
            PartitionBounds::In(rows) => {
                w.int(2);
                w.list(rows, |w, row| w.list(row, put_value));
            }
        }
        w.text(&partition.description);
        w.list(&partition.leaves, |w, leaf| {
            w.text(&leaf.name);
            w.text(&leaf.comment);
            w.int(leaf.max_rows);
            w.int(leaf.min_rows);
            w.option(leaf.node_group, Writer::int);
            w.list(&leaf.trees, |w, tree| w.int(u64::from(tree.0)));
        });
    });
}

pub(super) fn partitioning(r: &mut RecordReader<'_>) -> Option<Partitioning> {
    Some(Partitioning {
        by: division(r)?,
        sub: r.option(division)?,
        counted: r.bool()?,
        says_count: r.bool()?,
        sub_counted: r.bool()?,
        says_sub_count: r.bool()?,
        partitions: r.list(|r| {
            Some(PartitionDef {
                name: r.text()?,
                values: match r.int()? {
                    0 => PartitionBounds::Hash,
                    1 => PartitionBounds::LessThan(r.list(|r| r.option(value))?),
                    2 => PartitionBounds::In(r.list(|r| r.list(value))?),
                    _ => return None,
                },
                description: r.text()?,
                leaves: r.list(|r| {
                    Some(LeafDef {
                        name: r.text()?,
                        comment: r.text()?,
                        max_rows: r.int()?,
                        min_rows: r.int()?,
                        node_group: r.option(RecordReader::int)?,
                        trees: r.list(|r| r.small().map(TreeId))?,
                    })
                })?,
            })
        })?,
    })
}

fn put_division(w: &mut Writer, division: &Division) {
    // The numbers are part of the record format.
    w.int(match division.method {
        DivisionMethod::Range => 0,
        DivisionMethod::List => 1,
        DivisionMethod::RangeColumns => 2,
        DivisionMethod::ListColumns => 3,
        DivisionMethod::Hash { linear } => 4 + u64::from(linear),
        DivisionMethod::Key { linear, old } => 6 + u64::from(linear) + 2 * u64::from(old),
    });
    w.text(&division.expression);
    w.list(&division.columns, |w, column| w.text(column));
    w.bool(division.implied);
}

fn division(r: &mut RecordReader<'_>) -> Option<Division> {
    Some(Division {
        method: match r.int()? {
            0 => DivisionMethod::Range,
            1 => DivisionMethod::List,
            2 => DivisionMethod::RangeColumns,
            3 => DivisionMethod::ListColumns,
            number @ (4 | 5) => DivisionMethod::Hash { linear: number == 5 },
            number @ 6..=9 => DivisionMethod::Key { linear: number % 2 == 1, old: number >= 8 },
            _ => return None,
        },
        expression: r.text()?,
        columns: r.list(RecordReader::text)?,
        implied: r.bool()?,
    })
}

/// Whether the partitions fit each other and their table.
pub(super) fn is_sound(by: &Partitioning, def: &TableDef) -> bool {
    let (leaves, trees) = (by.per_partition(), def.trees().len());
    let values = |partition: &PartitionDef| {
        let columns = if by.by.method.has_columns() { by.by.columns.len() } else { 1 };
        match &partition.values {
            PartitionBounds::Hash => by.by.method.is_hash(),
            PartitionBounds::LessThan(limits) => by.by.method.is_range() && limits.len() == columns,
            PartitionBounds::In(rows) => {
                by.by.method.is_list() && rows.iter().all(|row| row.len() == columns)
            }
        }
    };
    let whole = |partition: &PartitionDef| {
        partition.leaves.len() == leaves
            && partition.leaves.iter().all(|leaf| leaf.trees.len() == trees)
            && values(partition)
    };
    let known = |division: &Division| {
        !division.columns.is_empty()
            && division.columns.iter().all(|column| def.column(column).is_some())
    };
    !by.partitions.is_empty()
        && by.partitions.iter().all(whole)
        && by.divisions().all(known)
        && by.sub.as_ref().is_none_or(|sub| sub.method.is_hash())
        && (by.sub.is_some() || leaves == 1)
}
