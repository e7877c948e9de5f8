//! KILL, FLUSH, RESET, table maintenance, plugins, diagnostics.

use super::{PResult, Parser};
use crate::{
    ParseErrorKind,
    ast::{
        Flush, FlushTarget, GetDiagnostics, Histogram, InstanceAction, MaintenanceKind, PurgeLogs,
        ResetTarget, ServerStatement, Signal, SignalCondition, Statement, TableMaintenance,
    },
    keyword::Kw,
    lexer::Tok,
};
use inia_base::collation::Collation;

/// The most buckets of a histogram.
const MAX_BUCKETS: u64 = 1024;

impl Parser<'_> {
    /// A statement of this family; a syntax error where the words begin none.
    pub(super) fn admin_statement(&mut self) -> PResult<Statement> {
        match self.kw() {
            Kw::KILL => {
                self.bump();
                let query = self.accept_any(&[Kw::CONNECTION, Kw::QUERY]) == Some(Kw::QUERY);
                Ok(Statement::Kill { query, id: self.expr()? })
            }
            Kw::FLUSH => self.flush(),
            Kw::RESET => self.reset(),
            Kw::PURGE => self.purge(),
            Kw::ANALYZE => self.maintenance(MaintenanceKind::Analyze),
            Kw::CHECK => self.maintenance(MaintenanceKind::Check),
            Kw::OPTIMIZE => self.maintenance(MaintenanceKind::Optimize),
            Kw::REPAIR => self.maintenance(MaintenanceKind::Repair),
            Kw::CHECKSUM => self.maintenance(MaintenanceKind::Checksum),
            Kw::INSTALL => self.install(),
            Kw::UNINSTALL => self.uninstall(),
            Kw::SIGNAL => {
                self.bump();
                let condition = Some(self.signal_condition()?);
                let signal = Signal { condition, items: self.signal_items()? };
                self.check_signal(&signal)?;
                Ok(Statement::Signal(signal))
            }
            Kw::RESIGNAL => {
                self.bump();
                let named = self.is_kw(Kw::SQLSTATE) || Self::is_ident(self.tok);
                let condition = if named { Some(self.signal_condition()?) } else { None };
                let signal = Signal { condition, items: self.signal_items()? };
                self.check_signal(&signal)?;
                Ok(Statement::Resignal(signal))
            }
            Kw::GET => self.get_diagnostics(),
            Kw::BINLOG => {
                self.bump();
                Ok(Statement::Binlog(self.string()?))
            }
            Kw::SHUTDOWN => {
                self.bump();
                Ok(Statement::Shutdown)
            }
            Kw::RESTART => {
                self.bump();
                Ok(Statement::Restart)
            }
            Kw::CHANGE => self.change_replication(),
            Kw::START | Kw::STOP => self.replica_threads(),
            Kw::CACHE => self.cache_index(),
            Kw::CLONE => self.clone_statement(),
            Kw::IMPORT => self.import_table(),
            _ => Err(self.error()),
        }
    }

    /// ALTER INSTANCE; INSTANCE is the current token.
    pub(super) fn alter_instance(&mut self) -> PResult<Statement> {
        use InstanceAction as A;
        self.bump();
        let verbs = [Kw::RELOAD, Kw::ROTATE, Kw::ENABLE, Kw::DISABLE];
        let action = match self.expect_any(&verbs)? {
            Kw::RELOAD if self.accept_kw(Kw::KEYRING) => A::ReloadKeyring,
            Kw::RELOAD => return self.reload_tls(),
            Kw::ROTATE => {
                let binlog = self.accept_kw(Kw::BINLOG);
                if !binlog && !self.accept_word("INNODB") {
                    return Err(self.error());
                }
                self.expect_kw(Kw::MASTER)?;
                self.expect_kw(Kw::KEY)?;
                if binlog { A::RotateBinlog } else { A::RotateInnodb }
            }
            _ => {
                if !self.accept_word("INNODB") || !self.accept_word("REDO_LOG") {
                    return Err(self.error());
                }
                A::RedoLog
            }
        };
        Ok(Statement::Server(Box::new(ServerStatement::AlterInstance(action))))
    }

    /// ALTER INSTANCE RELOAD TLS; TLS is the current token.
    fn reload_tls(&mut self) -> PResult<Statement> {
        self.expect_kw(Kw::TLS)?;
        if self.accept_kw(Kw::FOR) {
            self.expect_kw(Kw::CHANNEL)?;
            let channel = self.ident()?;
            if !["mysql_main", "mysql_admin"].contains(&channel.as_str()) {
                return Err(self.fail(ParseErrorKind::Other {
                    code: 1149,
                    state: "42000",
                    message: "You have an error in your SQL syntax; check the manual that \
                              corresponds to your MySQL server version for the right syntax to use"
                        .to_owned(),
                }));
            }
        }
        if self.accept_kw(Kw::NO) {
            self.expect_kw(Kw::ROLLBACK)?;
            self.expect_kw(Kw::ON)?;
            self.expect_kw(Kw::ERROR)?;
        }
        Ok(Statement::ReloadTls)
    }

    fn opt_local(&mut self) -> bool {
        self.accept_any(&[Kw::LOCAL, Kw::NO_WRITE_TO_BINLOG]).is_some()
    }

    fn flush(&mut self) -> PResult<Statement> {
        self.bump();
        let local = self.opt_local();
        if self.accept_any(&[Kw::TABLES, Kw::TABLE]).is_some() {
            let names = if Self::is_ident(self.tok) { self.object_names()? } else { Vec::new() };
            let read_lock = self.accept_kw(Kw::WITH);
            let export = !read_lock && !names.is_empty() && self.accept_kw(Kw::FOR);
            if read_lock {
                self.expect_kw(Kw::READ)?;
                self.expect_kw(Kw::LOCK)?;
            } else if export {
                self.expect_kw(Kw::EXPORT)?;
            }
            let targets = vec![FlushTarget::Tables { names, read_lock, export }];
            return Ok(Statement::Flush(Flush { local, targets }));
        }
        let targets = self.list(Self::flush_target)?;
        Ok(Statement::Flush(Flush { local, targets }))
    }

    fn flush_target(&mut self) -> PResult<FlushTarget> {
        let target = match self.kw() {
            Kw::PRIVILEGES => FlushTarget::Privileges,
            Kw::STATUS => FlushTarget::Status,
            Kw::LOGS => FlushTarget::Logs(None),
            Kw::HOSTS => FlushTarget::Hosts,
            Kw::USER_RESOURCES => FlushTarget::UserResources,
            Kw::OPTIMIZER_COSTS => FlushTarget::OptimizerCosts,
            Kw::BINARY | Kw::ENGINE | Kw::ERROR | Kw::GENERAL | Kw::RELAY | Kw::SLOW => {
                let kind = self.upper_word();
                self.expect_kw(Kw::LOGS)?;
                if kind == "RELAY" && self.accept_kw(Kw::FOR) {
                    self.expect_kw(Kw::CHANNEL)?;
                    return Ok(FlushTarget::RelayLogs(self.ident_or_string()?));
                }
                return Ok(FlushTarget::Logs(Some(kind)));
            }
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(target)
    }

    fn reset(&mut self) -> PResult<Statement> {
        self.bump();
        if self.accept_kw(Kw::PERSIST) {
            let if_exists = self.if_exists()?;
            let mut name = None;
            if Self::is_ident(self.tok) {
                let object = self.object_name()?;
                let component = object.db.map(|db| format!("{db}.")).unwrap_or_default();
                name = Some(format!("{component}{}", object.name));
            } else if if_exists {
                return Err(self.error());
            }
            return Ok(Statement::ResetPersist { if_exists, name });
        }
        let targets = self.list(|p| {
            Ok(match p.expect_any(&[Kw::MASTER, Kw::REPLICA, Kw::SLAVE])? {
                Kw::MASTER => {
                    if p.accept_kw(Kw::TO) {
                        p.uint()?;
                    }
                    ResetTarget::Master
                }
                kw => {
                    if kw == Kw::SLAVE {
                        p.deprecated("RESET SLAVE", "RESET REPLICA");
                    }
                    p.accept_kw(Kw::ALL);
                    ResetTarget::Replica { channel: p.opt_channel()? }
                }
            })
        })?;
        Ok(Statement::Reset(targets))
    }

    fn purge(&mut self) -> PResult<Statement> {
        self.bump();
        self.expect_any(&[Kw::BINARY, Kw::MASTER])?;
        self.expect_kw(Kw::LOGS)?;
        let purge = match self.expect_any(&[Kw::TO, Kw::BEFORE])? {
            Kw::TO => PurgeLogs::To(self.string()?),
            _ if self.is(Tok::LParen) && self.peek_is_kw(Kw::SELECT) => return Err(self.error()),
            _ => PurgeLogs::Before(self.expr()?),
        };
        Ok(Statement::PurgeLogs(purge))
    }

    fn maintenance(&mut self, kind: MaintenanceKind) -> PResult<Statement> {
        self.bump();
        let local = matches!(
            kind,
            MaintenanceKind::Analyze | MaintenanceKind::Optimize | MaintenanceKind::Repair
        ) && self.opt_local();
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let tables = self.object_names()?;
        let mut options = Vec::new();
        let mut histogram = None;
        match kind {
            MaintenanceKind::Analyze => histogram = self.opt_histogram()?,
            MaintenanceKind::Optimize => {}
            _ => loop {
                let known = match kind {
                    MaintenanceKind::Check => matches!(
                        self.tok.kw,
                        Kw::QUICK | Kw::FAST | Kw::MEDIUM | Kw::EXTENDED | Kw::CHANGED
                    ),
                    MaintenanceKind::Repair => {
                        matches!(self.tok.kw, Kw::QUICK | Kw::EXTENDED | Kw::USE_FRM)
                    }
                    _ => matches!(self.tok.kw, Kw::QUICK | Kw::EXTENDED),
                };
                if known {
                    options.push(self.upper_word());
                } else if kind == MaintenanceKind::Check && self.accept_kw(Kw::FOR) {
                    self.expect_kw(Kw::UPGRADE)?;
                    options.push("FOR UPGRADE".to_string());
                } else {
                    break;
                }
            },
        }
        let statement = TableMaintenance { kind, local, tables, options, histogram };
        Ok(Statement::TableMaintenance(statement))
    }

    fn opt_histogram(&mut self) -> PResult<Option<Histogram>> {
        let Some(kw) = self.accept_any(&[Kw::UPDATE, Kw::DROP]) else { return Ok(None) };
        self.expect_kw(Kw::HISTOGRAM)?;
        self.expect_kw(Kw::ON)?;
        let columns = self.list(Self::ident)?;
        let mut buckets = None;
        if kw == Kw::UPDATE && self.accept_kw(Kw::WITH) {
            let number = self.uint()?;
            self.expect_kw(Kw::BUCKETS)?;
            if !(1..=MAX_BUCKETS).contains(&number) {
                return Err(self.fail(ParseErrorKind::Other {
                    code: 1690,
                    state: "22003",
                    message: String::from(
                        "Number of buckets value is out of range in 'ANALYZE TABLE'",
                    ),
                }));
            }
            buckets = Some(number);
        }
        // MySQL looks at the names once it has read the whole statement.
        if matches!(self.tok.tok, Tok::Eof | Tok::Semi)
            && let Some(name) = repeated(&columns)
        {
            let message = format!("Duplicate column name '{name}'");
            return Err(self.fail(ParseErrorKind::Other { code: 1060, state: "42S21", message }));
        }
        Ok(Some(Histogram { drop: kw == Kw::DROP, columns, buckets }))
    }

    fn install(&mut self) -> PResult<Statement> {
        self.bump();
        if self.expect_any(&[Kw::PLUGIN, Kw::COMPONENT])? == Kw::COMPONENT {
            return Ok(Statement::InstallComponent(self.list(Self::string)?));
        }
        let name = self.ident()?;
        self.expect_kw(Kw::SONAME)?;
        Ok(Statement::InstallPlugin { name, soname: self.string()? })
    }

    fn uninstall(&mut self) -> PResult<Statement> {
        self.bump();
        if self.expect_any(&[Kw::PLUGIN, Kw::COMPONENT])? == Kw::COMPONENT {
            return Ok(Statement::UninstallComponent(self.list(Self::string)?));
        }
        Ok(Statement::UninstallPlugin(self.ident()?))
    }

    fn signal_condition(&mut self) -> PResult<SignalCondition> {
        if self.accept_kw(Kw::SQLSTATE) {
            self.accept_kw(Kw::VALUE);
            return Ok(SignalCondition::SqlState(self.string()?));
        }
        Ok(SignalCondition::Name(self.ident()?))
    }

    fn signal_items(&mut self) -> PResult<Vec<(String, crate::ast::Expr)>> {
        if !self.accept_kw(Kw::SET) {
            return Ok(Vec::new());
        }
        self.list(|p| {
            let name = p.condition_item()?;
            p.expect(Tok::Eq)?;
            Ok((name, p.expr()?))
        })
    }

    fn condition_item(&mut self) -> PResult<String> {
        let known = matches!(
            self.tok.kw,
            Kw::CLASS_ORIGIN
                | Kw::SUBCLASS_ORIGIN
                | Kw::MESSAGE_TEXT
                | Kw::MYSQL_ERRNO
                | Kw::CONSTRAINT_CATALOG
                | Kw::CONSTRAINT_SCHEMA
                | Kw::CONSTRAINT_NAME
                | Kw::CATALOG_NAME
                | Kw::SCHEMA_NAME
                | Kw::TABLE_NAME
                | Kw::COLUMN_NAME
                | Kw::CURSOR_NAME
                | Kw::RETURNED_SQLSTATE
                | Kw::NUMBER
                | Kw::ROW_COUNT
        );
        if known { Ok(self.upper_word()) } else { Err(self.error()) }
    }

    fn get_diagnostics(&mut self) -> PResult<Statement> {
        self.bump();
        let stacked = self.accept_any(&[Kw::CURRENT, Kw::STACKED]) == Some(Kw::STACKED);
        self.expect_kw(Kw::DIAGNOSTICS)?;
        let condition = if self.accept_kw(Kw::CONDITION) { Some(self.primary()?) } else { None };
        let items = self.list(|p| {
            let target = p.variable_target()?;
            p.expect(Tok::Eq)?;
            Ok((target, p.condition_item()?))
        })?;
        Ok(Statement::GetDiagnostics(GetDiagnostics { stacked, condition, items }))
    }
}

/// The first name that is there before.
fn repeated(names: &[String]) -> Option<&String> {
    let same = |a: &String, b: &String| Collation::SYSTEM.equals(a.as_bytes(), b.as_bytes());
    let mut places = names.iter().enumerate();
    let before = |(at, name): &(usize, &String)| names[..*at].iter().any(|b| same(b, name));
    places.find(before).map(|(_, name)| name)
}
