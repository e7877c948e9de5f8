//! The bodies of procedures, functions and triggers.
//!
//! Names are resolved while the text is read, as a declaration comes before its use: variables get
//! numbers, labels are found, conditions become SQLSTATEs or numbers. [`ProgramScope`] holds what
//! is declared around the current token, one [`Frame`] for each open block.

mod check;
mod declare;

use super::{PResult, Parser, utf8};
use crate::{
    ParseError,
    ast::{
        ColumnName, Expr, HandlerCondition, IntoTarget, LoopEnd, Program, ProgramBlock,
        ProgramCursor, ProgramSlot, ProgramSql, ProgramStatement, RoutineDetail, SlotKind,
        Statement, TriggerEvent,
    },
    keyword::Kw,
    lexer::Tok,
};

/// What kind of program a body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramKind {
    Procedure,
    Function,
    Trigger { before: bool, event: TriggerEvent },
}

/// What a label is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labelled {
    Block,
    Loop,
}

/// A label that LEAVE may name.
#[derive(Debug, Clone)]
struct Label {
    name: Option<String>,
    number: usize,
    on: Labelled,
}

/// What may still be declared in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Variables,
    Cursors,
    Handlers,
}

/// What one block declares.
#[derive(Debug)]
struct Frame {
    variables: Vec<(String, usize)>,
    conditions: Vec<(String, HandlerCondition)>,
    cursors: Vec<(String, usize)>,
    handled: Vec<HandlerCondition>,
    stage: Stage,
}

impl Frame {
    fn new() -> Frame {
        Frame {
            variables: Vec::new(),
            conditions: Vec::new(),
            cursors: Vec::new(),
            handled: Vec::new(),
            stage: Stage::Variables,
        }
    }
}

/// What is declared around the current token.
#[derive(Debug)]
pub(super) struct ProgramScope {
    kind: ProgramKind,
    slots: Vec<ProgramSlot>,
    cursors: Vec<ProgramCursor>,
    frames: Vec<Frame>,
    labels: Vec<Label>,
    next_label: usize,
    returns: bool,
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

impl Parser<'_> {
    /// A whole body, and its text.
    pub(super) fn program(&mut self, detail: &RoutineDetail) -> PResult<(Program, String)> {
        let start = self.tok.start;
        let (kind, params) = match detail {
            RoutineDetail::Function { params, .. } => (ProgramKind::Function, &params[..]),
            RoutineDetail::Trigger { before, event, .. } => {
                (ProgramKind::Trigger { before: *before, event: *event }, &[][..])
            }
            RoutineDetail::Procedure { params, .. } => (ProgramKind::Procedure, &params[..]),
            RoutineDetail::Event { .. } => (ProgramKind::Procedure, &[][..]),
        };
        let mut scope = ProgramScope {
            kind,
            slots: Vec::new(),
            cursors: Vec::new(),
            frames: vec![Frame::new()],
            labels: Vec::new(),
            next_label: 0,
            returns: false,
        };
        for param in params {
            if scope.frames[0].variables.iter().any(|(other, _)| same(other, &param.name)) {
                let message = format!("Duplicate parameter: {}", param.name);
                return Err(self.other(1330, "42000", message));
            }
            let kind = SlotKind::Declared(param.ty.clone());
            scope.slots.push(ProgramSlot { name: param.name.clone(), kind });
            let slot = scope.slots.len() - 1;
            scope.frames[0].variables.push((param.name.clone(), slot));
        }
        self.program = Some(Box::new(scope));
        let mut body = Vec::new();
        self.program_statement(&mut body)?;
        let text = utf8(&self.src[start as usize..self.prev_end as usize]);
        let Some(scope) = self.program.take() else { return Err(self.error()) };
        let body = ProgramStatement::of_list(body);
        let ProgramScope { slots, cursors, returns, .. } = *scope;
        Ok((Program { slots, cursors, body, returns }, text))
    }

