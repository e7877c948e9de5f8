//! Sums by session, account, user, host, and of all: the levels of the `…_summary_by_…` tables.
//!
//! A live session keeps its own sums, which the readers of a level add to what the level holds.
//! TRUNCATE of a level moves what lies below it upwards, as MySQL does: from sessions to their
//! accounts, from accounts to users and to hosts, from hosts to the sums of all; what users have is
//! forgotten then. So all is what hosts, accounts and sessions have, and what went further.
//!
//! Example: a session of `u@h` has raised 3 errors. TRUNCATE by account makes the sums of the
//! session and of the account 0, and the user `u`, the host `h` and all still have 3.

use parking_lot::Mutex;
use std::collections::BTreeMap;

/// A user and a host; `None` for what belongs to no account.
pub(crate) type Account = Option<(String, String)>;
/// A user or a host.
type Name = Option<String>;

/// Accounts, users or hosts that are distinguished. What others have counts for all only.
const MAX_NAMES: usize = 10_000;

/// Something that can be summed up.
pub(crate) trait Sum: Clone + Default {
    /// Adds what another has.
    fn add(&mut self, other: &Self);
    /// Whether nothing was counted.
    fn is_empty(&self) -> bool;
}

/// Which sums a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Thread,
    Account,
    User,
    Host,
    Global,
}

impl Level {
    /// The level of a table of summaries, by its name in lower case.
    pub(crate) fn of(table: &str) -> Option<Level> {
        let (_, by) = table.split_once("_summary_")?;
        let levels = [
            ("by_thread_", Level::Thread),
            ("by_account_", Level::Account),
            ("by_user_", Level::User),
            ("by_host_", Level::Host),
            ("global_", Level::Global),
        ];
        levels.into_iter().find(|(name, _)| by.starts_with(name)).map(|(_, level)| level)
    }
}

/// What sessions that have ended leave, and what TRUNCATE has moved.
#[derive(Default)]
pub(crate) struct Levels<T>(Mutex<Held<T>>);

#[derive(Default)]
struct Held<T> {
    accounts: BTreeMap<Account, T>,
    users: BTreeMap<Name, T>,
    hosts: BTreeMap<Name, T>,
    all: T,
}

fn user_of(account: &Account) -> Name {
    account.as_ref().map(|(user, _)| user.clone())
}

fn host_of(account: &Account) -> Name {
    account.as_ref().map(|(_, host)| host.clone())
}

/// Adds sums to those of a name; false where there are too many names.
fn add_to<K: Ord, T: Sum>(sums: &mut BTreeMap<K, T>, name: K, more: &T) -> bool {
    let fits = sums.len() < MAX_NAMES || sums.contains_key(&name);
    if fits && !more.is_empty() {
        sums.entry(name).or_default().add(more);
    }
    fits
}

impl<T: Sum> Held<T> {
    fn add_to_account(&mut self, account: Account, more: &T) {
        if !add_to(&mut self.accounts, account, more) {
            self.all.add(more);
        }
    }

    fn add_to_user_and_host(&mut self, account: &Account, more: &T) {
        // A user that is one too many is not shown; the host has it, or all have.
        add_to(&mut self.users, user_of(account), more);
        if !add_to(&mut self.hosts, host_of(account), more) {
            self.all.add(more);
        }
    }
}

impl<T: Sum> Levels<T> {
    /// Adds the sums of a session that has ended, or of what belongs to none.
    pub(crate) fn add(&self, account: Account, more: &T) {
        self.0.lock().add_to_account(account, more);
    }

    /// TRUNCATE of a table: `live` are the sums of the sessions that there are, which begin anew.
    pub(crate) fn empty(&self, level: Level, live: impl Iterator<Item = (Account, T)>) {
        let mut held = self.0.lock();
        live.for_each(|(account, own)| held.add_to_account(account, &own));
        if level >= Level::Account {
            for (account, sums) in std::mem::take(&mut held.accounts) {
                held.add_to_user_and_host(&account, &sums);
            }
        }
        if matches!(level, Level::User | Level::Global) {
            held.users.clear();
        }
        if matches!(level, Level::Host | Level::Global) {
            let hosts = std::mem::take(&mut held.hosts);
            hosts.values().for_each(|sums| held.all.add(sums));
        }
        if level == Level::Global {
            held.all = T::default();
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Held::default();
    }

    /// Sums by accounts, with those of live sessions.
    pub(crate) fn accounts(
        &self,
        live: impl Iterator<Item = (Account, T)>,
    ) -> BTreeMap<Account, T> {
        let mut sums = self.0.lock().accounts.clone();
        for (account, own) in live {
            sums.entry(account).or_default().add(&own);
        }
        sums
    }

    /// Sums by users.
    pub(crate) fn users(&self, live: impl Iterator<Item = (Account, T)>) -> BTreeMap<Name, T> {
        let sums = self.0.lock().users.clone();
        self.by(sums, user_of, live)
    }

    /// Sums by hosts.
    pub(crate) fn hosts(&self, live: impl Iterator<Item = (Account, T)>) -> BTreeMap<Name, T> {
        let sums = self.0.lock().hosts.clone();
        self.by(sums, host_of, live)
    }

    fn by(
        &self,
        mut sums: BTreeMap<Name, T>,
        name: fn(&Account) -> Name,
        live: impl Iterator<Item = (Account, T)>,
    ) -> BTreeMap<Name, T> {
        for (account, own) in self.accounts(live) {
            sums.entry(name(&account)).or_default().add(&own);
        }
        sums
    }

    /// The sums of all.
    pub(crate) fn global(&self, live: impl Iterator<Item = (Account, T)>) -> T {
        let mut sum = {
            let held = self.0.lock();
            let mut sum = held.all.clone();
            held.hosts.values().for_each(|host| sum.add(host));
            sum
        };
        self.accounts(live).values().for_each(|account| sum.add(account));
        sum
    }
}

#[cfg(test)]
mod tests;
