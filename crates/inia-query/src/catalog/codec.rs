//! The byte form of catalog records.
//!
//! A record starts with a format number; everything after it is a plain sequence: integers as
//! LEB128, strings as length and bytes, lists as count and members, options as 0 or 1 and the
//! member. A reader that meets an unknown format or runs out of bytes answers `None`.

mod partitions;

use super::SchemaDef;
use super::types::{put_type, type_};
use crate::table_def::{
    CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, Generated, Histogram, HistogramBucket,
    IndexDef, IndexKind, IndexPart, MergeInsert, MergeUnion, Placement, ReferentialAction,
    TableDef, TableId,
};
use inia_base::collation::Collation;
use inia_base::decimal::Decimal;
use inia_base::ids::TreeId;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;
use std::sync::Arc;

const FORMAT: u64 = 1;
/// Of tables with partitions: a program that does not know them must not read one.
const DIVIDED: u64 = 2;
/// Of merged tables.
const UNITED: u64 = 3;
const DECIMAL_DIGITS: u8 = 65;

/// Builds a record.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn int(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.int(u64::from(value));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.int(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn option<T>(&mut self, option: Option<T>, put: impl FnOnce(&mut Writer, T)) {
        self.bool(option.is_some());
        if let Some(value) = option {
            put(self, value);
        }
    }

    pub(crate) fn list<T>(&mut self, list: &[T], put: impl Fn(&mut Writer, &T)) {
        self.int(list.len() as u64);
        list.iter().for_each(|member| put(self, member));
    }
}

/// Takes a record apart.
pub(crate) struct RecordReader<'r>(pub(crate) &'r [u8]);

impl<'r> RecordReader<'r> {
    pub(crate) fn int(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.int()?).ok()
    }

    pub(crate) fn bool(&mut self) -> Option<bool> {
        Some(self.int()? != 0)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'r [u8]> {
        let length: usize = self.small()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// An optional member: outer `None` for damage.
    pub(crate) fn option<T>(
        &mut self,
        get: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if !self.bool()? {
            return Some(None);
        }
        Some(Some(get(self)?))
    }

    pub(crate) fn list<T>(&mut self, get: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count: usize = self.small()?;
        if count > self.0.len() {
            return None;
        }
        (0..count).map(|_| get(self)).collect()
    }
}

/// The record of a database.
pub fn put_schema(def: &SchemaDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.text(&def.name);
    w.int(u64::from(def.collation.0));
    w.bool(def.read_only);
    w.0
}

/// Reads [`put_schema`]'s record.
pub fn schema(bytes: &[u8]) -> Option<SchemaDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    Some(SchemaDef { name: r.text()?, collation: Collation(r.small()?), read_only: r.bool()? })
}

/// The record of a table. A MEMORY table's record names no trees: each start makes new ones.
pub fn put_table(def: &TableDef) -> Vec<u8> {
    if def.is_volatile() && def.clustered != TreeId(0) {
        let mut kept = def.clone();
        kept.clustered = TreeId(0);
        kept.indexes.iter_mut().for_each(|index| index.tree = TreeId(0));
        return put_table(&kept);
    }
    let mut w = Writer::default();
    w.int(match (&def.partitioning, &def.union) {
        (Some(_), _) => DIVIDED,
        (None, Some(_)) => UNITED,
        (None, None) => FORMAT,
    });
    w.int(def.id.0);
    w.text(&def.schema);
    w.text(&def.name);
    w.list(&def.columns, put_column);
    w.list(&def.indexes, put_index);
    w.list(&def.foreign_keys, put_foreign_key);
    w.list(&def.checks, |w, check| {
        w.text(&check.name);
        w.text(&check.expression);
        w.bool(check.enforced);
    });
    w.int(u64::from(def.clustered.0));
    w.text(&def.engine);
    w.int(u64::from(def.collation.0));
    w.text(&def.comment);
    w.int(def.auto_increment);
    w.list(&def.options, |w, (name, value)| {
        w.text(name);
        w.text(value);
    });
    w.int(def.created);
    // Only a table that has histograms, partitions or children has this list, and only one that has
    // partitions or children has more.
    let more = def.partitioning.is_some() || def.union.is_some();
    if !def.histograms.is_empty() || more {
        w.list(&def.histograms, |w, histogram| put_histogram(w, histogram));
    }
    if let Some(partitioning) = &def.partitioning {
        partitions::put(&mut w, partitioning);
    } else if let Some(union) = &def.union {
        put_union(&mut w, union);
    }
    w.0
}