    /// The program around the current token; the caller knows that there is one.
    fn scope(&mut self) -> &mut ProgramScope {
        self.program.as_mut().expect("invariant: a body is being read")
    }

    /// The slot of the local variable of that name, if there is one.
    pub(super) fn local(&self, name: &str) -> Option<u32> {
        let frames = self.program.as_ref()?.frames.iter().rev();
        let mut variables = frames.flat_map(|frame| frame.variables.iter().rev());
        variables.find(|(other, _)| same(other, name)).map(|(_, slot)| *slot as u32)
    }

    /// A bare word that gets a value: error 1327 where a program has no such variable.
    pub(super) fn local_target(&mut self) -> PResult<IntoTarget> {
        let at = self.tok;
        let name = self.ident()?;
        if self.program.is_none() {
            return Ok(IntoTarget::Local(name));
        }
        match self.local(&name) {
            Some(slot) => Ok(IntoTarget::Slot(slot as usize)),
            None => Err(self.undeclared(at.start, &name)),
        }
    }

    fn undeclared(&self, offset: u32, name: &str) -> Box<ParseError> {
        let message = format!("Undeclared variable: {name}");
        let kind = crate::ParseErrorKind::Other { code: 1327, state: "42000", message };
        self.error_at(offset, kind)
    }

    /// The slot of `NEW.column` or `OLD.column`, if that is what the name says: error 1363.
    pub(super) fn trigger_column(&mut self, name: &ColumnName) -> PResult<Option<u32>> {
        let ProgramKind::Trigger { event, .. } = self.scope().kind else { return Ok(None) };
        let Some(table) = name.table.as_ref().filter(|_| name.db.is_none()) else {
            return Ok(None);
        };
        let (kind, missing) = match () {
            () if table.eq_ignore_ascii_case("new") => (SlotKind::New, TriggerEvent::Delete),
            () if table.eq_ignore_ascii_case("old") => (SlotKind::Old, TriggerEvent::Insert),
            () => return Ok(None),
        };
        if event == missing {
            let (row, on) = match kind {
                SlotKind::New => ("NEW", "DELETE"),
                _ => ("OLD", "INSERT"),
            };
            let message = format!("There is no {row} row in on {on} trigger");
            return Err(self.other(1363, "HY000", message));
        }
        Ok(Some(self.row_slot(kind, &name.name) as u32))
    }

    fn row_slot(&mut self, kind: SlotKind, column: &str) -> usize {
        let slots = &mut self.scope().slots;
        let found = slots.iter().position(|slot| slot.kind == kind && same(&slot.name, column));
        found.unwrap_or_else(|| {
            slots.push(ProgramSlot { name: column.to_owned(), kind });
            slots.len() - 1
        })
    }

    /// The slot of a column of NEW that gets a value: errors 1362 and 1363.
    fn new_column(&mut self, column: &str) -> PResult<usize> {
        let (code, message) = match self.scope().kind {
            ProgramKind::Trigger { event: TriggerEvent::Delete, .. } => {
                (1363, "There is no NEW row in on DELETE trigger")
            }
            ProgramKind::Trigger { before: false, .. } => {
                (1362, "Updating of NEW row is not allowed in after trigger")
            }
            ProgramKind::Trigger { .. } => return Ok(self.row_slot(SlotKind::New, column)),
            _ => (1193, "Unknown structured system variable or ROW routine variable 'new'"),
        };
        Err(self.other(code, "HY000", message.to_owned()))
    }

    /// Statements up to one of the words in `ends`, each with its semicolon.
    fn program_list(&mut self, ends: &[Kw]) -> PResult<Vec<ProgramStatement>> {
        let mut list = Vec::new();
        loop {
            self.program_statement(&mut list)?;
            self.expect(Tok::Semi)?;
            if ends.contains(&self.kw()) {
                return Ok(list);
            }
        }
    }

