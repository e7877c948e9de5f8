//! CREATE, ALTER and DROP SEQUENCE.
//!
//! The statement keeps the sequence from giving numbers while it writes the new definition, and
//! ends the old one before anybody can take another of it.

use super::{DdlResult, hold_schema, in_transaction, lock, unix_seconds};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{SequenceOptions, SequenceStatement};
use inia_query::catalog::sequence::Position;
use inia_query::catalog::{Change, FullName, Sequence, SequenceDef, SequenceRange};
use inia_query::context::{SessionContext, StatementOutcome, full_name};
use std::sync::Arc;

/// How many numbers are reserved at once where nothing is said.
const CACHE: u64 = 1000;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// CREATE, ALTER and DROP SEQUENCE.
pub(crate) fn define_sequence(
    session: &mut SessionContext,
    statement: &SequenceStatement,
) -> DdlResult {
    match statement {
        SequenceStatement::Create { name, or_replace, if_not_exists, options } => {
            let name = full_name(session, name)?;
            create(session, name, (*or_replace, *if_not_exists), options)
        }
        SequenceStatement::Alter { name, if_exists, options } => {
            let name = full_name(session, name)?;
            alter(session, &name, *if_exists, options)
        }
        SequenceStatement::Drop { names, if_exists } => {
            let names: Result<Vec<FullName>, SqlError> =
                names.iter().map(|name| full_name(session, name)).collect();
            drop_all(session, names?, *if_exists)
        }
    }
}

/// The range that the options give, on top of an older one.
fn range(options: &SequenceOptions, old: Option<&SequenceRange>) -> SequenceRange {
    let increment = options.increment.or(old.map(|old| old.increment)).unwrap_or(1);
    let (least, greatest) = match increment < 0 {
        false => (1, i64::MAX - 1),
        true => (i64::MIN + 1, -1),
    };
    let limit = |given: Option<Option<i64>>, old: Option<i64>, default: i64| match given {
        Some(given) => given.unwrap_or(default),
        None => old.unwrap_or(default),
    };
    let min = limit(options.min, old.map(|old| old.min), least);
    let max = limit(options.max, old.map(|old| old.max), greatest);
    let first = if increment < 0 { max } else { min };
    SequenceRange {
        start: options.start.or(old.map(|old| old.start)).unwrap_or(first),
        increment,
        min,
        max,
        cycle: options.cycle.or(old.map(|old| old.cycle)).unwrap_or(false),
    }
}

/// Error 4085 where the options do not fit each other.
fn check(def: &SequenceDef, options: &SequenceOptions) -> Result<(), SqlError> {
    let fits = |next: i64| (def.range.min..=def.range.max).contains(&next);
    let cache = options.cache.is_none_or(|cache| cache >= 0);
    if !def.range.is_valid() || !def.position.next.is_none_or(fits) || !cache {
        return error(ErrorCode::SequenceInvalidData, &[&def.schema, &def.name]);
    }
    Ok(())
}

fn create(
    session: &mut SessionContext,
    (schema, name): FullName,
    (or_replace, if_not_exists): (bool, bool),
    options: &SequenceOptions,
) -> DdlResult {
    hold_schema(session, &schema)?;
    let _lock = lock(session, &[(schema.clone(), name.clone())])?;
    let catalog = session.db.catalog();
    let old = catalog.sequence(&schema, &name);
    if catalog.has(&schema, &name) && !(or_replace && old.is_some()) {
        if if_not_exists {
            session.note(ErrorCode::TableExists, &[&name]);
            return Ok(StatementOutcome::default());
        }
        return error(ErrorCode::TableExists, &[&name]);
    }
    let range = range(options, None);
    let def = SequenceDef {
        schema,
        name,
        range,
        cache: options.cache.map_or(CACHE, |cache| u64::try_from(cache).unwrap_or(0)),
        comment: options.comment.clone().unwrap_or_default(),
        created: unix_seconds(),
        position: Position { next: Some(range.start), round: 0 },
    };
    check(&def, options)?;
    let old: Vec<Arc<Sequence>> = old.into_iter().collect();
    change(session, &old, vec![Change::PutSequence(Box::new(def))])
}

/// Error 1146, or 4090 where a table or view has the name.
fn not_there<T>(session: &SessionContext, (schema, name): &FullName) -> Result<T, SqlError> {
    match session.db.catalog().has(schema, name) {
        true => error(ErrorCode::NotSequence, &[schema, name]),
        false => error(ErrorCode::NoSuchTable, &[schema, name]),
    }
}

fn alter(
    session: &mut SessionContext,
    name: &FullName,
    if_exists: bool,
    options: &SequenceOptions,
) -> DdlResult {
    let _lock = lock(session, std::slice::from_ref(name))?;
    let Some(old) = session.db.catalog().sequence(&name.0, &name.1) else {
        if if_exists && !session.db.catalog().has(&name.0, &name.1) {
            session.note(ErrorCode::NoSuchTable, &[&name.0, &name.1]);
            return Ok(StatementOutcome::default());
        }
        return not_there(session, name);
    };
    let range = range(options, Some(&old.def.range));
    let stopped = old.stop();
    let mut def = SequenceDef { range, position: stopped.position(), ..old.def.clone() };
    if let Some(cache) = options.cache {
        def.cache = u64::try_from(cache).unwrap_or(0);
    }
    if let Some(comment) = &options.comment {
        def.comment.clone_from(comment);
    }
    if let Some(restart) = options.restart {
        def.position = Position { next: Some(restart.unwrap_or(range.start)), round: 0 };
    }
    check(&def, options)?;
    in_transaction(session, |_, changes| {
        changes.push(Change::PutSequence(Box::new(def)));
        Ok(())
    })?;
    stopped.end();
    Ok(StatementOutcome::default())
}

/// DROP SEQUENCE: all of them or none.
fn drop_all(session: &mut SessionContext, names: Vec<FullName>, if_exists: bool) -> DdlResult {
    let _lock = lock(session, &names)?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for name in names {
        match session.db.catalog().sequence(&name.0, &name.1) {
            Some(sequence) => found.push(sequence),
            None if session.db.catalog().has(&name.0, &name.1) => return not_there(session, &name),
            None => missing.push(format!("{}.{}", name.0, name.1)),
        }
    }
    if !missing.is_empty() {
        if !if_exists {
            return error(ErrorCode::UnknownTable, &[&missing.join(",")]);
        }
        missing.iter().for_each(|name| session.note(ErrorCode::UnknownTable, &[name]));
    }
    if found.is_empty() {
        return Ok(StatementOutcome::default());
    }
    let gone = found.iter().map(|sequence| {
        let (schema, name) = (sequence.def.schema.clone(), sequence.def.name.clone());
        Change::DropSequence { schema, name }
    });
    let gone = gone.collect();
    change(session, &found, gone)
}

/// Makes changes that end these sequences.
fn change(session: &mut SessionContext, ended: &[Arc<Sequence>], list: Vec<Change>) -> DdlResult {
    let stopped: Vec<_> = ended.iter().map(|sequence| sequence.stop()).collect();
    in_transaction(session, |_, changes| {
        changes.extend(list);
        Ok(())
    })?;
    stopped.into_iter().for_each(|stopped| stopped.end());
    Ok(StatementOutcome::default())
}
