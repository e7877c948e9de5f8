//! SHOW CREATE VIEW.

use inia_parser::{quote_name, unparse_query};
use inia_query::catalog::view::{parse, quote_functions};
use inia_query::catalog::{ViewCheck, ViewDef};
use inia_query::referenced::ReferencedObjects;
use std::fmt::Write;

/// The text of SHOW CREATE VIEW for a session whose current database is `database`: names of
/// databases are left out where all are that one.
pub(crate) fn show_create_view(def: &ViewDef, database: Option<&str>, standard: bool) -> String {
    let here = database == Some(def.schema.as_str());
    let mut query = def.query.clone();
    if here && let Some(mut parsed) = parse(&def.query) {
        let mut reads = ReferencedObjects::default();
        reads.query(&parsed);
        let own = |db: &Option<String>| db.as_deref().is_none_or(|db| db == def.schema);
        if reads.tables.iter().all(|name| own(&name.db)) {
            quote_functions(&mut parsed);
            query = unparse_query(&parsed, true).unwrap_or(query);
        }
    }
    let mut out = String::from("CREATE ");
    if !standard {
        let _ = write!(
            out,
            "ALGORITHM={} DEFINER={}@{} SQL SECURITY {} ",
            def.algorithm.name(),
            quote_name(&def.definer.user),
            quote_name(&def.definer.host),
            if def.invoker { "INVOKER" } else { "DEFINER" },
        );
    }
    out.push_str("VIEW ");
    if !here {
        let _ = write!(out, "{}.", quote_name(&def.schema));
    }
    out.push_str(&quote_name(&def.name));
    if def.named {
        let names: Vec<String> =
            def.columns.iter().map(|column| quote_name(&column.name)).collect();
        let _ = write!(out, " ({})", names.join(","));
    }
    let _ = write!(out, " AS {query}");
    if def.check != ViewCheck::None {
        let _ = write!(out, " WITH {} CHECK OPTION", def.check.name());
    }
    out
}
