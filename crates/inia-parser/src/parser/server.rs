//! Statements about the server as a whole: foreign servers, replication, copies, key caches.

use super::{PResult, Parser};
use crate::{
    ast::{
        CachedKeys, ForeignServerOptions, KeyCacheStatement, ReplicationSource, ServerStatement,
        Statement,
    },
    keyword::Kw,
    lexer::Tok,
};

/// Options of CHANGE REPLICATION SOURCE behind `SOURCE_`; those of CHANGE MASTER have `MASTER_`.
const SOURCE_OPTIONS: &[&str] = &[
    "AUTO_POSITION",
    "BIND",
    "COMPRESSION_ALGORITHMS",
    "CONNECTION_AUTO_FAILOVER",
    "CONNECT_RETRY",
    "DELAY",
    "HEARTBEAT_PERIOD",
    "HOST",
    "LOG_FILE",
    "LOG_POS",
    "PASSWORD",
    "PORT",
    "PUBLIC_KEY_PATH",
    "RETRY_COUNT",
    "SSL",
    "SSL_CA",
    "SSL_CAPATH",
    "SSL_CERT",
    "SSL_CIPHER",
    "SSL_CRL",
    "SSL_CRLPATH",
    "SSL_KEY",
    "SSL_VERIFY_SERVER_CERT",
    "TLS_CIPHERSUITES",
    "TLS_VERSION",
    "USER",
    "ZSTD_COMPRESSION_LEVEL",
];

/// Its options that have one name.
const OTHER_OPTIONS: &[&str] = &[
    "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS",
    "GET_MASTER_PUBLIC_KEY",
    "GET_SOURCE_PUBLIC_KEY",
    "GTID_ONLY",
    "IGNORE_SERVER_IDS",
    "NETWORK_NAMESPACE",
    "PRIVILEGE_CHECKS_USER",
    "RELAY_LOG_FILE",
    "RELAY_LOG_POS",
    "REQUIRE_ROW_FORMAT",
    "REQUIRE_TABLE_PRIMARY_KEY_CHECK",
];

const FILTERS: &[&str] = &[
    "REPLICATE_DO_DB",
    "REPLICATE_DO_TABLE",
    "REPLICATE_IGNORE_DB",
    "REPLICATE_IGNORE_TABLE",
    "REPLICATE_REWRITE_DB",
    "REPLICATE_WILD_DO_TABLE",
    "REPLICATE_WILD_IGNORE_TABLE",
];

/// A statement of this family.
fn server(statement: ServerStatement) -> Statement {
    Statement::Server(Box::new(statement))
}

