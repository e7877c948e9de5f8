//! CREATE, ALTER, DROP and RENAME USER, CREATE and DROP ROLE, SET PASSWORD and SET DEFAULT ROLE.

use super::Actor;
use super::def::{AccountDef, CACHING_SHA2};
use super::password::{check_current, remember};
use super::privilege::Privileges;
use super::store::{AccountChange, AccountsVersion};
use crate::catalog::AccountName;
use crate::catalog::StoredProgram;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::password::{
    MAX_SHA2_PASSWORD, NATIVE, SHA256, native_from_stored, native_stored, sha2_stored,
    sha256_stored,
};
use inia_expr::json::{self, Json};
use inia_parser::ast::{self, AuthOption, PasswordExpire, RoleChoice, TlsRequirement};

type Result<T> = std::result::Result<T, SqlError>;

/// Notes that a statement leaves behind.
pub type Notes = Vec<SqlError>;

const MAX_USER: usize = 32;
const MAX_HOST: usize = 255;
const SHA2_LENGTH: usize = 70;
/// Bytes of the stored form of `sha256_password`.
const SHA256_LENGTH: usize = 67;

/// Error 1396 for a list of accounts.
fn failed(operation: &str, names: &[AccountName]) -> SqlError {
    let list: Vec<String> = names.iter().map(AccountName::quoted).collect();
    SqlError::new(ErrorCode::CannotUser, &[&operation, &list.join(",")])
}

fn note(notes: &mut Notes, code: ErrorCode, name: &AccountName) {
    notes.push(SqlError::new(code, &[&name.quoted()]));
}

/// CREATE USER.
pub fn create_user(actor: &Actor<'_>, create: &ast::CreateUser) -> Result<Notes> {
    check_limits(&create.options)?;
    actor.need(Privileges::CREATE_USER, "CREATE USER")?;
    actor.accounts.change(|current, changes| {
        let (mut notes, mut existing) = (Notes::new(), Vec::new());
        for spec in &create.users {
            let name = actor.name(&spec.account);
            check_name(&name)?;
            if current.get(&name).is_some() || listed(changes, &name) {
                existing.push(name);
                continue;
            }
            check_attribute(&create.options)?;
            warn_of_definer(actor, &name, &mut notes);
            if !create.default_roles.is_empty() {
                let roles: Vec<_> = create.default_roles.iter().map(|r| actor.name(r)).collect();
                super::grant::authorize_roles(actor, &roles)?;
            }
            let mut def = AccountDef::new(name);
            def.password_changed = actor.now;
            apply_options(&mut def, &create.options);
            authenticate(actor, &mut def, "CREATE USER", spec)?;
            def.expired = create.options.expire == Some(PasswordExpire::Now);
            for role in &create.default_roles {
                let role = actor.name(role);
                if current.get(&role).is_none() {
                    let quoted = format!("`{}`@`{}`", role.user, role.host);
                    return Err(SqlError::new(ErrorCode::UserDoesNotExist, &[&quoted]));
                }
                def.roles.insert(role.clone(), false);
                def.default_roles.insert(role);
            }
            changes.push(AccountChange::Put(def));
        }
        if !create.if_not_exists && !existing.is_empty() {
            return Err(failed("CREATE USER", &existing));
        }
        existing.iter().for_each(|name| note(&mut notes, ErrorCode::UserAlreadyExists, name));
        Ok(notes)
    })
}

/// Warning 4005 where views and stored programs act for an account that is made, renamed or
/// dropped.
fn warn_of_definer(actor: &Actor<'_>, name: &AccountName, notes: &mut Notes) {
    let mut views = actor.catalog.schemas.values().flat_map(|schema| schema.views.values());
    if views.any(|view| view.def.definer == *name) {
        let args: [&dyn std::fmt::Display; 2] = [&name.quoted(), &"a view"];
        notes.push(SqlError::new(ErrorCode::UserReferencedAsDefiner, &args));
    }
    let programs = || actor.catalog.schemas.values().flat_map(|schema| schema.programs.values());
    for (trigger, what) in [(false, "a stored routine"), (true, "a trigger")] {
        let of_kind = |program: &&std::sync::Arc<StoredProgram>| {
            program.def.definer == *name && program.def.trigger.is_some() == trigger
        };
        if programs().any(|program| of_kind(&program)) {
            let args: [&dyn std::fmt::Display; 2] = [&name.quoted(), &what];
            notes.push(SqlError::new(ErrorCode::UserReferencedAsDefiner, &args));
        }
    }
}

