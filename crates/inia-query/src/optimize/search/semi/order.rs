//! The order of tables that MySQL takes, with the strategies of its semi joins.
//!
//! Tables are put one behind the other, every order is tried, and what cannot become the best is
//! given up early. As soon as all tables that a strategy needs are there, it is priced from the
//! table on where its range begins, and the cheapest one holds for what follows
//! ([`semi joins`](https://dev.mysql.com/doc/refman/8.0/en/semijoins.html)):
//!
//! | strategy | its range | beforehand |
//! |---|---|---|
//! | FirstMatch | the subquery's tables | the tables that its conditions read |
//! | LooseScan | the subquery's tables, then those | none of those |
//! | MaterializeLookup | the subquery's tables | the tables that its conditions read |
//! | MaterializeScan | the subquery's tables, then those | |
//! | Duplicate Weedout | whatever has all of both | |

use super::super::members::Members;
use super::model::{Access, Costs, ROW, Way};
use super::nest::{self, CREATE, Materialized, Subquery, TOUCH};
use crate::access::Planned;
use crate::plan::JoinType;

/// How much better a plan must be to take the place of another one.
const BETTER: f64 = 0.001;
/// Costs that are as near as that are the same.
const SAME: f64 = 1e-9;

/// A strategy of a semi join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    FirstMatch,
    LooseScan,
    /// Rows of the materialized subquery are looked up.
    Lookup,
    /// They are read first.
    Scan,
    Weedout,
}

/// A table in an order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) member: usize,
    pub(super) access: Access,
    /// What all up to it costs, and gives.
    pub(super) cost: f64,
    pub(super) rows: f64,
    /// The strategy whose range ends here, the place where that begins, and the subquery.
    pub(super) strategy: Option<(Strategy, usize, usize)>,
    begun: Begun,
}

/// The ranges that are open at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    /// Tables of subqueries whose repetitions are still there.
    repeating: Members,
    /// FirstMatch: where it begins, the tables it needs, and those that were left then.
    first_match: Option<(usize, Members, Members)>,
    /// LooseScan: where it begins, and the tables it needs.
    loose: Option<(usize, Members)>,
    /// MaterializeScan: the last table of the subquery, and the tables it needs.
    scan: Option<(usize, Members)>,
    /// Duplicate Weedout: where it begins, and the tables it needs.
    weedout: Option<(usize, Members)>,
    /// A strategy was taken that is not allowed.
    forbidden: bool,
}

/// An order that was found best.
pub(super) struct Order {
    pub(super) positions: Vec<Position>,
    pub(super) cost: f64,
    pub(super) rows: f64,
    /// It has allowed strategies only.
    allowed: bool,
}

/// Searches for the best order.
pub(super) struct Search<'s> {
    pub(super) costs: &'s Costs<'s>,
    pub(super) subqueries: &'s [Subquery],
    /// The members, as they are tried.
    pub(super) sorted: Vec<usize>,
    /// The member that rows are sorted by, where they are.
    pub(super) sort_by: Option<usize>,
    /// That member was tried as the first one, and all of it is sorted.
    sorts_all: bool,
    positions: Vec<Position>,
    best: Option<Order>,
}

/// What a strategy would cost and give, and how the tables of its range are read then.
struct Priced {
    strategy: (Strategy, usize, usize),
    cost: f64,
    rows: f64,
    handled: Members,
}

impl<'s> Search<'s> {
    /// The best order of some members; none where nothing removes all repetitions.
    pub(super) fn best(
        costs: &'s Costs<'s>,
        subqueries: &'s [Subquery],
        members: Members,
        sort_by: Option<usize>,
    ) -> Option<Order> {
        let (sorted, positions) = (sorted(costs, members), Vec::new());
        let (sorts_all, best) = (false, None);
        let mut search = Search { costs, subqueries, sorted, sort_by, sorts_all, positions, best };
        let left = search.begin(members);
        match left.is_empty() {
            true => search.complete(),
            false => search.extend(left),
        }
        search.best
    }

    /// Puts the tables first that constants find one row of, which cost nothing; returns others.
    fn begin(&mut self, members: Members) -> Members {
        let single = self.costs.single.iter().filter(|member| members.contains(**member));
        for &member in single {
            let access =
                self.costs.access(member, (&self.before(self.positions.len()), 1.0), false);
            let access = Access { cost: 0.0, rows: 1.0, filter: 1.0, ..access };
            let (cost, rows, strategy, begun) = (0.0, 1.0, None, Begun::default());
            self.positions.push(Position { member, access, cost, rows, strategy, begun });
        }
        let placed = self.positions.iter().map(|position| Members::one(position.member));
        members.minus(placed.fold(Members::default(), Members::union))
    }

