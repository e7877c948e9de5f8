//! Rows of groups that memory has no room for.
//!
//! When memory is used up, the groups that have begun go on, and rows of other groups are put aside
//! in partitions, by the hash of their keys. Each partition is grouped in a pass of its own when
//! the groups before were given; it may put rows aside in its turn, by other bits of the hash. A
//! pass takes at least the groups of one batch in, so there is an end to them.
//!
//! What several threads have made is put together partition by partition: the groups of each in
//! memory, then the rows that each has put aside.
//!
//! ```text
//!   memory for two groups     a b a c b d c      groups a, b     partitions [c c] [d]
//! ```

use super::{GroupTask, Grouping};
use crate::exec::hash::word_hash;
use crate::exec::vector::batch::{Batch, Rows, places};
use crate::exec::vector::keys::Dictionary;
use crate::exec::vector::records::{damaged_record, read_rows, write_rows};
use crate::exec::{Project, Result, Runner};
use crate::spill::{FANOUT, Partitions, Purpose, Stream, Workspace, held, place_of};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// The group of a row that is put aside.
const OTHER: u32 = u32::MAX;

/// The mark of rows that no thread of several has put aside.
const NO_MORSEL: u32 = u32::MAX;

/// Rows of groups that are not in memory.
pub(super) struct Aside<'w> {
    rows: Partitions<'w>,
    /// For each key that is not a number the hash of each word's key.
    hashes: Vec<Vec<u64>>,
}

/// The groups of a batch's rows, [`OTHER`] for those that have not begun.
struct Found {
    groups: Vec<u32>,
    /// The hash of the keys of each row.
    hashes: Vec<u64>,
}

/// What one of several threads has.
struct ThreadGroups<'p, 'w> {
    groups: Grouping<'p, 'w>,
    /// The partition of each group.
    places: Vec<usize>,
    streams: Vec<Stream<'w>>,
}

/// The hash of the keys of a row: numbers, or hashes of other keys, and which are NULL.
fn row_hash(keys: impl Iterator<Item = u64>, nulls: u64) -> u64 {
    word_hash(keys.chain([nulls]).map(|word| word as i64))
}

impl<'p, 'w> Grouping<'p, 'w> {
    /// Has no group begin any more where memory is used up.
    pub(super) fn check_memory(&mut self) {
        // Groups in order are those of one batch.
        if self.plan.in_order || self.fits() {
            return;
        }
        self.totals.freeze();
        if !self.plan.keys.is_empty() {
            let hashes = self.keys.hashes();
            let rows = Partitions::new(self.workspace, Purpose::Table, self.level);
            self.used += hashes.iter().map(|all| size_of_val(&all[..])).sum::<usize>();
            // What puts rows aside is taken from memory where there is still some.
            self.used += Partitions::held();
            let held = self.held();
            self.memory.grant(held);
            self.aside = Some(Aside { rows, hashes });
        }
    }

    /// Whether memory has room for what there is.
    pub(in crate::exec::vector) fn fits(&mut self) -> bool {
        let held = self.held();
        self.memory.allows(held)
    }

    /// About how many bytes there are.
    fn held(&self) -> usize {
        self.used + self.keys.held() + self.numbers.held() + self.totals.held()
    }

    /// Whether rows were put aside.
    pub(in crate::exec::vector) fn has_aside(&self) -> bool {
        self.aside.is_some()
    }

    /// Takes the rows of a batch in whose groups have begun, and puts the others aside.
    pub(super) fn add_known(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        let warned = ctx.mark_warnings();
        if !self.program.run(batch, ctx, row)? {
            return Ok(false);
        }
        let Some(found) = self.find(batch, ctx, row)? else { return Ok(false) };
        if !found.groups.contains(&OTHER) {
            return self.totals.add((&self.program, batch), &found.groups, ctx, row);
        }
        // Rows that are put aside are evaluated in their pass, and warn there.
        ctx.forget_warnings(warned);
        self.put_aside(batch, &found)?;
        let known: Vec<bool> = found.groups.iter().map(|group| *group != OTHER).collect();
        match batch.chosen(&known, self.slots) {
            Some(mut known) if known.rows() > 0 => self.add_known(&mut known, ctx, row),
            _ => Ok(true),
        }
    }

