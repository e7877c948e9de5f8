//! All accounts of a database: durable in the catalog tree, cached whole.
//!
//! Records of the catalog tree, by key:
//!
//! ```text
//! 'u'                 accounts were founded; there has been a first `root`
//! 'u' user 0 host     an account
//! ```
//!
//! Account statements read the newest version, make a changed copy of some accounts, write those
//! in one storage transaction and publish the next version after its commit.

use super::access::Access;
use super::def::AccountDef;
use super::host;
use super::meter::Meters;
use super::tries::LoginTries;
use crate::catalog::ACCOUNT;
use crate::catalog::AccountName;
use crate::error::OpenError;
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_storage::{Direction, Engine, Isolation, KeyBound, ReadMode, StorageError, Txn};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One version of all accounts.
#[derive(Clone, Default)]
pub struct AccountsVersion {
    /// Counts publications.
    pub(crate) number: u64,
    /// By name.
    pub(crate) accounts: BTreeMap<AccountName, Arc<AccountDef>>,
    /// In the order in which a login tries them.
    order: Vec<Arc<AccountDef>>,
}

impl AccountsVersion {
    /// The account of that name.
    pub fn get(&self, name: &AccountName) -> Option<&Arc<AccountDef>> {
        self.accounts.get(name)
    }

    /// The account that `user` from `host` logs in to.
    pub(crate) fn login(&self, user: &str, client: &str) -> Option<&Arc<AccountDef>> {
        self.order.iter().find(|account| {
            let name = &account.name;
            (name.user == user || name.user.is_empty()) && host::matches(&name.host, client)
        })
    }

    fn sort(&mut self) {
        self.order = self.accounts.values().cloned().collect();
        self.order.sort_by(|a, b| host::order(&a.name, &b.name));
    }
}

/// One change of the accounts.
pub(crate) enum AccountChange {
    /// The account is there with this definition.
    Put(AccountDef),
    /// The account is gone.
    Drop(AccountName),
}

/// The versioned, cached accounts.
pub struct Accounts {
    engine: Arc<Engine>,
    current: RwLock<Arc<AccountsVersion>>,
    /// The number of `current`, for a look without a lock.
    version: AtomicU64,
    /// Held by the one statement that changes accounts.
    writing: Mutex<()>,
    /// What definers of views may do, under one version of the accounts.
    definers: Mutex<Definers>,
    /// Wrong passwords.
    pub tries: LoginTries,
    /// What the sessions of limited accounts have used.
    pub meters: Meters,
}

/// Privileges by account, of one version.
#[derive(Default)]
struct Definers {
    version: u64,
    known: BTreeMap<AccountName, Arc<Access>>,
}

impl Accounts {
    /// Reads all accounts; founds them in a new database.
    pub(crate) fn load(engine: &Arc<Engine>) -> Result<Accounts, OpenError> {
        let tree = engine.catalog_tree();
        let mut version = AccountsVersion::default();
        let mut founded = false;
        let mut txn = engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let low = KeyBound::Included(&[ACCOUNT]);
        let high = KeyBound::Excluded(&[ACCOUNT + 1]);
        let mut cursor = txn.cursor(&tree, low, high, Direction::Forward, ReadMode::Snapshot);
        while let Some(record) = cursor.next(&mut txn)? {
            if record.key == [ACCOUNT] {
                founded = true;
                continue;
            }
            let damaged = || OpenError::Catalog(String::from_utf8_lossy(record.key).into_owned());
            let account = AccountDef::decode(record.value).ok_or_else(damaged)?;
            version.accounts.insert(account.name.clone(), Arc::new(account));
        }
        drop(cursor);
        txn.commit()?;
        if !founded {
            let root = AccountDef::root();
            txn.begin(Isolation::RepeatableRead);
            txn.begin_statement();
            txn.insert(&tree, &[ACCOUNT], &[])?;
            txn.insert(&tree, &key(&root.name), &root.encode())?;
            txn.commit()?;
            version.accounts.insert(root.name.clone(), Arc::new(root));
        }
        version.sort();
        let current = RwLock::new(Arc::new(version));
        let version = AtomicU64::new(0);
        let engine = engine.clone();
        let (writing, definers) = (Mutex::default(), Mutex::default());
        let (tries, meters) = (LoginTries::default(), Meters::default());
        Ok(Accounts { engine, current, version, writing, definers, tries, meters })
    }

    /// The number of the newest version.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The newest version.
    pub fn current(&self) -> Arc<AccountsVersion> {
        self.current.read().clone()
    }

    /// What may be done on behalf of an account, with its default roles; `None` where it is gone.
    pub(crate) fn access_of(&self, name: &AccountName) -> Option<Arc<Access>> {
        let current = self.current();
        let def = current.get(name)?;
        let mut definers = self.definers.lock();
        if definers.version != current.number {
            *definers = Definers { version: current.number, known: BTreeMap::new() };
        }
        let made = || Arc::new(Access::new(&current, name, &def.default_roles));
        Some(definers.known.entry(name.clone()).or_insert_with(made).clone())
    }

    /// Runs `work` on the newest version while no other statement changes accounts, and makes the
    /// changes that it lists. A change listed later overrides an earlier one.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&AccountsVersion, &mut Vec<AccountChange>) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let _writing = self.writing.lock();
        let mut next = AccountsVersion::clone(&self.current());
        let mut changes = Vec::new();
        let value = work(&next, &mut changes)?;
        if changes.is_empty() {
            return Ok(value);
        }
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        txn.begin_statement();
        let written = changes.iter().try_for_each(|change| self.write(&mut txn, change));
        if let Err(error) = written.and_then(|()| txn.commit()).sql() {
            if txn.is_open() {
                txn.rollback().sql()?;
            }
            return Err(error);
        }
        for change in changes {
            match change {
                AccountChange::Put(def) => {
                    next.accounts.insert(def.name.clone(), Arc::new(def));
                }
                AccountChange::Drop(name) => {
                    self.meters.forget(&name);
                    next.accounts.remove(&name);
                }
            }
        }
        next.number += 1;
        next.sort();
        let number = next.number;
        *self.current.write() = Arc::new(next);
        self.version.store(number, Ordering::Release);
        Ok(value)
    }

    fn write(&self, txn: &mut Txn, change: &AccountChange) -> Result<(), StorageError> {
        let tree = self.engine.catalog_tree();
        match change {
            AccountChange::Put(def) => {
                let (key, value) = (key(&def.name), def.encode());
                if txn.update(&tree, &key, &value)? {
                    return Ok(());
                }
                txn.insert(&tree, &key, &value)
            }
            AccountChange::Drop(name) => txn.delete(&tree, &key(name)).map(drop),
        }
    }
}

fn key(name: &AccountName) -> Vec<u8> {
    let mut key = vec![ACCOUNT];
    key.extend_from_slice(name.user.as_bytes());
    key.push(0);
    key.extend_from_slice(name.host.as_bytes());
    key
}
