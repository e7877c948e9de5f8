//! System variables among the options that a server starts with: `sql-mode = ANSI` in a `my.cnf`.
//!
//! They are SET GLOBAL without an account, with the texts that options files have: sizes such as
//! `16M`, `default-time-zone` for `time_zone`, a name alone or `skip-` before it for a switch.

use super::deprecated;
use super::effect::assign;
use super::value::checked;
use crate::session::Session;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_query::database::{ClientInfo, Database};
use inia_query::sysvar::{self, Home, VarDef, VarKind};
use std::sync::Arc;

/// What became of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    /// The variable has the value, or that of SET PERSIST, which comes first.
    Taken,
    /// The variable cannot be changed and keeps another value.
    Fixed,
}

/// Whether an option of this name sets a system variable.
pub fn is_start_variable(name: &str) -> bool {
    variable(name).is_some()
}

/// Sets a variable as an option asks, before the first client; an error says that the variable
/// does not take the value. `None` where only the name is there.
///
/// # Panics
///
/// Where `name` is no variable ([`is_start_variable`]).
pub fn set_at_start(
    db: &Arc<Database>,
    name: &str,
    text: Option<&str>,
) -> Result<StartOutcome, SqlError> {
    let (def, is_on) = variable(name).expect("the name of a variable");
    let value = if is_on { value_of(def, text) } else { Value::Int(0) };
    let mut session = Session::new(db, ClientInfo::default());
    let context = &mut session.context;
    let def = deprecated::resolve(context, def)?;
    let checked = checked(context, (def, def.name), true, &value);
    if def.home == Home::ReadOnly {
        let globals = db.globals.all();
        let own = globals.get(def.name).map_or(def.default, String::as_str);
        let is = checked.is_ok_and(|text| text == own);
        return Ok(if is { StartOutcome::Taken } else { StartOutcome::Fixed });
    }
    let text = checked?;
    if !db.catalog().is_persisted(def.name) {
        assign(context, true, def.name, &text)?;
    }
    Ok(StartOutcome::Taken)
}

/// The variable of an option, and whether the option switches it on rather than off.
fn variable(option: &str) -> Option<(&'static VarDef, bool)> {
    let name = option.to_ascii_lowercase().replace('-', "_");
    let name = if name == "default_time_zone" { "time_zone" } else { &name };
    let own = |name: &str| sysvar::find(name).ok().filter(|def| def.home != Home::Session);
    if let Some(def) = own(name) {
        return Some((def, true));
    }
    [("skip_", false), ("disable_", false), ("enable_", true)].into_iter().find_map(|(word, on)| {
        let def = own(name.strip_prefix(word)?).filter(|def| def.kind == VarKind::Bool);
        Some((def?, on))
    })
}

/// The text of an option as a value of the variable's kind, or as it is where it is none.
fn value_of(def: &VarDef, text: Option<&str>) -> Value {
    let Some(text) = text else { return Value::Int(1) };
    let plain = || Value::Text(text.into());
    match def.kind {
        VarKind::Bool => match text.to_ascii_uppercase().as_str() {
            "1" | "ON" | "TRUE" | "YES" => Value::Int(1),
            "0" | "OFF" | "FALSE" | "NO" => Value::Int(0),
            _ => plain(),
        },
        VarKind::Int(..) => size(text).unwrap_or_else(plain),
        VarKind::Double => text.parse().map_or_else(|_| plain(), Value::Double),
        VarKind::Text if def.name != "sql_mode" => plain(),
        VarKind::Text | VarKind::Switches | VarKind::Word(_) | VarKind::Set(_) => {
            text.parse().map_or_else(|_| plain(), Value::Int)
        }
    }
}

/// A number, which a letter may multiply.
fn size(text: &str) -> Option<Value> {
    let shift = match text.bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => 0,
    };
    let digits = if shift > 0 { &text[..text.len() - 1] } else { text };
    let number = digits.trim().parse::<i128>().ok()?.checked_mul(1 << shift)?;
    i64::try_from(number).map(Value::Int).or_else(|_| u64::try_from(number).map(Value::UInt)).ok()
}