    /// How many tables stand first without a choice.
    fn begun(&self) -> usize {
        let is_single = |position: &&Position| self.costs.single.contains(&position.member);
        self.positions.iter().take_while(is_single).count()
    }

    fn before(&self, count: usize) -> Vec<(usize, f64, Members)> {
        let before = &self.positions[..count];
        before.iter().map(|at| (at.member, at.access.rows, at.access.by)).collect()
    }

    /// What all before a place costs and gives.
    fn prefix(&self, at: usize) -> (f64, f64) {
        match at.checked_sub(1) {
            None => (0.0, 1.0),
            Some(last) => (self.positions[last].cost, self.positions[last].rows),
        }
    }

    /// Tries each of the members that are left as the next one. Of those that a key finds one row
    /// of, the first one stands for all, which are put one behind the other.
    fn extend(&mut self, left: Members) {
        let at = self.positions.len();
        let (mut least_rows, mut least_cost) = (f64::MAX, f64::MAX);
        let mut together = Members::default();
        for member in self.sorted.clone() {
            if together.contains(member) || !self.place(member, left) {
                continue;
            }
            let rest = left.minus(Members::one(member));
            let now = self.positions[at];
            let best = self.best.as_ref().filter(|best| best.allowed);
            let given_up = best.is_some_and(|best| now.cost >= best.cost);
            if !given_up && self.promises(now, (&mut least_cost, &mut least_rows), left) {
                match rest.is_empty() {
                    true => self.complete(),
                    false if finds_one(&now.access) => {
                        if together.is_empty() {
                            together = Members::one(member).union(self.extend_by_keys(rest));
                        }
                    }
                    false => self.extend(rest),
                }
            }
            self.positions.truncate(at);
            if together == left {
                return;
            }
        }
    }

    /// Puts one more table behind the last one that a key finds one row of at the same cost, then
    /// all others; returns those that were put there by their keys.
    fn extend_by_keys(&mut self, left: Members) -> Members {
        let at = self.positions.len();
        let last = self.positions[at - 1].access;
        for member in self.sorted.clone() {
            if !self.place(member, left) {
                continue;
            }
            let now = self.positions[at];
            let alike = finds_one(&now.access)
                && (now.access.cost - last.cost).abs() < SAME
                && (now.access.rows - last.rows).abs() < SAME;
            if !alike {
                self.positions.truncate(at);
                continue;
            }
            let mut together = Members::one(member);
            let rest = left.minus(together);
            let best = self.best.as_ref().filter(|best| best.allowed);
            if best.is_none_or(|best| now.cost < best.cost) {
                match rest.is_empty() {
                    true => self.complete(),
                    false => together = together.union(self.extend_by_keys(rest)),
                }
            }
            self.positions.truncate(at);
            return together;
        }
        self.extend(left);
        Members::default()
    }

    /// Puts a member behind the others, where it may stand there.
    fn place(&mut self, member: usize, left: Members) -> bool {
        let at = self.positions.len();
        let own = &self.costs.around.group.members[member];
        if !left.contains(member) || own.needs.intersects(left) || self.must_wait(member, left) {
            return false;
        }
        let (cost, rows) = self.prefix(at);
        let access = self.costs.access(member, (&self.before(at), rows), true);
        let access = match own.kind {
            JoinType::Anti => nest::anti_access(self.costs, member, (rows, access)),
            _ => access,
        };
        let fetched = rows * access.rows;
        let begun = at.checked_sub(1).map_or(Begun::default(), |last| self.positions[last].begun);
        self.positions.push(Position {
            member,
            access,
            cost: cost + access.cost + ROW * fetched,
            rows: fetched * access.filter,
            strategy: None,
            begun,
        });
        let first = self.positions.len() == self.begun() + 1;
        if first && self.sort_by == Some(member) && matches!(access.way, Way::Scan) {
            let limit = self.costs.around.block.limit;
            self.sorts_all |= limit.is_none_or(|limit| limit >= access.rows);
        }
        self.advance(left.minus(Members::one(member)));
        true
    }

    /// Whether a table that is joined to others of its subquery must come behind all of those that
    /// are not: a range begins with one of these.
    fn must_wait(&self, member: usize, left: Members) -> bool {
        let members = &self.costs.around.group.members;
        if members[member].kind == JoinType::Inner {
            return false;
        }
        let own = self.subquery_of(member).map(|own| self.subqueries[own].members);
        let inner = |other: usize| members[other].kind == JoinType::Inner;
        own.is_some_and(|own| own.and(left).iter().any(inner))
    }