/// An account as the changes so far leave it.
fn by_name<'a>(
    current: &'a AccountsVersion,
    changes: &'a [AccountChange],
    name: &AccountName,
) -> Option<&'a AccountDef> {
    for change in changes.iter().rev() {
        match change {
            AccountChange::Put(def) if def.name == *name => return Some(def),
            AccountChange::Drop(gone) if gone == name => return None,
            _ => {}
        }
    }
    current.get(name).map(|def| &**def)
}

fn listed(changes: &[AccountChange], name: &AccountName) -> bool {
    changes.iter().any(|change| match change {
        AccountChange::Put(def) => def.name == *name,
        AccountChange::Drop(other) => other == name,
    })
}

/// Whether the actor may carry out an ALTER USER. An account may change its own password and
/// default roles without a privilege.
fn may_alter(actor: &Actor<'_>, alter: &ast::AlterUser) -> Result<()> {
    let is_own = |spec: &ast::UserSpec| actor.name(&spec.account) == actor.access.account;
    let own = |spec: &ast::UserSpec| {
        let simple = match &spec.auth {
            None => alter.default_roles.is_some() || spec.discard_old,
            Some(AuthOption::Password { plugin: None, .. }) => true,
            Some(_) => false,
        };
        simple && is_own(spec)
    };
    if alter.users.iter().any(|spec| spec.retain || spec.discard_old) {
        need_second_password(actor)?;
    }
    if alter.options != ast::UserOptions::default() || !alter.users.iter().all(own) {
        actor.need(Privileges::CREATE_USER, "CREATE USER")?;
    }
    // A session with an expired password may only set a new one for its own account.
    let changes_own = |spec: &ast::UserSpec| spec.auth.is_some() && is_own(spec);
    if actor.expired && !alter.users.iter().any(changes_own) {
        return Err(SqlError::new(ErrorCode::MustChangePassword, &[]));
    }
    Ok(())
}

/// ALTER USER.
pub fn alter_user(actor: &Actor<'_>, alter: &ast::AlterUser) -> Result<Notes> {
    check_attribute(&alter.options)?;
    check_limits(&alter.options)?;
    may_alter(actor, alter)?;
    let options = &alter.options;
    let mut limited = Vec::new();
    actor
        .accounts
        .change(|current, changes| {
            let (mut notes, mut missing) = (Notes::new(), Vec::new());
            for spec in &alter.users {
                let name = actor.name(&spec.account);
                let Some(def) = current.get(&name) else {
                    missing.push(name);
                    continue;
                };
                actor.protect(def)?;
                // As in MySQL, these options end a lock that wrong passwords have caused.
                if options.lock == Some(false)
                    || options.failed_login_attempts.is_some()
                    || options.lock_time.is_some()
                {
                    actor.accounts.tries.forgive(&name);
                }
                let mut def = AccountDef::clone(def);
                // The options come first: the new password must obey the rules that they set.
                apply_options(&mut def, options);
                if spec.auth.is_some() {
                    check_current(actor, &def, spec.replace.as_deref())?;
                }
                authenticate(actor, &mut def, "ALTER USER", spec)?;
                // A new password ends the expiry, so PASSWORD EXPIRE takes effect after it.
                def.expired |= options.expire == Some(PasswordExpire::Now);
                if let Some(choice) = &alter.default_roles {
                    choose_default_roles(actor, &mut def, choice)?;
                }
                if !options.limits.is_empty() {
                    limited.push(name);
                }
                changes.push(AccountChange::Put(def));
            }
            if !alter.if_exists && !missing.is_empty() {
                return Err(failed("ALTER USER", &missing));
            }
            missing.iter().for_each(|name| note(&mut notes, ErrorCode::UserDoesNotExist, name));
            Ok(notes)
        })
        .inspect(|_| {
            // The meters of running sessions get the new limits once those are committed.
            let current = actor.accounts.current();
            let limited = limited.iter().filter_map(|name| current.get(name));
            limited.for_each(|def| actor.accounts.meters.set(def));
        })
}