    /// One statement of a body; SET may add several.
    fn program_statement(&mut self, list: &mut Vec<ProgramStatement>) -> PResult<()> {
        self.enter(1)?;
        let done = self.program_statement_here(list);
        self.depth -= 1;
        done
    }

    fn program_statement_here(&mut self, list: &mut Vec<ProgramStatement>) -> PResult<()> {
        if Self::is_ident(self.tok) && self.peek().tok == Tok::Colon {
            let label = self.ident()?;
            self.bump();
            list.push(self.labelled(Some(label))?);
            return Ok(());
        }
        let statement = match self.kw() {
            Kw::BEGIN | Kw::LOOP | Kw::WHILE | Kw::REPEAT => self.labelled(None)?,
            Kw::IF => self.if_statement()?,
            Kw::CASE => self.case_statement()?,
            Kw::LEAVE | Kw::ITERATE => self.leave()?,
            Kw::RETURN => self.return_statement()?,
            Kw::OPEN | Kw::CLOSE => {
                let opens = self.bump().kw == Kw::OPEN;
                let cursor = self.cursor()?;
                if opens { ProgramStatement::Open(cursor) } else { ProgramStatement::Close(cursor) }
            }
            Kw::FETCH => self.fetch()?,
            Kw::SET => return self.set_in_program(list),
            _ => {
                let sql = self.sql_in_program(Self::statement)?;
                self.check_allowed(&sql.statement)?;
                ProgramStatement::Sql(sql)
            }
        };
        list.push(statement);
        Ok(())
    }

    /// A statement of SQL with its text and hints.
    fn sql_in_program(
        &mut self,
        rule: impl FnOnce(&mut Self) -> PResult<Statement>,
    ) -> PResult<ProgramSql> {
        let start = self.tok.start;
        self.sql_from(start, rule)
    }

    fn sql_from(
        &mut self,
        start: u32,
        rule: impl FnOnce(&mut Self) -> PResult<Statement>,
    ) -> PResult<ProgramSql> {
        (self.block_count, self.next_block, self.blocks) = (0, None, None);
        let before = self.take_hints();
        let statement = rule(self)?;
        if self.blocks.is_some() {
            self.close_blocks(&statement);
        }
        let hints = std::mem::replace(&mut self.hints, before);
        let statement = self.resolve_signal(statement)?;
        Ok(ProgramSql { statement, text: self.text(start, self.prev_end), hints })
    }

    /// A block or loop; its label has been passed.
    fn labelled(&mut self, name: Option<String>) -> PResult<ProgramStatement> {
        let on = match self.kw() {
            Kw::BEGIN => Labelled::Block,
            Kw::LOOP | Kw::WHILE | Kw::REPEAT => Labelled::Loop,
            _ => return Err(self.error()),
        };
        if let Some(name) = &name {
            let known = |label: &Label| label.name.as_ref().is_some_and(|other| same(other, name));
            if self.scope().labels.iter().any(known) {
                return Err(self.other(1309, "42000", format!("Redefining label {name}")));
            }
        }
        let number = self.scope().next_label;
        self.scope().next_label += 1;
        self.scope().labels.push(Label { name: name.clone(), number, on });
        let statement = match self.bump().kw {
            Kw::BEGIN => self.block(number)?,
            Kw::LOOP => {
                let body = self.program_list(&[Kw::END])?;
                self.expect_kw(Kw::END)?;
                self.expect_kw(Kw::LOOP)?;
                ProgramStatement::Loop { label: number, until: LoopEnd::Never, body }
            }
            Kw::WHILE => {
                let until = LoopEnd::While(self.expr()?);
                self.expect_kw(Kw::DO)?;
                let body = self.program_list(&[Kw::END])?;
                self.expect_kw(Kw::END)?;
                self.expect_kw(Kw::WHILE)?;
                ProgramStatement::Loop { label: number, until, body }
            }
            _ => {
                let body = self.program_list(&[Kw::UNTIL])?;
                self.expect_kw(Kw::UNTIL)?;
                let until = LoopEnd::Until(self.expr()?);
                self.expect_kw(Kw::END)?;
                self.expect_kw(Kw::REPEAT)?;
                ProgramStatement::Loop { label: number, until, body }
            }
        };
        self.scope().labels.pop();
        if let Some(name) = name
            && Self::is_ident(self.tok)
        {
            let end = self.ident()?;
            if !same(&name, &end) {
                return Err(self.other(1310, "42000", format!("End-label {end} without match")));
            }
        }
        Ok(statement)
    }

