//! DECLARE: variables, conditions, cursors and handlers, in this order.

use super::{Frame, Label, Parser, Stage, same};
use crate::{
    ast::{
        Expr, HandlerCondition, ProgramBlock, ProgramCursor, ProgramHandler, ProgramSlot,
        ProgramSql, ProgramStatement, Signal, SignalCondition, SlotKind, Statement,
    },
    keyword::Kw,
    lexer::Tok,
    parser::PResult,
};

/// Whether five characters can be a SQLSTATE of a condition, which no success is.
fn is_sqlstate(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    text.len() == 5 && text.bytes().all(known) && !text.starts_with("00")
}

impl Parser<'_> {
    /// DECLARE; the word is the current token.
    pub(super) fn declaration(&mut self, block: &mut ProgramBlock) -> PResult<()> {
        self.bump();
        if matches!(self.kw(), Kw::CONTINUE | Kw::EXIT) {
            return self.handler_declaration(block);
        }
        let next = self.peek();
        if Self::is_ident(self.tok) && matches!(next.kw, Kw::CURSOR | Kw::CONDITION) {
            let name = self.ident()?;
            return match self.bump().kw {
                Kw::CURSOR => self.cursor_declaration(block, name),
                _ => self.condition_declaration(name),
            };
        }
        self.variable_declaration(block)
    }

    fn frame(&mut self) -> &mut Frame {
        self.scope().frames.last_mut().expect("invariant: a block is open")
    }

    /// Errors 1337 and 1338: the declarations of a block have an order.
    fn check_stage(&mut self, wanted: Stage) -> PResult<()> {
        let stage = self.frame().stage;
        if stage <= wanted {
            self.frame().stage = wanted;
            return Ok(());
        }
        let (code, message) = match wanted {
            Stage::Variables => {
                (1337, "Variable or condition declaration after cursor or handler declaration")
            }
            _ => (1338, "Cursor declaration after handler declaration"),
        };
        Err(self.other(code, "42000", message.to_owned()))
    }

    fn variable_declaration(&mut self, block: &mut ProgramBlock) -> PResult<()> {
        let names = self.list(Self::new_ident)?;
        let mut ty = self.type_spec()?;
        self.type_collation(&mut ty)?;
        let value: Option<Expr> =
            if self.accept_kw(Kw::DEFAULT) { Some(self.expr()?) } else { None };
        self.check_stage(Stage::Variables)?;
        for name in names {
            if self.frame().variables.iter().any(|(other, _)| same(other, &name)) {
                return Err(self.other(1331, "42000", format!("Duplicate variable: {name}")));
            }
            let kind = SlotKind::Declared(ty.clone());
            self.scope().slots.push(ProgramSlot { name: name.clone(), kind });
            let slot = self.scope().slots.len() - 1;
            self.frame().variables.push((name, slot));
            block.declared.push((slot, value.clone()));
        }
        Ok(())
    }

    fn condition_declaration(&mut self, name: String) -> PResult<()> {
        self.expect_kw(Kw::FOR)?;
        let condition = match self.condition_value()? {
            Some(condition) => condition,
            None => return Err(self.error()),
        };
        self.check_stage(Stage::Variables)?;
        if self.frame().conditions.iter().any(|(other, _)| same(other, &name)) {
            return Err(self.other(1332, "42000", format!("Duplicate condition: {name}")));
        }
        self.frame().conditions.push((name, condition));
        Ok(())
    }

    /// SQLSTATE or a number; `None` where neither stands.
    fn condition_value(&mut self) -> PResult<Option<HandlerCondition>> {
        if self.is(Tok::Int) {
            let number = self.uint()?;
            return match u16::try_from(number) {
                Ok(number) if number > 0 => Ok(Some(HandlerCondition::Number(number))),
                _ => {
                    let message = format!("Incorrect CONDITION value: '{number}'");
                    Err(self.other(1525, "HY000", message))
                }
            };
        }
        if !self.accept_kw(Kw::SQLSTATE) {
            return Ok(None);
        }
        self.accept_kw(Kw::VALUE);
        let state = self.string()?;
        self.check_sqlstate(&state)?;
        Ok(Some(HandlerCondition::SqlState(state)))
    }

    /// Error 1407.
    fn check_sqlstate(&self, state: &str) -> PResult<()> {
        if is_sqlstate(state) {
            return Ok(());
        }
        Err(self.other(1407, "42000", format!("Bad SQLSTATE: '{state}'")))
    }

    fn cursor_declaration(&mut self, block: &mut ProgramBlock, name: String) -> PResult<()> {
        self.expect_kw(Kw::FOR)?;
        let query = self.cursor_query()?;
        self.check_stage(Stage::Cursors)?;
        if self.frame().cursors.iter().any(|(other, _)| same(other, &name)) {
            return Err(self.other(1333, "42000", format!("Duplicate cursor: {name}")));
        }
        self.scope().cursors.push(ProgramCursor { name: name.clone(), query });
        let cursor = self.scope().cursors.len() - 1;
        self.frame().cursors.push((name, cursor));
        block.cursors.push(cursor);
        Ok(())
    }

    /// A cursor's statement: errors 1322 and 1323.
    fn cursor_query(&mut self) -> PResult<ProgramSql> {
        let query = self.sql_in_program(Self::statement)?;
        match &query.statement {
            Statement::Select(select) if select.into.is_some() => {
                let message = "Cursor SELECT must not have INTO".to_owned();
                Err(self.other(1323, "42000", message))
            }
            Statement::Select(_) => Ok(query),
            _ => {
                let message = "Cursor statement must be a SELECT".to_owned();
                Err(self.other(1322, "42000", message))
            }
        }
    }

    fn handler_declaration(&mut self, block: &mut ProgramBlock) -> PResult<()> {
        let exit = self.bump().kw == Kw::EXIT;
        self.expect_kw(Kw::HANDLER)?;
        self.expect_kw(Kw::FOR)?;
        self.check_stage(Stage::Handlers)?;
        let conditions = self.list(Self::handler_condition)?;
        for (at, condition) in conditions.iter().enumerate() {
            if self.frame().handled.contains(condition) || conditions[..at].contains(condition) {
                let message = "Duplicate handler declared in the same block".to_owned();
                return Err(self.other(1413, "42000", message));
            }
        }
        self.frame().handled.extend(conditions.iter().cloned());
        // A handler may not leave what is around it.
        let labels: Vec<Label> = std::mem::take(&mut self.scope().labels);
        let mut body = Vec::new();
        self.program_statement(&mut body)?;
        self.scope().labels = labels;
        let body = ProgramStatement::of_list(body);
        block.handlers.push(ProgramHandler { exit, conditions, body: Box::new(body) });
        Ok(())
    }

    fn handler_condition(&mut self) -> PResult<HandlerCondition> {
        if let Some(condition) = self.condition_value()? {
            return Ok(condition);
        }
        match self.kw() {
            Kw::SQLWARNING => {
                self.bump();
                Ok(HandlerCondition::Warning)
            }
            Kw::SQLEXCEPTION => {
                self.bump();
                Ok(HandlerCondition::Exception)
            }
            Kw::NOT => {
                self.bump();
                self.expect_kw(Kw::FOUND)?;
                Ok(HandlerCondition::NotFound)
            }
            _ => {
                let name = self.ident()?;
                self.named_condition(&name)
            }
        }
    }

    /// A declared condition: error 1319.
    fn named_condition(&mut self, name: &str) -> PResult<HandlerCondition> {
        let mut known = self.scope().frames.iter().rev().flat_map(|frame| &frame.conditions);
        match known.find(|(other, _)| same(other, name)).map(|(_, condition)| condition.clone()) {
            Some(condition) => Ok(condition),
            None => Err(self.other(1319, "42000", format!("Undefined CONDITION: {name}"))),
        }
    }

    /// SIGNAL and RESIGNAL of a declared condition name its SQLSTATE: error 1646.
    pub(super) fn resolve_signal(&mut self, mut statement: Statement) -> PResult<Statement> {
        if let Statement::Signal(signal) | Statement::Resignal(signal) = &mut statement
            && let Signal { condition: Some(SignalCondition::Name(name)), .. } = signal
        {
            let HandlerCondition::SqlState(state) = self.named_condition(name)? else {
                let message =
                    "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE".to_owned();
                return Err(self.other(1646, "HY000", message));
            };
            signal.condition = Some(SignalCondition::SqlState(state));
        }
        Ok(statement)
    }

    /// Errors 1407 and 1641 of a SIGNAL's parts.
    pub(in super::super) fn check_signal(&self, signal: &Signal) -> PResult<()> {
        if let Some(SignalCondition::SqlState(state)) = &signal.condition {
            self.check_sqlstate(state)?;
        }
        for (at, (name, _)) in signal.items.iter().enumerate() {
            if signal.items[..at].iter().any(|(other, _)| other == name) {
                let message = format!("Duplicate condition information item '{name}'");
                return Err(self.other(1641, "42000", message));
            }
        }
        Ok(())
    }
}
