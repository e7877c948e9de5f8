//! The machine that runs compiled programs.

use super::super::plan::{self, PlannedStatement};
use super::super::{Session, admin, hints};
use super::code::{CompiledProgram, ExprCode, Instruction, Kept, SqlCode};
use super::condition::{handler_for, is_final, signal_error};
use super::cursor::OpenCursor;
use super::diagnostics::{Area, get_diagnostics};
use super::runner::Programs;
use super::sink::ProgramSink;
use inia_base::column::{Completion, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{Binder, EmptyScope, Expr, ExprType, Level, NoSubqueries, UserVar, Warning};
use inia_expr::{Strictness, convert};
use inia_parser::ast::{self, IntoTarget, SignalCondition, SlotKind, Statement};
use inia_query::context::{Inside, SessionContext, StatementOutcome};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// Who runs a program.
pub(super) enum Caller<'c> {
    /// A client.
    Client(&'c mut Session),
    /// A statement, by a context of its own.
    Statement(&'c mut SessionContext),
}

impl Caller<'_> {
    pub(super) fn context(&mut self) -> &mut SessionContext {
        match self {
            Caller::Client(session) => &mut session.context,
            Caller::Statement(context) => context,
        }
    }
}

/// A handler that is running.
struct ActiveHandler {
    /// Where CONTINUE goes on.
    resume: usize,
    /// Its instructions.
    body: std::ops::Range<usize>,
    /// The condition that it handles.
    handled: Warning,
    /// All conditions at that time.
    conditions: Vec<Warning>,
}

/// One call of a program.
///
/// Wide: what a call keeps, each part used by several instructions.
pub(super) struct Frame {
    pub(super) code: Arc<CompiledProgram>,
    /// Values of the variables.
    pub(super) slots: Vec<Value>,
    /// Their types.
    pub(super) types: Vec<ExprType>,
    /// What RETURN gave.
    pub(super) returned: Option<Value>,
    cursors: Vec<Option<OpenCursor>>,
    active: Vec<ActiveHandler>,
    at: usize,
}

impl Frame {
    /// A call whose first slots have these values.
    pub(super) fn new(code: Arc<CompiledProgram>, params: Vec<Value>) -> Frame {
        let mut slots = params;
        slots.resize(code.types.len(), Value::Null);
        let cursors = code.cursors.iter().map(|_| None).collect();
        let types = code.types.clone();
        Frame { slots, types, returned: None, cursors, active: Vec::new(), at: 0, code }
    }
}

/// Runs programs for a caller.
pub(super) struct Machine<'m> {
    pub(super) programs: &'m Programs,
    pub(super) caller: Caller<'m>,
    pub(super) sink: &'m mut dyn RowSink,
    /// The error that is on its way is among the diagnostics.
    pub(super) noted: bool,
}

