//! Accounts and password checks.
//!
//! A login for an unknown account takes the whole way of a known one, with a decoy that no
//! password opens, so that neither packets nor times show which accounts exist.

use super::tls::PasswordKeys;
use inia_sql::{LoginAccount, LoginRequirement};
use inia_wire::auth::{self, CACHING_SHA2, NATIVE, NONCE, SHA256};
use inia_wire::error::ServerError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Finds accounts.
pub trait AccountLookup: Send + Sync {
    /// The account that `user` from `host` logs in to.
    fn account(&self, user: &str, host: &str) -> Option<LoginAccount>;

    /// Notes a login with a right or wrong password; error 3955's text from "blocked" on, where
    /// there were too many wrong ones.
    fn note_login(&self, _account: &LoginAccount, _proven: bool) -> Option<String> {
        None
    }

    /// Counts a connection that is about to be the account's; error 1226 where it may have no more
    /// in this hour.
    fn note_connection(&self, _account: &LoginAccount) -> Result<(), ServerError> {
        Ok(())
    }
}

/// The accounts of a fresh server: `root`@`localhost` without a password.
pub struct RootOnly;

impl AccountLookup for RootOnly {
    fn account(&self, user: &str, host: &str) -> Option<LoginAccount> {
        (user == "root" && host == "localhost").then(|| LoginAccount {
            user: user.to_owned(),
            host: host.to_owned(),
            plugin: CACHING_SHA2.to_owned(),
            auth_string: Vec::new(),
            second_password: Vec::new(),
            locked: false,
            expired: false,
            max_connections: 0,
            administers: false,
            requires: LoginRequirement::Nothing,
        })
    }
}

/// The packets of a login, as the check needs them.
pub(crate) trait Exchange {
    /// Sends a payload.
    fn send(&mut self, payload: &[u8]) -> Result<(), LoginError>;
    /// The client's next payload.
    fn receive(&mut self) -> Result<Vec<u8>, LoginError>;
    /// Whether a password may be sent as it is.
    fn is_secure(&self) -> bool;
    /// Whether the connection is under TLS.
    fn is_tls(&self) -> bool;
}

/// Why a login ends without a session.
#[derive(Debug)]
pub(crate) enum LoginError {
    /// The client left, or was too slow.
    Gone,
    /// The client gets the error.
    Refused(ServerError),
}

impl From<inia_wire::WireError> for LoginError {
    fn from(error: inia_wire::WireError) -> LoginError {
        LoginError::Refused(error.server_error())
    }
}

/// What a client says about itself.
pub(crate) struct Claim<'a> {
    pub(crate) user: &'a str,
    pub(crate) host: &'a str,
    /// The plugin that `reply` was made with.
    pub(crate) plugin: Option<&'a str>,
    /// The client knows plugins, so it can be asked for another reply.
    pub(crate) can_switch: bool,
    pub(crate) reply: Vec<u8>,
    pub(crate) nonce: [u8; NONCE],
    /// The client knows what to do with an expired password.
    pub(crate) may_be_expired: bool,
}

/// The stored forms of the passwords that open an account.
fn passwords(account: &LoginAccount) -> impl Iterator<Item = &Vec<u8>> {
    [&account.auth_string, &account.second_password].into_iter().filter(|stored| !stored.is_empty())
}

type CacheKey = (String, String);

/// What was learnt by a full login, for as long as the stored form stays the same.
struct Cached {
    auth_string: Vec<u8>,
    digest: [u8; 32],
}

/// Checks logins.
pub struct Authenticator {
    accounts: Arc<dyn AccountLookup>,
    keys: Arc<PasswordKeys>,
    cache: Mutex<HashMap<CacheKey, Vec<Cached>>>,
    decoy: Vec<u8>,
}

impl Authenticator {
    /// An authenticator over these accounts.
    pub(crate) fn new(accounts: Arc<dyn AccountLookup>, keys: Arc<PasswordKeys>) -> Authenticator {
        // A salt with a hash that no password has.
        let mut decoy = b"$A$005$".to_vec();
        decoy.extend_from_slice(&random_nonce());
        decoy.extend_from_slice(&[b'.'; 43]);
        Authenticator { accounts, keys, cache: Mutex::default(), decoy }
    }

