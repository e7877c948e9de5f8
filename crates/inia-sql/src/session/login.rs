//! What a session begins with.

use super::set::effect::{assign, take_effect};
use crate::catalog::AccountName;
use crate::context::SessionContext;
use crate::sysvar::sql_mode;
use inia_base::collation::Collation;
use inia_expr::SqlMode;
use inia_expr::charset;

impl SessionContext {
    /// Lets global settings and the client's wishes at login take effect.
    pub(super) fn apply_login(&mut self) {
        let globals = self.db.globals.all();
        self.host.vars.borrow_mut().inherited = globals.clone();
        for (name, text) in globals.iter() {
            let _ = take_effect(self, name, text);
        }
        let idle = if self.client.interactive { "interactive_timeout" } else { "wait_timeout" };
        let _ = assign(self, false, "wait_timeout", &self.db.global_number(idle).to_string());
        let name = AccountName::new(&self.client.account_user, &self.client.account_host);
        let accounts = self.db.accounts.current();
        if let Some(most) = accounts.get(&name).map(|own| own.max_connections())
            && most > 0
        {
            let _ = assign(self, false, "max_user_connections", &most.to_string());
        }
        if let Some(collation) = Collation::from_id(self.client.collation) {
            let names = (charset::charset_name(collation), charset::name(collation));
            for var in ["character_set_client", "character_set_results"] {
                let _ = assign(self, false, var, names.0);
            }
            let _ = assign(self, false, "collation_connection", names.1);
            self.results = Some(collation);
        }
        if self.client.ignore_space {
            let mode = SqlMode(self.env.sql_mode.0 | SqlMode::IGNORE_SPACE.0);
            let _ = assign(self, false, "sql_mode", &sql_mode::text(mode));
        }
    }
}
