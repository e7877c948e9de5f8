//! From a body's tree to instructions.

use super::code::{CompiledProgram, ExprCode, HandlerCode, Instruction, SqlCode};
use inia_base::error::SqlError;
use inia_expr::{ExprType, is_native_function};
use inia_parser::Hints;
use inia_parser::ast::{
    self, LoopEnd, Program, ProgramBlock, ProgramSql, ProgramStatement, SelectInto, SlotKind,
    Statement,
};
use inia_query::catalog::StoredProgram;
use inia_query::dml::has_subquery;
use parking_lot::Mutex;
use std::sync::Arc;

/// Where LEAVE and ITERATE of a label go; the places that wait for LEAVE's.
struct LabelCode {
    number: usize,
    again: usize,
    leaves: Vec<usize>,
}

struct Compiler<'p> {
    program: &'p Program,
    code: Vec<Instruction>,
    handlers: Vec<HandlerCode>,
    labels: Vec<LabelCode>,
    depth: usize,
}

/// Compiles a stored program.
pub(super) fn compile(stored: &Arc<StoredProgram>) -> Result<CompiledProgram, SqlError> {
    let parsed = stored.parsed()?;
    let mut compiler = Compiler {
        program: &parsed.program,
        code: Vec::new(),
        handlers: Vec::new(),
        labels: Vec::new(),
        depth: 0,
    };
    compiler.statement(&parsed.program.body);
    let Compiler { code, handlers, .. } = compiler;
    let cursors = parsed.program.cursors.iter().map(|c| SqlCode::new(c.query.clone())).collect();
    let types = parsed.slots.iter().map(|slot| slot.ty.clone().unwrap_or_else(ExprType::null));
    let types = types.collect();
    Ok(CompiledProgram { stored: stored.clone(), code, handlers, cursors, types, parsed })
}

