//! CREATE, ALTER and DROP of TABLESPACE and UNDO TABLESPACE.

use super::{PResult, Parser};
use crate::{
    ParseErrorKind,
    ast::{ServerStatement, Statement, TablespaceAction, TablespaceOptions, TablespaceStatement},
    keyword::Kw,
    lexer::Tok,
};

/// The options of CREATE TABLESPACE and of ALTER TABLESPACE; others have ENGINE and perhaps WAIT.
const CREATE: &[Kw] = &[
    Kw::INITIAL_SIZE,
    Kw::AUTOEXTEND_SIZE,
    Kw::MAX_SIZE,
    Kw::EXTENT_SIZE,
    Kw::NODEGROUP,
    Kw::ENGINE,
    Kw::STORAGE,
    Kw::WAIT,
    Kw::NO_WAIT,
    Kw::COMMENT,
    Kw::FILE_BLOCK_SIZE,
    Kw::ENCRYPTION,
    Kw::ENGINE_ATTRIBUTE,
];
const ALTER: &[Kw] = &[
    Kw::INITIAL_SIZE,
    Kw::AUTOEXTEND_SIZE,
    Kw::MAX_SIZE,
    Kw::ENGINE,
    Kw::STORAGE,
    Kw::WAIT,
    Kw::NO_WAIT,
    Kw::ENCRYPTION,
    Kw::ENGINE_ATTRIBUTE,
];
const DROP: &[Kw] = &[Kw::ENGINE, Kw::STORAGE, Kw::WAIT, Kw::NO_WAIT];
const UNDO: &[Kw] = &[Kw::ENGINE, Kw::STORAGE];

fn statement(
    undo: bool,
    name: String,
    action: TablespaceAction,
    options: TablespaceOptions,
) -> PResult<Statement> {
    let statement = TablespaceStatement { undo, name, action, options };
    Ok(Statement::Server(Box::new(ServerStatement::Tablespace(statement))))
}

