//! Account names, privileges, GRANT and REVOKE.

use super::{PResult, Parser};
use crate::{
    ast::{
        Account, Grant, GrantWhat, ObjectKind, ObjectName, Privilege, PrivilegeLevel, Revoke,
        Statement,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// `'user'@'host'`, `user`, CURRENT_USER.
    pub(super) fn account(&mut self) -> PResult<Account> {
        if self.accept_kw(Kw::CURRENT_USER) {
            self.empty_parens()?;
            return Ok(Account::Current);
        }
        if self.is_kw(Kw::USER) && self.peek().tok == Tok::LParen {
            self.bump();
            self.empty_parens()?;
            return Ok(Account::Current);
        }
        let user = self.ident_or_string()?;
        let mut host = None;
        if self.is(Tok::UserVar) {
            let token = self.bump();
            let mut name = self.user_var_name(token);
            if token.end == token.start + 1 && (Self::is_ident(self.tok) || self.is(Tok::Str)) {
                name = self.ident_or_string()?;
            }
            host = Some(name.to_ascii_lowercase());
        }
        Ok(Account::Name { user, host })
    }

    fn empty_parens(&mut self) -> PResult<()> {
        if self.accept(Tok::LParen) {
            self.expect(Tok::RParen)?;
        }
        Ok(())
    }

    /// GRANT; the word is the current token.
    pub(super) fn grant(&mut self) -> PResult<Statement> {
        self.bump();
        let what = self.grant_what()?;
        self.expect_kw(Kw::TO)?;
        let to = self.list(Self::account)?;
        let with_option = self.accept_kw(Kw::WITH);
        if with_option {
            let roles = matches!(what, GrantWhat::Roles(_));
            self.expect_kw(if roles { Kw::ADMIN } else { Kw::GRANT })?;
            self.expect_kw(Kw::OPTION)?;
        }
        if self.accept_kw(Kw::AS) {
            self.account()?;
            if self.accept_kw(Kw::WITH) {
                self.expect_kw(Kw::ROLE)?;
                self.role_choice(true)?;
            }
        }
        Ok(Statement::Grant(Box::new(Grant { what, to, with_option })))
    }

    /// REVOKE; the word is the current token.
    pub(super) fn revoke(&mut self) -> PResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let what = self.grant_what()?;
        self.expect_kw(Kw::FROM)?;
        let from = self.list(Self::account)?;
        let ignore_unknown = self.accept_kw(Kw::IGNORE);
        if ignore_unknown {
            self.expect_kw(Kw::UNKNOWN)?;
            self.expect_kw(Kw::USER)?;
        }
        Ok(Statement::Revoke(Box::new(Revoke { if_exists, what, from, ignore_unknown })))
    }

    fn grant_what(&mut self) -> PResult<GrantWhat> {
        if self.is_kw(Kw::PROXY) && self.peek_is_kw(Kw::ON) {
            self.bump();
            self.bump();
            return Ok(GrantWhat::Proxy(self.account()?));
        }
        if self.accept_kw(Kw::ALL) {
            self.accept_kw(Kw::PRIVILEGES);
            // REVOKE ALL PRIVILEGES, GRANT OPTION has no ON clause.
            if self.accept(Tok::Comma) {
                self.expect_kw(Kw::GRANT)?;
                self.expect_kw(Kw::OPTION)?;
                return Ok(GrantWhat::Everything);
            }
            self.expect_kw(Kw::ON)?;
            let level = self.privilege_level()?;
            return Ok(GrantWhat::Privileges { privileges: Vec::new(), level });
        }
        // Only ON shows whether the names are dynamic privileges or roles.
        let mut privileges = Vec::new();
        let mut roles = Vec::new();
        loop {
            match self.privilege_or_role()? {
                Ok(privilege) => privileges.push(privilege),
                Err(role) => roles.push(role),
            }
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        if self.accept_kw(Kw::ON) {
            for role in roles {
                match role {
                    // A name with a host can only be a role.
                    Account::Name { user, host: None } => {
                        let name = user.to_ascii_uppercase();
                        privileges.push(Privilege { name, columns: Vec::new() });
                    }
                    _ => return Err(self.error()),
                }
            }
            let level = self.privilege_level()?;
            return Ok(GrantWhat::Privileges { privileges, level });
        }
        if !privileges.is_empty() {
            return Err(self.error());
        }
        Ok(GrantWhat::Roles(roles))
    }

    /// A static privilege, or a name that is a role or a dynamic privilege.
    fn privilege_or_role(&mut self) -> PResult<Result<Privilege, Account>> {
        let words: &[&[Kw]] = match self.kw() {
            Kw::SELECT | Kw::INSERT | Kw::UPDATE | Kw::REFERENCES => {
                let name = self.upper_word();
                let columns = if self.is(Tok::LParen) { self.ident_list()? } else { Vec::new() };
                return Ok(Ok(Privilege { name, columns }));
            }
            // Most of these words may also name a role, as a host or another word shows.
            Kw::DELETE
            | Kw::USAGE
            | Kw::INDEX
            | Kw::DROP
            | Kw::EXECUTE
            | Kw::RELOAD
            | Kw::SHUTDOWN
            | Kw::PROCESS
            | Kw::FILE
            | Kw::SUPER
            | Kw::EVENT
            | Kw::TRIGGER
                if !matches!(self.peek().tok, Tok::UserVar | Tok::Word)
                    || self.peek_is_kw(Kw::ON)
                    || self.is_kw(Kw::DROP) =>
            {
                &[&[Kw::ROLE]]
            }
            Kw::ALTER => &[&[Kw::ROUTINE]],
            Kw::GRANT => &[&[Kw::OPTION]],
            Kw::SHOW => &[&[Kw::DATABASES], &[Kw::VIEW]],
            Kw::LOCK => &[&[Kw::TABLES]],
            Kw::REPLICATION => &[&[Kw::SLAVE], &[Kw::CLIENT], &[Kw::REPLICA]],
            Kw::CREATE => &[
                &[Kw::TEMPORARY, Kw::TABLES],
                &[Kw::ROUTINE],
                &[Kw::VIEW],
                &[Kw::USER],
                &[Kw::TABLESPACE],
                &[Kw::ROLE],
            ],
            _ => return Ok(Err(self.account()?)),
        };
        let mut name = self.upper_word();
        if let Some(rest) = words.iter().find(|rest| self.is_kw(rest[0])) {
            for &kw in *rest {
                if !self.is_kw(kw) {
                    return Err(self.error());
                }
                name.push(' ');
                name.push_str(&self.upper_word());
            }
        } else if matches!(name.as_str(), "GRANT" | "SHOW" | "LOCK" | "REPLICATION") {
            return Err(self.error());
        }
        Ok(Ok(Privilege { name, columns: Vec::new() }))
    }

    fn privilege_level(&mut self) -> PResult<PrivilegeLevel> {
        let kind = match self.kw() {
            Kw::TABLE => ObjectKind::Table,
            Kw::FUNCTION => ObjectKind::Function,
            Kw::PROCEDURE => ObjectKind::Procedure,
            _ => return self.privilege_target(ObjectKind::Table),
        };
        self.bump();
        self.privilege_target(kind)
    }

    fn privilege_target(&mut self, kind: ObjectKind) -> PResult<PrivilegeLevel> {
        if self.accept(Tok::Star) {
            if self.accept(Tok::Dot) {
                self.expect(Tok::Star)?;
                return Ok(PrivilegeLevel::Global);
            }
            return Ok(PrivilegeLevel::CurrentDatabase);
        }
        let first = self.ident()?;
        if !self.accept(Tok::Dot) {
            return Ok(PrivilegeLevel::Object(kind, ObjectName::bare(first)));
        }
        if self.accept(Tok::Star) {
            return Ok(PrivilegeLevel::Database(first));
        }
        let name = self.ident_after_dot()?;
        Ok(PrivilegeLevel::Object(kind, ObjectName { db: Some(first), name }))
    }
}
