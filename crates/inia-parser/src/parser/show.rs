//! SHOW.

use super::{PResult, Parser};
use crate::{
    ast::{
        ObjectName, ProfileLimit, RoutineKind, Show, ShowFilter, ShowKind, ShowProfile, Statement,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// SHOW; the word is the current token.
    pub(super) fn show(&mut self) -> PResult<Statement> {
        self.bump();
        let (kind, filtered) = self.show_kind()?;
        let filter = if filtered { self.opt_filter()? } else { None };
        Ok(Statement::Show(Box::new(Show { kind, filter })))
    }

    fn opt_filter(&mut self) -> PResult<Option<ShowFilter>> {
        if self.accept_kw(Kw::LIKE) {
            return Ok(Some(ShowFilter::Like(self.string()?)));
        }
        if self.accept_kw(Kw::WHERE) {
            return Ok(Some(ShowFilter::Where(self.expr()?)));
        }
        Ok(None)
    }

    /// What is shown, and whether LIKE or WHERE may follow.
    fn show_kind(&mut self) -> PResult<(ShowKind, bool)> {
        // LIKE and WHERE may follow all kinds of this match; arms that return decide it themselves.
        let kind = match self.kw() {
            Kw::DATABASES | Kw::SCHEMAS => self.simple(ShowKind::Databases),
            Kw::EXTENDED | Kw::FULL | Kw::TABLES | Kw::COLUMNS | Kw::FIELDS => {
                return self.show_tables_or_columns();
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => return self.show_index(false),
            Kw::TABLE => {
                self.bump();
                self.expect_kw(Kw::STATUS)?;
                ShowKind::TableStatus(self.opt_from_db()?)
            }
            Kw::TRIGGERS => {
                self.bump();
                ShowKind::Triggers(self.opt_from_db()?)
            }
            Kw::EVENTS => {
                self.bump();
                ShowKind::Events(self.opt_from_db()?)
            }
            Kw::OPEN => {
                self.bump();
                self.expect_kw(Kw::TABLES)?;
                ShowKind::OpenTables(self.opt_from_db()?)
            }
            Kw::VARIABLES | Kw::STATUS | Kw::GLOBAL | Kw::SESSION | Kw::LOCAL => {
                let scope = self.accept_any(&[Kw::GLOBAL, Kw::SESSION, Kw::LOCAL]);
                let global = scope == Some(Kw::GLOBAL);
                match self.expect_any(&[Kw::VARIABLES, Kw::STATUS])? {
                    Kw::VARIABLES => ShowKind::Variables { global },
                    _ => ShowKind::Status { global },
                }
            }
            Kw::CHARSET => self.simple(ShowKind::Charset),
            Kw::CHARACTER | Kw::CHAR => {
                self.bump();
                self.expect_kw(Kw::SET)?;
                ShowKind::Charset
            }
            Kw::COLLATION => self.simple(ShowKind::Collation),
            Kw::PROCEDURE | Kw::FUNCTION => return self.show_routine(),
            _ => return Ok((self.show_unfiltered()?, false)),
        };
        Ok((kind, true))
    }

    fn simple(&mut self, kind: ShowKind) -> ShowKind {
        self.bump();
        kind
    }

    /// FROM | IN db.
    fn opt_from_db(&mut self) -> PResult<Option<String>> {
        if self.accept_any(&[Kw::FROM, Kw::IN]).is_none() {
            return Ok(None);
        }
        Ok(Some(self.ident()?))
    }

    /// FROM | IN t [FROM | IN db].
    fn shown_table(&mut self) -> PResult<ObjectName> {
        self.expect_any(&[Kw::FROM, Kw::IN])?;
        let table = self.object_name()?;
        Ok(match self.opt_from_db()? {
            Some(db) => ObjectName { db: Some(db), name: table.name },
            None => table,
        })
    }

    fn show_tables_or_columns(&mut self) -> PResult<(ShowKind, bool)> {
        let extended = self.accept_kw(Kw::EXTENDED);
        if extended && matches!(self.tok.kw, Kw::INDEX | Kw::INDEXES | Kw::KEYS) {
            return self.show_index(true);
        }
        let full = self.accept_kw(Kw::FULL);
        let kind = match self.kw() {
            Kw::TABLES => {
                self.bump();
                ShowKind::Tables { full, extended, db: self.opt_from_db()? }
            }
            Kw::COLUMNS | Kw::FIELDS => {
                self.bump();
                ShowKind::Columns { full, extended, table: self.shown_table()? }
            }
            Kw::PROCESSLIST if !extended => {
                self.bump();
                return Ok((ShowKind::Processlist { full }, false));
            }
            _ => return Err(self.error()),
        };
        Ok((kind, true))
    }

    /// SHOW INDEX, which takes WHERE but not LIKE.
    fn show_index(&mut self, extended: bool) -> PResult<(ShowKind, bool)> {
        self.bump();
        let table = self.shown_table()?;
        if self.is_kw(Kw::LIKE) {
            return Err(self.error());
        }
        Ok((ShowKind::Index { extended, table }, true))
    }

    fn show_routine(&mut self) -> PResult<(ShowKind, bool)> {
        let kind = match self.bump().kw {
            Kw::PROCEDURE => RoutineKind::Procedure,
            _ => RoutineKind::Function,
        };
        match self.expect_any(&[Kw::STATUS, Kw::CODE])? {
            Kw::STATUS => Ok((ShowKind::RoutineStatus(kind), true)),
            _ => Ok((ShowKind::RoutineCode(kind, self.object_name()?), false)),
        }
    }

    fn show_unfiltered(&mut self) -> PResult<ShowKind> {
        let kw = self.tok.kw;
        Ok(match kw {
            Kw::CREATE => return self.show_create(),
            Kw::PROCESSLIST => self.simple(ShowKind::Processlist { full: false }),
            Kw::ENGINES => self.simple(ShowKind::Engines),
            Kw::STORAGE => {
                self.bump();
                self.expect_kw(Kw::ENGINES)?;
                ShowKind::Engines
            }
            Kw::ENGINE => {
                self.bump();
                let name = if self.accept_kw(Kw::ALL) {
                    "ALL".to_string()
                } else {
                    self.ident_or_string()?
                };
                if !matches!(self.tok.kw, Kw::STATUS | Kw::MUTEX | Kw::LOGS) {
                    return Err(self.error());
                }
                ShowKind::Engine { name, what: self.upper_word() }
            }
            Kw::PLUGINS => self.simple(ShowKind::Plugins),
            Kw::PRIVILEGES => self.simple(ShowKind::Privileges),
            Kw::WARNINGS | Kw::ERRORS => {
                self.bump();
                self.diagnostics(kw == Kw::WARNINGS, false)?
            }
            Kw::GRANTS => self.show_grants()?,
            Kw::PROFILES => self.simple(ShowKind::Profiles),
            Kw::PROFILE => {
                self.bump();
                ShowKind::Profile(self.show_profile()?)
            }
            Kw::BINLOG | Kw::RELAYLOG => self.binlog_events()?,
            Kw::REPLICAS => self.simple(ShowKind::Replicas { old: false }),
            Kw::BINARY | Kw::MASTER => {
                self.bump();
                match self.expect_any(&[Kw::LOGS, Kw::STATUS])? {
                    Kw::LOGS => ShowKind::BinaryLogs,
                    _ if kw == Kw::MASTER => ShowKind::BinaryLogStatus,
                    _ => return Err(self.error()),
                }
            }
            Kw::SLAVE | Kw::REPLICA => {
                self.bump();
                if kw == Kw::SLAVE && self.accept_kw(Kw::HOSTS) {
                    return Ok(ShowKind::Replicas { old: kw == Kw::SLAVE });
                }
                self.expect_kw(Kw::STATUS)?;
                let channel = if self.accept_kw(Kw::FOR) {
                    self.expect_kw(Kw::CHANNEL)?;
                    Some(self.ident_or_string()?)
                } else {
                    None
                };
                ShowKind::ReplicaStatus { old: kw == Kw::SLAVE, channel }
            }
            _ if self.is_word("count") => self.show_count()?,
            _ => return Err(self.error()),
        })
    }

    /// SHOW COUNT(*) WARNINGS | ERRORS.
    fn show_count(&mut self) -> PResult<ShowKind> {
        self.bump();
        self.expect(Tok::LParen)?;
        self.expect(Tok::Star)?;
        self.expect(Tok::RParen)?;
        let kw = self.expect_any(&[Kw::WARNINGS, Kw::ERRORS])?;
        self.diagnostics(kw == Kw::WARNINGS, true)
    }

    fn diagnostics(&mut self, warnings: bool, count: bool) -> PResult<ShowKind> {
        let limit = if count { None } else { self.opt_limit()? };
        Ok(if warnings {
            ShowKind::Warnings { count, limit }
        } else {
            ShowKind::Errors { count, limit }
        })
    }

    fn show_grants(&mut self) -> PResult<ShowKind> {
        self.bump();
        let (mut account, mut using) = (None, Vec::new());
        if self.accept_kw(Kw::FOR) {
            account = Some(self.account()?);
            if self.accept_kw(Kw::USING) {
                using = self.list(Self::account)?;
            }
        }
        Ok(ShowKind::Grants { account, using })
    }

    fn binlog_events(&mut self) -> PResult<ShowKind> {
        let relay = self.bump().kw == Kw::RELAYLOG;
        self.expect_kw(Kw::EVENTS)?;
        let log = if self.accept_kw(Kw::IN) { Some(self.string()?) } else { None };
        let from = if self.accept_kw(Kw::FROM) { Some(self.uint()?) } else { None };
        Ok(ShowKind::BinlogEvents { relay, log, from, limit: self.opt_limit()? })
    }

    fn show_create(&mut self) -> PResult<ShowKind> {
        self.bump();
        if self.at_sequence() {
            self.bump();
            return Ok(ShowKind::CreateSequence(self.object_name()?));
        }
        let kw = self.expect_any(&[
            Kw::DATABASE,
            Kw::SCHEMA,
            Kw::TABLE,
            Kw::VIEW,
            Kw::PROCEDURE,
            Kw::FUNCTION,
            Kw::TRIGGER,
            Kw::EVENT,
            Kw::USER,
        ])?;
        let routine = |kind, name| ShowKind::CreateRoutine(kind, name);
        Ok(match kw {
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.if_not_exists()?;
                ShowKind::CreateDatabase { name: self.ident()?, if_not_exists }
            }
            Kw::TABLE => ShowKind::CreateTable(self.object_name()?),
            Kw::VIEW => ShowKind::CreateView(self.object_name()?),
            Kw::PROCEDURE => routine(RoutineKind::Procedure, self.object_name()?),
            Kw::FUNCTION => routine(RoutineKind::Function, self.object_name()?),
            Kw::TRIGGER => routine(RoutineKind::Trigger, self.object_name()?),
            Kw::EVENT => routine(RoutineKind::Event, self.object_name()?),
            _ => ShowKind::CreateUser(self.account()?),
        })
    }

    /// What follows SHOW PROFILE.
    fn show_profile(&mut self) -> PResult<ShowProfile> {
        let mut types = Vec::new();
        let head = [Tok::Eof, Tok::Semi].contains(&self.tok.tok);
        if !head && !self.is_kw(Kw::FOR) && !self.is_kw(Kw::LIMIT) {
            types = self.list(Self::profile_type)?.concat();
        }
        let mut query = 0;
        if self.accept_kw(Kw::FOR) {
            self.expect_kw(Kw::QUERY)?;
            query = self.whole_number()?;
        }
        let mut limit = ProfileLimit { offset: 0, count: usize::MAX };
        if self.accept_kw(Kw::LIMIT) {
            limit.count = self.row_number()?;
            if self.accept(Tok::Comma) {
                limit.offset = limit.count;
                limit.count = self.row_number()?;
            } else if self.accept_kw(Kw::OFFSET) {
                limit.offset = self.row_number()?;
            }
        }
        Ok(ShowProfile { types, query, limit })
    }

    fn row_number(&mut self) -> PResult<usize> {
        Ok(usize::try_from(self.uint()?).unwrap_or(usize::MAX))
    }

    /// A type of SHOW PROFILE, as places in the list of types.
    fn profile_type(&mut self) -> PResult<Vec<usize>> {
        if self.accept_kw(Kw::ALL) {
            return Ok((0..ShowProfile::TYPES.len()).collect());
        }
        for (at, (words, _)) in ShowProfile::TYPES.iter().enumerate() {
            let (first, second) = words.split_once(' ').unwrap_or((words, ""));
            if self.accept_word(first) {
                if !second.is_empty() && !self.accept_word(second) {
                    return Err(self.error());
                }
                return Ok(vec![at]);
            }
        }
        Err(self.error())
    }
}