impl Parser<'_> {
    /// CREATE SERVER; SERVER is the current token.
    pub(super) fn create_server(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.ident_or_string()?;
        for kw in [Kw::FOREIGN, Kw::DATA, Kw::WRAPPER] {
            self.expect_kw(kw)?;
        }
        let wrapper = self.ident_or_string()?;
        let options = self.foreign_server_options()?;
        Ok(server(ServerStatement::CreateServer { name, wrapper, options }))
    }

    /// ALTER SERVER; SERVER is the current token.
    pub(super) fn alter_server(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.ident_or_string()?;
        let options = self.foreign_server_options()?;
        Ok(server(ServerStatement::AlterServer { name, options }))
    }

    /// DROP SERVER; SERVER is the current token.
    pub(super) fn drop_server(&mut self) -> PResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let name = self.ident_or_string()?;
        Ok(server(ServerStatement::DropServer { if_exists, name }))
    }

    fn foreign_server_options(&mut self) -> PResult<ForeignServerOptions> {
        self.expect_kw(Kw::OPTIONS)?;
        let mut options = ForeignServerOptions::default();
        self.paren_list(|p| {
            let word = match p.is(Tok::Word) {
                true => p.tok,
                false => return Err(p.error()),
            };
            let option = p.upper_text();
            let place = match option.as_str() {
                "HOST" => &mut options.host,
                "DATABASE" => &mut options.database,
                "USER" => &mut options.user,
                "PASSWORD" => &mut options.password,
                "SOCKET" => &mut options.socket,
                "OWNER" => &mut options.owner,
                "PORT" => {
                    p.bump();
                    options.port = Some(p.uint()?);
                    return Ok(());
                }
                _ => return Err(p.error_at(word.start, crate::ParseErrorKind::Syntax)),
            };
            p.bump();
            *place = Some(p.string()?);
            Ok(())
        })?;
        Ok(options)
    }

    /// CREATE, ALTER and DROP LOGFILE GROUP; LOGFILE is the current token.
    pub(super) fn logfile_group(&mut self, drops: bool) -> PResult<Statement> {
        self.bump();
        self.expect_kw(Kw::GROUP)?;
        self.ident()?;
        if !drops {
            self.expect_kw(Kw::ADD)?;
            self.expect_kw(Kw::UNDOFILE)?;
            self.string()?;
        }
        let mut engine = None;
        while !matches!(self.tok.tok, Tok::Eof | Tok::Semi) {
            match self.upper_word().as_str() {
                "," => continue,
                "WAIT" | "NO_WAIT" => continue,
                "STORAGE" => {
                    self.expect_kw(Kw::ENGINE)?;
                    self.opt_eq();
                    engine = Some(self.ident_or_string()?);
                }
                "ENGINE" => {
                    self.opt_eq();
                    engine = Some(self.ident_or_string()?);
                }
                "INITIAL_SIZE" | "UNDO_BUFFER_SIZE" | "REDO_BUFFER_SIZE" | "NODEGROUP"
                | "COMMENT"
                    if !drops =>
                {
                    self.opt_eq();
                    if !matches!(self.tok.tok, Tok::Int | Tok::Word | Tok::Str) {
                        return Err(self.error());
                    }
                    self.bump();
                }
                _ => return Err(self.error()),
            }
        }
        Ok(server(ServerStatement::LogfileGroup { engine }))
    }

    /// CHANGE MASTER and CHANGE REPLICATION; CHANGE is the current token.
    pub(super) fn change_replication(&mut self) -> PResult<Statement> {
        self.bump();
        let old = self.expect_any(&[Kw::MASTER, Kw::REPLICATION])? == Kw::MASTER;
        if !old && self.accept_kw(Kw::FILTER) {
            self.list(Self::replication_filter)?;
            let channel = self.opt_channel()?;
            return Ok(server(ServerStatement::ReplicationFilter { channel }));
        }
        if old {
            self.deprecated("CHANGE MASTER", "CHANGE REPLICATION SOURCE");
        } else if !self.accept_word("SOURCE") {
            return Err(self.error());
        }
        self.expect_kw(Kw::TO)?;
        let mut source = ReplicationSource::default();
        self.list(|p| p.source_option(&mut source))?;
        source.channel = self.opt_channel()?;
        Ok(server(ServerStatement::ReplicationSource(source)))
    }

    fn source_option(&mut self, source: &mut ReplicationSource) -> PResult<()> {
        if !self.is(Tok::Word) {
            return Err(self.error());
        }
        let name = self.upper_text();
        let known = |prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| SOURCE_OPTIONS.contains(&rest))
        };
        if known("MASTER_") || name == "GET_MASTER_PUBLIC_KEY" {
            self.deprecated(&name, &name.replacen("MASTER_", "SOURCE_", 1));
        } else if !known("SOURCE_") && !OTHER_OPTIONS.contains(&name.as_str()) {
            return Err(self.error());
        }
        self.bump();
        self.expect(Tok::Eq)?;
        let plain = name.replacen("MASTER_", "", 1).replacen("SOURCE_", "", 1);
        match plain.as_str() {
            "HOST" => source.empty_host = self.string()?.is_empty(),
            "AUTO_POSITION" => source.auto_position = self.uint()? != 0,
            "DELAY" => self.replication_delay()?,
            "HEARTBEAT_PERIOD" => self.heartbeat_period()?,
            "PORT" | "CONNECT_RETRY" | "RETRY_COUNT" | "LOG_POS" | "SSL" | "RELAY_LOG_POS" => {
                self.whole_number()?;
            }
            _ => return self.other_source_option(&name),
        }
        Ok(())
    }

    /// Error 1729.
    fn replication_delay(&mut self) -> PResult<()> {
        const MAX_DELAY: u64 = i32::MAX as u64;
        let delay = self.uint()?;
        if delay <= MAX_DELAY {
            return Ok(());
        }
        let what = format!("The requested value {delay} for the master delay");
        Err(self.other(1729, "HY000", format!("{what} exceeds the maximum {MAX_DELAY}")))
    }

    /// Error 1624 and warning 1703.
    fn heartbeat_period(&mut self) -> PResult<()> {
        const MAX_PERIOD: f64 = 4_294_967.0;
        if !matches!(self.tok.tok, Tok::Int | Tok::Decimal | Tok::Float) {
            return Err(self.error());
        }
        let period: f64 = self.upper_word().parse().unwrap_or(f64::MAX);
        if period > MAX_PERIOD {
            let what = "The requested value for the heartbeat period is either negative or exceeds";
            let message = format!("{what} the maximum allowed ({MAX_PERIOD} seconds).");
            return Err(self.other(1624, "HY000", message));
        }
        if period > 0.0 && period < 0.001 {
            let text = "The requested value for the heartbeat period is less than 1 millisecond. \
                        The value is reset to 0, meaning that heartbeating will effectively be \
                        disabled.";
            self.remark(1703, text);
        }
        Ok(())
    }

    fn other_source_option(&mut self, name: &str) -> PResult<()> {
        match name {
            "IGNORE_SERVER_IDS" => {
                self.expect(Tok::LParen)?;
                if !self.is(Tok::RParen) {
                    self.list(Self::uint)?;
                }
                self.expect(Tok::RParen).map(drop)
            }
            "PRIVILEGE_CHECKS_USER" if !self.is_kw(Kw::NULL) => self.account().map(drop),
            _ if matches!(self.tok.tok, Tok::Int | Tok::Decimal | Tok::Str | Tok::Word) => {
                self.bump();
                Ok(())
            }
            _ => Err(self.error()),
        }
    }

    fn replication_filter(&mut self) -> PResult<()> {
        if !self.is(Tok::Word) || !FILTERS.contains(&self.upper_text().as_str()) {
            return Err(self.error());
        }
        let name = self.upper_word();
        self.expect(Tok::Eq)?;
        self.expect(Tok::LParen)?;
        if self.accept(Tok::RParen) {
            return Ok(());
        }
        self.list(|p| match name.as_str() {
            "REPLICATE_WILD_DO_TABLE" | "REPLICATE_WILD_IGNORE_TABLE" => {
                let pattern = p.string()?;
                if pattern.contains('.') {
                    return Ok(());
                }
                let message = "Supplied filter list contains a value which is not in the required \
                               format 'db_pattern.table_pattern'";
                Err(p.other(3067, "HY000", message.to_owned()))
            }
            "REPLICATE_DO_TABLE" | "REPLICATE_IGNORE_TABLE" => {
                p.ident()?;
                p.expect(Tok::Dot)?;
                p.ident_after_dot().map(drop)
            }
            "REPLICATE_REWRITE_DB" => p.paren_list(Self::ident).map(drop),
            _ => p.ident().map(drop),
        })?;
        self.expect(Tok::RParen).map(drop)
    }

    pub(super) fn opt_channel(&mut self) -> PResult<Option<String>> {
        if !self.accept_kw(Kw::FOR) {
            return Ok(None);
        }
        self.expect_kw(Kw::CHANNEL)?;
        Ok(Some(self.string()?))
    }

    /// START and STOP of replication; START or STOP is the current token.
    pub(super) fn replica_threads(&mut self) -> PResult<Statement> {
        let starts = self.bump().kw == Kw::START;
        let words = [Kw::SLAVE, Kw::REPLICA, Kw::GROUP_REPLICATION];
        match self.expect_any(&words)? {
            Kw::GROUP_REPLICATION => {
                if starts && Self::is_ident(self.tok) {
                    self.list(Self::connection_option)?;
                }
                return Ok(server(ServerStatement::GroupReplication));
            }
            Kw::SLAVE => {
                let verb = if starts { "START" } else { "STOP" };
                self.deprecated(&format!("{verb} SLAVE"), &format!("{verb} REPLICA"));
            }
            _ => {}
        }
        while self.accept_any(&[Kw::SQL_THREAD, Kw::IO_THREAD, Kw::RELAY_THREAD]).is_some() {
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        if starts {
            if self.accept_kw(Kw::UNTIL) {
                self.list(Self::until_option)?;
            }
            while Self::is_ident(self.tok) {
                self.connection_option()?;
            }
        }
        let channel = self.opt_channel()?;
        Ok(server(match starts {
            true => ServerStatement::StartReplica { channel },
            false => ServerStatement::StopReplica { channel },
        }))
    }

    fn until_option(&mut self) -> PResult<()> {
        const NAMES: [&str; 9] = [
            "SOURCE_LOG_FILE",
            "SOURCE_LOG_POS",
            "MASTER_LOG_FILE",
            "MASTER_LOG_POS",
            "RELAY_LOG_FILE",
            "RELAY_LOG_POS",
            "SQL_BEFORE_GTIDS",
            "SQL_AFTER_GTIDS",
            "SQL_AFTER_MTS_GAPS",
        ];
        if !self.is(Tok::Word) || !NAMES.contains(&self.upper_text().as_str()) {
            return Err(self.error());
        }
        if self.upper_word() == "SQL_AFTER_MTS_GAPS" {
            return Ok(());
        }
        self.expect(Tok::Eq)?;
        if self.is(Tok::Str) { self.string().map(drop) } else { self.uint().map(drop) }
    }

    /// USER, PASSWORD, DEFAULT_AUTH and PLUGIN_DIR, each with a text.
    fn connection_option(&mut self) -> PResult<()> {
        const NAMES: [&str; 4] = ["USER", "PASSWORD", "DEFAULT_AUTH", "PLUGIN_DIR"];
        if !NAMES.contains(&self.upper_text().as_str()) {
            return Err(self.error());
        }
        self.bump();
        self.expect(Tok::Eq)?;
        self.string().map(drop)
    }

    /// CLONE, the current token.
    pub(super) fn clone_statement(&mut self) -> PResult<Statement> {
        self.bump();
        let local = self.expect_any(&[Kw::LOCAL, Kw::INSTANCE])? == Kw::LOCAL;
        if !local {
            self.expect_kw(Kw::FROM)?;
            self.account()?;
            self.expect(Tok::Colon)?;
            self.uint()?;
            self.expect_kw(Kw::IDENTIFIED)?;
            self.expect_kw(Kw::BY)?;
            self.string()?;
        }
        if local || self.is_kw(Kw::DATA) {
            self.expect_kw(Kw::DATA)?;
            self.expect_kw(Kw::DIRECTORY)?;
            self.opt_eq();
            self.string()?;
        }
        if !local && self.accept_kw(Kw::REQUIRE) {
            self.accept_kw(Kw::NO);
            self.expect_kw(Kw::SSL)?;
        }
        Ok(server(ServerStatement::Clone { local }))
    }

    /// IMPORT TABLE; IMPORT is the current token.
    pub(super) fn import_table(&mut self) -> PResult<Statement> {
        self.bump();
        self.expect_kw(Kw::TABLE)?;
        self.expect_kw(Kw::FROM)?;
        Ok(server(ServerStatement::ImportTable(self.list(Self::string)?)))
    }

    /// CACHE INDEX; CACHE is the current token.
    pub(super) fn cache_index(&mut self) -> PResult<Statement> {
        self.bump();
        self.expect_kw(Kw::INDEX)?;
        let tables = self.list(|p| p.cached_keys(false))?;
        self.expect_kw(Kw::IN)?;
        let cache = match self.accept_kw(Kw::DEFAULT) {
            true => "default".to_owned(),
            false => self.ident()?,
        };
        let statement = KeyCacheStatement { cache: Some(cache), tables };
        Ok(server(ServerStatement::KeyCache(statement)))
    }

    /// LOAD INDEX INTO CACHE; INDEX is the current token.
    pub(super) fn load_index(&mut self) -> PResult<Statement> {
        for kw in [Kw::INDEX, Kw::INTO, Kw::CACHE] {
            self.expect_kw(kw)?;
        }
        let tables = self.list(|p| p.cached_keys(true))?;
        let statement = KeyCacheStatement { cache: None, tables };
        Ok(server(ServerStatement::KeyCache(statement)))
    }

    fn cached_keys(&mut self, leaves: bool) -> PResult<CachedKeys> {
        let table = self.object_name()?;
        let partitions = match self.accept_kw(Kw::PARTITION) {
            true => {
                self.expect(Tok::LParen)?;
                let names = self.partition_names()?;
                self.expect(Tok::RParen)?;
                Some(names)
            }
            false => None,
        };
        let mut keys = Vec::new();
        if self.accept_any(&[Kw::INDEX, Kw::KEY]).is_some() {
            self.expect(Tok::LParen)?;
            if !self.is(Tok::RParen) {
                keys = self.list(|p| match p.is_kw(Kw::PRIMARY) {
                    true => Ok(p.upper_word()),
                    false => p.ident(),
                })?;
            }
            self.expect(Tok::RParen)?;
        }
        if leaves && self.accept_kw(Kw::IGNORE) {
            self.expect_kw(Kw::LEAVES)?;
        }
        Ok(CachedKeys { table, partitions, keys })
    }
}