    /// Finds the groups of rows; `None` where a key does not fit.
    fn find(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Found>> {
        let mut columns = Vec::with_capacity(self.plan.keys.len());
        let (mut canonical, mut unknown) = (Vec::new(), vec![false; batch.rows()]);
        for at in 0..self.plan.keys.len() {
            let hashes = self.aside.as_ref().map_or(&[][..], |aside| &aside.hashes[at]);
            let known = self.keys.known_words(at, hashes, batch, (&self.program, ctx, row))?;
            let Some(known) = known else { return Ok(None) };
            unknown.iter_mut().zip(known.unknown).for_each(|(unknown, one)| *unknown |= one);
            columns.push(known.words);
            canonical.push(known.canonical);
        }
        let (mut groups, mut hashes) = (Vec::new(), Vec::new());
        for (i, unknown) in unknown.into_iter().enumerate() {
            let number = if unknown { None } else { self.numbers.known(&columns, i) };
            if let Some(number) = number {
                self.see_earlier((batch, i), number, row)?;
            }
            groups.push(number.unwrap_or(OTHER));
            let nulls = columns.iter().enumerate();
            let nulls = nulls.fold(0, |nulls, (at, key)| nulls | u64::from(key.is_null(i)) << at);
            hashes.push(row_hash(canonical.iter().map(|key| key[i]), nulls));
        }
        Ok(Some(Found { groups, hashes }))
    }

    /// Puts the rows aside whose groups have not begun.
    fn put_aside(&mut self, batch: &Batch, found: &Found) -> Result<()> {
        let Some(aside) = &mut self.aside else { return Ok(()) };
        let (mark, level) = (self.first.morsel.unwrap_or(NO_MORSEL), self.level);
        let others: Vec<bool> = found.groups.iter().map(|group| *group == OTHER).collect();
        let mut parts = vec![Vec::new(); FANOUT];
        for place in places(&others) {
            parts[place_of(found.hashes[place as usize], level)].push(place);
        }
        for (part, places) in parts.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
            let write = |out: &mut Vec<u8>| write_rows((batch, places), self.slots, mark, out);
            aside.rows.push_to(part, write)?;
        }
        Ok(())
    }