    /// What follows BEGIN.
    fn block(&mut self, label: usize) -> PResult<ProgramStatement> {
        self.scope().frames.push(Frame::new());
        let mut block = ProgramBlock {
            label,
            declared: Vec::new(),
            handlers: Vec::new(),
            cursors: Vec::new(),
            body: Vec::new(),
        };
        while self.is_kw(Kw::DECLARE) {
            self.declaration(&mut block)?;
            self.expect(Tok::Semi)?;
        }
        while !self.is_kw(Kw::END) {
            self.program_statement(&mut block.body)?;
            self.expect(Tok::Semi)?;
        }
        self.bump();
        self.scope().frames.pop();
        Ok(ProgramStatement::Block(Box::new(block)))
    }

    fn if_statement(&mut self) -> PResult<ProgramStatement> {
        let mut arms = Vec::new();
        self.bump();
        loop {
            let condition = self.expr()?;
            self.expect_kw(Kw::THEN)?;
            arms.push((condition, self.program_list(&[Kw::ELSEIF, Kw::ELSE, Kw::END])?));
            if !self.accept_kw(Kw::ELSEIF) {
                break;
            }
        }
        let otherwise = match self.accept_kw(Kw::ELSE) {
            true => Some(self.program_list(&[Kw::END])?),
            false => None,
        };
        self.expect_kw(Kw::END)?;
        self.expect_kw(Kw::IF)?;
        Ok(ProgramStatement::If { arms, otherwise })
    }

    fn case_statement(&mut self) -> PResult<ProgramStatement> {
        self.bump();
        let operand = match self.is_kw(Kw::WHEN) {
            true => None,
            false => {
                let value = self.expr()?;
                let slots = &mut self.scope().slots;
                slots.push(ProgramSlot { name: String::new(), kind: SlotKind::Operand });
                Some((value, slots.len() - 1))
            }
        };
        let mut arms = Vec::new();
        while self.accept_kw(Kw::WHEN) {
            let mut condition = self.expr()?;
            if let Some((_, slot)) = &operand {
                condition = Expr::Binary {
                    op: crate::ast::BinaryOp::Eq,
                    left: Box::new(Expr::Param(*slot as u32)),
                    right: Box::new(condition),
                };
            }
            self.expect_kw(Kw::THEN)?;
            arms.push((condition, self.program_list(&[Kw::WHEN, Kw::ELSE, Kw::END])?));
        }
        if arms.is_empty() {
            return Err(self.error());
        }
        let otherwise = match self.accept_kw(Kw::ELSE) {
            true => Some(self.program_list(&[Kw::END])?),
            false => None,
        };
        self.expect_kw(Kw::END)?;
        self.expect_kw(Kw::CASE)?;
        Ok(ProgramStatement::Case { operand, arms, otherwise })
    }

