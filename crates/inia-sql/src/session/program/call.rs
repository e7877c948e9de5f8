//! CALL.

use super::super::Session;
use super::super::evaluate::use_read;
use super::super::run::{IncomingStatement, begin};
use super::machine::{Caller, Frame, Machine, evaluate, to_type};
use super::security;
use super::sink::{DroppedRows, ProgramSink};
use inia_base::column::{Completion, RowSink, status};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::{ExprType, Level, UserVar, Warning};
use inia_parser::ast::{self, IntoTarget, ParamMode};
use inia_query::account::Privileges;
use inia_query::catalog::program::ProgramParam;
use inia_query::catalog::{ProgramKind, StoredProgram};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::stack::on_more_stack;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// The procedure that a CALL names: errors 1046 and 1305.
pub(in crate::session) fn procedure(
    context: &SessionContext,
    name: &ast::ObjectName,
) -> Result<Arc<StoredProgram>> {
    let schema = match &name.db {
        Some(schema) => schema.as_str(),
        None => context.database()?,
    };
    let found = context.use_program(ProgramKind::Procedure, schema, &name.name)?;
    found.ok_or_else(|| {
        let full = format!("{schema}.{}", name.name);
        SqlError::new(ErrorCode::SpDoesNotExist, &[&"PROCEDURE", &full])
    })
}

/// Where an argument's value goes afterwards: error 1414 where it cannot go anywhere.
fn target(
    stored: &StoredProgram,
    at: usize,
    param: &ProgramParam,
    arg: &ast::Expr,
) -> Result<Option<IntoTarget>> {
    if param.mode == ParamMode::In {
        return Ok(None);
    }
    match arg {
        ast::Expr::UserVar(name) => Ok(Some(IntoTarget::UserVar(name.clone()))),
        ast::Expr::Param(slot) => Ok(Some(IntoTarget::Slot(*slot as usize))),
        _ => Err(SqlError::new(ErrorCode::SpNotVarArg, &[&(at + 1), &stored.full_name()])),
    }
}

impl Machine<'_> {
    /// CALL in a program.
    pub(super) fn call_inside(&mut self, frame: &mut Frame, call: &ast::Call) -> Result<()> {
        let statement = ast::Statement::Call(call.clone());
        let context = self.caller.context();
        context.begin_embedded();
        super::super::admin::authorize(context, &statement)?;
        context.diagnostics.clear();
        let (stored, targets, values) = self.arguments(&frame.slots, &frame.types, call)?;
        let ended = on_more_stack(|| self.procedure(&stored, values))?;
        for (target, (value, ty)) in targets.into_iter().zip(ended) {
            if let Some(target) = target {
                self.give(frame, &target, UserVar { value, ty })?;
            }
        }
        Ok(())
    }

    /// The procedure, where its arguments' values go afterwards, and the values.
    #[allow(clippy::type_complexity)]
    fn arguments(
        &mut self,
        slots: &[Value],
        types: &[ExprType],
        call: &ast::Call,
    ) -> Result<(Arc<StoredProgram>, Vec<Option<IntoTarget>>, Vec<Value>)> {
        let context = self.caller.context();
        let stored = procedure(context, &call.name)?;
        let parsed = stored.parsed()?;
        let (wanted, given) = (parsed.params.len(), call.args.len());
        if wanted != given {
            let args: [&dyn std::fmt::Display; 4] =
                [&"PROCEDURE", &stored.full_name(), &wanted, &given];
            return Err(SqlError::new(ErrorCode::SpWrongNoOfArgs, &args));
        }
        let mut targets = Vec::new();
        for (at, (param, arg)) in parsed.params.iter().zip(&call.args).enumerate() {
            targets.push(target(&stored, at, param, arg)?);
        }
        let before = use_read(context, call.args.iter());
        let given = parsed.params.iter().zip(&call.args);
        let values = given.map(|(param, arg)| self.argument(param, arg, (slots, types))).collect();
        self.caller.context().used.truncate(before);
        let values: Result<Vec<Value>> = values;
        Ok((stored, targets, values?))
    }

    /// The value that a parameter begins with.
    fn argument(
        &mut self,
        param: &ProgramParam,
        arg: &ast::Expr,
        (slots, types): (&[Value], &[ExprType]),
    ) -> Result<Value> {
        if param.mode == ParamMode::Out {
            return Ok(Value::Null);
        }
        let UserVar { value, ty } = self.evaluate_now(slots, types, arg)?;
        let context = self.caller.context();
        let (to, name) = (&param.ty, &param.name);
        evaluate(context, &[], |ctx| to_type(value, &ty, to, ctx, name))
    }

    /// Runs a procedure; what its parameters are at the end.
    fn procedure(
        &mut self,
        stored: &Arc<StoredProgram>,
        values: Vec<Value>,
    ) -> Result<Vec<(Value, ExprType)>> {
        let programs = self.programs;
        let code = programs.compiled(stored)?;
        let context = self.caller.context();
        let limit = || context.var("max_sp_recursion_depth").and_then(|text| text.parse().ok());
        let entered = programs.enter(stored, || limit().unwrap_or(0));
        if entered.as_ref().is_err_and(|error| error.code == ErrorCode::SpRecursionLimit) {
            // MySQL finds no procedure that may be called once more.
            let args: [&dyn std::fmt::Display; 2] = [&"PROCEDURE", &stored.full_name()];
            let missing = SqlError::new(ErrorCode::SpDoesNotExist, &args);
            self.caller.context().list_behind(ErrorCode::SpRecursionLimit, missing);
        }
        let _running = entered?;
        let context = self.caller.context();
        let params = code.parsed.params.len();
        let before = security::enter(context, stored)?;
        let mut frame = Frame::new(code, values);
        let done = self.run(&mut frame);
        security::leave(self.caller.context(), before, &stored.def);
        done?;
        let types = frame.types.into_iter();
        Ok(frame.slots.into_iter().zip(types).take(params).collect())
    }
}

