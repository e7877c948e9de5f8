//! CREATE, ALTER and DROP SEQUENCE, NEXT VALUE FOR and PREVIOUS VALUE FOR, as MariaDB has them.
//!
//! None of the words is reserved. The statements begin with words that MySQL refuses; `NEXT VALUE
//! FOR s` would be a column with an alias where FOR UPDATE or FOR SHARE follows.

use super::{PResult, Parser};
use crate::{
    ast::{Expr, FunctionCall, ObjectName, SequenceOptions, SequenceStatement, Statement},
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// Whether the word SEQUENCE stands here.
    pub(super) fn at_sequence(&self) -> bool {
        self.is_word("SEQUENCE")
    }

    /// CREATE SEQUENCE, from the last word on.
    pub(super) fn create_sequence(&mut self, or_replace: bool) -> PResult<Statement> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        if or_replace && if_not_exists {
            let message = "Incorrect usage of OR REPLACE and IF NOT EXISTS".to_owned();
            return Err(self.other(1221, "HY000", message));
        }
        let name = self.object_name()?;
        let options = self.sequence_options(false)?;
        let create = SequenceStatement::Create { name, or_replace, if_not_exists, options };
        Ok(Statement::Sequence(Box::new(create)))
    }

    /// ALTER SEQUENCE, from the last word on.
    pub(super) fn alter_sequence(&mut self) -> PResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let name = self.object_name()?;
        let options = self.sequence_options(true)?;
        if options == SequenceOptions::default() {
            return Err(self.error());
        }
        let alter = SequenceStatement::Alter { name, if_exists, options };
        Ok(Statement::Sequence(Box::new(alter)))
    }

    /// DROP SEQUENCE, from the last word on.
    pub(super) fn drop_sequence(&mut self) -> PResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let names = self.object_names()?;
        Ok(Statement::Sequence(Box::new(SequenceStatement::Drop { names, if_exists })))
    }

    fn sequence_options(&mut self, altered: bool) -> PResult<SequenceOptions> {
        let mut options = SequenceOptions::default();
        loop {
            let word = match self.is(Tok::Word) {
                true => self.upper_text(),
                false => return Ok(options),
            };
            let twice = match word.as_str() {
                "START" => options.start.is_some(),
                "INCREMENT" => options.increment.is_some(),
                "MINVALUE" | "NOMINVALUE" => options.min.is_some(),
                "MAXVALUE" | "NOMAXVALUE" => options.max.is_some(),
                "CACHE" | "NOCACHE" => options.cache.is_some(),
                "CYCLE" | "NOCYCLE" => options.cycle.is_some(),
                "RESTART" if altered => options.restart.is_some(),
                "NO" | "COMMENT" | "ENGINE" => false,
                _ => return Err(self.error()),
            };
            if twice {
                let message = format!("Option '{word}' used twice in statement");
                return Err(self.other(1225, "HY000", message));
            }
            self.bump();
            self.sequence_option(&word, &mut options)?;
        }
    }

    /// What follows the first word of an option.
    fn sequence_option(&mut self, word: &str, options: &mut SequenceOptions) -> PResult<()> {
        match word {
            "NO" => {
                let word = format!("NO{}", self.upper_text());
                if !matches!(&*word, "NOMINVALUE" | "NOMAXVALUE" | "NOCACHE" | "NOCYCLE") {
                    return Err(self.error());
                }
                self.bump();
                return self.sequence_option(&word, options);
            }
            "START" => options.start = Some(self.sequence_number("WITH")?),
            "INCREMENT" => options.increment = Some(self.sequence_number("BY")?),
            "MINVALUE" => options.min = Some(Some(self.sequence_number("")?)),
            "NOMINVALUE" => options.min = Some(None),
            "MAXVALUE" => options.max = Some(Some(self.sequence_number("")?)),
            "NOMAXVALUE" => options.max = Some(None),
            "CACHE" => options.cache = Some(self.sequence_number("")?),
            "NOCACHE" => options.cache = Some(0),
            "CYCLE" => options.cycle = Some(true),
            "NOCYCLE" => options.cycle = Some(false),
            "COMMENT" => {
                self.opt_eq();
                options.comment = Some(self.string()?);
            }
            "ENGINE" => {
                self.opt_eq();
                self.ident_or_string()?;
            }
            _ => {
                let given = self.is_word("WITH") || self.at_number() || self.is(Tok::Eq);
                let number = if given { Some(self.sequence_number("WITH")?) } else { None };
                options.restart = Some(number);
            }
        }
        Ok(())
    }

    fn at_number(&self) -> bool {
        self.is(Tok::Int) || self.is(Tok::Minus)
    }

    /// `[= | word] number`.
    fn sequence_number(&mut self, word: &str) -> PResult<i64> {
        if !self.accept(Tok::Eq) && !word.is_empty() {
            self.accept_word(word);
        }
        let negative = self.accept(Tok::Minus);
        let token = self.tok;
        let text = match token.tok {
            Tok::Int => String::from_utf8_lossy(self.bytes(token)).into_owned(),
            _ => return Err(self.error()),
        };
        let signed = if negative { format!("-{text}") } else { text };
        let number = signed.parse().map_err(|_| self.error())?;
        self.bump();
        Ok(number)
    }

    pub(super) fn upper_text(&self) -> String {
        String::from_utf8_lossy(self.bytes(self.tok)).to_ascii_uppercase()
    }

    /// At NEXT or PREVIOUS: the call that `NEXT VALUE FOR name` stands for.
    pub(super) fn sequence_value(&mut self) -> PResult<Option<Expr>> {
        let next = self.is_word("NEXT");
        if !next && !self.is_word("PREVIOUS") {
            return Ok(None);
        }
        let peeked = self.peek();
        if peeked.tok != Tok::Word || !self.bytes(peeked).eq_ignore_ascii_case(b"VALUE") {
            return Ok(None);
        }
        let mut ahead = self.lex;
        let (third, fourth) = (ahead.next(), ahead.next());
        let named = Self::is_ident(fourth) && fourth.kw != Kw::SHARE;
        if third.kw != Kw::FOR || !named {
            return Ok(None);
        }
        self.bump();
        self.bump();
        self.bump();
        let ObjectName { db, name } = self.object_name()?;
        let column = crate::ast::ColumnName { db: None, table: db, name };
        let function = if next { "nextval" } else { "lastval" };
        let call = FunctionCall::native(function, vec![Expr::Column(column)]);
        Ok(Some(Expr::Function(call)))
    }
}
