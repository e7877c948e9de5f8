//! What sessions share of statements that they prepare alike.
//!
//! A thousand connections of one program prepare the same texts under the same settings. One of
//! them makes the syntax tree and the plan, and the others find both here: less memory, less work,
//! and caches of the processor that hold one plan rather than a thousand.
//!
//! The registry holds nothing itself: what no session uses any more is gone.

use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Weak};

/// Names of what is gone are cleared away when there are so many names, and when there are twice
/// as many as were left then.
const FIRST_SWEEP: usize = 64;

/// Stands for all settings that plans depend on: sessions with the same number plan alike. It is a
/// hash of 128 bits with keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SettingsId(u64, u64);

/// What a statement is found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatementKey {
    /// The settings that it was prepared under.
    pub settings: SettingsId,
    /// Its text.
    pub text: String,
    /// What else distinguishes it from other statements of this text.
    pub kinds: [u64; 2],
}

/// The statements that sessions share.
#[derive(Default)]
pub struct SharedStatements {
    known: Mutex<Known>,
    keys: [RandomState; 2],
}

type Statement = dyn Any + Send + Sync;

#[derive(Default)]
struct Known {
    statements: HashMap<StatementKey, Weak<Statement>>,
    /// So many were left by the last sweep.
    left: usize,
}

impl SharedStatements {
    /// The statement of this key, where a session has it.
    pub fn find<T: Any + Send + Sync>(&self, key: &StatementKey) -> Option<Arc<T>> {
        let found = self.known.lock().statements.get(key).and_then(Weak::upgrade)?;
        found.downcast().ok()
    }

    /// Lets other sessions find a statement.
    pub fn share<T: Any + Send + Sync>(&self, key: StatementKey, statement: &Arc<T>) {
        let statement: Arc<Statement> = statement.clone();
        let mut known = self.known.lock();
        known.statements.insert(key, Arc::downgrade(&statement));
        if known.statements.len() >= FIRST_SWEEP.max(2 * known.left) {
            known.statements.retain(|_, statement| statement.strong_count() > 0);
            known.left = known.statements.len();
        }
    }

    /// The number of these settings.
    pub(crate) fn settings_id(&self, settings: &impl Hash) -> SettingsId {
        let [first, second] = &self.keys;
        SettingsId(first.hash_one(settings), second.hash_one(settings))
    }
}

#[cfg(test)]
mod tests {
    use super::{SettingsId, SharedStatements, StatementKey};
    use std::sync::Arc;

    fn key(text: &str) -> StatementKey {
        StatementKey { settings: SettingsId(1, 2), text: text.to_owned(), kinds: [0; 2] }
    }

    #[test]
    fn a_statement_is_found_as_long_as_a_session_has_it() {
        let shared = SharedStatements::default();
        let mine = Arc::new(String::from("plan"));
        shared.share(key("SELECT 1"), &mine);
        let other: Arc<String> = shared.find(&key("SELECT 1")).unwrap();
        assert!(Arc::ptr_eq(&mine, &other));
        assert!(shared.find::<String>(&key("SELECT 2")).is_none());
        let elsewhere = StatementKey { settings: SettingsId(1, 3), ..key("SELECT 1") };
        assert!(shared.find::<String>(&elsewhere).is_none());
        drop((mine, other));
        assert!(shared.find::<String>(&key("SELECT 1")).is_none());
    }

    #[test]
    fn names_of_what_is_gone_do_not_gather() {
        let shared = SharedStatements::default();
        let kept = Arc::new(0);
        shared.share(key("kept"), &kept);
        for number in 0..10_000 {
            shared.share(key(&number.to_string()), &Arc::new(number));
        }
        assert!(shared.known.lock().statements.len() <= super::FIRST_SWEEP);
        assert!(shared.find::<i32>(&key("kept")).is_some());
    }

    #[test]
    fn equal_settings_have_equal_numbers() {
        let shared = SharedStatements::default();
        let id = |settings: &[&str]| shared.settings_id(&settings);
        assert_eq!(id(&["a", "bc"]), id(&["a", "bc"]));
        assert_ne!(id(&["a", "bc"]), id(&["ab", "c"]));
    }
}
