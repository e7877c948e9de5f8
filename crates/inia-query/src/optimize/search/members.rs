//! Sets of a group's members.

/// Members of a group, by their numbers in it; a query has fewer than 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Members(u64);

impl Members {
    /// One member.
    pub(super) fn one(member: usize) -> Members {
        debug_assert!(member < 64, "a group has fewer than 64 members");
        Members(1 << member)
    }

    /// The first `count` members.
    pub(super) fn first_of(count: usize) -> Members {
        debug_assert!(count < 64, "a group has fewer than 64 members");
        Members((1 << count) - 1)
    }

    /// As an index of a table over all sets.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn contains(self, member: usize) -> bool {
        self.0 >> member & 1 == 1
    }

    pub(super) fn union(self, other: Members) -> Members {
        Members(self.0 | other.0)
    }

    pub(super) fn and(self, other: Members) -> Members {
        Members(self.0 & other.0)
    }

    pub(super) fn minus(self, other: Members) -> Members {
        Members(self.0 & !other.0)
    }

    pub(super) fn intersects(self, other: Members) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_subset(self, other: Members) -> bool {
        self.0 & !other.0 == 0
    }

    /// The member with the lowest number, as a set.
    pub(super) fn lowest(self) -> Members {
        Members(self.0 & self.0.wrapping_neg())
    }

    /// The only member, where there is one.
    pub(super) fn single(self) -> Option<usize> {
        (self.len() == 1).then(|| self.0.trailing_zeros() as usize)
    }

    /// The members by ascending numbers.
    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = usize> {
        (0..64).filter(move |member| self.contains(*member))
    }

    /// The subsets that are not empty; each comes after its own subsets.
    pub(super) fn subsets(self) -> impl Iterator<Item = Members> {
        let mut next = self.0 & self.0.wrapping_neg();
        std::iter::from_fn(move || {
            let subset = next;
            next = subset.wrapping_sub(self.0) & self.0;
            (subset != 0).then_some(Members(subset))
        })
    }
}