impl Compiler<'_> {
    fn here(&self) -> usize {
        self.code.len()
    }

    /// Adds a jump whose target is not known yet.
    fn jump(&mut self) -> usize {
        self.code.push(Instruction::Jump(usize::MAX));
        self.here() - 1
    }

    /// Lets the jump at `at` go to the present place.
    fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.code[at] {
            Instruction::Jump(to) => *to = here,
            Instruction::JumpUnless { to, .. } => *to = here,
            _ => {}
        }
    }

    /// Errors of the conditions at `at` go on at the present place.
    fn resume(&mut self, all: &[usize]) {
        let here = self.here();
        for at in all {
            match &mut self.code[*at] {
                Instruction::JumpUnless { resume, .. } | Instruction::Operand { resume, .. } => {
                    *resume = here;
                }
                _ => {}
            }
        }
    }

    fn unless(&mut self, condition: &ast::Expr) -> usize {
        let condition = self.expr(condition);
        self.code.push(Instruction::JumpUnless { condition, to: usize::MAX, resume: usize::MAX });
        self.here() - 1
    }

    fn expr(&self, expr: &ast::Expr) -> ExprCode {
        let (mut tree, mut changes, mut calls) = (expr.clone(), false, false);
        tree.walk_mut(&mut |node| {
            changes |= match node {
                ast::Expr::UserVar(_) | ast::Expr::AssignVar { .. } => true,
                ast::Expr::Param(slot) => {
                    self.program.slots[*slot as usize].kind == SlotKind::Operand
                }
                _ => false,
            };
            if let ast::Expr::Function(call) = node {
                calls |= call.db.is_some() || !is_native_function(&call.name);
            }
        });
        // A stored function reads and writes in the transaction of the statement that calls it.
        if calls || has_subquery(expr) {
            let item =
                ast::SelectItem::Expr { expr: expr.clone(), alias: None, text: String::new() };
            let select = ast::Select { items: vec![item], ..ast::Select::default() };
            let query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
            let statement = Statement::Select(Box::new(query));
            let (text, hints) = (String::new(), Hints::default());
            return ExprCode::Query(Box::new(SqlCode::new(ProgramSql { statement, text, hints })));
        }
        ExprCode::Plain { expr: tree, changes, bound: Mutex::default() }
    }

    fn statements(&mut self, list: &[ProgramStatement]) {
        list.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &ProgramStatement) {
        match statement {
            ProgramStatement::Block(block) => self.block(block),
            ProgramStatement::If { arms, otherwise } => {
                let (mut ends, mut conditions) = (Vec::new(), Vec::new());
                for (condition, body) in arms {
                    let next = self.unless(condition);
                    conditions.push(next);
                    self.statements(body);
                    ends.push(self.jump());
                    self.land(next);
                }
                self.statements(otherwise.as_deref().unwrap_or_default());
                ends.into_iter().for_each(|end| self.land(end));
                self.resume(&conditions);
            }
            ProgramStatement::Case { operand, arms, otherwise } => {
                let (mut ends, mut conditions) = (Vec::new(), Vec::new());
                if let Some((value, slot)) = operand {
                    let (slot, value) = (*slot, self.expr(value));
                    conditions.push(self.here());
                    self.code.push(Instruction::Operand { slot, value, resume: usize::MAX });
                }
                for (condition, body) in arms {
                    let next = self.unless(condition);
                    conditions.push(next);
                    self.statements(body);
                    ends.push(self.jump());
                    self.land(next);
                }
                match otherwise {
                    Some(body) => self.statements(body),
                    None => self.code.push(Instruction::NoCase),
                }
                ends.into_iter().for_each(|end| self.land(end));
                self.resume(&conditions);
            }
            ProgramStatement::Loop { label, until, body } => self.repeat(*label, until, body),
            ProgramStatement::Leave(label) => {
                let at = self.jump();
                let mut known = self.labels.iter_mut();
                if let Some(found) = known.find(|known| known.number == *label) {
                    found.leaves.push(at);
                }
            }
            ProgramStatement::Iterate(label) => {
                let found = self.labels.iter().find(|known| known.number == *label);
                let again = found.map_or(0, |found| found.again);
                self.code.push(Instruction::Jump(again));
            }
            simple => {
                let instruction = self.simple(simple);
                self.code.push(instruction);
            }
        }
    }

    /// A statement that is one instruction.
    fn simple(&mut self, statement: &ProgramStatement) -> Instruction {
        match statement {
            ProgramStatement::Return(value) => Instruction::Return(self.expr(value)),
            ProgramStatement::Assign { slot, value } => {
                Instruction::Assign { slot: *slot, value: self.expr(value) }
            }
            ProgramStatement::Open(cursor) => Instruction::Open(*cursor),
            ProgramStatement::Close(cursor) => Instruction::Close(*cursor),
            ProgramStatement::Fetch { cursor, into } => {
                Instruction::Fetch { cursor: *cursor, into: into.clone() }
            }
            ProgramStatement::Sql(sql) => sql_instruction(sql),
            // The others are not simple.
            _ => Instruction::Forget(Vec::new()),
        }
    }

    fn repeat(&mut self, label: usize, until: &LoopEnd, body: &[ProgramStatement]) {
        let again = self.here();
        self.labels.push(LabelCode { number: label, again, leaves: Vec::new() });
        let mut conditions = Vec::new();
        if let LoopEnd::While(condition) = until {
            conditions.push(self.unless(condition));
        }
        self.statements(body);
        match until {
            LoopEnd::Until(condition) => {
                let at = self.unless(condition);
                if let Instruction::JumpUnless { to, .. } = &mut self.code[at] {
                    *to = again;
                }
                self.resume_at_end(at);
            }
            _ => self.code.push(Instruction::Jump(again)),
        }
        conditions.iter().for_each(|at| self.land(*at));
        self.resume(&conditions);
        self.leave_label();
    }

    fn resume_at_end(&mut self, at: usize) {
        self.resume(&[at]);
    }

    /// The end of what a label is put on.
    fn leave_label(&mut self) {
        if let Some(label) = self.labels.pop() {
            label.leaves.into_iter().for_each(|at| self.land(at));
        }
    }

    fn block(&mut self, block: &ProgramBlock) {
        self.depth += 1;
        let again = self.here();
        self.labels.push(LabelCode { number: block.label, again, leaves: Vec::new() });
        for (slot, value) in &block.declared {
            let null = ast::Expr::Literal(ast::Literal::Null);
            let value = self.expr(value.as_ref().unwrap_or(&null));
            self.code.push(Instruction::Assign { slot: *slot, value });
        }
        if !block.cursors.is_empty() {
            self.code.push(Instruction::Forget(block.cursors.clone()));
        }
        let first = self.handlers.len();
        let mut exits = Vec::new();
        if !block.handlers.is_empty() {
            let over = self.jump();
            for handler in &block.handlers {
                let from = self.here();
                self.statement(&handler.body);
                let exit = handler.exit.then_some(usize::MAX);
                if handler.exit {
                    exits.push(self.here());
                }
                self.code.push(Instruction::EndHandler { exit });
                self.handlers.push(HandlerCode {
                    conditions: handler.conditions.clone(),
                    covers: 0..0,
                    depth: self.depth,
                    body: from..self.here(),
                });
            }
            self.land(over);
        }
        let from = self.here();
        self.statements(&block.body);
        let until = self.here();
        // Handlers of blocks inside handlers stand between, and have their ranges already.
        for handler in &mut self.handlers[first..] {
            if handler.depth == self.depth && handler.covers.is_empty() && handler.body.end <= from
            {
                handler.covers = from..until;
            }
        }
        for at in exits {
            self.code[at] = Instruction::EndHandler { exit: Some(until) };
        }
        self.leave_label();
        self.depth -= 1;
    }
}

/// A statement of SQL as the instruction that runs it.
fn sql_instruction(sql: &ProgramSql) -> Instruction {
    match &sql.statement {
        Statement::Call(call) => Instruction::Call(call.clone()),
        Statement::Signal(signal) => Instruction::Signal(signal.clone()),
        Statement::Resignal(signal) => Instruction::Resignal(signal.clone()),
        Statement::GetDiagnostics(get) => Instruction::GetDiagnostics(get.clone()),
        Statement::Select(query) if matches!(query.into, Some(SelectInto::Vars(_))) => {
            let mut query = query.clone();
            let Some(SelectInto::Vars(into)) = query.into.take() else {
                return Instruction::Forget(Vec::new());
            };
            let statement = Statement::Select(query);
            let query = Box::new(SqlCode::new(ProgramSql { statement, ..sql.clone() }));
            Instruction::SelectInto { query, into }
        }
        _ => Instruction::Sql(Box::new(SqlCode::new(sql.clone()))),
    }
}
