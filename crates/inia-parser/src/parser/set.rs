//! SET in all its forms.

use super::{PResult, Parser, string_expr};
use crate::{
    ast::{Expr, RoleChoice, SetItem, SetPassword, Statement, SysVar, VarScope},
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// SET; the word is the current token.
    pub(super) fn set(&mut self) -> PResult<Statement> {
        self.bump();
        match self.set_other()? {
            Some(statement) => Ok(statement),
            None => Ok(Statement::Set(self.list(Self::set_item)?)),
        }
    }

    /// A SET of what is no variable, `None` where it is one.
    pub(super) fn set_other(&mut self) -> PResult<Option<Statement>> {
        Ok(Some(match self.kw() {
            Kw::PASSWORD => self.set_password()?,
            Kw::ROLE => {
                self.bump();
                Statement::SetRole(self.role_choice(true)?)
            }
            Kw::DEFAULT if self.peek_is_kw(Kw::ROLE) => {
                self.bump();
                self.bump();
                let roles = self.role_choice(false)?;
                self.expect_kw(Kw::TO)?;
                let users = self.list(Self::account)?;
                Statement::SetDefaultRole { roles, users }
            }
            Kw::RESOURCE if self.peek_is_kw(Kw::GROUP) => self.set_resource_group()?,
            Kw::TRANSACTION => {
                self.bump();
                self.set_transaction(None)?
            }
            Kw::GLOBAL | Kw::SESSION | Kw::LOCAL if self.peek_is_kw(Kw::TRANSACTION) => {
                let scope = self.opt_scope();
                self.bump();
                self.set_transaction(scope)?
            }
            _ => return Ok(None),
        }))
    }

    /// A scope word before a variable.
    fn opt_scope(&mut self) -> Option<VarScope> {
        let words = [Kw::GLOBAL, Kw::SESSION, Kw::LOCAL, Kw::PERSIST, Kw::PERSIST_ONLY];
        Some(match self.accept_any(&words)? {
            Kw::GLOBAL => VarScope::Global,
            Kw::PERSIST => VarScope::Persist,
            Kw::PERSIST_ONLY => VarScope::PersistOnly,
            _ => VarScope::Session,
        })
    }

    pub(super) fn set_item(&mut self) -> PResult<SetItem> {
        if self.is(Tok::UserVar) {
            let token = self.bump();
            let name = self.set_user_var_name(token)?;
            self.set_equal()?;
            return Ok(SetItem::UserVar { name, value: self.expr()? });
        }
        if self.is(Tok::AtAt) {
            let var = self.sys_var()?;
            self.set_equal()?;
            return Ok(SetItem::SysVar { var, explicit: true, value: self.set_value()? });
        }
        // NAMES, CHARSET and the scope words may be names of variables, which the next token shows.
        let next = self.peek();
        let assigned = matches!(next.tok, Tok::Eq | Tok::Assign | Tok::Dot);
        if self.is_kw(Kw::NAMES) && next.tok != Tok::Dot {
            return self.set_names();
        }
        if (self.is_kw(Kw::CHARSET) && !assigned)
            || self.is_kw(Kw::CHARACTER)
            || self.is_kw(Kw::CHAR)
        {
            if !self.accept_charset() {
                return Err(self.error());
            }
            if self.accept_kw(Kw::DEFAULT) {
                return Ok(SetItem::Charset(None));
            }
            return Ok(SetItem::Charset(Some(self.charset_name()?)));
        }
        let start = self.tok.start;
        let scope = if assigned { None } else { self.opt_scope() };
        if self.is_kw(Kw::DEFAULT) && self.peek().tok == Tok::Dot {
            self.bump();
            self.bump();
            // The word DEFAULT is no identifier, but names the default instance of a variable.
            let mut var = self.sys_var_name(scope, start)?;
            var.component = Some("default".to_string());
            self.set_equal()?;
            return Ok(SetItem::SysVar { var, explicit: true, value: self.set_value()? });
        }
        let first = self.ident()?;
        let var = if self.accept(Tok::Dot) {
            let last = self.ident_after_dot()?;
            SysVar {
                scope,
                component: Some(first),
                name: last.to_ascii_lowercase(),
                text: self.text(start, self.prev_end),
            }
        } else {
            SysVar { scope, component: None, name: first.to_ascii_lowercase(), text: first }
        };
        self.set_equal()?;
        let explicit = scope.is_some();
        Ok(SetItem::SysVar { var, explicit, value: self.set_value()? })
    }

    pub(super) fn set_equal(&mut self) -> PResult<()> {
        if self.accept(Tok::Assign) {
            return Ok(());
        }
        self.expect(Tok::Eq).map(|_| ())
    }

    /// The value of a system variable: `None` for DEFAULT; bare words become strings.
    fn set_value(&mut self) -> PResult<Option<Expr>> {
        if self.is_kw(Kw::DEFAULT) && self.peek().tok != Tok::LParen {
            self.bump();
            return Ok(None);
        }
        let word = matches!(self.tok.kw, Kw::ON | Kw::ALL | Kw::BINARY | Kw::ROW | Kw::SYSTEM);
        if word && matches!(self.peek().tok, Tok::Comma | Tok::Semi | Tok::Eof) {
            return Ok(Some(self.word_literal()));
        }
        Ok(Some(match self.expr()? {
            Expr::Column(column) if column.table.is_none() => string_expr(column.name),
            other => other,
        }))
    }

    fn set_names(&mut self) -> PResult<SetItem> {
        self.bump();
        if self.accept_kw(Kw::DEFAULT) {
            return Ok(SetItem::Names { charset: None, collation: None });
        }
        let charset = Some(self.charset_name()?);
        let collation =
            if self.accept_kw(Kw::COLLATE) { Some(self.collation_name()?) } else { None };
        Ok(SetItem::Names { charset, collation })
    }

    fn set_password(&mut self) -> PResult<Statement> {
        self.bump();
        let account = if self.accept_kw(Kw::FOR) { Some(self.account()?) } else { None };
        let password = if self.accept_kw(Kw::TO) {
            self.expect_kw(Kw::RANDOM)?;
            None
        } else {
            self.set_equal()?;
            Some(self.string()?)
        };
        let replace = if self.accept_kw(Kw::REPLACE) { Some(self.string()?) } else { None };
        let retain = self.opt_retain()?;
        Ok(Statement::SetPassword(SetPassword { account, password, replace, retain }))
    }

    /// RETAIN CURRENT PASSWORD.
    pub(super) fn opt_retain(&mut self) -> PResult<bool> {
        if !self.accept_kw(Kw::RETAIN) {
            return Ok(false);
        }
        self.expect_kw(Kw::CURRENT)?;
        self.expect_kw(Kw::PASSWORD)?;
        Ok(true)
    }

    /// NONE, ALL, roles and, for SET ROLE, DEFAULT and ALL EXCEPT.
    pub(super) fn role_choice(&mut self, for_session: bool) -> PResult<RoleChoice> {
        if self.accept_kw(Kw::NONE) {
            return Ok(RoleChoice::None);
        }
        if for_session && self.accept_kw(Kw::DEFAULT) {
            return Ok(RoleChoice::Default);
        }
        if self.accept_kw(Kw::ALL) {
            if for_session && self.accept_kw(Kw::EXCEPT) {
                return Ok(RoleChoice::AllExcept(self.list(Self::account)?));
            }
            return Ok(RoleChoice::All);
        }
        Ok(RoleChoice::Roles(self.list(Self::account)?))
    }
}
