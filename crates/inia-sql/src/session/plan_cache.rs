//! Plans of statements that arrive as text, found again by their digest.
//!
//! Clients that do not prepare statements send the same statement again and again with other
//! literals. A digest is the hash of a text without its literals. When a digest arrives for the
//! second time, its text becomes a prepared statement (`WHERE id = 5` becomes `WHERE id = ?`).
//! Later texts of the digest bind their literals as parameters, which have the types of literals.
//!
//! A statement is cached only if the client cannot distinguish its answer from that of the
//! unchanged text: [`shape`] decides. A cached statement is used only when
//! - both hashes of the digest agree, and so do the kinds of all literals, which they cover;
//! - the text up to the first literal is the same byte for byte (it names the result's columns);
//! - the session's settings and database are those it was planned under;
//! - no table of it was changed by DDL since.

mod shape;

use super::params::ParamKinds;
use super::plan::PlannedStatement;
use super::run::KeptPlan;
use super::shared::SharedStatement;
use super::{PreparedStatement, plan};
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EmptyScope, ExprKind, ExprType};
use inia_parser::{Digest, LiteralKind, LiteralSpan, Parser, digest};
use inia_query::catalog::Table;
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::error::parse_error;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Longer texts are not worth a second look at each byte.
const MAX_TEXT: usize = 4096;
/// Statements with more literals are bulk loads.
const MAX_LITERALS: usize = 64;
/// How many statements each of the two generations keeps.
const GENERATION: usize = 128;

/// What is known about a digest.
pub(super) enum CacheEntry {
    /// It came once.
    SeenOnce,
    /// Its statements are planned anew each time.
    Uncacheable,
    /// A statement with parameters.
    Cached(Box<PreparedStatement>),
}

/// A digest's entry, with what must agree beside its hash.
struct KeyedEntry {
    check: u64,
    settings: u64,
    /// The text before the first literal.
    prefix: Box<str>,
    entry: CacheEntry,
}

/// The digests of a session's recent texts. The older generation is dropped when the younger one
/// is full; what is used moves to the younger one.
#[derive(Default)]
pub(super) struct PlanCache {
    young: Generation,
    old: Generation,
}

/// Entries by the hash of their digest.
type Generation = HashMap<u64, KeyedEntry, BuildHasherDefault<DigestHasher>>;

/// Takes the hash of a digest for its own hash: it is mixed already.
#[derive(Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.is_empty(), "a digest's hash is one number");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A text's digest, and the part of it that must be the same.
pub(super) struct PlanKey<'s> {
    digest: Digest,
    prefix: &'s str,
    settings: u64,
}

impl<'s> PlanKey<'s> {
    /// The key of a text, `None` where its plan is not to be kept.
    pub(super) fn of(session: &SessionContext, sql: &'s str) -> Option<PlanKey<'s>> {
        let once = session.state.next_read_only.is_some() || !session.keeps_plans();
        if sql.len() > MAX_TEXT || once || session.env.auto_is_null {
            return None;
        }
        let digest = digest(sql, session.parser_mode())?;
        if digest.params.len() > MAX_LITERALS {
            return None;
        }
        let prefix = match digest.params.first() {
            Some(first) => sql.get(..first.start as usize)?,
            None => sql,
        };
        Some(PlanKey { digest, prefix, settings: session.settings })
    }
}

impl PlanCache {
    /// What is known about the text, if anything.
    pub(super) fn find(&mut self, key: &PlanKey<'_>) -> Option<&mut CacheEntry> {
        let hash = key.digest.hash;
        // Texts that come often are among the young.
        if !self.young.contains_key(&hash) {
            let entry = self.old.remove(&hash)?;
            self.put(hash, entry);
        }
        let entry = self.young.get_mut(&hash)?;
        let same = entry.check == key.digest.check
            && entry.settings == key.settings
            && *entry.prefix == *key.prefix;
        same.then_some(&mut entry.entry)
    }

    /// Notes something about the text.
    pub(super) fn note(&mut self, key: &PlanKey<'_>, entry: CacheEntry) {
        let entry = KeyedEntry {
            check: key.digest.check,
            settings: key.settings,
            prefix: key.prefix.into(),
            entry,
        };
        self.put(key.digest.hash, entry);
    }

    fn put(&mut self, hash: u64, entry: KeyedEntry) {
        if self.young.len() >= GENERATION && !self.young.contains_key(&hash) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, entry);
    }