    /// Whether an order is worth going on with, beside those with another table at its place.
    fn promises(&self, now: Position, least: (&mut f64, &mut f64), left: Members) -> bool {
        let (cost, rows) = least;
        let first = self.positions.len() == self.begun() + 1;
        let sorted = first && self.sort_by == Some(now.member);
        if !(*rows > now.rows || *cost > now.cost || sorted) {
            return !self.best.as_ref().is_some_and(|best| best.allowed);
        }
        let others = left.minus(Members::one(now.member));
        let depends = others.iter().any(|other| self.costs.depends(now.member, other));
        if *rows >= now.rows && *cost >= now.cost && (!depends || now.access.rows < 2.0) {
            (*rows, *cost) = (now.rows, now.cost);
        }
        true
    }

    fn complete(&mut self) {
        let Some(last) = self.positions.last() else { return };
        if !last.begun.repeating.is_empty() {
            return;
        }
        let first = self.positions.get(self.begun()).map(|first| first.member);
        let apart = self.sorts_all || self.sort_by != first;
        let sorts = self.sort_by.is_some() && first.is_some() && apart;
        let cost = last.cost + if sorts { last.rows } else { 0.0 };
        let allowed = !last.begun.forbidden;
        let better = self.best.as_ref().is_none_or(|best| match (allowed, best.allowed) {
            (true, false) => true,
            (false, true) => false,
            _ => cost < best.cost - BETTER,
        });
        if better {
            let positions = self.positions.clone();
            self.best = Some(Order { positions, cost, rows: last.rows, allowed });
        }
    }

    fn subquery_of(&self, member: usize) -> Option<usize> {
        self.subqueries.iter().position(|subquery| subquery.members.contains(member))
    }

    /// Opens and closes the ranges of strategies at the last table; `left` are those behind it.
    fn advance(&mut self, left: Members) {
        let at = self.positions.len() - 1;
        let own = self.subquery_of(self.positions[at].member);
        if let Some((ended, ..)) = at.checked_sub(1).and_then(|last| self.positions[last].strategy)
        {
            let begun = &mut self.positions[at].begun;
            match ended {
                Strategy::FirstMatch => begun.first_match = None,
                Strategy::LooseScan => begun.loose = None,
                Strategy::Scan => begun.scan = None,
                Strategy::Lookup | Strategy::Weedout => {}
            }
        }
        let repeated = !self.positions[at].begun.repeating.is_empty();
        if let Some(own) = own {
            let begun = &mut self.positions[at].begun;
            begun.repeating = begun.repeating.union(self.subqueries[own].members);
        }
        let mut priced: Vec<Priced> = Vec::new();
        priced.extend(self.first_match(at, own, (left, repeated)));
        priced.extend(self.loose_scan(at, own, (left, repeated)));
        for found in priced {
            self.take(at, found);
        }
        if let Some(found) = self.lookup(at, own, left) {
            self.take_cheaper(at, found);
        }
        if let Some(found) = self.scan(at, own, left) {
            self.take_cheaper(at, found);
        }
        if let Some((found, allowed)) = self.weedout(at, own, left)
            && (allowed || !self.positions[at].begun.repeating.is_empty())
        {
            self.positions[at].begun.forbidden |= !allowed;
            self.take_cheaper(at, found);
        }
    }

    fn take(&mut self, at: usize, found: Priced) {
        let position = &mut self.positions[at];
        (position.cost, position.rows) = (found.cost, found.rows);
        position.strategy = Some(found.strategy);
        position.begun.repeating = position.begun.repeating.minus(found.handled);
    }

    /// Takes a strategy where it costs less, or repetitions are left.
    fn take_cheaper(&mut self, at: usize, found: Priced) {
        let position = &self.positions[at];
        if found.cost < position.cost - SAME || !position.begun.repeating.is_empty() {
            self.take(at, found);
        }
    }

    fn first_match(
        &mut self,
        at: usize,
        own: Option<usize>,
        (left, repeated): (Members, bool),
    ) -> Option<Priced> {
        let Some(own) = own.filter(|own| self.subqueries[*own].allowed.first_match) else {
            self.positions[at].begun.first_match = None;
            return None;
        };
        let subquery = &self.subqueries[own];
        let all = left.union(Members::one(self.positions[at].member));
        let begun = &mut self.positions[at].begun;
        if !repeated && !left.intersects(subquery.reads) && subquery.members.is_subset(all) {
            begun.first_match = Some((at, subquery.members, left));
        }
        let (first, needed, then) = begun.first_match?;
        if subquery.reads.intersects(then) {
            begun.first_match = None;
            return None;
        }
        let needed = needed.union(subquery.members);
        begun.first_match = Some((first, needed, then));
        if needed.intersects(left) {
            return None;
        }
        let buffered_from = if at > first { at + 1 } else { first };
        let (cost, rows) = self.chain((first, at), buffered_from, None);
        Some(Priced { strategy: (Strategy::FirstMatch, first, own), cost, rows, handled: needed })
    }

