//! Passwords that the server makes: IDENTIFIED BY RANDOM PASSWORD, SET PASSWORD TO RANDOM.

use super::{AccountName, Actor};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{AuthOption, Statement, UserSpec};

type Result<T> = std::result::Result<T, SqlError>;

/// What passwords are made of: 64 characters that need no escape in a text. Six bits choose one.
const CHARACTERS: &[u8; 64] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789*+-_.,;";

/// A password that was made for an account. Its user sees it once.
pub struct MadePassword {
    /// The account.
    pub account: AccountName,
    /// The password.
    pub password: String,
}

/// A statement with passwords of so many characters where it asks for random ones, and these
/// passwords; `None` where it asks for none.
pub fn with_passwords(
    actor: &Actor<'_>,
    statement: &Statement,
    length: usize,
) -> Result<Option<(Statement, Vec<MadePassword>)>> {
    let asks = |users: &[UserSpec]| {
        users.iter().any(|spec| matches!(spec.auth, Some(AuthOption::RandomPassword { .. })))
    };
    let asks = match statement {
        Statement::CreateUser(create) => asks(&create.users),
        Statement::AlterUser(alter) => asks(&alter.users),
        Statement::SetPassword(set) => set.password.is_none(),
        _ => false,
    };
    if !asks {
        return Ok(None);
    }
    let mut filled = statement.clone();
    let made = match &mut filled {
        Statement::CreateUser(create) => fill(actor, &mut create.users, length)?,
        Statement::AlterUser(alter) => fill(actor, &mut alter.users, length)?,
        Statement::SetPassword(set) => {
            let own = || actor.access.account.clone();
            let account = set.account.as_ref().map_or_else(own, |account| actor.name(account));
            let password = random(length)?;
            set.password = Some(password.clone());
            vec![MadePassword { account, password }]
        }
        _ => Vec::new(),
    };
    Ok(Some((filled, made)))
}

fn fill(actor: &Actor<'_>, users: &mut [UserSpec], length: usize) -> Result<Vec<MadePassword>> {
    let mut made = Vec::new();
    for spec in users {
        let Some(AuthOption::RandomPassword { plugin }) = &spec.auth else { continue };
        let (plugin, password) = (plugin.clone(), random(length)?);
        spec.auth = Some(AuthOption::Password { plugin, password: password.clone() });
        made.push(MadePassword { account: actor.name(&spec.account), password });
    }
    Ok(made)
}

fn random(length: usize) -> Result<String> {
    let mut bytes = vec![0; length];
    let no_random = |error| SqlError::new(ErrorCode::UnknownError, &[&format!("{error}")]);
    getrandom::fill(&mut bytes).map_err(no_random)?;
    let character = |byte: &u8| char::from(CHARACTERS[usize::from(byte % 64)]);
    Ok(bytes.iter().map(character).collect())
}
