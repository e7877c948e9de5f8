//! Programs that a session has compiled, and functions called inside statements.

use super::code::CompiledProgram;
use super::compile::compile;
use super::machine::{Caller, Frame, Machine, evaluate, to_type};
use super::security;
use super::sink::NoRows;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::Warnings;
use inia_parser::ast::{SlotKind, TriggerEvent};
use inia_query::bind::table_scope::column_type;
use inia_query::catalog::{ProgramKind, StoredProgram, Table};
use inia_query::context::{Inside, ProgramRunner, SessionContext, TriggerRows};
use inia_query::stack::on_more_stack;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A program's kind and full name.
type ProgramName = (ProgramKind, String);

/// A session's compiled programs.
#[derive(Default)]
pub(in super::super) struct Programs {
    compiled: Mutex<HashMap<ProgramName, Arc<CompiledProgram>>>,
    /// Those that are running, innermost last.
    running: Mutex<Vec<ProgramName>>,
    /// Contexts for programs inside statements that nobody uses.
    contexts: Mutex<Vec<Box<SessionContext>>>,
}

/// A program that is running.
pub(super) struct Running<'p>(&'p Programs);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.lock().pop();
    }
}

fn name_of(stored: &StoredProgram) -> ProgramName {
    (stored.def.kind, stored.full_name().to_lowercase())
}

impl Programs {
    /// The program as this session runs it.
    pub(super) fn compiled(
        &self,
        stored: &Arc<StoredProgram>,
    ) -> Result<Arc<CompiledProgram>, SqlError> {
        let name = name_of(stored);
        let known = self.compiled.lock().get(&name).cloned();
        if let Some(known) = known
            && Arc::ptr_eq(&known.stored, stored)
        {
            return Ok(known);
        }
        let made = Arc::new(compile(stored)?);
        self.compiled.lock().insert(name, made.clone());
        Ok(made)
    }

    /// Notes that a program runs: errors 1424 and 1456 where it calls itself more deeply than it
    /// may.
    pub(super) fn enter(
        &self,
        stored: &StoredProgram,
        limit: impl FnOnce() -> usize,
    ) -> Result<Running<'_>, SqlError> {
        let name = name_of(stored);
        let mut running = self.running.lock();
        let depth = running.iter().filter(|other| **other == name).count();
        if depth > 0 {
            if stored.def.kind != ProgramKind::Procedure {
                return Err(SqlError::new(ErrorCode::SpNoRecursion, &[]));
            }
            let limit = limit();
            if depth > limit {
                let code = ErrorCode::SpRecursionLimit;
                return Err(SqlError::new(code, &[&limit, &stored.def.name]));
            }
        }
        running.push(name);
        Ok(Running(self))
    }

    /// Runs a program on a context that the session lends its transaction to.
    fn inside<T>(
        &self,
        session: &SessionContext,
        inside: Inside,
        work: impl FnOnce(&mut SessionContext) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let idle = self.contexts.lock().pop();
        let mut context = idle.unwrap_or_else(|| Box::new(session.inner()));
        session.lend(&mut context, inside)?;
        let done = work(&mut context);
        session.take_back(&mut context);
        self.contexts.lock().push(context);
        done
    }

    /// Runs a function's or trigger's body.
    fn run_body(
        &self,
        context: &mut SessionContext,
        stored: &StoredProgram,
        frame: &mut Frame,
    ) -> Result<(), SqlError> {
        let _running = self.enter(stored, || 0)?;
        let before = security::enter(context, stored)?;
        let mut sink = NoRows(context.inside.word());
        let mut machine = Machine {
            programs: self,
            caller: Caller::Statement(context),
            sink: &mut sink,
            noted: false,
        };
        let done = machine.run(frame);
        security::leave(context, before, &stored.def);
        done
    }
}

impl ProgramRunner for Programs {
    fn call_function(
        &self,
        session: &SessionContext,
        function: &Arc<StoredProgram>,
        args: Vec<(Value, inia_expr::ExprType)>,
        warnings: &mut Warnings,
    ) -> Result<Value, SqlError> {
        let code = self.compiled(function)?;
        if code.parsed.params.len() != args.len() {
            let (wanted, given) = (code.parsed.params.len(), args.len());
            let args: [&dyn std::fmt::Display; 4] =
                [&"FUNCTION", &function.full_name(), &wanted, &given];
            return Err(SqlError::new(ErrorCode::SpWrongNoOfArgs, &args));
        }
        on_more_stack(|| {
            self.inside(session, Inside::Function, |context| {
                let mut values = Vec::with_capacity(args.len());
                for ((value, from), param) in args.into_iter().zip(&code.parsed.params) {
                    let (to, name) = (&param.ty, &param.name);
                    let stored =
                        evaluate(context, &[], |ctx| to_type(value, &from, to, ctx, name))?;
                    values.push(stored);
                }
                let mut frame = Frame::new(code.clone(), values);
                self.run_body(context, function, &mut frame)?;
                let raised = std::mem::take(&mut context.diagnostics);
                context.diagnostics.limit = raised.limit;
                for warning in raised.list {
                    // The statement around takes it as one of its own.
                    context.host.counters.errors.take_back(warning.number());
                    warnings.push(warning);
                }
                let ended = || SqlError::new(ErrorCode::SpNoreturnend, &[&function.def.name]);
                frame.returned.ok_or_else(ended)
            })
        })
    }

    fn fire(
        &self,
        session: &SessionContext,
        table: &Table,
        when: (bool, TriggerEvent),
        rows: TriggerRows<'_>,
    ) -> Result<(), SqlError> {
        let TriggerRows { old, mut new } = rows;
        for trigger in table.triggers.of_event(when.0, when.1) {
            let code = self.compiled(trigger)?;
            on_more_stack(|| {
                self.inside(session, Inside::Trigger, |context| {
                    context.used.push(table.def.id);
                    let mut frame = Frame::new(code.clone(), Vec::new());
                    let columns = bind_rows(&mut frame, table, old, new.as_deref())?;
                    self.run_body(context, trigger, &mut frame)?;
                    if let (true, Some(new)) = (when.0, new.as_deref_mut()) {
                        for (slot, column) in columns {
                            new[column].clone_from(&frame.slots[slot]);
                        }
                    }
                    // Nobody hears the warnings of a trigger that succeeds.
                    context.diagnostics.clear();
                    Ok(())
                })
            })?;
        }
        Ok(())
    }
}

/// Gives the slots of OLD and NEW their values and types; the slots of NEW with their columns.
/// Error 1054 where a column is no longer there.
fn bind_rows(
    frame: &mut Frame,
    table: &Table,
    old: Option<&[Value]>,
    new: Option<&[Value]>,
) -> Result<Vec<(usize, usize)>, SqlError> {
    let mut columns = Vec::new();
    for (slot, declared) in frame.code.parsed.program.slots.iter().enumerate() {
        let (row, word) = match declared.kind {
            SlotKind::New => (new, "NEW"),
            SlotKind::Old => (old, "OLD"),
            _ => continue,
        };
        let Some(column) = table.def.column(&declared.name) else {
            let code = ErrorCode::UnknownColumn;
            return Err(SqlError::new(code, &[&declared.name, &word]));
        };
        if let Some(row) = row {
            frame.slots[slot].clone_from(&row[column]);
        }
        frame.types[slot] = column_type(table, column).with_nullable(true);
        if declared.kind == SlotKind::New {
            columns.push((slot, column));
        }
    }
    Ok(columns)
}
