//! Sequences: numbers that are never given twice, as MariaDB has them.
//!
//! A sequence is a record of the catalog tree. Its numbers are taken outside of the transaction
//! that asks for them: so many as the cache has are reserved at once, by a change of the record
//! that is durable before the first of them is given. A crash loses what was reserved and not
//! given.
//!
//! ```text
//!   START 1 CACHE 3     record: next 1     NEXTVAL  record: next 4, gives 1, then 2 and 3
//!   crash after 2       record: next 4     NEXTVAL  record: next 7, gives 4
//! ```
//!
//! Invariants:
//! - the record's next number lies behind all that were given;
//! - a definition that has been replaced or dropped writes no record ([`State::gone`]).

use super::codec::{RecordReader, Writer};
use super::{Catalog, CatalogVersion, SEQUENCE, named_key};
use crate::error::StorageResult;
use inia_base::error::{ErrorCode, SqlError};
use inia_storage::Isolation;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const FORMAT: u64 = 1;

/// A sequence's durable definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceDef {
    /// Its database.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What it counts.
    pub range: SequenceRange,
    /// How many numbers are reserved at once; 0 and 1 are one.
    pub cache: u64,
    /// COMMENT.
    pub comment: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// The next number that is not reserved, behind which none was given.
    pub position: Position,
}

/// The numbers of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    /// The first one.
    pub start: i64,
    /// From one to the next; not 0.
    pub increment: i64,
    /// The smallest one.
    pub min: i64,
    /// The greatest one.
    pub max: i64,
    /// Whether they begin anew after the last.
    pub cycle: bool,
}

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The next number; `None` after the last.
    pub next: Option<i64>,
    /// How often the numbers have begun anew.
    pub round: u64,
}

impl SequenceRange {
    /// Whether a sequence can have these numbers.
    pub fn is_valid(&self) -> bool {
        self.increment != 0
            && self.min > i64::MIN
            && self.max < i64::MAX
            && self.min < self.max
            && (self.min..=self.max).contains(&self.start)
    }

    /// The position behind `steps` numbers from `value` on, within one round or at its end.
    fn behind(&self, value: i64, steps: u64, round: u64) -> Position {
        let next = i128::from(value) + i128::from(self.increment) * i128::from(steps);
        if (i128::from(self.min)..=i128::from(self.max)).contains(&next) {
            return Position { next: Some(next as i64), round };
        }
        match self.cycle {
            true => Position { next: Some(self.first_of_round()), round: round + 1 },
            false => Position { next: None, round },
        }
    }

    fn first_of_round(&self) -> i64 {
        if self.increment > 0 { self.min } else { self.max }
    }

    /// How many numbers there are from `value` to the end of its round.
    fn left_from(&self, value: i64) -> u64 {
        let to_end = match self.increment > 0 {
            true => i128::from(self.max) - i128::from(value),
            false => i128::from(value) - i128::from(self.min),
        };
        let steps = to_end / i128::from(self.increment.unsigned_abs());
        u64::try_from(steps + 1).unwrap_or(0)
    }

    /// Whether `a` lies before `b`.
    fn is_before(&self, a: Position, b: Position) -> bool {
        let place = |at: Position| at.next.map_or(i128::MAX, i128::from);
        match (a.round.cmp(&b.round), self.increment > 0 || a.next.is_none() || b.next.is_none()) {
            (std::cmp::Ordering::Equal, true) => place(a) < place(b),
            (std::cmp::Ordering::Equal, false) => place(a) > place(b),
            (order, _) => order.is_lt(),
        }
    }
}

/// What a sequence has given.
#[derive(Debug)]
struct State {
    position: Position,
    /// How many numbers from there on are reserved.
    reserved: u64,
    /// Another definition has taken its place, or none.
    gone: bool,
}

/// A sequence with what it has given.
#[derive(Debug)]
pub struct Sequence {
    /// Its definition; the position in it is that of the time when it was published.
    pub def: SequenceDef,
    /// Distinguishes it from others of its name.
    pub id: u64,
    state: Mutex<State>,
}

/// A sequence that nobody takes a number of.
pub struct StoppedSequence<'s>(MutexGuard<'s, State>);

impl StoppedSequence<'_> {
    /// The next number that was not given.
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// It gives no more numbers: its record has been replaced.
    pub fn end(mut self) {
        self.0.gone = true;
    }
}

impl Sequence {
    /// A sequence as it is published.
    pub(super) fn new(def: SequenceDef) -> Sequence {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let state = State { position: def.position, reserved: 0, gone: false };
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        Sequence { def, id, state: Mutex::new(state) }
    }

    /// Keeps everybody from taking numbers.
    pub fn stop(&self) -> StoppedSequence<'_> {
        StoppedSequence(self.state.lock())
    }

    /// The next number: error 4084 where there is none; `None` where the sequence is gone.
    pub fn take(&self, catalog: &Catalog) -> Result<Option<i64>, SqlError> {
        let mut state = self.state.lock();
        if state.gone {
            return Ok(None);
        }
        let range = &self.def.range;
        let Position { next, round } = state.position;
        let Some(value) = next else {
            let full = format!("{}.{}", self.def.schema, self.def.name);
            return Err(SqlError::new(ErrorCode::SequenceRunOut, &[&full]));
        };
        if state.reserved == 0 {
            let count = self.def.cache.max(1).min(range.left_from(value));
            catalog.note_position(&self.def, range.behind(value, count, round))?;
            state.reserved = count;
        }
        state.reserved -= 1;
        state.position = range.behind(value, 1, round);
        Ok(Some(value))
    }

    /// SETVAL: the next number is behind `value`, or `value` itself where that is not `used`. The
    /// outer `None` where the sequence is gone, the inner one where that would go back.
    pub fn set(
        &self,
        catalog: &Catalog,
        (value, used, round): (i64, bool, u64),
    ) -> Result<Option<Option<i64>>, SqlError> {
        let mut state = self.state.lock();
        if state.gone {
            return Ok(None);
        }
        let range = &self.def.range;
        let position = range.behind(value, u64::from(used), round);
        if range.is_before(position, state.position) {
            return Ok(Some(None));
        }
        catalog.note_position(&self.def, position)?;
        state.position = position;
        state.reserved = 0;
        Ok(Some(Some(value)))
    }
}