impl Machine<'_> {
    /// Runs a program to its end.
    pub(super) fn run(&mut self, frame: &mut Frame) -> Result<()> {
        let code = frame.code.clone();
        while let Some(instruction) = code.code.get(frame.at) {
            if self.caller.context().killed.load(std::sync::atomic::Ordering::Relaxed) != 0 {
                self.caller.context().check_killed()?;
            }
            if instruction.clears_warnings() {
                self.caller.context().diagnostics.clear();
            }
            let before = self.caller.context().diagnostics.count;
            match self.step(frame, instruction) {
                Ok(next) => {
                    let at = std::mem::replace(&mut frame.at, next);
                    if self.caller.context().diagnostics.count > 0
                        && !code.handlers.is_empty()
                        && !matches!(instruction, Instruction::EndHandler { .. })
                    {
                        self.handle_warning(frame, at, before);
                    }
                }
                Err(error) => self.handle(frame, instruction, error)?,
            }
        }
        Ok(())
    }

    /// One instruction; the place of the next.
    fn step(&mut self, frame: &mut Frame, instruction: &Instruction) -> Result<usize> {
        let next = frame.at + 1;
        match instruction {
            Instruction::Jump(to) => return Ok(*to),
            Instruction::Assign { slot, value } => self.assign(frame, *slot, value)?,
            Instruction::JumpUnless { condition, to, .. } => {
                return Ok(if self.holds(frame, condition)? { next } else { *to });
            }
            Instruction::Operand { slot, value, .. } => {
                let UserVar { value, ty } = self.value(frame, value, false)?;
                (frame.slots[*slot], frame.types[*slot]) = (value, ty.with_nullable(true));
            }
            Instruction::Return(value) => {
                self.return_value(frame, value)?;
                return Ok(usize::MAX);
            }
            Instruction::Sql(sql) => self.sql(frame, sql)?,
            Instruction::SelectInto { query, into } => self.select_into(frame, query, into)?,
            Instruction::Call(call) => self.call_inside(frame, call)?,
            Instruction::Signal(signal) => self.signal(frame, signal, None)?,
            Instruction::Resignal(signal) => self.resignal(frame, signal)?,
            Instruction::GetDiagnostics(get) => self.diagnostics(frame, get)?,
            Instruction::Open(cursor) => self.open(frame, *cursor)?,
            Instruction::Fetch { cursor, into } => self.fetch(frame, *cursor, into)?,
            Instruction::Close(cursor) => {
                if frame.cursors[*cursor].take().is_none() {
                    return Err(SqlError::new(ErrorCode::SpCursorNotOpen, &[]));
                }
            }
            Instruction::Forget(cursors) => {
                cursors.iter().for_each(|cursor| frame.cursors[*cursor] = None);
            }
            Instruction::NoCase => return Err(SqlError::new(ErrorCode::SpCaseNotFound, &[])),
            Instruction::EndHandler { exit } => return Ok(self.end_handler(frame, *exit)),
        }
        Ok(next)
    }

    // Conditions.

    /// Goes to the handler of an error, or gives the error back.
    fn handle(
        &mut self,
        frame: &mut Frame,
        instruction: &Instruction,
        error: SqlError,
    ) -> Result<()> {
        let context = self.caller.context();
        let raised = Warning::of(Level::Error, error.clone());
        let noted = std::mem::take(&mut self.noted);
        if !noted {
            context.diagnostics.push(raised.clone());
        }
        context.env.row_count = -1;
        let dead = context.inside != Inside::Nothing && error.code == ErrorCode::Deadlock;
        let found = match is_final(&error) || dead {
            true => None,
            false => handler_for(&frame.code, frame.at, &raised),
        };
        // An error of a program inside a statement is raised by that statement.
        let counts = context.inside == Inside::Nothing;
        let Some(found) = found else {
            if counts && !noted {
                context.host.counters.errors.raise(raised.number());
            }
            self.noted = true;
            return Err(error);
        };
        if counts && noted {
            context.host.counters.errors.take_back(raised.number());
        }
        context.host.counters.errors.handle(raised.number());
        let resume = match instruction {
            Instruction::JumpUnless { resume, .. } | Instruction::Operand { resume, .. } => *resume,
            _ => frame.at + 1,
        };
        let (body, conditions) = (found.body.clone(), context.diagnostics.list.clone());
        frame.at = body.start;
        frame.active.push(ActiveHandler { resume, body, handled: raised, conditions });
        Ok(())
    }

    /// Goes to the handler of a warning that the statement at `at` has raised, if there is one: of
    /// several conditions the last counts.
    fn handle_warning(&mut self, frame: &mut Frame, at: usize, before: u64) {
        let context = self.caller.context();
        let list = &context.diagnostics.list;
        // A statement that has cleared the diagnostics has raised all of them.
        let old = if context.diagnostics.count >= before { before } else { 0 };
        let from = if self.noted { 0 } else { (old as usize).min(list.len()) };
        let code = frame.code.clone();
        let found = list[from..].iter().rev().find_map(|raised| {
            let handler = handler_for(&code, at, raised)?;
            (raised.level != Level::Error).then(|| (handler, raised.clone()))
        });
        let Some((handler, handled)) = found else { return };
        let (body, conditions) = (handler.body.clone(), list.clone());
        let resume = std::mem::replace(&mut frame.at, body.start);
        frame.active.push(ActiveHandler { resume, body, handled, conditions });
    }

    /// The end of a handler: the conditions that it handled are gone.
    fn end_handler(&mut self, frame: &mut Frame, exit: Option<usize>) -> usize {
        let Some(ended) = frame.active.pop() else { return frame.at + 1 };
        let diagnostics = &mut self.caller.context().diagnostics;
        if diagnostics.list.starts_with(&ended.conditions) {
            diagnostics.list.drain(..ended.conditions.len());
            diagnostics.count -= ended.conditions.len() as u64;
        }
        let Some(to) = exit else { return ended.resume };
        // The block that is left may be in a handler, and handlers inside it end with it.
        while frame.active.last().is_some_and(|outer| !outer.body.contains(&to)) {
            frame.active.pop();
        }
        to
    }

    fn signal(
        &mut self,
        frame: &mut Frame,
        signal: &ast::Signal,
        before: Option<SqlError>,
    ) -> Result<()> {
        let mut items = Vec::with_capacity(signal.items.len());
        for (item, value) in &signal.items {
            let UserVar { value, ty } = self.evaluate_now(&frame.slots, &frame.types, value)?;
            let text = (value != Value::Null).then(|| convert::to_text(&value, &ty).into_owned());
            items.push((item.clone(), text));
        }
        let context = self.caller.context();
        let strict = context.env.sql_mode.is_strict();
        let state = match &signal.condition {
            Some(SignalCondition::SqlState(state)) => Some(state.as_str()),
            _ => None,
        };
        let error = signal_error(before.as_ref(), state, &items, strict)?;
        if before.is_none() {
            context.diagnostics.clear();
        }
        if error.sqlstate().starts_with("01") {
            context.env.row_count = 0;
            context.raise(Warning::of(Level::Warning, error));
            return Ok(());
        }
        Err(error)
    }

    fn resignal(&mut self, frame: &mut Frame, signal: &ast::Signal) -> Result<()> {
        let Some(active) = frame.active.last() else {
            return Err(SqlError::new(ErrorCode::ResignalWithoutActiveHandler, &[]));
        };
        let (before, mut list) = (active.handled.clone(), active.conditions.clone());
        if signal.condition.is_none() {
            // The condition itself changes, so it is raised in its own place.
            list.retain(|known| *known != before);
        }
        let warns = signal.condition.is_none() && before.level != Level::Error;
        let done = self.signal(frame, signal, Some(before.error()));
        let context = self.caller.context();
        if let Err(error) = &done
            && error.code != ErrorCode::WrongValueForVar
        {
            // What is only listed again was counted when it was raised.
            context.diagnostics.clear();
            list.into_iter().for_each(|known| context.diagnostics.push(known));
        }
        match done {
            // What was a warning is one again, whatever its state says.
            Err(error) if warns && error.code != ErrorCode::WrongValueForVar => {
                context.raise(Warning::of(Level::Warning, error));
                Ok(())
            }
            done => done,
        }
    }

    fn diagnostics(&mut self, frame: &mut Frame, get: &ast::GetDiagnostics) -> Result<()> {
        let condition = match &get.condition {
            Some(number) => Some(self.evaluate_now(&frame.slots, &frame.types, number)?.value),
            None => None,
        };
        let context = self.caller.context();
        let row_count = context.env.row_count;
        let list = match (get.stacked, frame.active.last()) {
            (false, _) => &context.diagnostics.list,
            (true, Some(active)) => &active.conditions,
            (true, None) => {
                return Err(SqlError::new(ErrorCode::GetStackedDaWithoutActiveHandler, &[]));
            }
        };
        let items: Vec<&str> = get.items.iter().map(|(_, item)| item.as_str()).collect();
        let values = match get_diagnostics(&Area { list, row_count }, condition.as_ref(), &items) {
            Ok(values) => values,
            Err(error) => {
                context.raise(Warning::of(Level::Error, error));
                return Ok(());
            }
        };
        let targets = get.items.iter().map(|(target, _)| target);
        for (target, value) in targets.zip(values) {
            self.give(frame, target, value)?;
        }
        Ok(())
    }

    // Expressions.

    /// A variable whose value cannot be had is NULL, as a handler may see.
    fn assign(&mut self, frame: &mut Frame, slot: usize, value: &ExprCode) -> Result<()> {
        let done = self.assign_value(frame, slot, value);
        if done.is_err() && frame.code.parsed.program.slots[slot].kind != SlotKind::New {
            frame.slots[slot] = Value::Null;
        }
        done
    }

    fn assign_value(&mut self, frame: &mut Frame, slot: usize, value: &ExprCode) -> Result<()> {
        if let ExprCode::Query(_) = value {
            let found = self.value(frame, value, true)?;
            return self.store(frame, slot, found);
        }
        let bound = self.bound(frame, value)?;
        let context = self.caller.context();
        let stored = evaluate(context, &frame.slots, |ctx| {
            let value = bound.made.eval(ctx, &[])?;
            let name = &frame.code.parsed.slots[slot].name;
            to_type(value, &bound.made.ty, &frame.types[slot], ctx, name)
        })?;
        frame.slots[slot] = stored;
        Ok(())
    }

    fn return_value(&mut self, frame: &mut Frame, value: &ExprCode) -> Result<()> {
        let UserVar { value, ty } = self.strict_value(frame, value)?;
        let code = frame.code.clone();
        let Some((returns, _)) = &code.parsed.returns else { return Ok(()) };
        let context = self.caller.context();
        // MySQL names the call where it would name a column.
        let name = format!("{}()", code.stored.def.name);
        let stored = evaluate(context, &[], |ctx| to_type(value, &ty, returns, ctx, &name))?;
        frame.returned = Some(stored);
        Ok(())
    }

    fn holds(&mut self, frame: &mut Frame, condition: &ExprCode) -> Result<bool> {
        if let ExprCode::Query(_) = condition {
            let UserVar { value, ty } = self.value(frame, condition, false)?;
            let constant = Expr::literal(value, ty);
            let truth = evaluate(self.caller.context(), &[], |ctx| constant.eval_bool(ctx, &[]))?;
            return Ok(truth == Some(true));
        }
        let bound = self.bound(frame, condition)?;
        let context = self.caller.context();
        let shared: &SessionContext = context;
        let (truth, warnings) = {
            let mut ctx = shared.context(&frame.slots, &NoSubqueries);
            let truth = bound.made.eval_bool(&mut ctx, &[]);
            (truth, std::mem::take(&mut ctx.warnings))
        };
        if warnings.count > 0 {
            context.take_warnings(warnings);
        }
        Ok(truth? == Some(true))
    }

    /// The value of an expression, where wrong values warn.
    fn value(&mut self, frame: &mut Frame, expr: &ExprCode, strict: bool) -> Result<UserVar> {
        match expr {
            ExprCode::Query(query) => {
                admin::authorize(self.caller.context(), &query.sql.statement)?;
                let mut value = Value::Null;
                let types = self.rows(frame, (query, strict), &mut |row| {
                    value = row.first().cloned().unwrap_or(Value::Null);
                    Ok(true)
                })?;
                let ty = types.into_iter().next().unwrap_or_else(ExprType::null);
                Ok(UserVar { value, ty })
            }
            ExprCode::Plain { .. } => {
                let bound = self.bound(frame, expr)?;
                let ty = bound.made.ty.clone();
                let context = self.caller.context();
                let shared: &SessionContext = context;
                let (value, warnings) = {
                    let mut ctx = shared.context(&frame.slots, &NoSubqueries);
                    let value = bound.made.eval(&mut ctx, &[]);
                    (value, std::mem::take(&mut ctx.warnings))
                };
                context.take_warnings(warnings);
                Ok(UserVar { value: value?, ty })
            }
        }
    }

    /// The value of an expression that is about to be stored.
    fn strict_value(&mut self, frame: &mut Frame, expr: &ExprCode) -> Result<UserVar> {
        if let ExprCode::Query(_) = expr {
            return self.value(frame, expr, true);
        }
        let bound = self.bound(frame, expr)?;
        let value = evaluate(self.caller.context(), &frame.slots, |ctx| bound.made.eval(ctx, &[]))?;
        Ok(UserVar { value, ty: bound.made.ty.clone() })
    }

    /// The value of an expression that is not compiled.
    pub(super) fn evaluate_now(
        &mut self,
        slots: &[Value],
        types: &[ExprType],
        expr: &ast::Expr,
    ) -> Result<UserVar> {
        let context = self.caller.context();
        context.env.param_types = types.to_vec();
        let value = super::super::evaluate::value_of(context, expr, slots);
        self.caller.context().env.param_types = Vec::new();
        value
    }

    /// The bound form of an expression without subqueries.
    fn bound(&mut self, frame: &Frame, code: &ExprCode) -> Result<Arc<Kept<Expr>>> {
        let ExprCode::Plain { expr, changes, bound } = code else {
            return Err(SqlError::new(ErrorCode::InternalError, &[&"a query is not bound here"]));
        };
        let context = self.caller.context();
        let settings = context.settings;
        if let Some(kept) = &*bound.lock()
            && kept.settings == settings
        {
            return Ok(kept.clone());
        }
        context.env.param_types.clone_from(&frame.types);
        let mut scope = EmptyScope;
        let shared: &SessionContext = context;
        let made = Binder { scope: &mut scope, env: &shared.env, host: shared }.scalar(expr).map(
            |mut made| {
                let mut scratch = shared.context(&[], &NoSubqueries);
                inia_expr::bind::prepare_operand(&mut made, &mut scratch);
                made
            },
        );
        context.env.param_types = Vec::new();
        let kept = Arc::new(Kept { made: made?, settings });
        if !changes {
            *bound.lock() = Some(kept.clone());
        }
        Ok(kept)
    }

    // Variables.

    /// Stores a value as into a column of the slot's type.
    fn store(&mut self, frame: &mut Frame, slot: usize, value: UserVar) -> Result<()> {
        let code = frame.code.clone();
        let name = &code.parsed.slots[slot].name;
        let (ty, context) = (&frame.types[slot], self.caller.context());
        let stored = evaluate(context, &[], |ctx| to_type(value.value, &value.ty, ty, ctx, name))?;
        frame.slots[slot] = stored;
        Ok(())
    }

    /// Gives a variable of either kind a value.
    pub(super) fn give(
        &mut self,
        frame: &mut Frame,
        target: &IntoTarget,
        value: UserVar,
    ) -> Result<()> {
        match target {
            IntoTarget::Slot(slot) => self.store(frame, *slot, value),
            other => self.give_user_var(other, value),
        }
    }

    /// Gives a user variable a value.
    pub(super) fn give_user_var(&mut self, target: &IntoTarget, value: UserVar) -> Result<()> {
        match target {
            IntoTarget::UserVar(name) => {
                self.caller.context().host.keep_user_var(name.to_lowercase(), value)
            }
            IntoTarget::Local(name) => Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[name])),
            IntoTarget::Slot(_) => Ok(()),
        }
    }

    // Statements.

    fn sql(&mut self, frame: &mut Frame, code: &SqlCode) -> Result<()> {
        let statement = &code.sql.statement;
        if let Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) =
            statement
        {
            return self.dynamic(code);
        }
        let inside = self.caller.context().inside;
        if inside != Inside::Nothing {
            refuse_inside(statement, inside)?;
            refuse_used(self.caller.context(), statement)?;
        }
        self.begin(code)?;
        let context = self.caller.context();
        let changed = hints::take_hints(context, &code.sql.hints);
        let mut sink = ProgramSink::new(self.sink);
        let result = execute(context, frame, code, &mut sink);
        hints::undo_hints(context, changed);
        let outcome = result.inspect_err(|_| context.keep_insert_id())?;
        note_outcome(context, &outcome);
        if outcome.rows.is_some() {
            let completion = Completion {
                affected_rows: outcome.affected_rows,
                warnings: if outcome.reports { 0 } else { context.warning_count() },
                status: context.status(),
                ..Completion::default()
            };
            sink.complete(&completion, true)?;
        }
        if !matches!(statement, Statement::Select(_)) && outcome.affected_rows > 0 {
            context.host.counters.count_rows(statement, outcome.affected_rows);
        }
        Ok(())
    }

    /// PREPARE, EXECUTE and DEALLOCATE, which a program inside a statement may not have.
    fn dynamic(&mut self, code: &SqlCode) -> Result<()> {
        let Caller::Client(session) = &mut self.caller else {
            return Err(SqlError::new(ErrorCode::StmtNotAllowedInSfOrTrg, &[&"Dynamic SQL"]));
        };
        session.context.begin_embedded();
        session.context.diagnostics.clear();
        let mut sink = ProgramSink::new(self.sink);
        let done = session.run_named(&code.sql.statement, &mut sink, true);
        self.noted = done.is_err();
        done
    }

    /// Begins a statement, and refuses what the session may not do.
    fn begin(&mut self, code: &SqlCode) -> Result<()> {
        let statement = &code.sql.statement;
        let context = self.caller.context();
        context.begin_embedded();
        if !plan::keeps_diagnostics(statement) {
            context.diagnostics.clear();
        }
        context.host.counters.count(statement);
        admin::authorize(context, statement)
    }

    /// Gives each row of a query to `visit`; the types of its columns.
    fn rows(
        &mut self,
        frame: &mut Frame,
        (code, strict): (&SqlCode, bool),
        visit: &mut dyn FnMut(&[Value]) -> Result<bool>,
    ) -> Result<Vec<ExprType>> {
        let context = self.caller.context();
        let settings = context.settings;
        let kept = code.plan.lock().clone();
        let types = |plan: &PlannedStatement| match plan {
            PlannedStatement::Query(plan) => {
                plan.root.columns.iter().map(|column| column.ty.clone()).collect()
            }
            _ => Vec::new(),
        };
        if let Some(kept) = kept
            && kept.settings == settings
            && context.keeps_plans()
            && !kept.made.is_stale()
        {
            let done = plan::visit_rows(context, &kept.made, (&frame.slots, strict), visit);
            if !done.as_ref().is_err_and(|error| error.code == ErrorCode::NeedReprepare) {
                return done.map(|()| types(&kept.made));
            }
        }
        let keeps = context.keeps_plans();
        context.env.param_types.clone_from(&frame.types);
        context.host.plans_once.set(false);
        let made = plan::plan_to_visit(context, &code.sql.statement, &frame.slots);
        context.env.param_types = Vec::new();
        let made = made?;
        let whole = keeps && !context.host.plans_once.get();
        plan::visit_rows(context, &made, (&frame.slots, strict), visit)?;
        let types = types(&made);
        if whole {
            *code.plan.lock() = Some(Arc::new(Kept { made, settings }));
        }
        Ok(types)
    }

    fn select_into(
        &mut self,
        frame: &mut Frame,
        code: &SqlCode,
        into: &[IntoTarget],
    ) -> Result<()> {
        self.begin(code)?;
        let mut found: Option<Vec<Value>> = None;
        let many = || Err(SqlError::new(ErrorCode::TooManyRows, &[]));
        // Only values for local variables are converted by the SQL mode.
        let strict = into.iter().any(|target| matches!(target, IntoTarget::Slot(_)));
        let types = self.rows(frame, (code, strict), &mut |row| {
            if row.len() != into.len() {
                return Err(SqlError::new(ErrorCode::WrongNumberOfColumnsInSelect, &[]));
            }
            if found.is_some() {
                return many();
            }
            found = Some(row.to_vec());
            Ok(true)
        })?;
        if types.len() != into.len() {
            return Err(SqlError::new(ErrorCode::WrongNumberOfColumnsInSelect, &[]));
        }
        let context = self.caller.context();
        let rows = u64::from(found.is_some());
        context.env.found_rows = rows;
        context.env.row_count = rows as i64;
        let Some(values) = found else {
            context.warn(ErrorCode::SpFetchNoData, &[]);
            return Ok(());
        };
        for ((target, value), ty) in into.iter().zip(values).zip(types) {
            self.give(frame, target, UserVar { value, ty })?;
        }
        Ok(())
    }

    // Cursors.

    fn open(&mut self, frame: &mut Frame, cursor: usize) -> Result<()> {
        if frame.cursors[cursor].is_some() {
            return Err(SqlError::new(ErrorCode::SpCursorAlreadyOpen, &[]));
        }
        let code = frame.code.clone();
        let query = &code.cursors[cursor];
        self.begin(query)?;
        let mut rows = Vec::new();
        let types = self.rows(frame, (query, false), &mut |row| {
            rows.push(row.to_vec());
            Ok(true)
        })?;
        frame.cursors[cursor] = Some(OpenCursor::new(types, rows));
        Ok(())
    }

    fn fetch(&mut self, frame: &mut Frame, cursor: usize, into: &[IntoTarget]) -> Result<()> {
        let Some(open) = &mut frame.cursors[cursor] else {
            return Err(SqlError::new(ErrorCode::SpCursorNotOpen, &[]));
        };
        if open.types.len() != into.len() {
            return Err(SqlError::new(ErrorCode::SpWrongNoOfFetchArgs, &[]));
        }
        let Some(row) = open.next() else {
            return Err(SqlError::new(ErrorCode::SpFetchNoData, &[]));
        };
        let types = open.types.clone();
        for ((target, value), ty) in into.iter().zip(row).zip(types) {
            self.give(frame, target, UserVar { value, ty })?;
        }
        Ok(())
    }
}