    /// The statements of digests that have a plan.
    #[cfg(test)]
    pub(super) fn ready(&self) -> Vec<&Arc<SharedStatement>> {
        let entries = self.young.values().chain(self.old.values());
        let cached = entries.filter_map(|entry| match &entry.entry {
            CacheEntry::Cached(cached) => Some(&cached.shared),
            _ => None,
        });
        cached.collect()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

/// The values of a text's literals.
pub(super) fn values(session: &SessionContext, sql: &str, key: &PlanKey<'_>) -> Option<Vec<Value>> {
    let mut values = Vec::with_capacity(key.digest.params.len());
    for span in &key.digest.params {
        values.push(value(session, sql, span)?);
    }
    Some(values)
}

fn value(session: &SessionContext, sql: &str, span: &LiteralSpan) -> Option<Value> {
    let (start, end) = (span.start as usize, span.end as usize);
    match span.kind {
        LiteralKind::Int => sql.get(start..end)?.parse().ok().map(Value::Int),
        LiteralKind::PlainString => {
            sql.get(start + 1..end.checked_sub(1)?).map(|text| Value::Text(text.to_owned()))
        }
        _ => literal(session, sql.get(start..end)?).map(|(value, _)| value),
    }
}

/// A literal's value and type.
fn literal(session: &SessionContext, text: &str) -> Option<(Value, ExprType)> {
    let parsed = inia_parser::parse_expr(text, session.parser_mode()).ok()?;
    let bound = inia_expr::bind(&parsed, &mut EmptyScope, &session.env, &session.host).ok()?;
    match bound.kind {
        ExprKind::Literal(value) => Some((value, bound.ty)),
        _ => None,
    }
}

/// The statement with parameters that stands for all texts of this digest, planned with the types
/// of this one's literals. `None` where it might differ from the texts.
pub(super) fn parametrise(
    session: &mut SessionContext,
    sql: &str,
    key: &PlanKey<'_>,
) -> Option<PreparedStatement> {
    let spans = &key.digest.params;
    let (text, types) = with_parameters(session, sql, spans)?;
    let params = u32::try_from(spans.len()).ok()?;
    let made = |shared, kept| PreparedStatement {
        _slot: None,
        cost: 0,
        deep: false,
        shared,
        params,
        kept,
    };
    let kinds = [key.digest.hash, key.digest.check];
    let shared_key = SharedStatement::key(session, &text, kinds);
    if let Some(shared_key) = &shared_key
        && let Some(shared) = SharedStatement::find(session, shared_key)
        && let Some(plan) = shared.plan(session, &ParamKinds::default())
    {
        return Some(made(shared, KeptPlan::shared(session, Some(plan), Vec::new())));
    }
    let mut parser = Parser::new(&text, session.parser_mode());
    let (statement, _) = parser.next_statement().ok()??;
    // Later texts run without being parsed: none could repeat a warning about the syntax.
    if parser.param_count() as usize != spans.len() || !parser.take_remarks().is_empty() {
        return None;
    }
    let name = shape::table_name(&statement)?;
    let schema = name.db.as_deref().or(session.env.database.as_deref())?;
    let table = session.table(schema, &name.name)?;
    let kinds: Vec<LiteralKind> = spans.iter().map(|span| span.kind).collect();
    if !shape::is_plain(&statement, &table.def, &kinds) {
        return None;
    }
    // The plan is made for parameters of the literals' types.
    session.env.param_types = types;
    let planned = plan::prepare(session, &statement);
    session.env.param_types = Vec::new();
    let plan = planned.ok()?.0?;
    if session.host.plans_once.get() {
        return None;
    }
    // `is_plain` has judged this version of the table, and the plan must be for the same one.
    if !is_of(&plan, &table) {
        return None;
    }
    let kept = KeptPlan::new(session, Some(plan), Vec::new());
    let own = SharedStatement::own(statement, text, inia_parser::Hints::default());
    let shared = match shared_key.filter(|_| kept.may_share(session)) {
        Some(shared_key) => own.share(session, shared_key),
        None => Arc::new(own),
    };
    kept.offer(session, &shared);
    Some(made(shared, kept))
}

/// The text with a parameter in the place of each literal, and their types.
fn with_parameters(
    session: &SessionContext,
    sql: &str,
    spans: &[LiteralSpan],
) -> Option<(String, Vec<ExprType>)> {
    let mut text = String::with_capacity(sql.len());
    let mut types = Vec::with_capacity(spans.len());
    let mut from = 0;
    for span in spans {
        text.push_str(sql.get(from..span.start as usize)?);
        text.push('?');
        from = span.end as usize;
        let (value, ty) = literal(session, sql.get(span.start as usize..from)?)?;
        // An integer beyond BIGINT is UNSIGNED, but `value` reads integers as signed.
        if matches!(value, Value::UInt(_)) {
            return None;
        }
        // Under SET NAMES binary a string is bytes, but `value` reads it as text.
        if matches!(value, Value::Bytes(_)) && span.kind == LiteralKind::PlainString {
            return None;
        }
        types.push(ty);
    }
    text.push_str(sql.get(from..)?);
    Some((text, types))
}

/// Whether the plan is made for this very table, and no other.
fn is_of(plan: &PlannedStatement, table: &Arc<Table>) -> bool {
    let mut tables = plan.tables();
    tables.next().is_some_and(|first| Arc::ptr_eq(first, table)) && tables.next().is_none()
}

/// Runs a text from its own syntax tree: DDL came between the look at its kept plan and its use.
pub(super) fn run_anew(
    session: &mut SessionContext,
    sql: &str,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let parsed = Parser::new(sql, session.parser_mode()).next_statement().map_err(parse_error)?;
    let (statement, _) = parsed.ok_or_else(|| SqlError::new(ErrorCode::EmptyQuery, &[]))?;
    plan::execute(session, &statement, sql, &[], sink)
}
