//! Statements as they arrive: bytes in the client's character set.
//!
//! One text may hold several statements, and a statement may nest to any depth. Most texts repeat
//! an earlier one with other literals, so the plan cache is asked first.
//!
//! A text in a character set other than UTF-8 is converted as a whole. A UTF-8 text may hold string
//! literals that are not UTF-8: programs put binary data between quotes. Such literals stay bytes,
//! with MySQL's warning 1300.

use super::observe::{self, Arrival};
use super::plan_cache::{self, CacheEntry, PlanKey};
use super::room::parser_of;
use super::run::{IncomingStatement, Syntax, begin, failed, run_statement};
use super::shared::{self, SharedStatement};
use super::{Prepared, PreparedSlot, PreparedStatement, Session, admin, hints, plan};
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::{ParseErrorKind, Remark, ast};
use inia_query::context::SessionContext;
use inia_query::error::parse_error;
use inia_query::stack::on_deep_stack;
use inia_query::status::HandleUse;
use std::borrow::Cow;

/// Whether the text nests too deeply for the usual stack, and may be tried on the deep one.
fn wants_depth<T>(parsed: &Result<T, inia_parser::ParseError>, deep: bool) -> bool {
    let too_deep = |error: &inia_parser::ParseError| error.kind == ParseErrorKind::TooDeep;
    !deep && parsed.as_ref().err().is_some_and(too_deep)
}

/// Whether a statement changes rows and sends none.
fn only_changes(statement: &ast::Statement) -> bool {
    match statement {
        ast::Statement::Insert(insert) => insert.returning.is_empty(),
        ast::Statement::Update(update) => update.returning.is_empty(),
        ast::Statement::Delete(delete) => delete.returning.is_empty(),
        _ => false,
    }
}

impl Session {
    /// As [`Session::execute`], for text in the client's character set.
    pub fn execute_bytes(&mut self, sql: &[u8], sink: &mut dyn RowSink) -> Result<(), SqlError> {
        match client_text(&self.context, sql) {
            Some(text) => self.execute(&text, sink),
            None => self.execute_text(sql, sink, false),
        }
    }

    /// Executes one statement, or several separated by semicolons when the client asked for that.
    /// The sink gets one result per statement.
    pub fn execute(&mut self, sql: &str, sink: &mut dyn RowSink) -> Result<(), SqlError> {
        let sql = sql.trim_end_matches([';', ' ', '\n', '\t', '\r', '\x0b', '\x0c']);
        let Some(key) = PlanKey::of(&self.context, sql) else {
            return self.execute_text(sql.as_bytes(), sink, false);
        };
        let known = match self.plan_cache.find(&key) {
            Some(CacheEntry::Cached(_)) => true,
            Some(CacheEntry::Uncacheable) => return self.execute_text(sql.as_bytes(), sink, false),
            // Planning must not be what ends a transaction that is about to begin.
            Some(CacheEntry::SeenOnce) if self.context.state.open || self.context.autocommits() => {
                let made = plan_cache::parametrise(&mut self.context, sql, &key);
                let ready = made.is_some();
                self.plan_cache.note(
                    &key,
                    made.map_or(CacheEntry::Uncacheable, |m| CacheEntry::Cached(Box::new(m))),
                );
                ready
            }
            Some(CacheEntry::SeenOnce) | None => false,
        };
        if known && let Some(done) = self.execute_kept(sql, &key, sink) {
            return done;
        }
        let result = self.execute_text(sql.as_bytes(), sink, false);
        if result.is_ok() && !known && self.plan_cache.find(&key).is_none() {
            self.plan_cache.note(&key, CacheEntry::SeenOnce);
        }
        result
    }

    /// Executes a text by the cached plan of its digest; `None` where there is no usable plan.
    fn execute_kept(
        &mut self,
        sql: &str,
        key: &PlanKey<'_>,
        sink: &mut dyn RowSink,
    ) -> Option<Result<(), SqlError>> {
        let params = plan_cache::values(&self.context, sql, key)?;
        let Some(CacheEntry::Cached(kept)) = self.plan_cache.find(key) else { return None };
        let Some(plan) = kept.kept.usable(&self.context) else {
            self.plan_cache.note(key, CacheEntry::SeenOnce);
            return None;
        };
        let SharedStatement { statement, hints, .. } = &*kept.shared;
        // As a literal such a text is another error.
        plan.check(&self.context, &params).ok()?;
        let source = IncomingStatement { statement, syntax: Syntax::Hinted(hints), metered: true };
        let mut stale = false;
        let noted = observe::begin(&mut self.context, statement, Arrival::Text(sql));
        let done =
            run_statement(&mut self.context, source, sink, false, |session, sink| match plan::run(
                session, &plan.plan, &params, sink,
            ) {
                Err(error) if error.code == ErrorCode::NeedReprepare => {
                    stale = true;
                    plan_cache::run_anew(session, sql, sink)
                }
                done => done,
            });
        observe::end(&mut self.context, noted, &done);
        if stale {
            self.plan_cache.note(key, CacheEntry::SeenOnce);
        }
        Some(done)
    }

