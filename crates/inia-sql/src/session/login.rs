//! What a session begins with.

use super::set::effect::{assign, take_effect};
use inia_base::collation::Collation;
use inia_base::sql_mode::SqlMode;
use inia_expr::charset;
use inia_query::catalog::AccountName;
use inia_query::context::SessionContext;
use inia_query::sysvar::sql_mode;

/// Lets global settings and the client's wishes at login take effect.
pub(super) fn apply(session: &mut SessionContext) {
    let globals = session.db.globals.all();
    session.host.vars.borrow_mut().inherited = globals.clone();
    for (name, text) in globals.iter() {
        let _ = take_effect(session, name, text);
    }
    let idle = if session.client.interactive { "interactive_timeout" } else { "wait_timeout" };
    let _ = assign(session, false, "wait_timeout", &session.db.global_number(idle).to_string());
    let name = AccountName::new(&session.client.account_user, &session.client.account_host);
    let accounts = session.db.accounts.current();
    if let Some(most) = accounts.get(&name).map(|own| own.max_connections())
        && most > 0
    {
        let _ = assign(session, false, "max_user_connections", &most.to_string());
    }
    if let Some(collation) = Collation::from_id(session.client.collation) {
        let names = (charset::charset_name(collation), charset::name(collation));
        for var in ["character_set_client", "character_set_results"] {
            let _ = assign(session, false, var, names.0);
        }
        let _ = assign(session, false, "collation_connection", names.1);
        session.results = Some(collation);
    }
    if session.client.ignore_space {
        let mode = SqlMode(session.env.sql_mode.0 | SqlMode::IGNORE_SPACE.0);
        let _ = assign(session, false, "sql_mode", &sql_mode::text(mode));
    }
}
