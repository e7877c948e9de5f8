//! CREATE, ALTER, DROP and SET RESOURCE GROUP.

use super::{PResult, Parser};
use crate::{
    ast::{
        ResourceGroupAction, ResourceGroupAttributes, ResourceGroupStatement, ServerStatement,
        Statement,
    },
    keyword::Kw,
    lexer::Tok,
};

fn statement(name: String, action: ResourceGroupAction) -> PResult<Statement> {
    let statement = ResourceGroupStatement { name, action };
    Ok(Statement::Server(Box::new(ServerStatement::ResourceGroup(statement))))
}

impl Parser<'_> {
    /// RESOURCE GROUP and a name; RESOURCE is the current token.
    fn resource_group_name(&mut self) -> PResult<String> {
        self.expect_kw(Kw::RESOURCE)?;
        self.expect_kw(Kw::GROUP)?;
        let name = self.ident()?;
        self.check_name(name)
    }

    /// CREATE RESOURCE GROUP; RESOURCE is the current token.
    pub(super) fn create_resource_group(&mut self) -> PResult<Statement> {
        let name = self.resource_group_name()?;
        self.expect_kw(Kw::TYPE)?;
        self.opt_eq();
        let system = self.expect_any(&[Kw::USER, Kw::SYSTEM])? == Kw::SYSTEM;
        let attributes = self.resource_group_attributes()?;
        statement(name, ResourceGroupAction::Create { system, attributes })
    }

    /// ALTER RESOURCE GROUP; RESOURCE is the current token.
    pub(super) fn alter_resource_group(&mut self) -> PResult<Statement> {
        let name = self.resource_group_name()?;
        let attributes = self.resource_group_attributes()?;
        let force = self.accept_kw(Kw::FORCE);
        statement(name, ResourceGroupAction::Alter { attributes, force })
    }

    /// DROP RESOURCE GROUP; RESOURCE is the current token.
    pub(super) fn drop_resource_group(&mut self) -> PResult<Statement> {
        let name = self.resource_group_name()?;
        let force = self.accept_kw(Kw::FORCE);
        statement(name, ResourceGroupAction::Drop { force })
    }

    /// SET RESOURCE GROUP; RESOURCE is the current token.
    pub(super) fn set_resource_group(&mut self) -> PResult<Statement> {
        let name = self.resource_group_name()?;
        let mut threads = Vec::new();
        if self.accept_kw(Kw::FOR) {
            threads.push(self.uint()?);
            while self.accept(Tok::Comma) || self.is(Tok::Int) {
                threads.push(self.uint()?);
            }
        }
        statement(name, ResourceGroupAction::Set { threads })
    }

    /// VCPU, THREAD_PRIORITY, and ENABLE or DISABLE, in this order.
    fn resource_group_attributes(&mut self) -> PResult<ResourceGroupAttributes> {
        let mut attributes = ResourceGroupAttributes::default();
        if self.accept_kw(Kw::VCPU) {
            self.opt_eq();
            loop {
                let first = self.decimal()?;
                let last = if self.accept(Tok::Minus) { self.decimal()? } else { first };
                attributes.processors.push((first, last));
                if !self.accept(Tok::Comma) && !self.is(Tok::Int) {
                    break;
                }
            }
        }
        if self.accept_kw(Kw::THREAD_PRIORITY) {
            self.opt_eq();
            let negative = self.accept(Tok::Minus);
            let at = self.tok.start;
            let size = i64::try_from(self.decimal()?).ok().filter(|&n| n <= i64::from(i32::MAX));
            let Some(size) = size else {
                return Err(self.error_at(at, crate::ParseErrorKind::Syntax));
            };
            attributes.priority = Some(if negative { -size } else { size });
        }
        let enable = self.accept_any(&[Kw::ENABLE, Kw::DISABLE]);
        attributes.enable = enable.map(|kw| kw == Kw::ENABLE);
        Ok(attributes)
    }

    /// A number in decimal digits.
    fn decimal(&mut self) -> PResult<u64> {
        if self.is(Tok::Int) { self.uint() } else { Err(self.error()) }
    }
}