/// Errors 1336, 1415 and 1422 of a procedure that is called inside a statement.
fn refuse_inside(statement: &Statement, inside: Inside) -> Result<()> {
    match statement {
        Statement::CreateTable(create) if create.temporary => Ok(()),
        Statement::DropTable(drop) if drop.temporary => Ok(()),
        _ if statement.commits() => Err(SqlError::new(ErrorCode::CommitNotAllowedInSfOrTrg, &[])),
        _ if statement.sends_rows() => Err(SqlError::new(ErrorCode::SpNoRetset, &[&inside.word()])),
        Statement::Flush(_) => Err(SqlError::new(ErrorCode::StmtNotAllowedInSfOrTrg, &[&"FLUSH"])),
        _ => Ok(()),
    }
}

/// Error 1137 where a program drops a temporary table that the statement around it reads.
fn refuse_used(context: &SessionContext, statement: &Statement) -> Result<()> {
    let Statement::DropTable(drop) = statement else { return Ok(()) };
    for name in &drop.names {
        let schema = name.db.as_deref().or(context.env.database.as_deref()).unwrap_or_default();
        if let Some(table) = context.temporary.get(schema, &name.name)
            && context.used.contains(&table.def.id)
        {
            return Err(SqlError::new(ErrorCode::CantReopenTable, &[&name.name]));
        }
    }
    Ok(())
}

