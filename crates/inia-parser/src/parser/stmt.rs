//! Which statement the first words begin.

use super::{PResult, Parser, utf8};
use crate::{
    ast::{Describe, Explain, ExplainFormat, ExplainTarget, PrepareSource, Statement},
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// One statement.
    pub(super) fn statement(&mut self) -> PResult<Statement> {
        self.top_select = matches!(self.tok.tok, Tok::LParen) || self.is_kw(Kw::SELECT);
        if self.is(Tok::LParen) {
            return Ok(Statement::Select(Box::new(self.query()?)));
        }
        match self.kw() {
            Kw::SELECT | Kw::VALUES | Kw::TABLE => Ok(Statement::Select(Box::new(self.query()?))),
            Kw::WITH => self.with_statement(),
            Kw::INSERT | Kw::REPLACE => self.insert(),
            Kw::UPDATE => self.update(None),
            Kw::DELETE => self.delete(None),
            Kw::SET => self.set(),
            Kw::SHOW => self.show(),
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop(),
            Kw::RENAME => self.rename(),
            Kw::TRUNCATE => {
                self.bump();
                self.accept_kw(Kw::TABLE);
                Ok(Statement::Truncate(self.object_name()?))
            }
            Kw::LOAD => self.load(),
            Kw::CALL => self.call_statement(),
            Kw::HANDLER => self.handler(),
            Kw::DO => {
                self.bump();
                Ok(Statement::Do(self.select_list()?))
            }
            Kw::USE => {
                self.bump();
                Ok(Statement::Use(self.ident()?))
            }
            Kw::DESCRIBE | Kw::DESC | Kw::EXPLAIN => self.explain(),
            Kw::PREPARE => self.prepare(),
            Kw::EXECUTE => self.execute(),
            Kw::DEALLOCATE => {
                self.bump();
                self.expect_kw(Kw::PREPARE)?;
                Ok(Statement::Deallocate(self.ident()?))
            }
            Kw::GRANT => self.grant(),
            Kw::REVOKE => self.revoke(),
            Kw::HELP => {
                self.bump();
                Ok(Statement::Help(self.ident_or_string()?))
            }
            _ => match self.transaction_statement()? {
                Some(statement) => Ok(statement),
                None => self.admin_statement(),
            },
        }
    }

    /// WITH … SELECT, UPDATE or DELETE.
    fn with_statement(&mut self) -> PResult<Statement> {
        let with = self.opt_with()?;
        match self.kw() {
            Kw::UPDATE => self.update(with),
            Kw::DELETE => self.delete(with),
            _ => {
                self.top_select = true;
                Ok(Statement::Select(Box::new(self.query_with(with)?)))
            }
        }
    }

    /// EXPLAIN, DESCRIBE, DESC.
    fn explain(&mut self) -> PResult<Statement> {
        self.bump();
        let analyze = self.accept_kw(Kw::ANALYZE);
        let mut format = ExplainFormat::Default;
        let mut wordy = analyze;
        // FORMAT is also a possible name of a table.
        if self.is_kw(Kw::FORMAT) && self.peek().tok == Tok::Eq {
            self.bump();
            self.bump();
            wordy = true;
            let name = self.ident_or_string()?;
            format = match name.to_ascii_uppercase().as_str() {
                "TRADITIONAL" => ExplainFormat::Traditional,
                "JSON" => ExplainFormat::Json,
                "TREE" => ExplainFormat::Tree,
                _ => {
                    let message = format!("Unknown EXPLAIN format name: '{name}'");
                    return Err(self.other(1791, "HY000", message));
                }
            };
        }
        if analyze && matches!(format, ExplainFormat::Json | ExplainFormat::Traditional) {
            let name = if format == ExplainFormat::Json { "JSON" } else { "TRADITIONAL" };
            let message = format!(
                "This version of MySQL doesn't yet support 'EXPLAIN ANALYZE with {name} format'"
            );
            return Err(self.other(1235, "42000", message));
        }
        if self.is_kw(Kw::FOR) && self.peek_is_kw(Kw::CONNECTION) {
            self.bump();
            self.bump();
            let target = ExplainTarget::Connection(self.uint()?);
            return Ok(Statement::Explain(Explain { analyze, format, target }));
        }
        let explainable = self.is(Tok::LParen)
            || matches!(
                self.tok.kw,
                Kw::SELECT
                    | Kw::WITH
                    | Kw::TABLE
                    | Kw::VALUES
                    | Kw::INSERT
                    | Kw::REPLACE
                    | Kw::UPDATE
                    | Kw::DELETE
            );
        if explainable {
            let statement = self.nested(Self::statement)?;
            let target = ExplainTarget::Statement(Box::new(statement));
            return Ok(Statement::Explain(Explain { analyze, format, target }));
        }
        // DESCRIBE of a table takes neither ANALYZE nor FORMAT.
        if wordy {
            return Err(self.error());
        }
        let table = self.object_name()?;
        let column = if matches!(self.tok.tok, Tok::Str | Tok::Word | Tok::Quoted) {
            Some(self.ident_or_string()?)
        } else {
            None
        };
        Ok(Statement::Describe(Describe { table, column }))
    }

    fn prepare(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.ident()?;
        self.expect_kw(Kw::FROM)?;
        let source = if self.is(Tok::UserVar) {
            let token = self.bump();
            PrepareSource::UserVar(self.user_var_name(token))
        } else {
            PrepareSource::Text(self.string()?)
        };
        Ok(Statement::Prepare { name, source })
    }

    fn execute(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.ident()?;
        let mut using = Vec::new();
        if self.accept_kw(Kw::USING) {
            using = self.list(|p| {
                let token = p.expect(Tok::UserVar)?;
                Ok(p.user_var_name(token))
            })?;
        }
        Ok(Statement::Execute { name, using })
    }

    /// The upper-cased text of the current token, which is passed.
    pub(super) fn upper_word(&mut self) -> String {
        let token = self.bump();
        utf8(self.bytes(token)).to_ascii_uppercase()
    }
}