/// DROP USER and DROP ROLE.
pub fn drop_user(
    actor: &Actor<'_>,
    accounts: &[ast::Account],
    if_exists: bool,
    role: bool,
) -> Result<Notes> {
    let operation = if role { "DROP ROLE" } else { "DROP USER" };
    let only_roles = role && !actor.access.global.has(Privileges::CREATE_USER);
    match role {
        true if actor.access.global.has(Privileges::DROP_ROLE) => {}
        true => actor.need(Privileges::CREATE_USER, "CREATE USER, DROP ROLE")?,
        false => actor.need(Privileges::CREATE_USER, "CREATE USER")?,
    }
    actor.accounts.change(|current, changes| {
        let (mut notes, mut missing) = (Notes::new(), Vec::new());
        let mut gone = Vec::new();
        for account in accounts {
            let name = actor.name(account);
            warn_of_definer(actor, &name, &mut notes);
            match current.get(&name).filter(|_| !gone.contains(&name)) {
                Some(def) => {
                    actor.protect(def)?;
                    // DROP_ROLE covers locked accounts only, which roles are.
                    if only_roles && !def.locked {
                        actor.need(Privileges::CREATE_USER, "CREATE USER")?;
                    }
                    gone.push(name);
                }
                None => missing.push(name),
            }
        }
        // All accounts are looked up before this: error 1396 names every missing one.
        if !if_exists && !missing.is_empty() {
            return Err(failed(operation, &missing));
        }
        missing.iter().for_each(|name| note(&mut notes, ErrorCode::UserDoesNotExist, name));
        // Grants of a dropped account as a role go as well: an account that is created later under
        // the same name must not find them.
        for def in current.accounts.values().filter(|def| !gone.contains(&def.name)) {
            if gone.iter().any(|role| def.roles.contains_key(role)) {
                let mut def = AccountDef::clone(def);
                def.roles.retain(|role, _| !gone.contains(role));
                def.default_roles.retain(|role| !gone.contains(role));
                changes.push(AccountChange::Put(def));
            }
        }
        changes.extend(gone.into_iter().map(AccountChange::Drop));
        Ok(notes)
    })
}

/// CREATE ROLE: an account without a login.
pub fn create_role(
    actor: &Actor<'_>,
    roles: &[ast::Account],
    if_not_exists: bool,
) -> Result<Notes> {
    if !actor.access.global.has(Privileges::CREATE_ROLE) {
        actor.need(Privileges::CREATE_USER, "CREATE USER, CREATE ROLE")?;
    }
    actor.accounts.change(|current, changes| {
        let (mut notes, mut existing) = (Notes::new(), Vec::new());
        for role in roles {
            let name = actor.name(role);
            check_name(&name)?;
            if current.get(&name).is_some() || listed(changes, &name) {
                existing.push(name);
                continue;
            }
            let mut def = AccountDef::new(name);
            (def.locked, def.expired, def.password_changed) = (true, true, actor.now);
            changes.push(AccountChange::Put(def));
        }
        if !if_not_exists && !existing.is_empty() {
            return Err(failed("CREATE ROLE", &existing));
        }
        existing.iter().for_each(|name| note(&mut notes, ErrorCode::UserAlreadyExists, name));
        Ok(notes)
    })
}

/// RENAME USER.
pub fn rename_user(actor: &Actor<'_>, pairs: &[(ast::Account, ast::Account)]) -> Result<Notes> {
    actor.need(Privileges::CREATE_USER, "CREATE USER")?;
    actor.accounts.change(|current, changes| {
        let (mut notes, mut wrong) = (Notes::new(), Vec::new());
        for (from, to) in pairs {
            let (from, to) = (actor.name(from), actor.name(to));
            warn_of_definer(actor, &from, &mut notes);
            check_name(&to)?;
            if current.accounts.values().any(|def| def.roles.contains_key(&from)) {
                return Err(SqlError::new(ErrorCode::RenameRole, &[]));
            }
            // A name may have been taken or given up by a pair before.
            let found = by_name(current, changes, &from);
            let Some(def) = found.filter(|_| by_name(current, changes, &to).is_none()) else {
                wrong.push(from);
                continue;
            };
            actor.protect(def)?;
            let mut def = AccountDef::clone(def);
            def.name = to;
            changes.push(AccountChange::Drop(from));
            changes.push(AccountChange::Put(def));
        }
        if wrong.is_empty() { Ok(notes) } else { Err(failed("RENAME USER", &wrong)) }
    })
}