    /// Whether `root` could log in without a password.
    pub(crate) fn root_is_open(&self) -> bool {
        let root = self.accounts.account("root", "localhost");
        root.is_some_and(|account| account.auth_string.is_empty() && !account.locked)
    }

    /// Checks a claim, talking to the client as the account's plugin demands.
    pub(crate) fn check(
        &self,
        mut claim: Claim<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<LoginAccount, LoginError> {
        let found = self.accounts.account(claim.user, claim.host);
        let known = found.is_some();
        let account = found.unwrap_or_else(|| self.decoy(&claim));
        let open = account.auth_string.is_empty();
        // Clients without plugins get in where there is nothing to prove. All others are asked as
        // MySQL does: some name a plugin of their own when they could not load the right one.
        if claim.can_switch || !open || !claim.reply.is_empty() {
            self.agree_on_plugin(&account, &mut claim, exchange)?;
        }
        // A single zero byte says "no password" in the SHA-256 plugins, in the login packet and
        // later.
        if account.plugin != NATIVE && claim.reply == [0] {
            claim.reply.clear();
        }
        let using = if claim.reply.is_empty() { "NO" } else { "YES" };
        let proven = match account.plugin.as_str() {
            _ if open => claim.reply.is_empty(),
            _ if claim.reply.is_empty() => false,
            NATIVE => passwords(&account).any(|stored| {
                auth::native_from_stored(stored)
                    .is_some_and(|digest| auth::native_verify(&digest, &claim.nonce, &claim.reply))
            }),
            CACHING_SHA2 => self.check_sha2(&account, &claim, exchange)?,
            SHA256 => self.check_sha256(&account, &mut claim, exchange)?,
            _ => false,
        };
        let blocked = match known {
            true => self.accounts.note_login(&account, proven),
            false => None,
        };
        if let Some(why) = blocked {
            return Err(LoginError::Refused(ServerError::new(
                3955,
                "HY000",
                format!(
                    "Access denied for user '{}'@'{}'. Account is {why}",
                    claim.user, claim.host
                ),
            )));
        }
        let fulfilled = match account.requires {
            LoginRequirement::Nothing => true,
            LoginRequirement::Tls => exchange.is_tls(),
            LoginRequirement::Certificate => false,
        };
        if !proven || !known || !fulfilled {
            return Err(denied(&claim, using));
        }
        refuse_locked(&account, &claim)?;
        Ok(account)
    }

    /// Counts a connection that has a place.
    pub(crate) fn note_connection(&self, account: &LoginAccount) -> Result<(), LoginError> {
        self.accounts.note_connection(account).map_err(LoginError::Refused)
    }

    fn decoy(&self, claim: &Claim<'_>) -> LoginAccount {
        LoginAccount {
            user: claim.user.to_owned(),
            host: claim.host.to_owned(),
            plugin: CACHING_SHA2.to_owned(),
            auth_string: self.decoy.clone(),
            second_password: Vec::new(),
            locked: false,
            expired: false,
            max_connections: 0,
            administers: false,
            requires: LoginRequirement::Nothing,
        }
    }

    /// Asks for a reply by the account's plugin, if the client used another.
    fn agree_on_plugin(
        &self,
        account: &LoginAccount,
        claim: &mut Claim<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<(), LoginError> {
        if claim.plugin == Some(account.plugin.as_str()) {
            return Ok(());
        }
        if !claim.can_switch {
            return Err(inia_wire::WireError::UnsupportedAuth.into());
        }
        claim.nonce = random_nonce();
        let mut packet = Vec::new();
        inia_wire::handshake::put_auth_switch(&mut packet, &account.plugin, &claim.nonce);
        exchange.send(&packet)?;
        claim.reply = exchange.receive()?;
        Ok(())
    }

    fn check_sha2(
        &self,
        account: &LoginAccount,
        claim: &Claim<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<bool, LoginError> {
        let key = (account.user.clone(), account.host.clone());
        let known = self.cache.lock().get(&key).is_some_and(|list| {
            list.iter().any(|cached| {
                passwords(account).any(|stored| cached.auth_string == *stored)
                    && auth::sha2_verify(&cached.digest, &claim.nonce, &claim.reply)
            })
        });
        if known {
            send_more(exchange, &[auth::FAST_AUTH_OK])?;
            return Ok(true);
        }
        send_more(exchange, &[auth::FULL_AUTH])?;
        let packet = exchange.receive()?;
        let wants_key = packet == [auth::REQUEST_PUBLIC_KEY];
        let Some(password) = self.open_password(packet, wants_key, claim, exchange)? else {
            return Ok(false);
        };
        let Some(stored) = passwords(account).find(|s| auth::sha2_check_stored(s, &password))
        else {
            return Ok(false);
        };
        let cached = Cached { auth_string: stored.clone(), digest: auth::sha2_digest(&password) };
        let mut cache = self.cache.lock();
        let list = cache.entry(key).or_default();
        // Passwords of before, and this one, leave the list.
        list.retain(|old| {
            old.auth_string != *stored && passwords(account).any(|s| old.auth_string == *s)
        });
        list.push(cached);
        Ok(true)
    }

    fn check_sha256(
        &self,
        account: &LoginAccount,
        claim: &mut Claim<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<bool, LoginError> {
        let packet = std::mem::take(&mut claim.reply);
        let wants_key = packet == [auth::SHA256_REQUEST_PUBLIC_KEY];
        let password = self.open_password(packet, wants_key, claim, exchange)?;
        Ok(password.is_some_and(|password| {
            passwords(account).any(|stored| auth::sha256_check_stored(stored, &password))
        }))
    }

    /// The password that a packet holds, or the next one where this one asks for the public key.
    /// Passwords end with a zero byte, so that no password is such a question.
    fn open_password(
        &self,
        packet: Vec<u8>,
        wants_key: bool,
        claim: &Claim<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<Option<Vec<u8>>, LoginError> {
        if exchange.is_secure() && !wants_key {
            let password = packet.strip_suffix(&[0]).unwrap_or(&packet);
            return Ok(Some(password.to_vec()));
        }
        let keys = self
            .keys
            .get()
            .map_err(|error| LoginError::Refused(ServerError::new(1105, "HY000", error)))?;
        let sealed = if wants_key {
            send_more(exchange, keys.public_pem().as_bytes())?;
            exchange.receive()?
        } else {
            packet
        };
        Ok(keys.decrypt_password(&sealed, &claim.nonce))
    }
}

fn send_more(exchange: &mut dyn Exchange, data: &[u8]) -> Result<(), LoginError> {
    let mut packet = Vec::new();
    inia_wire::handshake::put_auth_more(&mut packet, data);
    exchange.send(&packet)
}

fn denied(claim: &Claim<'_>, using: &str) -> LoginError {
    LoginError::Refused(ServerError::new(
        1045,
        "28000",
        format!(
            "Access denied for user '{}'@'{}' (using password: {using})",
            claim.user, claim.host
        ),
    ))
}

fn refuse_locked(account: &LoginAccount, claim: &Claim<'_>) -> Result<(), LoginError> {
    if account.locked {
        return Err(LoginError::Refused(ServerError::new(
            3118,
            "HY000",
            format!("Access denied for user '{}'@'{}'. Account is locked.", claim.user, claim.host),
        )));
    }
    if account.expired && !claim.may_be_expired {
        return Err(LoginError::Refused(ServerError::new(
            1862,
            "HY000",
            "Your password has expired. To log in you must change it using a client that \
             supports expired passwords.",
        )));
    }
    Ok(())
}

/// Random bytes for a scramble: from 1 to 127 and never `$`, as clients expect text.
pub(crate) fn random_nonce() -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).expect("the system has a source of random bytes");
    nonce.map(|byte| match byte & 0x7f {
        0 | b'$' => b'i',
        other => other,
    })
}
