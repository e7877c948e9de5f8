//! CREATE USER, ALTER USER, CREATE ROLE.

use super::{PResult, Parser, utf8};
use crate::{
    ast::{
        AlterUser, AuthOption, CreateUser, PasswordExpire, Statement, TlsRequirement, UserOptions,
        UserSpec,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// CREATE USER; USER is the current token.
    pub(super) fn create_user(&mut self) -> PResult<Statement> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let users = self.list(Self::user_spec)?;
        let mut default_roles = Vec::new();
        if self.accept_kw(Kw::DEFAULT) {
            self.expect_kw(Kw::ROLE)?;
            default_roles = self.list(Self::account)?;
        }
        let options = self.user_options()?;
        let user = CreateUser { if_not_exists, users, default_roles, options };
        Ok(Statement::CreateUser(Box::new(user)))
    }

    /// CREATE ROLE; ROLE is the current token.
    pub(super) fn create_role(&mut self) -> PResult<Statement> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        Ok(Statement::CreateRole { if_not_exists, roles: self.list(Self::account)? })
    }

    /// ALTER USER; USER is the current token.
    pub(super) fn alter_user(&mut self) -> PResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let users = self.list(Self::altered_user)?;
        let mut default_roles = None;
        if self.accept_kw(Kw::DEFAULT) {
            self.expect_kw(Kw::ROLE)?;
            default_roles = Some(self.role_choice(false)?);
        }
        let options = self.user_options()?;
        let user = AlterUser { if_exists, users, default_roles, options };
        Ok(Statement::AlterUser(Box::new(user)))
    }

    /// An account with what may stand after it.
    fn user_spec(&mut self) -> PResult<UserSpec> {
        let account = self.account()?;
        let mut spec =
            UserSpec { account, auth: None, replace: None, retain: false, discard_old: false };
        if self.accept_kw(Kw::IDENTIFIED) {
            spec.auth = Some(self.auth_option()?);
        }
        Ok(spec)
    }

    /// An account of ALTER USER, whose password may be named or kept.
    fn altered_user(&mut self) -> PResult<UserSpec> {
        let mut spec = self.user_spec()?;
        let by = |auth: &AuthOption| !matches!(auth, AuthOption::Plugin { .. });
        if spec.auth.as_ref().is_some_and(by) && self.accept_kw(Kw::REPLACE) {
            spec.replace = Some(self.string()?);
        }
        if spec.auth.is_some() {
            spec.retain = self.opt_retain()?;
        } else if self.accept_kw(Kw::DISCARD) {
            self.expect_kw(Kw::OLD)?;
            self.expect_kw(Kw::PASSWORD)?;
            spec.discard_old = true;
        }
        Ok(spec)
    }

    fn auth_option(&mut self) -> PResult<AuthOption> {
        let plugin = if self.accept_kw(Kw::WITH) { Some(self.ident_or_string()?) } else { None };
        if self.accept_kw(Kw::BY) {
            if self.accept_kw(Kw::RANDOM) {
                self.expect_kw(Kw::PASSWORD)?;
                return Ok(AuthOption::RandomPassword { plugin });
            }
            return Ok(AuthOption::Password { plugin, password: self.string()? });
        }
        let Some(plugin) = plugin else { return Err(self.error()) };
        let hash = if self.accept_kw(Kw::AS) { Some(self.string_or_hex()?) } else { None };
        Ok(AuthOption::Plugin { plugin, hash })
    }

    fn user_options(&mut self) -> PResult<UserOptions> {
        let mut options = UserOptions::default();
        self.opt_require(&mut options)?;
        if self.accept_kw(Kw::WITH) {
            if !self.resource_limit(&mut options)? {
                return Err(self.error());
            }
            while self.resource_limit(&mut options)? {}
        }
        loop {
            match self.kw() {
                Kw::ACCOUNT => {
                    self.bump();
                    options.lock = Some(self.expect_any(&[Kw::LOCK, Kw::UNLOCK])? == Kw::LOCK);
                }
                Kw::PASSWORD => {
                    self.bump();
                    self.password_option(&mut options)?;
                }
                Kw::FAILED_LOGIN_ATTEMPTS => {
                    self.bump();
                    options.failed_login_attempts = Some(self.uint()?);
                }
                Kw::PASSWORD_LOCK_TIME => {
                    self.bump();
                    options.lock_time =
                        Some(if self.accept_kw(Kw::UNBOUNDED) { None } else { Some(self.uint()?) });
                }
                _ => break,
            }
        }
        if self.accept_kw(Kw::COMMENT) {
            options.comment = Some(self.string()?);
        } else if self.accept_kw(Kw::ATTRIBUTE) {
            options.attribute = Some(self.string()?);
        }
        Ok(options)
    }

    fn password_option(&mut self, options: &mut UserOptions) -> PResult<()> {
        match self.expect_any(&[Kw::EXPIRE, Kw::HISTORY, Kw::REUSE, Kw::REQUIRE])? {
            Kw::EXPIRE => {
                options.expire = Some(if self.accept_kw(Kw::DEFAULT) {
                    PasswordExpire::Default
                } else if self.accept_kw(Kw::NEVER) {
                    PasswordExpire::Never
                } else if self.accept_kw(Kw::INTERVAL) {
                    let days = self.uint()?;
                    self.expect_kw(Kw::DAY)?;
                    PasswordExpire::Days(days)
                } else {
                    PasswordExpire::Now
                });
            }
            Kw::HISTORY => options.history = Some(self.number_or_default()?),
            Kw::REUSE => {
                self.expect_kw(Kw::INTERVAL)?;
                let days = self.number_or_default()?;
                if days.is_some() {
                    self.expect_kw(Kw::DAY)?;
                }
                options.reuse_interval = Some(days);
            }
            _ => {
                self.expect_kw(Kw::CURRENT)?;
                options.require_current = Some(if self.accept_kw(Kw::DEFAULT) {
                    None
                } else {
                    Some(!self.accept_kw(Kw::OPTIONAL))
                });
            }
        }
        Ok(())
    }

    fn number_or_default(&mut self) -> PResult<Option<u64>> {
        if self.accept_kw(Kw::DEFAULT) { Ok(None) } else { Ok(Some(self.uint()?)) }
    }

    /// REQUIRE.
    fn opt_require(&mut self, options: &mut UserOptions) -> PResult<()> {
        if !self.accept_kw(Kw::REQUIRE) {
            return Ok(());
        }
        options.tls = Some(match self.kw() {
            Kw::NONE => {
                self.bump();
                TlsRequirement::None
            }
            Kw::SSL => {
                self.bump();
                TlsRequirement::Ssl
            }
            Kw::X509 => {
                self.bump();
                TlsRequirement::X509
            }
            _ => {
                let mut parts = Vec::new();
                loop {
                    let token = self.tok;
                    self.expect_any(&[Kw::SUBJECT, Kw::ISSUER, Kw::CIPHER])?;
                    let name = utf8(self.bytes(token)).to_ascii_uppercase();
                    parts.push((name, self.string()?));
                    self.accept_kw(Kw::AND);
                    if !matches!(self.tok.kw, Kw::SUBJECT | Kw::ISSUER | Kw::CIPHER) {
                        break;
                    }
                }
                TlsRequirement::Specific(parts)
            }
        });
        Ok(())
    }

    /// MAX_QUERIES_PER_HOUR n and the like; false where none stands.
    fn resource_limit(&mut self, options: &mut UserOptions) -> PResult<bool> {
        let known = matches!(
            self.tok.kw,
            Kw::MAX_QUERIES_PER_HOUR
                | Kw::MAX_UPDATES_PER_HOUR
                | Kw::MAX_CONNECTIONS_PER_HOUR
                | Kw::MAX_USER_CONNECTIONS
        );
        if known {
            let name = self.upper_word();
            if !self.is(Tok::Int) {
                return Err(self.error());
            }
            options.limits.push((name, self.uint()?));
        }
        Ok(known)
    }
}