impl CatalogVersion {
    pub(super) fn put_sequence(&mut self, def: SequenceDef) {
        let Some(schema) = self.schemas.get_mut(&def.schema) else { return };
        let sequence = Arc::new(Sequence::new(def));
        Arc::make_mut(schema).sequences.insert(sequence.def.name.clone(), sequence);
    }

    pub(super) fn drop_sequence(&mut self, schema: &str, name: &str) {
        let Some(schema) = self.schemas.get_mut(schema) else { return };
        Arc::make_mut(schema).sequences.remove(name);
    }
}

impl Catalog {
    /// A sequence.
    pub fn sequence(&self, schema: &str, name: &str) -> Option<Arc<Sequence>> {
        self.current().schemas.get(schema)?.sequences.get(name).cloned()
    }

    /// Writes a sequence's position, in a transaction of its own, and waits until that is durable.
    fn note_position(&self, def: &SequenceDef, position: Position) -> Result<(), SqlError> {
        let def = SequenceDef { position, ..def.clone() };
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let key = named_key(SEQUENCE, &def.schema, &def.name);
        let there = txn.update(&self.tree, &key, &put_sequence(&def)).sql()?;
        debug_assert!(there, "a sequence that is not gone has a record");
        txn.commit().sql()
    }
}

/// The record of a sequence.
pub(super) fn put_sequence(def: &SequenceDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.text(&def.schema);
    w.text(&def.name);
    let SequenceRange { start, increment, min, max, cycle } = def.range;
    [start, increment, min, max].into_iter().for_each(|number| w.int(number as u64));
    w.bool(cycle);
    w.int(def.cache);
    w.text(&def.comment);
    w.int(def.created);
    w.option(def.position.next, |w, next| w.int(next as u64));
    w.int(def.position.round);
    w.0
}

/// Reads [`put_sequence`]'s record.
pub(super) fn sequence(bytes: &[u8]) -> Option<SequenceDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    let (schema, name) = (r.text()?, r.text()?);
    let number = |r: &mut RecordReader<'_>| Some(r.int()? as i64);
    let (start, increment) = (number(&mut r)?, number(&mut r)?);
    let (min, max, cycle) = (number(&mut r)?, number(&mut r)?, r.bool()?);
    let range = SequenceRange { start, increment, min, max, cycle };
    let (cache, comment, created) = (r.int()?, r.text()?, r.int()?);
    let position = Position { next: r.option(number)?, round: r.int()? };
    let fits = position.next.is_none_or(|next| (min..=max).contains(&next));
    let whole = range.is_valid() && fits;
    whole.then_some(SequenceDef { schema, name, range, cache, comment, created, position })
}

/// The text of SHOW CREATE SEQUENCE.
pub fn show_create_sequence(def: &SequenceDef) -> String {
    let SequenceRange { start, increment, min, max, cycle } = def.range;
    let cache = match def.cache {
        0 => "nocache".to_owned(),
        cache => format!("cache {cache}"),
    };
    let cycle = if cycle { "cycle" } else { "nocycle" };
    let comment = match def.comment.as_str() {
        "" => String::new(),
        text => format!(" COMMENT={}", super::show_create::literal(text)),
    };
    format!(
        "CREATE SEQUENCE {} start with {start} minvalue {min} maxvalue {max} increment by \
         {increment} {cache} {cycle} ENGINE=InnoDB{comment}",
        inia_parser::quote_name(&def.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(increment: i64, min: i64, max: i64, cycle: bool) -> SequenceDef {
        let start = if increment > 0 { min } else { max };
        SequenceDef {
            schema: "d".into(),
            name: "s".into(),
            range: SequenceRange { start, increment, min, max, cycle },
            cache: 7,
            comment: "c".into(),
            created: 9,
            position: Position { next: Some(start), round: 0 },
        }
    }

    #[test]
    fn a_record_reads_back() {
        let mut one = def(-3, -10, 5, true);
        assert_eq!(sequence(&put_sequence(&one)), Some(one.clone()));
        one.position = Position { next: None, round: 4 };
        assert_eq!(sequence(&put_sequence(&one)), Some(one));
    }

    #[test]
    fn damaged_records_are_refused() {
        let record = put_sequence(&def(2, 1, 9, false));
        for end in 0..record.len() {
            assert_eq!(sequence(&record[..end]), None, "{end} bytes");
        }
        let mut outside = def(2, 1, 9, false);
        outside.position.next = Some(100);
        assert_eq!(sequence(&put_sequence(&outside)), None);
    }

    #[test]
    fn positions_end_or_begin_anew_at_the_limits() {
        let up = def(4, 1, 10, false).range;
        assert_eq!(up.behind(9, 1, 0), Position { next: None, round: 0 });
        assert_eq!(up.left_from(1), 3);
        let down = def(-4, 1, 10, true).range;
        assert_eq!(down.behind(2, 1, 5), Position { next: Some(10), round: 6 });
        assert_eq!(down.left_from(10), 3);
        let whole = def(1, i64::MIN + 1, i64::MAX - 1, false).range;
        assert_eq!(whole.left_from(i64::MIN + 1), u64::MAX - 1);
    }
}
