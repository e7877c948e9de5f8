//! What a session begins with.

use super::set::effect::{assign, take_effect};
use inia_base::collation::Collation;
use inia_base::sql_mode::SqlMode;
use inia_expr::charset;
use inia_query::catalog::AccountName;
use inia_query::context::SessionContext;
use inia_query::sysvar::sql_mode;

/// Lets global settings and the client's wishes at login take effect.
pub(super) fn apply(core: &mut SessionContext) {
    let globals = core.db.globals.all();
    core.host.vars.borrow_mut().inherited = globals.clone();
    for (name, text) in globals.iter() {
        let _ = take_effect(core, name, text);
    }
    let idle = if core.client.interactive { "interactive_timeout" } else { "wait_timeout" };
    let _ = assign(core, false, "wait_timeout", &core.db.global_number(idle).to_string());
    let name = AccountName::new(&core.client.account_user, &core.client.account_host);
    let accounts = core.db.accounts.current();
    if let Some(most) = accounts.get(&name).map(|own| own.max_connections())
        && most > 0
    {
        let _ = assign(core, false, "max_user_connections", &most.to_string());
    }
    if let Some(collation) = Collation::from_id(core.client.collation) {
        let names = (charset::charset_name(collation), charset::name(collation));
        for var in ["character_set_client", "character_set_results"] {
            let _ = assign(core, false, var, names.0);
        }
        let _ = assign(core, false, "collation_connection", names.1);
        core.results = Some(collation);
    }
    if core.client.ignore_space {
        let mode = SqlMode(core.env.sql_mode.0 | SqlMode::IGNORE_SPACE.0);
        let _ = assign(core, false, "sql_mode", &sql_mode::text(mode));
    }
}