    /// Executes the statements of a text; `deep` on a stack for unusual nesting.
    fn execute_text(
        &mut self,
        mut sql: &[u8],
        sink: &mut dyn RowSink,
        deep: bool,
    ) -> Result<(), SqlError> {
        let mut mode = self.context.parser_mode();
        let mut parser = parser_of(&self.context, sql, deep);
        let mut next = parser.next_statement();
        let mut done = 0;
        loop {
            if wants_depth(&next, deep) {
                drop((parser, next));
                let rest = after_separator(&sql[done..]);
                return on_deep_stack(|| self.execute_text(rest, sink, true));
            }
            let (statement, span) = match next {
                Ok(Some(found)) => found,
                Ok(None) => return Err(self.refused(SqlError::new(ErrorCode::EmptyQuery, &[]))),
                Err(error) => {
                    let remarks = parser.take_remarks();
                    return Err(self.refused_with(&remarks, parse_error(error)));
                }
            };
            if parser.param_count() > 0 {
                let text = &sql[span.start..];
                let at = text.iter().position(|&byte| byte == b'?').unwrap_or(text.len());
                return Err(self.refused(syntax_error(&text[at..])));
            }
            let (remarks, hints) = (parser.take_remarks(), parser.take_hints());
            next = parser.next_statement();
            let more = !matches!(next, Ok(None | Some((ast::Statement::Empty, _))));
            if more && !self.multi_statements {
                let error = inia_parser::parse_bytes(sql, mode).err().map(parse_error);
                return Err(self.refused(error.unwrap_or_else(|| syntax_error(&sql[span.end..]))));
            }
            if deep && !plan::may_be_deep(&statement) {
                return Err(self.refused(parse_error(too_deep())));
            }
            let text = text_of(&sql[span.start..span.end]);
            let syntax = Syntax::Parsed { remarks, hints };
            let source = IncomingStatement { statement: &statement, syntax, metered: true };
            self.run(source, &text, sink, more)?;
            if !more {
                return Ok(());
            }
            self.pass_on(next.as_ref().ok().and_then(Option::as_ref).map(|next| &next.0), sink)?;
            done = span.end;
            // A KILL that left the statement without an error ended that statement only.
            self.context.begin_command();
            if self.context.parser_mode() != mode {
                // The new SQL mode changes how the rest is parsed.
                (sql, mode) = (after_separator(&sql[span.end..]), self.context.parser_mode());
                parser = parser_of(&self.context, sql, deep);
                next = parser.next_statement();
                done = 0;
            }
        }
    }

    /// Sends what a statement of several has answered before the next one works. Changes of rows
    /// that follow each other wait for the log together; all others, whose rows may leave early,
    /// come after a reply that may be sent.
    fn pass_on(
        &mut self,
        next: Option<&ast::Statement>,
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        if !self.is_settled() {
            if next.is_some_and(only_changes) {
                return Ok(());
            }
            self.settle()?;
        }
        sink.flush()
    }

    /// An error of a text that is no statement. It clears the diagnostics of the one before.
    fn refused(&mut self, error: SqlError) -> SqlError {
        self.refused_with(&[], error)
    }

    /// As [`Session::refused`], with the warnings of what was read before the error.
    fn refused_with(&mut self, remarks: &[Remark], error: SqlError) -> SqlError {
        self.context.diagnostics.clear();
        note_remarks(&mut self.context, remarks);
        failed(&mut self.context, error)
    }

    /// Plans and runs one statement, and notes it.
    fn run(
        &mut self,
        source: IncomingStatement<'_>,
        text: &str,
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        let executes = matches!(source.statement, ast::Statement::Execute { .. });
        let noted = observe::begin(&mut self.context, source.statement, Arrival::Text(text));
        let done = self.run_unnoted(source, text, sink, more);
        // EXECUTE ends as the statement that was prepared.
        observe::end(&mut self.context, noted.filter(|_| !executes || done.is_err()), &done);
        done
    }

    fn run_unnoted(
        &mut self,
        source: IncomingStatement<'_>,
        text: &str,
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        let statement = source.statement;
        if let ast::Statement::Prepare { .. }
        | ast::Statement::Execute { .. }
        | ast::Statement::Deallocate(_) = statement
        {
            begin(&mut self.context, source)?;
            return self.run_named(statement, sink, more);
        }
        if let ast::Statement::Call(call) = statement {
            return self.run_call(source, call, &[], sink, more);
        }
        run_statement(&mut self.context, source, sink, more, |session, sink| {
            plan::execute(session, statement, text, &[], sink)
        })
    }