/// SET PASSWORD.
pub fn set_password(actor: &Actor<'_>, set: &ast::SetPassword) -> Result<Notes> {
    let name = set.account.as_ref().map_or(actor.access.account.clone(), |a| actor.name(a));
    let others = name != actor.access.account;
    if others && !actor.access.on_database("mysql").has(Privileges::UPDATE) {
        return Err(actor.access.no_database("mysql"));
    }
    let password = set.password.as_ref().ok_or_else(no_password)?;
    if set.retain {
        need_second_password(actor)?;
    }
    actor.accounts.change(|current, changes| {
        let missing = || SqlError::new(ErrorCode::PasswordNoMatch, &[]);
        let mut def = AccountDef::clone(current.get(&name).ok_or_else(missing)?);
        actor.protect(&def)?;
        check_current(actor, &def, set.replace.as_deref())?;
        let stored = stored_form(&def, "SET PASSWORD", password)?;
        let old = std::mem::replace(&mut def.auth_string, stored);
        if set.retain {
            let plugin = def.plugin.clone();
            retain(&mut def, (&plugin, old))?;
        }
        if def.auth_string.is_empty() {
            def.second_password.clear();
        }
        remember(&mut def, &actor.rules, Some(password), actor.now)?;
        (def.expired, def.password_changed) = (false, actor.now);
        changes.push(AccountChange::Put(def));
        Ok(Notes::new())
    })
}

/// SET DEFAULT ROLE.
pub fn set_default_role(
    actor: &Actor<'_>,
    choice: &RoleChoice,
    users: &[ast::Account],
) -> Result<Notes> {
    let own = users.iter().all(|user| actor.name(user) == actor.access.account);
    if !own {
        actor.need(Privileges::CREATE_USER, "CREATE USER")?;
    }
    actor.accounts.change(|current, changes| {
        for user in users {
            let name = actor.name(user);
            let missing = || failed("SET DEFAULT ROLE", std::slice::from_ref(&name));
            // What has no roles needs no account.
            let found = current.get(&name);
            match choice {
                RoleChoice::None if found.is_none() => continue,
                RoleChoice::Roles(roles) if found.is_none() => {
                    let first = roles.first().map(|role| actor.name(role));
                    return Err(first.map_or_else(missing, |role| not_granted(&role, &name)));
                }
                _ => {}
            }
            let mut def = AccountDef::clone(found.ok_or_else(missing)?);
            actor.protect(&def)?;
            choose_default_roles(actor, &mut def, choice)?;
            changes.push(AccountChange::Put(def));
        }
        Ok(Notes::new())
    })
}

fn choose_default_roles(
    actor: &Actor<'_>,
    def: &mut AccountDef,
    choice: &RoleChoice,
) -> Result<()> {
    def.default_roles = chosen_roles(actor, def, choice)?;
    Ok(())
}

/// The roles that a choice means for an account; error 3530.
pub fn chosen_roles(
    actor: &Actor<'_>,
    def: &AccountDef,
    choice: &RoleChoice,
) -> Result<std::collections::BTreeSet<AccountName>> {
    let all = || def.roles.keys().cloned();
    Ok(match choice {
        RoleChoice::None => Default::default(),
        RoleChoice::Default => def.default_roles.clone(),
        RoleChoice::All => all().collect(),
        RoleChoice::AllExcept(except) => {
            let except: Vec<_> = except.iter().map(|role| actor.name(role)).collect();
            all().filter(|role| !except.contains(role)).collect()
        }
        RoleChoice::Roles(roles) => {
            let roles: Vec<_> = roles.iter().map(|role| actor.name(role)).collect();
            if let Some(role) = roles.iter().find(|role| !def.roles.contains_key(role)) {
                return Err(not_granted(role, &def.name));
            }
            roles.into_iter().collect()
        }
    })
}

/// Error 3530.
pub(crate) fn not_granted(role: &AccountName, to: &AccountName) -> SqlError {
    SqlError::new(ErrorCode::RoleNotGranted, &[&role.user, &role.host, &to.user, &to.host])
}

/// Error 3523.
pub(crate) fn known_role(current: &AccountsVersion, role: &AccountName) -> Result<()> {
    match current.get(role) {
        Some(_) => Ok(()),
        None => Err(SqlError::new(ErrorCode::UnknownAuthid, &[&role.user, &role.host])),
    }
}