/// Reads [`put_table`]'s record.
pub fn table(bytes: &[u8]) -> Option<TableDef> {
    let mut r = RecordReader(bytes);
    let format = r.int()?;
    if !matches!(format, FORMAT | DIVIDED | UNITED) {
        return None;
    }
    let def = TableDef {
        id: TableId(r.int()?),
        schema: r.text()?,
        name: r.text()?,
        columns: r.list(column)?,
        indexes: r.list(index)?,
        foreign_keys: r.list(foreign_key)?,
        checks: r.list(|r| {
            Some(CheckDef { name: r.text()?, expression: r.text()?, enforced: r.bool()? })
        })?,
        clustered: TreeId(r.small()?),
        engine: r.text()?,
        collation: Collation(r.small()?),
        comment: r.text()?,
        auto_increment: r.int()?,
        options: r.list(|r| Some((r.text()?, r.text()?)))?,
        created: r.int()?,
        temporary: false,
        histograms: match r.0 {
            [] => Vec::new(),
            _ => r.list(|r| histogram(r).map(Arc::new))?,
        },
        partitioning: match format {
            DIVIDED => Some(Box::new(partitions::partitioning(&mut r)?)),
            _ => None,
        },
        union: match format {
            UNITED => Some(Box::new(union(&mut r)?)),
            _ => None,
        },
    };
    if def.partitioning.as_ref().is_some_and(|by| !partitions::is_sound(by, &def)) {
        return None;
    }
    let parts = def.indexes.iter().flat_map(|index| &index.parts).map(|part| part.column);
    let children = def.foreign_keys.iter().flat_map(|key| &key.columns).copied();
    parts.chain(children).all(|column| column < def.columns.len()).then_some(def)
}

fn put_union(w: &mut Writer, union: &MergeUnion) {
    w.int(match union.insert {
        MergeInsert::No => 0,
        MergeInsert::First => 1,
        MergeInsert::Last => 2,
    });
    w.list(&union.tables, |w, (schema, name)| {
        w.text(schema);
        w.text(name);
    });
}

fn union(r: &mut RecordReader<'_>) -> Option<MergeUnion> {
    let insert = match r.int()? {
        0 => MergeInsert::No,
        1 => MergeInsert::First,
        2 => MergeInsert::Last,
        _ => return None,
    };
    Some(MergeUnion { insert, tables: r.list(|r| Some((r.text()?, r.text()?)))? })
}

fn put_histogram(w: &mut Writer, histogram: &Histogram) {
    w.text(&histogram.column);
    w.int(histogram.null_share.to_bits());
    w.int(histogram.sampling_rate.to_bits());
    w.int(histogram.updated as u64);
    w.int(u64::from(histogram.wanted));
    w.bool(histogram.equi_height);
    w.list(&histogram.buckets, |w, bucket| {
        put_value(w, &bucket.lower);
        put_value(w, &bucket.upper);
        w.int(bucket.cumulative.to_bits());
        w.int(bucket.distinct);
    });
}

fn histogram(r: &mut RecordReader<'_>) -> Option<Histogram> {
    Some(Histogram {
        column: r.text()?,
        null_share: share(r)?,
        sampling_rate: share(r)?,
        updated: r.int()? as i64,
        wanted: r.small()?,
        equi_height: r.bool()?,
        buckets: r.list(|r| {
            Some(HistogramBucket {
                lower: value(r)?,
                upper: value(r)?,
                cumulative: share(r)?,
                distinct: r.int()?,
            })
        })?,
    })
}

fn share(r: &mut RecordReader<'_>) -> Option<f64> {
    let share = f64::from_bits(r.int()?);
    (0.0..=1.0).contains(&share).then_some(share)
}

