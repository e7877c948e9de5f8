//! CREATE, ALTER, DROP of databases, tables, indexes and views.

use super::{PResult, Parser, utf8};
use crate::{
    ParseErrorKind,
    ast::{
        Account, AlterDatabase, CheckOption, CreateDatabase, CreateIndex, CreateSelect,
        CreateTable, CreateView, DatabaseOptions, DropIndex, DropTables, IndexDef, IndexKind,
        IndexOptions, LoadDuplicate, Statement, TableOption, UnsupportedStatement,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    pub(super) fn if_not_exists(&mut self) -> PResult<bool> {
        if !self.accept_kw(Kw::IF) {
            return Ok(false);
        }
        self.expect_kw(Kw::NOT)?;
        self.expect_kw(Kw::EXISTS)?;
        Ok(true)
    }

    pub(super) fn if_exists(&mut self) -> PResult<bool> {
        if !self.accept_kw(Kw::IF) {
            return Ok(false);
        }
        self.expect_kw(Kw::EXISTS)?;
        Ok(true)
    }

    /// CREATE; the word is the current token.
    pub(super) fn create(&mut self) -> PResult<Statement> {
        self.bump();
        match self.kw() {
            Kw::DATABASE | Kw::SCHEMA => self.create_database(),
            Kw::TABLE => self.create_table(false),
            Kw::TEMPORARY => {
                self.bump();
                if self.at_sequence() {
                    return self.unsupported("CREATE TEMPORARY");
                }
                self.create_table(true)
            }
            Kw::INDEX => self.create_index(IndexKind::Plain),
            Kw::UNIQUE => {
                self.bump();
                self.create_index(IndexKind::Unique)
            }
            Kw::FULLTEXT => {
                self.bump();
                self.create_index(IndexKind::FullText)
            }
            Kw::SPATIAL if self.peek_is_kw(Kw::INDEX) => {
                self.bump();
                self.create_index(IndexKind::Spatial)
            }
            Kw::USER => self.create_user(),
            Kw::ROLE => self.create_role(),
            Kw::SERVER => self.create_server(),
            Kw::LOGFILE => self.logfile_group(false),
            Kw::SPATIAL => self.create_spatial_reference(false),
            Kw::TABLESPACE | Kw::UNDO => self.create_tablespace(),
            Kw::RESOURCE => self.create_resource_group(),
            Kw::OR => {
                self.bump();
                self.expect_kw(Kw::REPLACE)?;
                if self.at_sequence() {
                    return self.create_sequence(true);
                }
                if self.is_kw(Kw::SPATIAL) {
                    return self.create_spatial_reference(true);
                }
                self.create_definer_object(true)
            }
            _ if self.at_sequence() => self.create_sequence(false),
            _ => self.create_definer_object(false),
        }
    }

    /// A statement about objects this product does not have: only its first words count.
    fn unsupported(&mut self, verb: &str) -> PResult<Statement> {
        let object = self.bump();
        let what = format!("{verb} {}", utf8(self.bytes(object)).to_ascii_uppercase());
        if matches!(self.tok.tok, Tok::Eof | Tok::Semi) {
            return Err(self.error());
        }
        self.rest_text();
        Ok(Statement::Unsupported(UnsupportedStatement { what }))
    }

    /// VIEW, PROCEDURE, FUNCTION, TRIGGER, EVENT with what may stand before them.
    fn create_definer_object(&mut self, or_replace: bool) -> PResult<Statement> {
        let algorithm = self.opt_view_algorithm()?;
        let definer = self.opt_definer()?;
        let security = self.opt_sql_security()?;
        let view_only = or_replace || algorithm.is_some() || security.is_some();
        if self.is_kw(Kw::VIEW) {
            return self.create_view(or_replace, algorithm, definer, security, false);
        }
        if view_only {
            return Err(self.error());
        }
        self.create_routine(definer)
    }

    fn opt_view_algorithm(&mut self) -> PResult<Option<String>> {
        if !self.accept_kw(Kw::ALGORITHM) {
            return Ok(None);
        }
        self.expect(Tok::Eq)?;
        let token = self.tok;
        self.expect_any(&[Kw::UNDEFINED, Kw::MERGE, Kw::TEMPTABLE])?;
        Ok(Some(utf8(self.bytes(token)).to_ascii_uppercase()))
    }

    fn opt_definer(&mut self) -> PResult<Option<Account>> {
        if !self.accept_kw(Kw::DEFINER) {
            return Ok(None);
        }
        self.expect(Tok::Eq)?;
        Ok(Some(self.account()?))
    }

    /// SQL SECURITY; true for INVOKER.
    pub(super) fn opt_sql_security(&mut self) -> PResult<Option<bool>> {
        if !self.accept_kw(Kw::SQL) {
            return Ok(None);
        }
        self.expect_kw(Kw::SECURITY)?;
        Ok(Some(self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? == Kw::INVOKER))
    }

    fn create_view(
        &mut self,
        or_replace: bool,
        algorithm: Option<String>,
        definer: Option<Account>,
        security_invoker: Option<bool>,
        alter: bool,
    ) -> PResult<Statement> {
        self.bump();
        let name = self.object_name()?;
        let columns = if self.is(Tok::LParen) { self.ident_list()? } else { Vec::new() };
        self.expect_kw(Kw::AS)?;
        let start = self.tok.start;
        // A limit of time belongs to the query that runs, not to the view.
        self.top_select = true;
        let query = Box::new(self.query()?);
        let text = self.text(start, self.prev_end);
        let mut check_option = None;
        if self.accept_kw(Kw::WITH) {
            let local = self.accept_any(&[Kw::CASCADED, Kw::LOCAL]) == Some(Kw::LOCAL);
            self.expect_kw(Kw::CHECK)?;
            self.expect_kw(Kw::OPTION)?;
            check_option = Some(if local { CheckOption::Local } else { CheckOption::Cascaded });
        }
        Ok(Statement::CreateView(Box::new(CreateView {
            alter,
            or_replace,
            algorithm,
            definer,
            security_invoker,
            name,
            columns,
            query,
            text,
            check_option,
        })))
    }

    fn create_database(&mut self) -> PResult<Statement> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let name = self.new_ident()?;
        let options = self.database_options(false)?;
        Ok(Statement::CreateDatabase(CreateDatabase { if_not_exists, name, options }))
    }

    fn database_options(&mut self, alters: bool) -> PResult<DatabaseOptions> {
        let mut options = DatabaseOptions::default();
        loop {
            let default = self.accept_kw(Kw::DEFAULT);
            if self.accept_charset() {
                self.opt_eq();
                options.charset = Some(self.charset_name()?);
            } else if self.accept_kw(Kw::COLLATE) {
                self.opt_eq();
                options.collation = Some(self.collation_name()?);
            } else if self.accept_kw(Kw::ENCRYPTION) {
                self.opt_eq();
                options.encryption = Some(self.string()?);
            } else if alters && !default && self.accept_kw(Kw::READ) {
                self.expect_kw(Kw::ONLY)?;
                self.opt_eq();
                let given = match self.accept_kw(Kw::DEFAULT) {
                    true => None,
                    false => {
                        let start = self.tok.start;
                        let number = self.uint()?;
                        if number > 1 {
                            return Err(self.error_at(start, ParseErrorKind::Syntax));
                        }
                        Some(number == 1)
                    }
                };
                self.check_read_only(options.read_only, given)?;
                options.read_only = Some(given);
            } else if default {
                return Err(self.error());
            } else {
                return Ok(options);
            }
        }
    }

    /// Error 1302 for two different READ ONLY options.
    fn check_read_only(&self, before: Option<Option<bool>>, given: Option<bool>) -> PResult<()> {
        let is_on = |option: Option<bool>| option == Some(true);
        if before.is_none_or(|before| is_on(before) == is_on(given)) {
            return Ok(());
        }
        let message = "Conflicting declarations: 'READ ONLY=0' and 'READ ONLY=1'".to_owned();
        Err(self.other(1302, "HY000", message))
    }

    fn create_table(&mut self, temporary: bool) -> PResult<Statement> {
        self.expect_kw(Kw::TABLE)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let mut table = CreateTable {
            temporary,
            if_not_exists,
            name,
            like: None,
            elements: Vec::new(),
            options: Vec::new(),
            partition: None,
            select: None,
        };
        if self.accept_kw(Kw::LIKE) {
            table.like = Some(self.object_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.is(Tok::LParen) && self.peek_is_kw(Kw::LIKE) {
            self.bump();
            self.bump();
            table.like = Some(self.object_name()?);
            self.expect(Tok::RParen)?;
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.is(Tok::LParen) && !self.parens_hold_query() {
            table.elements = self.paren_list(Self::table_element)?;
        }
        self.table_options(&mut table.options)?;
        if self.is_kw(Kw::PARTITION) {
            table.partition = Some(Box::new(self.partition_by()?));
        }
        self.create_select(&mut table)?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    fn create_select(&mut self, table: &mut CreateTable) -> PResult<()> {
        let on_duplicate = self.load_duplicate();
        let explicit = self.accept_kw(Kw::AS);
        if self.at_query() || self.is(Tok::LParen) {
            let query = Box::new(self.query()?);
            table.select = Some(CreateSelect { on_duplicate, query });
        } else if explicit || on_duplicate != LoadDuplicate::Default {
            return Err(self.error());
        }
        Ok(())
    }

    /// Table options with or without commas between them.
    pub(super) fn table_options(&mut self, options: &mut Vec<TableOption>) -> PResult<()> {
        let mut comma = false;
        while let Some(option) = self.table_option()? {
            options.push(option);
            comma = self.accept(Tok::Comma);
        }
        if comma { Err(self.error()) } else { Ok(()) }
    }

    /// One table option, `None` where none stands.
    pub(super) fn table_option(&mut self) -> PResult<Option<TableOption>> {
        // DEFAULT may precede the character set and the collation only.
        if self.accept_kw(Kw::DEFAULT) {
            if !matches!(self.tok.kw, Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE) {
                return Err(self.error());
            }
            return self.table_option();
        }
        if self.is_kw(Kw::CHARSET)
            || ((self.is_kw(Kw::CHARACTER) || self.is_kw(Kw::CHAR)) && self.peek_is_kw(Kw::SET))
        {
            self.accept_charset();
            self.opt_eq();
            if self.accept_kw(Kw::DEFAULT) {
                return Ok(Some(TableOption::Charset(None)));
            }
            return Ok(Some(TableOption::Charset(Some(self.charset_name()?))));
        }
        let name = self.tok;
        let option = match name.kw {
            Kw::ENGINE => {
                self.option_head();
                TableOption::Engine(self.ident_or_string()?)
            }
            Kw::AUTO_INCREMENT => {
                self.option_head();
                TableOption::AutoIncrement(self.whole_number()?)
            }
            Kw::COLLATE => {
                self.option_head();
                TableOption::Collate(self.collation_name()?)
            }
            Kw::COMMENT => {
                self.option_head();
                TableOption::Comment(self.comment()?)
            }
            Kw::ROW_FORMAT => {
                self.option_head();
                TableOption::RowFormat(self.row_format()?)
            }
            Kw::DATA | Kw::INDEX if self.peek_is_kw(Kw::DIRECTORY) => self.directory()?,
            Kw::UNION => self.union_option()?,
            Kw::INSERT_METHOD => self.insert_method()?,
            Kw::TABLESPACE => self.tablespace_of_table()?,
            Kw::AUTOEXTEND_SIZE => {
                self.option_head();
                let size = self.size()?.to_string();
                TableOption::Other { name: String::from("AUTOEXTEND_SIZE"), value: size }
            }
            kw if is_plain_option(kw) => {
                self.option_head();
                self.check_range(kw)?;
                let name = utf8(self.bytes(name)).to_ascii_uppercase();
                TableOption::Other { name, value: self.option_text()? }
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    /// UNION, the current token, and the tables that a merged table unites.
    fn union_option(&mut self) -> PResult<TableOption> {
        self.option_head();
        if self.peek().tok == Tok::RParen {
            self.expect(Tok::LParen)?;
            self.bump();
            return Ok(TableOption::Union(Vec::new()));
        }
        Ok(TableOption::Union(self.paren_list(Self::object_name)?))
    }

    /// INSERT_METHOD, the current token, and one of its words.
    fn insert_method(&mut self) -> PResult<TableOption> {
        self.option_head();
        let word = self.tok;
        self.expect_any(&[Kw::NO, Kw::FIRST, Kw::LAST])?;
        let value = utf8(self.bytes(word)).to_ascii_uppercase();
        Ok(TableOption::Other { name: String::from("INSERT_METHOD"), value })
    }

    /// TABLESPACE, the current token, and a name; error 3119.
    fn tablespace_of_table(&mut self) -> PResult<TableOption> {
        self.option_head();
        let value = self.ident()?;
        if value.is_empty() {
            return Err(self.other(3119, "42000", "Incorrect tablespace name ``".to_owned()));
        }
        Ok(TableOption::Other { name: "TABLESPACE".to_owned(), value })
    }

    /// DATA DIRECTORY and INDEX DIRECTORY; the first word is the current token.
    fn directory(&mut self) -> PResult<TableOption> {
        let data = self.bump().kw == Kw::DATA;
        let name = if data { "DATA DIRECTORY" } else { "INDEX DIRECTORY" };
        self.option_head();
        Ok(TableOption::Other { name: name.to_string(), value: self.string()? })
    }

    /// The row formats that there are, in upper case.
    fn row_format(&mut self) -> PResult<String> {
        const FORMATS: [Kw; 6] =
            [Kw::DEFAULT, Kw::DYNAMIC, Kw::FIXED, Kw::COMPRESSED, Kw::REDUNDANT, Kw::COMPACT];
        if !FORMATS.contains(&self.kw()) {
            return Err(self.error());
        }
        let word = self.bump();
        Ok(utf8(self.bytes(word)).to_ascii_uppercase())
    }

    /// Error 1064 of a number beyond its option's range.
    fn check_range(&mut self, option: Kw) -> PResult<()> {
        let (range, least) = match option {
            Kw::KEY_BLOCK_SIZE => ("key_block_size is [0,65535]", 0),
            Kw::STATS_SAMPLE_PAGES => ("stats_sample_pages is [1, 65535]", 1),
            _ => return Ok(()),
        };
        if self.kind() != Tok::Int {
            return Ok(());
        }
        let number = utf8(self.bytes(self.tok)).parse::<u64>().unwrap_or(u64::MAX);
        if (least..=65_535).contains(&number) {
            return Ok(());
        }
        let place = self.error();
        let message = format!(
            "The valid range for {range}. Error near '{}' at line {}",
            place.near, place.line
        );
        Err(self.other(1064, "42000", message))
    }

    fn option_head(&mut self) {
        self.bump();
        self.opt_eq();
    }

    fn create_index(&mut self, kind: IndexKind) -> PResult<Statement> {
        self.expect_kw(Kw::INDEX)?;
        let name = self.new_ident()?;
        let mut options = IndexOptions::default();
        if self.accept_any(&[Kw::USING, Kw::TYPE]).is_some() {
            options.using = Some(self.index_type()?);
        }
        self.expect_kw(Kw::ON)?;
        let table = self.object_name()?;
        let parts = self.key_parts()?;
        self.index_options(kind, &mut options)?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        let index = IndexDef { kind, constraint: None, name: Some(name), parts, options };
        Ok(Statement::CreateIndex(Box::new(CreateIndex { index, table, algorithm, lock })))
    }

    /// `[ALGORITHM [=] a] [LOCK [=] l]` in either order.
    fn algorithm_and_lock(&mut self) -> PResult<(Option<String>, Option<String>)> {
        let (mut algorithm, mut lock) = (None, None);
        while let Some(kw) = self.accept_any(&[Kw::ALGORITHM, Kw::LOCK]) {
            self.opt_eq();
            let value = Some(self.option_text()?.to_ascii_uppercase());
            if kw == Kw::ALGORITHM { algorithm = value } else { lock = value }
        }
        Ok((algorithm, lock))
    }

    /// DROP; the word is the current token.
    pub(super) fn drop(&mut self) -> PResult<Statement> {
        self.bump();
        match self.kw() {
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropDatabase { if_exists, name: self.new_ident()? })
            }
            _ if self.at_sequence() => self.drop_sequence(),
            Kw::TEMPORARY | Kw::TABLE | Kw::TABLES => {
                let temporary = self.accept_kw(Kw::TEMPORARY);
                self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
                Ok(Statement::DropTable(self.drop_tables(temporary)?))
            }
            Kw::VIEW => {
                self.bump();
                Ok(Statement::DropView(self.drop_tables(false)?))
            }
            Kw::INDEX => {
                self.bump();
                let name = self.index_name()?;
                self.expect_kw(Kw::ON)?;
                let table = self.object_name()?;
                let (algorithm, lock) = self.algorithm_and_lock()?;
                Ok(Statement::DropIndex(DropIndex { name, table, algorithm, lock }))
            }
            Kw::USER => {
                self.bump();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropUser { if_exists, users: self.list(Self::account)? })
            }
            Kw::ROLE => {
                self.bump();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropRole { if_exists, roles: self.list(Self::account)? })
            }
            Kw::PREPARE => {
                self.bump();
                Ok(Statement::Deallocate(self.ident()?))
            }
            Kw::PROCEDURE | Kw::FUNCTION | Kw::TRIGGER | Kw::EVENT => self.drop_routine(),
            Kw::SERVER => self.drop_server(),
            Kw::LOGFILE => self.logfile_group(true),
            Kw::SPATIAL => self.drop_spatial_reference(),
            Kw::TABLESPACE | Kw::UNDO => self.drop_tablespace(),
            Kw::RESOURCE => self.drop_resource_group(),
            _ => Err(self.error()),
        }
    }

    fn drop_tables(&mut self, temporary: bool) -> PResult<DropTables> {
        let if_exists = self.if_exists()?;
        let names = self.object_names()?;
        let _ = self.accept_any(&[Kw::RESTRICT, Kw::CASCADE]);
        Ok(DropTables { temporary, if_exists, names })
    }

    /// ALTER; the word is the current token.
    pub(super) fn alter(&mut self) -> PResult<Statement> {
        self.bump();
        match self.kw() {
            Kw::TABLE => self.alter_table(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                // ENCRYPTION names the database only where nothing follows it.
                let name = if Self::is_ident(self.tok)
                    && !(self.is_kw(Kw::ENCRYPTION) && self.peek().tok != Tok::Eof)
                {
                    Some(self.ident()?)
                } else {
                    None
                };
                let at = self.tok.start;
                let options = self.database_options(true)?;
                if self.tok.start == at {
                    return Err(self.error());
                }
                Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
            }
            Kw::USER => self.alter_user(),
            Kw::INSTANCE => self.alter_instance(),
            Kw::SERVER => self.alter_server(),
            Kw::LOGFILE => self.logfile_group(false),
            Kw::TABLESPACE | Kw::UNDO => self.alter_tablespace(),
            Kw::RESOURCE => self.alter_resource_group(),
            Kw::PROCEDURE | Kw::FUNCTION => self.alter_routine(),
            _ if self.at_sequence() => self.alter_sequence(),
            _ => {
                let algorithm = self.opt_view_algorithm()?;
                let definer = self.opt_definer()?;
                let security = self.opt_sql_security()?;
                // DEFINER may precede EVENT and VIEW; ALGORITHM and SQL SECURITY precede VIEW only.
                if self.is_kw(Kw::EVENT) && algorithm.is_none() && security.is_none() {
                    return self.alter_event(definer);
                }
                if !self.is_kw(Kw::VIEW) {
                    return Err(self.error());
                }
                self.create_view(false, algorithm, definer, security, true)
            }
        }
    }
}

/// Table options whose value is one word, string or number.
fn is_plain_option(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::MAX_ROWS
            | Kw::MIN_ROWS
            | Kw::AVG_ROW_LENGTH
            | Kw::PASSWORD
            | Kw::COMPRESSION
            | Kw::ENCRYPTION
            | Kw::PACK_KEYS
            | Kw::STATS_AUTO_RECALC
            | Kw::STATS_PERSISTENT
            | Kw::STATS_SAMPLE_PAGES
            | Kw::CHECKSUM
            | Kw::TABLE_CHECKSUM
            | Kw::DELAY_KEY_WRITE
            | Kw::STORAGE
            | Kw::CONNECTION
            | Kw::KEY_BLOCK_SIZE
            | Kw::ENGINE_ATTRIBUTE
            | Kw::SECONDARY_ENGINE_ATTRIBUTE
            | Kw::SECONDARY_ENGINE
    )
}