    fn loose_scan(
        &mut self,
        at: usize,
        own: Option<usize>,
        (left, repeated): (Members, bool),
    ) -> Option<Priced> {
        let all = left.union(Members::one(self.positions[at].member));
        // Tables of the subquery stand together.
        if let Some((first, _)) = self.positions[at].begun.loose {
            let of = self.subquery_of(self.positions[first].member)?;
            if self.subqueries[of].members.intersects(all) && own != Some(of) {
                self.positions[at].begun.loose = None;
            }
        }
        if let Some(own) = own {
            let subquery = &self.subqueries[own];
            let whole = subquery.members.is_subset(all);
            let outside = subquery.reads.is_subset(left) && !subquery.reads.is_empty();
            let member = self.positions[at].member;
            if subquery.allowed.loose_scan
                && !repeated
                && whole
                && outside
                && subquery.loose(self.costs, member).is_some()
            {
                let needed = subquery.members.union(subquery.reads);
                self.positions[at].begun.loose = Some((at, needed));
            }
        }
        let (first, needed) = self.positions[at].begun.loose?;
        if needed.intersects(left) {
            return None;
        }
        let of = self.subquery_of(self.positions[first].member)?;
        let count = self.subqueries[of].members.len();
        let loose = self.loose_access(first, of)?;
        let (cost, rows) = self.chain((first, at), first + count, Some(loose));
        let handled = self.subqueries[of].members;
        Some(Priced { strategy: (Strategy::LooseScan, first, of), cost, rows, handled })
    }

    /// How the first table of LooseScan is read.
    fn loose_access(&self, first: usize, of: usize) -> Option<Access> {
        let member = self.positions[first].member;
        let (_, cost, groups) = self.subqueries[of].loose(self.costs, member)?;
        let (_, rows) = self.prefix(first);
        let filter = self.costs.kept(member);
        let (way, by, kept) = (Way::Scan, Members::default(), false);
        let planned = Planned::Free;
        Some(Access { way, cost: rows * cost, rows: groups, filter, by, kept, planned })
    }

    /// What the tables from `first` to `last` cost and give once one row of a subquery suffices;
    /// those before `buffered_from` are joined without a buffer.
    fn chain(
        &self,
        (first, last): (usize, usize),
        buffered_from: usize,
        loose: Option<Access>,
    ) -> (f64, f64) {
        let (mut cost, rows) = self.prefix(first);
        let (mut inner, mut outer) = (1.0, 1.0);
        for at in first..=last {
            let position = &self.positions[at];
            let now = rows * inner * outer;
            let access = match loose.filter(|_| at == first) {
                Some(loose) => loose,
                None if position.access.way == Way::Buffer && at < buffered_from => {
                    self.costs.access(position.member, (&self.before(at), now), false)
                }
                None => position.access,
            };
            cost += access.cost + ROW * now * access.rows;
            match self.subquery_of(position.member) {
                Some(_) => inner *= access.rows * access.filter,
                None => outer *= access.rows * access.filter,
            }
        }
        (cost, rows * outer * f64::min(inner, 1.0))
    }

    /// Where the subquery's tables begin, if they are the last ones up to a place.
    fn together(&self, at: usize, own: Option<usize>, left: Members) -> Option<(usize, usize)> {
        let own = own?;
        let members = self.subqueries[own].members;
        let first = (at + 1).checked_sub(members.len())?;
        let all = self.positions[first..=at].iter().all(|one| members.contains(one.member));
        (all && !members.intersects(left)).then_some((own, first))
    }

    fn lookup(&self, at: usize, own: Option<usize>, left: Members) -> Option<Priced> {
        let (own, first) = self.together(at, own, left)?;
        let subquery = &self.subqueries[own];
        let made = subquery.materialized.as_ref()?;
        if subquery.reads.intersects(left) {
            return None;
        }
        let (cost, rows) = self.prefix(first);
        let cost = cost + made.cost() + rows * TOUCH;
        let strategy = (Strategy::Lookup, first, own);
        Some(Priced { strategy, cost, rows, handled: subquery.members })
    }