    /// Takes rows in that were put aside.
    fn take_in(
        &mut self,
        stream: &Stream<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<()> {
        let mut reader = stream.reader();
        while let Some(record) = reader.next()? {
            let (mut batch, mark) = read_rows(record, self.slots)?;
            self.first.morsel = (mark != NO_MORSEL).then_some(mark);
            // The rows fitted when they were put aside.
            if !self.add(&mut batch, ctx, row)? {
                return Err(damaged_record());
            }
        }
        Ok(())
    }

    /// A row of a group comes that may be of an earlier morsel than the group's first one: that is
    /// the group's first row then.
    #[inline]
    pub(super) fn see_earlier(
        &mut self,
        (batch, i): (&mut Batch, usize),
        group: u32,
        row: &mut [Value],
    ) -> Result<()> {
        let (group, width) = (group as usize, self.plan.kept.len());
        let Some(morsel) = self.first.morsel else { return Ok(()) };
        if self.first.begun[group].0 <= morsel {
            return Ok(());
        }
        batch.fill(i, &self.plan.kept, row)?;
        let kept = &mut self.first.values[group * width..][..width];
        for (kept, &slot) in kept.iter_mut().zip(&self.plan.kept) {
            kept.clone_from(&row[slot]);
        }
        self.first.begun[group] = (morsel, group as u32);
        Ok(())
    }

    /// Takes the chosen groups of another thread in.
    pub(in crate::exec::vector) fn merge(
        &mut self,
        other: &Grouping<'_, '_>,
        is_chosen: &dyn Fn(usize) -> bool,
    ) {
        let width = self.plan.kept.len();
        let keys: Vec<_> =
            other.keys.dictionaries().iter().map(Dictionary::keys_in_order).collect();
        // The words here of their words.
        let mut words: Vec<Vec<Option<u64>>> =
            keys.iter().map(|keys| vec![None; keys.len()]).collect();
        let mut key = Vec::new();
        for group in (0..other.first.groups).filter(|group| is_chosen(*group)) {
            let number = match self.plan.keys.is_empty() {
                true => (0, self.first.groups == 0),
                false => {
                    key.clear();
                    key.extend_from_slice(other.numbers.of(group as u32));
                    let nulls = key.last().copied().unwrap_or_default();
                    for (at, word) in key.iter_mut().take(keys.len()).enumerate() {
                        let theirs = *word as usize;
                        if nulls >> at & 1 == 0 && !keys[at].is_empty() {
                            *word = *words[at][theirs]
                                .get_or_insert_with(|| self.keys.add_key(at, keys[at][theirs]));
                        }
                    }
                    self.numbers.number_of(&key)
                }
            };
            let (into, values) = (number.0 as usize, &other.first.values[group * width..][..width]);
            let begun = other.first.begun[group];
            if number.1 {
                self.first.groups += 1;
                self.first.values.extend_from_slice(values);
                self.first.begun.push(begun);
                self.used += held(values) + self.totals.begin();
            } else if begun < self.first.begun[into] {
                self.first.values[into * width..][..width].clone_from_slice(values);
                self.first.begun[into] = begun;
            }
            self.totals.merge(into, &other.totals, group);
        }
    }
}

impl<'p, 'w> ThreadGroups<'p, 'w> {
    fn of(mut groups: Grouping<'p, 'w>) -> Result<ThreadGroups<'p, 'w>> {
        let hashes = groups.keys.hashes();
        let keys = hashes.len();
        let place = |group: usize| {
            let words = groups.numbers.of(group as u32);
            let nulls = words.last().copied().unwrap_or_default();
            let canonical = words[..keys].iter().enumerate().map(|(at, word)| {
                let is_null = nulls >> at & 1 == 1;
                let hash = hashes[at].get(*word as usize).filter(|_| !is_null);
                hash.copied().unwrap_or(*word)
            });
            place_of(row_hash(canonical, nulls), 0)
        };
        let places = (0..groups.first.groups).map(place).collect();
        let streams = match groups.aside.take() {
            Some(aside) => aside.rows.into_streams()?.0,
            None => Vec::new(),
        };
        Ok(ThreadGroups { groups, places, streams })
    }
}

impl Runner<'_> {
    /// Groups in a pass over rows that were put aside. Constants fit since they did before.
    fn pass<'p>(
        &'p self,
        task: GroupTask<'p>,
        level: u32,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Grouping<'p, 'p>> {
        let workspace: Workspace<'p> = self.exec.workspace;
        Grouping::new(task, (workspace, level), ctx).ok_or_else(damaged_record)
    }

    /// Gives groups to `project`, then those of rows that were put aside; false where no more are
    /// wanted.
    pub(super) fn give_all<'p>(
        &'p self,
        task: GroupTask<'p>,
        groups: Grouping<'p, 'p>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let (mut pass, mut queue) = (groups, Vec::new());
        loop {
            let (aside, level) = (pass.aside.take(), pass.level + 1);
            if !pass.give(self, false, ctx, row, project)? {
                return Ok(false);
            }
            // Their memory is that of the next pass.
            drop(pass);
            if let Some(aside) = aside {
                let (streams, _) = aside.rows.into_streams()?;
                let filled = streams.into_iter().filter(|stream| stream.records() > 0);
                queue.extend(filled.map(|stream| (stream, level)));
            }
            let Some((stream, level)) = queue.pop() else { return Ok(true) };
            pass = self.pass(task, level, ctx)?;
            pass.take_in(&stream, ctx, row)?;
        }
    }

    /// Gives the groups of which several threads have parts.
    pub(super) fn give_parts<'p>(
        &'p self,
        task: GroupTask<'p>,
        all: Vec<Grouping<'p, 'p>>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<()> {
        let parts = all.into_iter().map(ThreadGroups::of).collect::<Result<Vec<_>>>()?;
        for place in 0..FANOUT {
            let mut pass = self.pass(task, 1, ctx)?;
            for part in &parts {
                self.check_killed()?;
                pass.merge(&part.groups, &|group| part.places[group] == place);
            }
            pass.check_memory();
            for stream in parts.iter().filter_map(|part| part.streams.get(place)) {
                pass.take_in(stream, ctx, row)?;
            }
            if !self.give_all(task, pass, ctx, row, project)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