impl Parser<'_> {
    /// [UNDO] TABLESPACE; whether UNDO stands there.
    fn tablespace_head(&mut self) -> PResult<bool> {
        let undo = self.accept_kw(Kw::UNDO);
        self.expect_kw(Kw::TABLESPACE)?;
        Ok(undo)
    }

    /// CREATE [UNDO] TABLESPACE; UNDO or TABLESPACE is the current token.
    pub(super) fn create_tablespace(&mut self) -> PResult<Statement> {
        let undo = self.tablespace_head()?;
        let name = self.tablespace_name()?;
        let mut file = None;
        if undo || self.is_kw(Kw::ADD) {
            self.expect_kw(Kw::ADD)?;
            self.expect_kw(Kw::DATAFILE)?;
            file = Some(self.string()?);
        }
        if !undo && self.accept_kw(Kw::USE) {
            self.expect_kw(Kw::LOGFILE)?;
            self.expect_kw(Kw::GROUP)?;
            self.ident()?;
        }
        let options = self.tablespace_options(if undo { UNDO } else { CREATE })?;
        statement(undo, name, TablespaceAction::Create { file }, options)
    }

    /// DROP [UNDO] TABLESPACE; UNDO or TABLESPACE is the current token.
    pub(super) fn drop_tablespace(&mut self) -> PResult<Statement> {
        let undo = self.tablespace_head()?;
        let name = self.tablespace_name()?;
        let options = self.tablespace_options(if undo { UNDO } else { DROP })?;
        statement(undo, name, TablespaceAction::Drop, options)
    }

    /// ALTER [UNDO] TABLESPACE; UNDO or TABLESPACE is the current token.
    pub(super) fn alter_tablespace(&mut self) -> PResult<Statement> {
        let undo = self.tablespace_head()?;
        let name = self.tablespace_name()?;
        if undo {
            self.expect_kw(Kw::SET)?;
            let active = self.expect_any(&[Kw::ACTIVE, Kw::INACTIVE])? == Kw::ACTIVE;
            let options = self.tablespace_options(UNDO)?;
            return statement(true, name, TablespaceAction::SetActive(active), options);
        }
        let action = match self.accept_any(&[Kw::RENAME, Kw::ADD, Kw::DROP]) {
            Some(Kw::RENAME) => {
                self.expect_kw(Kw::TO)?;
                let to = self.tablespace_name()?;
                let action = TablespaceAction::Rename(to);
                return statement(false, name, action, TablespaceOptions::default());
            }
            Some(kw) => {
                self.expect_kw(Kw::DATAFILE)?;
                let file = self.string()?;
                if kw == Kw::ADD {
                    TablespaceAction::AddFile
                } else {
                    TablespaceAction::DropFile(file)
                }
            }
            None if ALTER.contains(&self.kw()) => TablespaceAction::Options,
            None => return Err(self.error()),
        };
        let options = self.tablespace_options(ALTER)?;
        statement(false, name, action, options)
    }

    /// A name, which may be empty.
    fn tablespace_name(&mut self) -> PResult<String> {
        let name = self.ident()?;
        self.check_name(name)
    }

    fn tablespace_options(&mut self, allowed: &[Kw]) -> PResult<TablespaceOptions> {
        let mut options = TablespaceOptions::default();
        let mut seen = Vec::new();
        loop {
            let kw = self.kw();
            if !allowed.contains(&kw) {
                return Ok(options);
            }
            self.bump();
            self.tablespace_option(kw, &mut options)?;
            let word = match kw {
                Kw::FILE_BLOCK_SIZE => "FILE_BLOCK_SIZE",
                Kw::COMMENT => "COMMENT",
                Kw::NODEGROUP => "NODEGROUP",
                Kw::ENGINE | Kw::STORAGE => "STORAGE ENGINE",
                _ => "",
            };
            if !word.is_empty() && seen.contains(&word) {
                let message = format!("It is not allowed to specify {word} more than once");
                return Err(self.other(1527, "HY000", message));
            }
            seen.push(word);
            if self.is(Tok::Comma) {
                self.bump();
                if !allowed.contains(&self.kw()) {
                    return Err(self.error());
                }
            }
        }
    }

    fn tablespace_option(&mut self, kw: Kw, options: &mut TablespaceOptions) -> PResult<()> {
        match kw {
            Kw::WAIT | Kw::NO_WAIT => return Ok(()),
            Kw::STORAGE => self.expect_kw(Kw::ENGINE)?,
            _ => {}
        }
        self.opt_eq();
        match kw {
            Kw::ENGINE | Kw::STORAGE => options.engine = Some(self.ident_or_string()?),
            Kw::COMMENT => drop(self.string()?),
            Kw::ENCRYPTION => options.encryption = Some(self.string()?),
            Kw::ENGINE_ATTRIBUTE => options.engine_attribute = Some(self.string()?),
            Kw::NODEGROUP => drop(self.whole_number()?),
            Kw::FILE_BLOCK_SIZE => options.block_size = Some(self.size()?),
            Kw::AUTOEXTEND_SIZE => options.autoextend = Some(self.size()?),
            _ => drop(self.size()?),
        }
        Ok(())
    }

    /// A number, perhaps with K, M or G; errors 1531 and 1532.
    pub(super) fn size(&mut self) -> PResult<u64> {
        const MAX_COUNT: u64 = 2_000_000_000;
        let number = "Only integers allowed as number here";
        if matches!(self.tok.tok, Tok::Decimal | Tok::Float) {
            return Err(self.fail(ParseErrorKind::SyntaxText(number.to_owned())));
        }
        if !self.is(Tok::Word) {
            return self.uint();
        }
        let text = self.upper_text();
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let shift = match &text[digits.len()..] {
            "K" => 10,
            "M" => 20,
            "G" => 30,
            _ => 0,
        };
        let Some(count) = digits.parse::<u64>().ok().filter(|_| shift > 0) else {
            let rule = "A size parameter was incorrectly specified, either number or on the form";
            return Err(self.other(1531, "HY000", format!("{rule} 10M")));
        };
        if count > MAX_COUNT {
            let rule = "The size number was correct but we don't allow the digit part to be more";
            return Err(self.other(1532, "HY000", format!("{rule} than 2 billion")));
        }
        self.bump();
        Ok(count << shift)
    }
}