    /// Prepares one statement.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, SqlError> {
        self.prepare_text(sql.as_bytes(), false)
    }

    /// As [`Session::prepare`], for text in the client's character set.
    pub fn prepare_bytes(&mut self, sql: &[u8]) -> Result<Prepared, SqlError> {
        match client_text(&self.context, sql) {
            Some(text) => self.prepare_text(text.as_bytes(), false),
            None => self.prepare_text(sql, false),
        }
    }

    /// Goes on to the next number of a prepared statement. One that fails has a number, too, and
    /// one that is prepared again for other types of parameters has another, which nobody sees.
    pub(super) fn pass_number(&mut self) {
        self.last_prepared = self.last_prepared.checked_add(1).unwrap_or(1);
    }

    fn prepare_text(&mut self, sql: &[u8], deep: bool) -> Result<Prepared, SqlError> {
        self.context.begin_statement();
        self.context.diagnostics.clear();
        // A retry on the deep stack is the same statement: it counts once.
        if !deep {
            self.context.host.counters.count_handle(HandleUse::Prepare);
            self.pass_number();
        }
        let id = self.last_prepared;
        // An early return drops the slot, which gives it back.
        let slot = match PreparedSlot::take(&self.context.db) {
            Ok(slot) => slot,
            Err(error) => return Err(failed(&mut self.context, error)),
        };
        let mut parser = parser_of(&self.context, sql, deep);
        let parsed = parser.next_statement();
        if wants_depth(&parsed, deep) {
            drop((parser, parsed, slot));
            return on_deep_stack(|| self.prepare_text(sql, true));
        }
        let (statement, span) = match parsed {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Err(failed(&mut self.context, SqlError::new(ErrorCode::EmptyQuery, &[])));
            }
            Err(error) => return Err(failed(&mut self.context, parse_error(error))),
        };
        let params = parser.param_count();
        note_remarks(&mut self.context, &parser.take_remarks());
        let hints = hints::resolve_hints(&mut self.context, parser.take_hints());
        if params > u32::from(u16::MAX) {
            return Err(failed(&mut self.context, SqlError::new(ErrorCode::PsManyParam, &[])));
        }
        if !matches!(parser.next_statement(), Ok(None | Some((ast::Statement::Empty, _)))) {
            return Err(failed(&mut self.context, syntax_error(after_separator(&sql[span.end..]))));
        }
        // A stored text is parsed again on the usual stack, so it must not nest deeply.
        if deep && !plan::may_be_deep(&statement) {
            return Err(failed(&mut self.context, parse_error(too_deep())));
        }
        if !plan::is_preparable(&statement) {
            return Err(failed(&mut self.context, SqlError::new(ErrorCode::UnsupportedPs, &[])));
        }
        // Privileges are checked for this reply, and again at each execution.
        let allowed = admin::authorize_later(&self.context, &statement);
        let text = text_of(&sql[span.start..span.end]).into_owned();
        let own = SharedStatement::own(statement, text, hints);
        let planned = allowed.and_then(|()| shared::prepare(&mut self.context, own, deep));
        let (shared, kept, columns) = match planned {
            Ok(planned) => planned,
            Err(error) => return Err(failed(&mut self.context, error)),
        };
        // Memory is taken last, so that no earlier error has to give it back.
        let cost = match self.memory.take(sql, parser.nodes()) {
            Ok(cost) => cost,
            Err(error) => return Err(failed(&mut self.context, error)),
        };
        observe::note_prepared(&self.context, id, &shared.text);
        let _slot = Some(slot);
        let described = kept.param_columns(params, self.context.env.collation);
        let made = PreparedStatement { _slot, cost, deep, shared, params, kept };
        self.prepared.insert(id, made);
        Ok(Prepared { id, params: described, columns, warnings: self.context.warning_count() })
    }
}

/// A statement as UTF-8; `None` where it is meant to be UTF-8 and is not.
fn client_text<'s>(session: &SessionContext, sql: &'s [u8]) -> Option<Cow<'s, str>> {
    match session.env.client_charset {
        charset if charset.is_recoded() => Some(charset.decode_lossy(sql)),
        _ => std::str::from_utf8(sql).ok().map(Cow::Borrowed),
    }
}

/// Warnings of a statement's syntax.
pub(in crate::session) fn note_remarks(session: &mut SessionContext, remarks: &[Remark]) {
    for remark in remarks {
        let code = ErrorCode::from_number(remark.code).unwrap_or(ErrorCode::UnknownError);
        let error = SqlError::with_message(code, remark.message.as_ref());
        session.push_warning(&error);
    }
}

/// The error of a statement that nests more deeply than its kind may.
fn too_deep() -> inia_parser::ParseError {
    let kind = ParseErrorKind::TooDeep;
    inia_parser::ParseError { kind, offset: 0, line: 1, near: String::new() }
}

/// A statement as text. It nearly always is UTF-8, and the check is faster than a lossy conversion.
fn text_of(sql: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(sql).map_or_else(|_| String::from_utf8_lossy(sql), Cow::Borrowed)
}

/// A text without the end of the statement before it.
fn after_separator(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| !matches!(byte, b';' | b' ' | b'\n'));
    &rest[end.unwrap_or(rest.len())..]
}

fn syntax_error(near: &[u8]) -> SqlError {
    let near: String = String::from_utf8_lossy(near).chars().take(80).collect();
    let text = "You have an error in your SQL syntax; check the manual that corresponds to your \
                MySQL server version for the right syntax to use";
    SqlError::with_message(ErrorCode::Syntax, format!("{text} near '{near}' at line 1"))
}