    fn scan(&mut self, at: usize, own: Option<usize>, left: Members) -> Option<Priced> {
        if let Some((own, _)) = self.together(at, own, left) {
            let subquery = &self.subqueries[own];
            let scans = subquery.materialized.as_ref().is_some_and(|made| made.scans);
            if scans && subquery.reads.intersects(left) {
                let needed = subquery.members.union(subquery.reads);
                self.positions[at].begun.scan = Some((at, needed));
            }
        }
        let (last, needed) = self.positions[at].begun.scan.filter(|(last, _)| *last < at)?;
        if needed.intersects(left) {
            return None;
        }
        let own = self.subquery_of(self.positions[last].member)?;
        let subquery = &self.subqueries[own];
        let made = subquery.materialized.as_ref()?;
        let first = last + 1 - subquery.members.len();
        let (cost, rows) = self.prefix(first);
        let mut cost = cost + made.cost() + rows * made.rows * TOUCH;
        let mut outer = 1.0;
        for at in last + 1..=at {
            let now = rows * made.rows * outer;
            let member = self.positions[at].member;
            let access = self.costs.access(member, (&self.before(at), now), true);
            cost += access.cost + ROW * now * access.rows;
            outer *= access.rows * access.filter;
        }
        let strategy = (Strategy::Scan, first, own);
        Some(Priced { strategy, cost, rows: rows * outer, handled: subquery.members })
    }

    /// Duplicate Weedout, and whether it is allowed: where it is not, it still serves where nothing
    /// else does.
    fn weedout(&mut self, at: usize, own: Option<usize>, left: Members) -> Option<(Priced, bool)> {
        if let Some(own) = own {
            let subquery = &self.subqueries[own];
            let needed = subquery.members.union(subquery.reads);
            let begun = &mut self.positions[at].begun.weedout;
            let (first, all) = begun.unwrap_or((at, Members::default()));
            *begun = Some((first, all.union(needed)));
        }
        let (first, needed) = self.positions[at].begun.weedout?;
        let mut handled = Members::default();
        let mut allowed = true;
        for position in &self.positions[first..=at] {
            let of = self.subquery_of(position.member);
            if let Some(of) = of {
                handled = handled.union(self.subqueries[of].members);
                allowed &= self.subqueries[of].allowed.weedout;
            }
        }
        if needed.intersects(left) || !self.has_row_ids(at) {
            return None;
        }
        let own = self.subquery_of(self.positions[first].member)?;
        let (mut cost, rows) = self.prefix(first);
        let (mut inner, mut outer) = (1.0, 1.0);
        for position in &self.positions[first..=at] {
            let access = position.access;
            cost += access.cost + ROW * rows * inner * outer * access.rows;
            match self.subquery_of(position.member) {
                Some(_) => inner *= access.rows * access.filter,
                None => outer *= access.rows * access.filter,
            }
        }
        // No more rows come out than the tables around the subqueries have.
        let most: f64 = self.positions[first..=at]
            .iter()
            .filter(|position| self.subquery_of(position.member).is_none())
            .map(|position| self.costs.records(position.member))
            .product();
        let pairs = rows * inner * outer;
        let outer_rows = rows * f64::min(inner * outer, most);
        cost += CREATE + TOUCH * outer_rows + TOUCH * pairs;
        let strategy = (Strategy::Weedout, first, own);
        Some((Priced { strategy, cost, rows: outer_rows, handled }, allowed))
    }

    /// Whether each table up to a place has an id for each of its rows.
    fn has_row_ids(&self, at: usize) -> bool {
        let ids = |position: &Position| self.costs.has_row_id(position.member);
        self.positions[..=at].iter().all(ids)
    }
}

/// Whether an index finds one row at most.
fn finds_one(access: &Access) -> bool {
    access.way == Way::Lookup && access.rows <= 1.0
}

impl Materialized {
    /// What making it costs.
    fn cost(&self) -> f64 {
        self.read + CREATE + TOUCH * self.written
    }
}

/// The members as MySQL sorts them before it tries orders: those that an index of another one
/// depends on come first, then those of fewer rows.
fn sorted(costs: &Costs<'_>, members: Members) -> Vec<usize> {
    let mut sorted: Vec<usize> = Vec::new();
    for member in members.iter() {
        let after = |other: &usize| {
            let group = costs.around.group;
            if group.members[*other].needs.contains(member) {
                return true;
            }
            if group.members[member].needs.contains(*other) {
                return false;
            }
            match (costs.depends(member, *other), costs.depends(*other, member)) {
                (true, false) => false,
                (false, true) => true,
                _ => costs.found(*other) > costs.found(member),
            }
        };
        let mut place = sorted.len();
        while place > 0 && after(&sorted[place - 1]) {
            place -= 1;
        }
        sorted.insert(place, member);
    }
    sorted
}