/// What a statement leaves for the functions of the next one.
fn note_outcome(context: &mut SessionContext, outcome: &StatementOutcome) {
    if context.inside == Inside::Nothing {
        context.mdl.end_change();
    }
    let said = context.host.last_insert_id.take();
    let id = outcome.generated_id.or(said);
    context.env.last_insert_id = id.unwrap_or(context.env.last_insert_id);
    context.env.row_count = match outcome.rows {
        Some(_) => -1,
        None => outcome.affected_rows as i64,
    };
    if let Some(rows) = outcome.rows {
        context.env.found_rows = rows;
    }
}

/// Runs a statement by the plan that it keeps, or by a new one.
fn execute(
    context: &mut SessionContext,
    frame: &Frame,
    code: &SqlCode,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome> {
    let keeps = code.sql.hints.variables.is_empty() && context.keeps_plans();
    let settings = context.settings;
    let kept = code.plan.lock().clone();
    if let Some(kept) = kept
        && keeps
        && kept.settings == settings
        && !kept.made.is_stale()
    {
        let done = plan::run(context, &kept.made, &frame.slots, sink);
        if !done.as_ref().is_err_and(|error| error.code == ErrorCode::NeedReprepare) {
            return done;
        }
    }
    context.env.param_types.clone_from(&frame.types);
    context.host.plans_once.set(false);
    let (statement, text) = (&code.sql.statement, &code.sql.text);
    let made = plan::plan_and_run(context, statement, text, &frame.slots, sink);
    context.env.param_types = Vec::new();
    let (outcome, plan) = made?;
    if let Some(made) = plan.filter(|_| keeps && !context.host.plans_once.get()) {
        *code.plan.lock() = Some(Arc::new(Kept { made, settings }));
    }
    Ok(outcome)
}

/// Evaluates something that is about to be stored: in strict mode wrong values are errors.
pub(super) fn evaluate<T>(
    context: &mut SessionContext,
    params: &[Value],
    work: impl FnOnce(&mut inia_expr::EvalContext<'_>) -> Result<T>,
) -> Result<T> {
    let shared: &SessionContext = context;
    let strict = shared.env.sql_mode.is_strict();
    let (result, warnings) = {
        let mut ctx = shared.context(params, &NoSubqueries);
        ctx.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        let result = work(&mut ctx);
        (result, std::mem::take(&mut ctx.warnings))
    };
    if warnings.count > 0 {
        context.take_warnings(warnings);
    }
    result
}

/// A value as one of a variable's type.
#[inline]
pub(super) fn to_type(
    value: Value,
    from: &ExprType,
    ty: &ExprType,
    ctx: &mut inia_expr::EvalContext<'_>,
    name: &str,
) -> Result<Value> {
    inia_expr::store::store_value(value, from, &ty.data_type, ctx, name)
}