    /// LEAVE and ITERATE: error 1308.
    fn leave(&mut self) -> PResult<ProgramStatement> {
        let leaves = self.bump().kw == Kw::LEAVE;
        let name = self.ident()?;
        let fits = |label: &&Label| {
            label.name.as_ref().is_some_and(|other| same(other, &name))
                && (leaves || label.on == Labelled::Loop)
        };
        let found = self.scope().labels.iter().find(fits).map(|label| label.number);
        match (found, leaves) {
            (Some(label), true) => Ok(ProgramStatement::Leave(label)),
            (Some(label), false) => Ok(ProgramStatement::Iterate(label)),
            (None, _) => {
                let word = if leaves { "LEAVE" } else { "ITERATE" };
                let message = format!("{word} with no matching label: {name}");
                Err(self.other(1308, "42000", message))
            }
        }
    }

    fn return_statement(&mut self) -> PResult<ProgramStatement> {
        self.bump();
        if self.scope().kind != ProgramKind::Function {
            let message = "RETURN is only allowed in a FUNCTION".to_owned();
            return Err(self.other(1313, "42000", message));
        }
        self.scope().returns = true;
        Ok(ProgramStatement::Return(self.expr()?))
    }

    /// The cursor of that name: error 1324.
    fn cursor(&mut self) -> PResult<usize> {
        let name = self.ident()?;
        let mut cursors = self.scope().frames.iter().rev().flat_map(|frame| &frame.cursors);
        match cursors.find(|(other, _)| same(other, &name)).map(|(_, cursor)| *cursor) {
            Some(cursor) => Ok(cursor),
            None => Err(self.other(1324, "42000", format!("Undefined CURSOR: {name}"))),
        }
    }

    fn fetch(&mut self) -> PResult<ProgramStatement> {
        self.bump();
        if self.accept_kw(Kw::NEXT) {
            self.expect_kw(Kw::FROM)?;
        } else {
            self.accept_kw(Kw::FROM);
        }
        let cursor = self.cursor()?;
        self.expect_kw(Kw::INTO)?;
        let into = self.list(Self::local_target)?;
        Ok(ProgramStatement::Fetch { cursor, into })
    }

    /// SET: each variable is a statement of its own.
    fn set_in_program(&mut self, list: &mut Vec<ProgramStatement>) -> PResult<()> {
        let start = self.bump().start;
        if !matches!(self.peek().tok, Tok::Eq | Tok::Assign) || self.is_kw(Kw::PASSWORD) {
            let at = self.tok.start;
            if let Some(statement) = self.set_other()? {
                let found = self.sql_from(start, |_| Ok(statement))?;
                self.check_allowed(&found.statement)?;
                list.push(ProgramStatement::Sql(found));
                return Ok(());
            }
            debug_assert_eq!(at, self.tok.start, "no word is passed");
        }
        loop {
            let target = self.assigned()?;
            list.push(match target {
                Some(slot) => {
                    self.set_equal()?;
                    ProgramStatement::Assign { slot, value: self.expr()? }
                }
                None => ProgramStatement::Sql(
                    self.sql_from(start, |p| Ok(Statement::Set(vec![p.set_item()?])))?,
                ),
            });
            if !self.accept(Tok::Comma) {
                return Ok(());
            }
        }
    }

    /// The local variable or column of NEW that SET names next, if it does.
    fn assigned(&mut self) -> PResult<Option<usize>> {
        if !Self::is_ident(self.tok) {
            return Ok(None);
        }
        let name = self.ident_value(self.tok);
        match self.peek().tok {
            Tok::Eq | Tok::Assign => {
                let local = self.local(&name);
                if local.is_some() {
                    self.bump();
                }
                Ok(local.map(|slot| slot as usize))
            }
            Tok::Dot if matches!(self.scope().kind, ProgramKind::Trigger { .. }) => {
                if name.eq_ignore_ascii_case("old") {
                    let message = "Updating of OLD row is not allowed in trigger".to_owned();
                    return Err(self.other(1362, "HY000", message));
                }
                if !name.eq_ignore_ascii_case("new") {
                    return Ok(None);
                }
                self.bump();
                self.bump();
                let column = self.ident_after_dot()?;
                self.new_column(&column).map(Some)
            }
            _ => Ok(None),
        }
    }
}
