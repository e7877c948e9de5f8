//! The settings of a session that plans depend on, as one number.

use super::SessionContext;
use super::programs::Inside;
use crate::database::SettingsId;

/// Variables that say nothing about plans and differ from session to session.
const OF_ONE_SESSION: [&str; 1] = ["pseudo_thread_id"];

impl SessionContext {
    /// The number of the session's settings, by which it may share what it plans with others that
    /// have the same; `None` where its plans are of no use to others: it has tables or locks of its
    /// own, an isolation level for one transaction, traces what it plans, or works for a stored
    /// program.
    pub fn settings_id(&self) -> Option<SettingsId> {
        let own = !self.temporary.is_empty()
            || self.has_locked_tables()
            || self.host.traces.borrow().is_some()
            || self.env.auto_is_null
            || !self.keeps_plans()
            || !matches!(self.inside, Inside::Nothing);
        if own {
            return None;
        }
        let (settings, known) = self.known_settings.get();
        if let Some(id) = known.filter(|_| settings == self.settings) {
            return Some(id);
        }
        let id = self.hash_settings();
        self.known_settings.set((self.settings, Some(id)));
        Some(id)
    }

    fn hash_settings(&self) -> SettingsId {
        let vars = self.host.vars.borrow();
        let of_all = |name: &&str| !OF_ONE_SESSION.contains(name);
        let mut inherited: Vec<_> = vars.inherited.iter().collect();
        inherited.sort_unstable();
        let mut own: Vec<_> = vars.values.iter().filter(|(name, _)| of_all(name)).collect();
        own.sort_unstable();
        let client = (&self.client.account_user, &self.client.account_host, &self.env.user);
        let results = self.results.map(|collation| collation.0);
        let session = (&self.env.database, client, self.client_found_rows, results);
        self.db.statements.settings_id(&(inherited, own, session))
    }
}
