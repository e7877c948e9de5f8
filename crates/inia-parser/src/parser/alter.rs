//! ALTER TABLE and RENAME TABLE.

use super::{PResult, Parser};
use crate::{
    ast::{AlterAction, AlterTable, ColumnDefault, ColumnPosition, Expr, Statement, TableElement},
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// ALTER TABLE; TABLE is the current token.
    pub(super) fn alter_table(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.object_name()?;
        let mut actions = Vec::new();
        if !matches!(self.tok.tok, Tok::Eof | Tok::Semi) {
            // Behind a comma stands no action on partitions.
            let mut listed = false;
            loop {
                if !listed && self.at_partition_action() {
                    let action = self.partition_action()?;
                    actions.push(AlterAction::Partition(action));
                    break;
                }
                self.alter_action(&mut actions)?;
                listed = false;
                if self.at_partition_action() {
                    continue;
                }
                if !self.accept(Tok::Comma) {
                    break;
                }
                listed = true;
            }
        }
        Ok(Statement::AlterTable(Box::new(AlterTable { name, actions })))
    }

    fn at_partition_action(&mut self) -> bool {
        match self.kw() {
            Kw::PARTITION | Kw::REMOVE | Kw::COALESCE | Kw::REORGANIZE | Kw::EXCHANGE => true,
            Kw::ADD
            | Kw::DROP
            | Kw::TRUNCATE
            | Kw::ANALYZE
            | Kw::CHECK
            | Kw::OPTIMIZE
            | Kw::REBUILD
            | Kw::REPAIR
            | Kw::DISCARD
            | Kw::IMPORT => self.peek_is_kw(Kw::PARTITION),
            _ => false,
        }
    }

    fn alter_action(&mut self, actions: &mut Vec<AlterAction>) -> PResult<()> {
        let action = match self.kw() {
            Kw::ADD => return self.alter_add(actions),
            Kw::DROP => self.alter_drop()?,
            Kw::MODIFY => {
                self.bump();
                self.accept_kw(Kw::COLUMN);
                let def = Box::new(self.column_def()?);
                AlterAction::ModifyColumn { def, position: self.opt_position()? }
            }
            Kw::CHANGE => {
                self.bump();
                self.accept_kw(Kw::COLUMN);
                let old = self.ident()?;
                let def = Box::new(self.column_def()?);
                AlterAction::ChangeColumn { old, def, position: self.opt_position()? }
            }
            Kw::ALTER => self.alter_alter()?,
            Kw::RENAME => self.alter_rename()?,
            Kw::CONVERT => {
                self.bump();
                self.expect_kw(Kw::TO)?;
                if !self.accept_charset() {
                    return Err(self.error());
                }
                let charset =
                    if self.accept_kw(Kw::DEFAULT) { None } else { Some(self.charset_name()?) };
                let collation =
                    if self.accept_kw(Kw::COLLATE) { Some(self.collation_name()?) } else { None };
                AlterAction::ConvertCharset { charset, collation }
            }
            Kw::ORDER => {
                self.bump();
                self.expect_kw(Kw::BY)?;
                AlterAction::OrderBy(self.order_list()?)
            }
            Kw::ENABLE | Kw::DISABLE => {
                let enable = self.bump().kw == Kw::ENABLE;
                self.expect_kw(Kw::KEYS)?;
                AlterAction::EnableKeys(enable)
            }
            Kw::FORCE => {
                self.bump();
                AlterAction::Force
            }
            Kw::ALGORITHM => {
                self.bump();
                self.opt_eq();
                AlterAction::Algorithm(self.option_text()?)
            }
            Kw::LOCK => {
                self.bump();
                self.opt_eq();
                AlterAction::Lock(self.option_text()?)
            }
            Kw::WITH | Kw::WITHOUT => {
                let with = self.bump().kw == Kw::WITH;
                self.expect_kw(Kw::VALIDATION)?;
                AlterAction::Validation(with)
            }
            Kw::DISCARD | Kw::IMPORT => self.own_tablespace(actions)?,
            _ => return self.alter_options(actions),
        };
        actions.push(action);
        Ok(())
    }

    /// DISCARD and IMPORT TABLESPACE, beside which only ways of work may stand.
    fn own_tablespace(&mut self, before: &[AlterAction]) -> PResult<AlterAction> {
        use AlterAction::{Algorithm, Lock, Validation};
        let import = self.bump().kw == Kw::IMPORT;
        self.expect_kw(Kw::TABLESPACE)?;
        let is_way =
            |action: &AlterAction| matches!(action, Algorithm(_) | Lock(_) | Validation(_));
        if !before.iter().all(is_way) || self.is(Tok::Comma) {
            return Err(self.error());
        }
        Ok(AlterAction::Tablespace { import })
    }

    /// Table options, which may follow one another without commas.
    fn alter_options(&mut self, actions: &mut Vec<AlterAction>) -> PResult<()> {
        let before = actions.len();
        while let Some(option) = self.table_option()? {
            actions.push(AlterAction::Option(option));
        }
        if actions.len() == before { Err(self.error()) } else { Ok(()) }
    }

    fn alter_add(&mut self, actions: &mut Vec<AlterAction>) -> PResult<()> {
        self.bump();
        let column = self.accept_kw(Kw::COLUMN);
        if !column && let Some(element) = self.key_or_constraint()? {
            actions.push(add_element(element));
            return Ok(());
        }
        if self.accept(Tok::LParen) {
            for element in self.list(Self::table_element)? {
                actions.push(add_element(element));
            }
            self.expect(Tok::RParen)?;
            return Ok(());
        }
        let def = Box::new(self.column_def()?);
        let position = self.opt_position()?;
        actions.push(AlterAction::AddColumn { def, position });
        Ok(())
    }

    fn opt_position(&mut self) -> PResult<Option<ColumnPosition>> {
        if self.accept_kw(Kw::FIRST) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.accept_kw(Kw::AFTER) {
            return Ok(Some(ColumnPosition::After(self.ident()?)));
        }
        Ok(None)
    }

    fn alter_drop(&mut self) -> PResult<AlterAction> {
        self.bump();
        let action = match self.kw() {
            Kw::INDEX | Kw::KEY => {
                self.bump();
                AlterAction::DropIndex(self.index_name()?)
            }
            Kw::PRIMARY => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                AlterAction::DropPrimaryKey
            }
            Kw::FOREIGN => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                AlterAction::DropForeignKey(self.ident()?)
            }
            Kw::CHECK => {
                self.bump();
                AlterAction::DropCheck(self.ident()?)
            }
            Kw::CONSTRAINT => {
                self.bump();
                AlterAction::DropConstraint(self.ident()?)
            }
            _ => {
                self.accept_kw(Kw::COLUMN);
                let name = self.ident()?;
                let _ = self.accept_any(&[Kw::RESTRICT, Kw::CASCADE]);
                AlterAction::DropColumn(name)
            }
        };
        Ok(action)
    }

    fn alter_alter(&mut self) -> PResult<AlterAction> {
        self.bump();
        match self.kw() {
            Kw::INDEX => {
                self.bump();
                let index = self.ident()?;
                let visible = self.expect_any(&[Kw::VISIBLE, Kw::INVISIBLE])? == Kw::VISIBLE;
                return Ok(AlterAction::SetIndexVisibility { index, visible });
            }
            Kw::CHECK | Kw::CONSTRAINT => {
                self.bump();
                let name = self.ident()?;
                let enforced = self.opt_enforced().ok_or_else(|| self.error())?;
                return Ok(AlterAction::SetEnforced { name, enforced });
            }
            _ => {}
        }
        self.accept_kw(Kw::COLUMN);
        let column = self.ident()?;
        if self.accept_kw(Kw::DROP) {
            self.expect_kw(Kw::DEFAULT)?;
            return Ok(AlterAction::DropDefault(column));
        }
        self.expect_kw(Kw::SET)?;
        if let Some(kw) = self.accept_any(&[Kw::VISIBLE, Kw::INVISIBLE]) {
            return Ok(AlterAction::SetColumnVisibility { column, visible: kw == Kw::VISIBLE });
        }
        self.expect_kw(Kw::DEFAULT)?;
        let default = if self.accept(Tok::LParen) {
            let expr: Expr = self.expr()?;
            self.expect(Tok::RParen)?;
            ColumnDefault::Expr(expr)
        } else {
            ColumnDefault::Literal(self.signed_literal()?)
        };
        Ok(AlterAction::SetDefault { column, default })
    }

    fn alter_rename(&mut self) -> PResult<AlterAction> {
        self.bump();
        match self.kw() {
            Kw::COLUMN => {
                self.bump();
                let from = self.ident()?;
                self.expect_kw(Kw::TO)?;
                Ok(AlterAction::RenameColumn { from, to: self.ident()? })
            }
            Kw::INDEX | Kw::KEY => {
                self.bump();
                let from = self.ident()?;
                self.expect_kw(Kw::TO)?;
                Ok(AlterAction::RenameIndex { from, to: self.new_ident()? })
            }
            _ => {
                if !self.accept(Tok::Eq) {
                    let _ = self.accept_any(&[Kw::TO, Kw::AS]);
                }
                Ok(AlterAction::RenameTo(self.object_name()?))
            }
        }
    }

    /// RENAME TABLE, RENAME USER; the word is the current token.
    pub(super) fn rename(&mut self) -> PResult<Statement> {
        self.bump();
        match self.expect_any(&[Kw::TABLE, Kw::TABLES, Kw::USER])? {
            Kw::USER => {
                let pairs = self.list(|p| {
                    let from = p.account()?;
                    p.expect_kw(Kw::TO)?;
                    Ok((from, p.account()?))
                })?;
                Ok(Statement::RenameUser(pairs))
            }
            _ => {
                let pairs = self.list(|p| {
                    let from = p.object_name()?;
                    p.expect_kw(Kw::TO)?;
                    Ok((from, p.object_name()?))
                })?;
                Ok(Statement::RenameTable(pairs))
            }
        }
    }
}

fn add_element(element: TableElement) -> AlterAction {
    match element {
        TableElement::Column(def) => AlterAction::AddColumn { def, position: None },
        TableElement::Index(index) => AlterAction::AddIndex(index),
        TableElement::ForeignKey(key) => AlterAction::AddForeignKey(key),
        TableElement::Check(check) => AlterAction::AddCheck(check),
    }
}