pub(super) fn put_column(w: &mut Writer, column: &ColumnDef) {
    w.text(&column.name);
    put_type(w, &column.data_type);
    w.option(column.display_width, |w, width| w.int(u64::from(width)));
    w.bool(column.zerofill);
    w.bool(column.nullable);
    match &column.default {
        ColumnDefault::None => w.int(0),
        ColumnDefault::Value(value) => {
            w.int(1);
            put_value(w, value);
        }
        ColumnDefault::Absent => w.int(4),
        ColumnDefault::CurrentTimestamp => w.int(2),
        ColumnDefault::Expression(text) => {
            w.int(3);
            w.text(text);
        }
    }
    w.bool(column.on_update_now);
    w.bool(column.auto_increment);
    w.text(&column.comment);
    w.option(column.generated.as_ref(), |w, generated| {
        w.text(&generated.expression);
        w.bool(generated.stored);
    });
    w.int(u64::from(column.invisible) | column.placement.bits() << 1);
    w.bool(column.explicit_collation);
}

pub(super) fn column(r: &mut RecordReader<'_>) -> Option<ColumnDef> {
    let mut column = ColumnDef {
        name: r.text()?,
        data_type: type_(r)?,
        display_width: r.option(RecordReader::small)?,
        zerofill: r.bool()?,
        nullable: r.bool()?,
        default: match r.int()? {
            0 => ColumnDefault::None,
            1 => ColumnDefault::Value(value(r)?),
            2 => ColumnDefault::CurrentTimestamp,
            3 => ColumnDefault::Expression(r.text()?),
            4 => ColumnDefault::Absent,
            _ => return None,
        },
        on_update_now: r.bool()?,
        auto_increment: r.bool()?,
        comment: r.text()?,
        generated: r.option(|r| Some(Generated { expression: r.text()?, stored: r.bool()? }))?,
        invisible: false,
        explicit_collation: false,
        placement: Placement::default(),
    };
    // The lowest bit says that the column is invisible, those above it where it is placed.
    let flags = r.int()?;
    column.invisible = flags & 1 == 1;
    column.placement = Placement::of_bits(flags >> 1)?;
    column.explicit_collation = r.bool()?;
    Some(column)
}

fn put_index(w: &mut Writer, index: &IndexDef) {
    w.text(&index.name);
    w.int(match index.kind {
        IndexKind::Primary if index.clustered => 0,
        IndexKind::Primary => 7,
        IndexKind::Unique if index.clustered => 8,
        IndexKind::Unique => 1,
        IndexKind::Plain => 2,
        IndexKind::FullText => 3,
        IndexKind::Spatial => 4,
        IndexKind::MultiValued { unique: false } => 5,
        IndexKind::MultiValued { unique: true } => 6,
    });
    // Only multi-valued indexes have elements: records of others say nothing of them.
    if let Some(element) = &index.element {
        debug_assert!(index.kind.has_elements(), "elements are those of an array");
        put_type(w, element);
    }
    w.list(&index.parts, |w, part| {
        w.int(part.column as u64);
        w.option(part.prefix, |w, prefix| w.int(u64::from(prefix)));
        w.bool(part.descending);
    });
    w.text(&index.comment);
    let flags = [index.visible, index.for_foreign_key, index.ngrams];
    w.int((0..).zip(flags).map(|(bit, flag)| u64::from(flag) << bit).sum());
    w.option(index.using.as_deref(), Writer::text);
    w.int(u64::from(index.tree.0));
}

fn index(r: &mut RecordReader<'_>) -> Option<IndexDef> {
    let name = r.text()?;
    let kind = r.int()?;
    let clustered = matches!(kind, 0 | 8);
    let kind = match kind {
        0 | 7 => IndexKind::Primary,
        1 | 8 => IndexKind::Unique,
        2 => IndexKind::Plain,
        3 => IndexKind::FullText,
        4 => IndexKind::Spatial,
        5 => IndexKind::MultiValued { unique: false },
        6 => IndexKind::MultiValued { unique: true },
        _ => return None,
    };
    let element = if kind.has_elements() { Some(type_(r)?) } else { None };
    let parts = r.list(|r| {
        Some(IndexPart {
            column: r.small()?,
            prefix: r.option(RecordReader::small)?,
            descending: r.bool()?,
        })
    })?;
    let comment = r.text()?;
    let flags = r.int()?;
    let (visible, for_foreign_key) = (flags & 1 != 0, flags & 2 != 0);
    let ngrams = flags & 4 != 0;
    let (using, tree) = (r.option(RecordReader::text)?, TreeId(r.small()?));
    Some(IndexDef {
        name,
        kind,
        parts,
        comment,
        visible,
        using,
        for_foreign_key,
        ngrams,
        element,
        clustered,
        tree,
    })
}