/// Error 1470.
fn check_name(name: &AccountName) -> Result<()> {
    let parts = [(&name.user, "user name", MAX_USER), (&name.host, "host name", MAX_HOST)];
    for (text, what, limit) in parts {
        if text.chars().count() > limit {
            let shown = &text[..text.floor_char_boundary(70)];
            return Err(SqlError::new(ErrorCode::WrongStringLength, &[&shown, &what, &limit]));
        }
    }
    Ok(())
}

/// The known plugin of that name; error 1524.
fn plugin(name: &str) -> Result<&'static str> {
    [CACHING_SHA2, NATIVE, SHA256]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .ok_or_else(|| SqlError::new(ErrorCode::PluginIsNotLoaded, &[&name]))
}

/// What a statement comes to whose random password nobody has made.
fn no_password() -> SqlError {
    debug_assert!(false, "random passwords are made before the statement is carried out");
    SqlError::new(ErrorCode::UnknownError, &[&"no password was made"])
}

/// RETAIN CURRENT PASSWORD: the account's password of before, which is stored as `old`, stays
/// valid beside the new one. Errors 3878, 3894 and 3895 where that cannot be.
fn retain(def: &mut AccountDef, old: (&str, Vec<u8>)) -> Result<()> {
    let (plugin, password) = old;
    let code = match () {
        () if plugin != def.plugin => ErrorCode::CurrentPasswordCannotBeRetainedBesidePlugin,
        () if def.auth_string.is_empty() => ErrorCode::CurrentPasswordCannotBeRetained,
        () if password.is_empty() => ErrorCode::SecondPasswordCannotBeEmpty,
        () => {
            def.second_password = password;
            return Ok(());
        }
    };
    Err(SqlError::new(code, &[&def.name.user, &def.name.host]))
}

/// The second password of one's own account is APPLICATION_PASSWORD_ADMIN's matter: error 1227.
fn need_second_password(actor: &Actor<'_>) -> Result<()> {
    match actor.access.has_dynamic("APPLICATION_PASSWORD_ADMIN") {
        true => Ok(()),
        false => actor.need(Privileges::CREATE_USER, "CREATE USER or APPLICATION_PASSWORD_ADMIN"),
    }
}

/// Applies IDENTIFIED, under the rules that the account has by now.
fn authenticate(
    actor: &Actor<'_>,
    def: &mut AccountDef,
    operation: &str,
    spec: &ast::UserSpec,
) -> Result<()> {
    if spec.discard_old {
        def.second_password.clear();
    }
    let Some(auth) = &spec.auth else { return Ok(()) };
    let before = def.plugin.clone();
    let old = def.auth_string.clone();
    let mut plain = None;
    match auth {
        AuthOption::Password { plugin: name, password } => {
            if let Some(name) = name {
                def.plugin = plugin(name)?.to_owned();
            }
            def.auth_string = stored_form(def, operation, password)?;
            plain = Some(password.as_str());
        }
        AuthOption::RandomPassword { .. } => return Err(no_password()),
        AuthOption::Plugin { plugin: name, hash } => {
            def.plugin = plugin(name)?.to_owned();
            def.auth_string = hash.clone().unwrap_or_default();
            // A stored form is taken as it is: no login could succeed with a malformed one.
            let fits = def.auth_string.is_empty()
                || match def.plugin.as_str() {
                    NATIVE => native_from_stored(&def.auth_string).is_some(),
                    SHA256 => {
                        let form = (def.auth_string.get(..3), def.auth_string.get(23));
                        def.auth_string.len() == SHA256_LENGTH
                            && form == (Some(b"$5$"), Some(&b'$'))
                    }
                    _ => {
                        def.auth_string.len() == SHA2_LENGTH && def.auth_string.starts_with(b"$A$")
                    }
                };
            if !fits {
                return Err(SqlError::new(ErrorCode::PasswordFormat, &[]));
            }
        }
    }
    if spec.retain {
        retain(def, (&before, old))?;
    }
    // Old passwords have the form of the old plugin and cannot be compared any more.
    if def.plugin != before {
        def.past.clear();
    }
    if def.plugin != before || def.auth_string.is_empty() {
        def.second_password.clear();
    }
    // Only a password in plain text can be compared with old ones; a stored form is just kept.
    remember(def, &actor.rules, plain, actor.now)?;
    // A plugin without a password takes the old one away: its user must set a new one.
    let emptied = matches!(auth, AuthOption::Plugin { hash: None, .. });
    def.expired = emptied && operation == "ALTER USER";
    def.password_changed = actor.now;
    Ok(())
}