impl Session {
    /// CALL of a client, with the values of its `?`.
    pub(in super::super) fn run_call(
        &mut self,
        source: IncomingStatement<'_>,
        call: &ast::Call,
        params: &[Value],
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<()> {
        begin(&mut self.context, source)?;
        let done = self.call(call, params, sink);
        self.finish_call(done, sink, more)
    }

    /// Runs the body of an event, whose rows nobody gets; what it came to, and its conditions.
    pub(crate) fn run_event(&mut self, event: &Arc<StoredProgram>) -> (Result<()>, Vec<Warning>) {
        let context = &mut self.context;
        context.begin_statement();
        if let Some(zone) = event.def.event.as_ref().map(|head| &head.time_zone) {
            context.env.time_zone = TimeZone::parse(zone).unwrap_or_else(TimeZone::utc);
            context.host.vars.borrow_mut().values.insert("time_zone", zone.clone());
        }
        let done = self.event_body(event);
        let context = &mut self.context;
        context.mdl.end_change();
        // What the body has left open is undone, as where a client goes.
        let ended = context.leave_branch();
        context.release_programs();
        (done.and(ended), std::mem::take(&mut context.diagnostics.list))
    }

    fn event_body(&mut self, event: &Arc<StoredProgram>) -> Result<()> {
        let (access, def) = (self.context.access(), &event.def);
        if self.context.db.accounts.current().get(&def.definer).is_none() {
            let args: [&dyn std::fmt::Display; 2] = [&def.definer.user, &def.definer.host];
            return Err(SqlError::new(ErrorCode::NoSuchUser, &args));
        }
        if !access.on_database(&def.schema).has(Privileges::EVENT) {
            return Err(access.no_database(&def.schema));
        }
        let programs = self.programs.clone();
        let mut machine = Machine {
            programs: &programs,
            caller: Caller::Client(self),
            sink: &mut DroppedRows,
            noted: false,
        };
        machine.procedure(event, Vec::new()).map(drop)
    }

    fn call(&mut self, call: &ast::Call, params: &[Value], sink: &mut dyn RowSink) -> Result<()> {
        let types = super::super::params::types_of(params, self.context.env.collation);
        let programs = self.programs.clone();
        let mut machine = Machine {
            programs: &programs,
            caller: Caller::Client(self),
            sink: &mut *sink,
            noted: false,
        };
        let found = machine.arguments(params, &types, call);
        let result = found.and_then(|(stored, targets, values)| {
            let ended = on_more_stack(|| machine.procedure(&stored, values))?;
            let mut outs = Vec::new();
            for ((target, (value, ty)), param) in
                targets.into_iter().zip(ended).zip(&stored.parsed()?.params)
            {
                match target {
                    Some(IntoTarget::Slot(_)) => outs.push((param.name.clone(), value, ty)),
                    Some(target) => machine.give_user_var(&target, UserVar { value, ty })?,
                    None => {}
                }
            }
            Ok(outs)
        });
        let noted = machine.noted;
        match result {
            Ok(outs) if outs.is_empty() => Ok(()),
            Ok(outs) => send_outs(&self.context, &outs, sink),
            Err(error) => {
                if !noted {
                    self.context.raise(Warning::of(Level::Error, error.clone()));
                }
                Err(error)
            }
        }
    }

    fn finish_call(&mut self, done: Result<()>, sink: &mut dyn RowSink, more: bool) -> Result<()> {
        let context = &mut self.context;
        context.mdl.end_change();
        context.release_programs();
        if let Err(error) = done {
            context.env.row_count = -1;
            return Err(error);
        }
        let outcome = StatementOutcome {
            affected_rows: u64::try_from(context.env.row_count).unwrap_or(0),
            ..StatementOutcome::default()
        };
        super::super::run::finish(context, Ok(outcome), sink, more)
    }
}

/// Sends OUT and INOUT parameters to who executes a prepared CALL.
fn send_outs(
    context: &SessionContext,
    outs: &[(String, Value, ExprType)],
    sink: &mut dyn RowSink,
) -> Result<()> {
    let columns: Vec<_> = outs.iter().map(|(name, _, ty)| ty.result_column(name)).collect();
    let mut sink = ProgramSink::new(sink);
    sink.columns(&columns)?;
    sink.begin_row();
    for (_, value, ty) in outs {
        inia_query::exec::emit(value, ty, &mut sink);
    }
    sink.end_row()?;
    let status = context.status() | status::PS_OUT_PARAMS;
    sink.complete(&Completion { status, ..Completion::default() }, true)
}