fn put_foreign_key(w: &mut Writer, key: &ForeignKeyDef) {
    let action = |action: ReferentialAction| action as u64;
    w.text(&key.name);
    w.list(&key.columns, |w, column| w.int(*column as u64));
    w.text(&key.ref_schema);
    w.text(&key.ref_table);
    w.list(&key.ref_columns, |w, name| w.text(name));
    w.int(action(key.on_delete));
    w.int(action(key.on_update));
}

fn foreign_key(r: &mut RecordReader<'_>) -> Option<ForeignKeyDef> {
    let action = |r: &mut RecordReader<'_>| {
        let all = [
            ReferentialAction::Restrict,
            ReferentialAction::NoAction,
            ReferentialAction::Cascade,
            ReferentialAction::SetNull,
            ReferentialAction::SetDefault,
        ];
        let number = r.int()?;
        all.into_iter().find(|action| *action as u64 == number)
    };
    Some(ForeignKeyDef {
        name: r.text()?,
        columns: r.list(RecordReader::small)?,
        ref_schema: r.text()?,
        ref_table: r.text()?,
        ref_columns: r.list(RecordReader::text)?,
        on_delete: action(r)?,
        on_update: action(r)?,
    })
}

fn put_value(w: &mut Writer, value: &Value) {
    let date = |d: &Date| u64::from(d.year) << 16 | u64::from(d.month) << 8 | u64::from(d.day);
    // The numbers are part of the record format that `value` reads: none changes its meaning.
    match value {
        Value::Null => w.int(0),
        Value::Int(v) => {
            w.int(1);
            w.int(*v as u64);
        }
        Value::UInt(v) => {
            w.int(2);
            w.int(*v);
        }
        Value::Double(v) => {
            w.int(3);
            w.int(v.to_bits());
        }
        Value::Decimal(v) => {
            w.int(4);
            w.int(u64::from(v.scale()));
            let mut bytes = Vec::new();
            // The scale is enough to read it: the precision is always the greatest one.
            v.encode(DECIMAL_DIGITS, v.scale(), &mut bytes);
            w.bytes(&bytes);
        }
        Value::Text(v) => {
            w.int(5);
            w.text(v);
        }
        Value::Bytes(v) => {
            w.int(6);
            w.bytes(v);
        }
        Value::Date(v) => {
            w.int(7);
            w.int(date(v));
        }
        Value::Time(v) => {
            w.int(8);
            w.int(v.micros as u64);
        }
        Value::DateTime(v) => {
            w.int(9);
            w.int(date(&v.date));
            w.int(u64::from(v.hour) << 16 | u64::from(v.minute) << 8 | u64::from(v.second));
            w.int(u64::from(v.micros));
        }
        Value::Json(v) => {
            w.int(10);
            w.text(v);
        }
    }
}

fn value(r: &mut RecordReader<'_>) -> Option<Value> {
    let date =
        |word: u64| Date { year: (word >> 16) as u16, month: (word >> 8) as u8, day: word as u8 };
    Some(match r.int()? {
        0 => Value::Null,
        1 => Value::Int(r.int()? as i64),
        2 => Value::UInt(r.int()?),
        3 => Value::Double(f64::from_bits(r.int()?)),
        4 => {
            let scale = r.small()?;
            Value::Decimal(Decimal::decode(r.bytes()?, DECIMAL_DIGITS, scale)?)
        }
        5 => Value::Text(r.text()?),
        6 => Value::Bytes(r.bytes()?.to_vec()),
        7 => Value::Date(date(r.int()?)),
        8 => Value::Time(Time { micros: r.int()? as i64 }),
        9 => {
            let date = date(r.int()?);
            let clock = r.int()?;
            Value::DateTime(DateTime {
                date,
                hour: (clock >> 16) as u8,
                minute: (clock >> 8) as u8,
                second: clock as u8,
                micros: r.small()?,
            })
        }
        10 => Value::Json(r.text()?),
        _ => return None,
    })
}