/// What the account's plugin stores for a password; error 1396 for one that it does not take.
fn stored_form(def: &AccountDef, operation: &str, password: &str) -> Result<Vec<u8>> {
    if password.is_empty() {
        return Ok(Vec::new());
    }
    if def.plugin == NATIVE {
        return Ok(native_stored(password.as_bytes()));
    }
    if password.len() > MAX_SHA2_PASSWORD {
        return Err(failed(operation, std::slice::from_ref(&def.name)));
    }
    let mut salt = [0; 20];
    let no_random = |error| SqlError::new(ErrorCode::UnknownError, &[&format!("{error}")]);
    getrandom::fill(&mut salt).map_err(no_random)?;
    Ok(match def.plugin.as_str() {
        SHA256 => sha256_stored(password.as_bytes(), &salt),
        _ => sha2_stored(password.as_bytes(), &salt),
    })
}

/// Error 3982 for attributes that are no JSON object.
fn check_attribute(options: &ast::UserOptions) -> Result<()> {
    match options.attribute.as_deref().is_some_and(|text| attributes_of(text).is_none()) {
        true => Err(SqlError::new(ErrorCode::InvalidUserAttributeJson, &[])),
        false => Ok(()),
    }
}

/// Error 1525 for numbers that are too large, or no days at all.
fn check_limits(options: &ast::UserOptions) -> Result<()> {
    const MAX: u64 = i16::MAX as u64;
    let days = match options.expire {
        Some(PasswordExpire::Days(days)) => Some(days),
        _ => None,
    };
    let wrong = [
        ("DAY", days.filter(|days| !(1..=u64::from(u16::MAX)).contains(days))),
        ("FAILED_LOGIN_ATTEMPTS", options.failed_login_attempts.filter(|most| *most > MAX)),
        ("PASSWORD_LOCK_TIME", options.lock_time.flatten().filter(|days| *days > MAX)),
    ];
    match wrong.into_iter().find_map(|(what, number)| Some((what, number?))) {
        Some((what, number)) => Err(SqlError::new(ErrorCode::WrongValue, &[&what, &number])),
        None => Ok(()),
    }
}

fn apply_options(def: &mut AccountDef, options: &ast::UserOptions) {
    if let Some(tls) = &options.tls {
        def.tls = match tls {
            TlsRequirement::None => String::new(),
            TlsRequirement::Ssl => String::from("SSL"),
            TlsRequirement::X509 => String::from("X509"),
            TlsRequirement::Specific(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|(word, value)| format!("{word} '{value}'")).collect();
                parts.join(" ")
            }
        };
    }
    for (word, number) in &options.limits {
        // MySQL keeps 32 bits.
        def.limits.insert(word.clone(), *number & u64::from(u32::MAX));
    }
    def.locked = options.lock.unwrap_or(def.locked);
    match options.expire {
        Some(PasswordExpire::Default) => def.lifetime = None,
        Some(PasswordExpire::Never) => def.lifetime = Some(0),
        Some(PasswordExpire::Days(days)) => def.lifetime = Some(days),
        Some(PasswordExpire::Now) | None => {}
    }
    def.history = options.history.unwrap_or(def.history);
    def.reuse_interval = options.reuse_interval.unwrap_or(def.reuse_interval);
    def.require_current = options.require_current.unwrap_or(def.require_current);
    def.failed_attempts = options.failed_login_attempts.or(def.failed_attempts);
    if let Some(lock_time) = options.lock_time {
        def.lock_time = Some(lock_time.unwrap_or(u64::MAX));
    }
    if let Some(comment) = &options.comment {
        let comment = Json::String(comment.clone());
        add_attributes(def, Json::Object(vec![(String::from("comment"), comment)]));
    }
    if let Some(attributes) = options.attribute.as_deref().and_then(attributes_of) {
        add_attributes(def, attributes);
    }
}

/// The object that ATTRIBUTE names, if it is one.
fn attributes_of(text: &str) -> Option<Json> {
    json::parse(text).ok().filter(|parsed| matches!(parsed, Json::Object(_)))
}

/// Merges attributes into those that an account has: null removes one.
fn add_attributes(def: &mut AccountDef, added: Json) {
    let merged = match def.attribute.as_deref().and_then(attributes_of) {
        Some(present) => json::merge_patch(present, added),
        None => added,
    };
    def.attribute = Some(merged.to_string());
}
