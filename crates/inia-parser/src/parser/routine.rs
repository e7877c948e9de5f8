//! CREATE, ALTER and DROP of stored programs. A body is kept as text.

use super::{PResult, Parser};
use crate::{
    ast::{
        Account, AlterRoutine, Characteristics, CreateRoutine, DropRoutine, EventStatus, ParamMode,
        RoutineDetail, RoutineKind, RoutineParam, Schedule, Statement, TriggerEvent,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// CREATE [DEFINER = …] PROCEDURE | FUNCTION | TRIGGER | EVENT; the last is the current token.
    pub(super) fn create_routine(&mut self, definer: Option<Account>) -> PResult<Statement> {
        if self.is_kw(Kw::AGGREGATE) || (self.is_kw(Kw::FUNCTION) && self.at_loadable_function()) {
            self.rest_text();
            let what = "CREATE FUNCTION ... SONAME".to_string();
            return Ok(Statement::Unsupported(crate::ast::UnsupportedStatement { what }));
        }
        let kinds = [Kw::PROCEDURE, Kw::FUNCTION, Kw::TRIGGER, Kw::EVENT];
        let kind = self.expect_any(&kinds)?;
        self.check_outermost(kind)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let mut params_text = String::new();
        let detail = match kind {
            Kw::PROCEDURE => {
                let params = self.routine_params(true, &mut params_text)?;
                let characteristics = self.characteristics()?;
                RoutineDetail::Procedure { params, characteristics }
            }
            Kw::FUNCTION => {
                let params = self.routine_params(false, &mut params_text)?;
                self.expect_kw(Kw::RETURNS)?;
                let mut returns = self.type_spec()?;
                self.type_collation(&mut returns)?;
                let characteristics = self.characteristics()?;
                RoutineDetail::Function { params, returns, characteristics }
            }
            Kw::TRIGGER => self.trigger_detail()?,
            _ => self.event_detail()?,
        };
        let (program, body) = self.program(&detail)?;
        let program = Some(Box::new(program));
        let routine =
            CreateRoutine { definer, if_not_exists, name, detail, params_text, body, program };
        Ok(Statement::CreateRoutine(Box::new(routine)))
    }

    /// Error 1303: a stored program makes no other.
    fn check_outermost(&self, kind: Kw) -> PResult<()> {
        if self.program.is_none() {
            return Ok(());
        }
        if kind == Kw::EVENT {
            let message = "Recursion of EVENT DDL statements is forbidden when body is present";
            return Err(self.other(1576, "HY000", message.to_owned()));
        }
        let kind = match kind {
            Kw::PROCEDURE => "PROCEDURE",
            Kw::FUNCTION => "FUNCTION",
            Kw::TRIGGER => "TRIGGER",
            _ => "EVENT",
        };
        let message = format!("Can't create a {kind} from within another stored routine");
        Err(self.other(1303, "2F003", message))
    }

    /// CREATE FUNCTION name RETURNS …, without parentheses: a loadable function.
    fn at_loadable_function(&mut self) -> bool {
        self.peek();
        let mut ahead = self.lex;
        ahead.next().kw == Kw::RETURNS
    }

    fn routine_params(&mut self, modes: bool, text: &mut String) -> PResult<Vec<RoutineParam>> {
        let start = self.expect(Tok::LParen)?.end;
        *text = self.params_text(start);
        if self.accept(Tok::RParen) {
            return Ok(Vec::new());
        }
        let params = self.list(|p| {
            let mode = match p.tok.kw {
                Kw::IN | Kw::OUT | Kw::INOUT if modes => match p.bump().kw {
                    Kw::OUT => ParamMode::Out,
                    Kw::INOUT => ParamMode::InOut,
                    _ => ParamMode::In,
                },
                _ => ParamMode::In,
            };
            let name = p.new_ident()?;
            let mut ty = p.type_spec()?;
            p.type_collation(&mut ty)?;
            Ok(RoutineParam { mode, name, ty })
        })?;
        *text = self.params_text(start);
        self.expect(Tok::RParen)?;
        Ok(params)
    }

    /// The text from `start` to the current token as it is, blanks included.
    fn params_text(&self, start: u32) -> String {
        super::utf8(&self.src[start as usize..self.tok.start as usize])
    }

    fn characteristics(&mut self) -> PResult<Characteristics> {
        let mut found = Characteristics::default();
        loop {
            match self.kw() {
                Kw::COMMENT => {
                    self.bump();
                    found.comment = Some(self.comment()?);
                }
                Kw::LANGUAGE => {
                    self.bump();
                    self.expect_kw(Kw::SQL)?;
                }
                Kw::DETERMINISTIC => {
                    self.bump();
                    found.deterministic = Some(true);
                }
                Kw::NOT => {
                    self.bump();
                    self.expect_kw(Kw::DETERMINISTIC)?;
                    found.deterministic = Some(false);
                }
                Kw::CONTAINS | Kw::NO => {
                    let word = self.upper_word();
                    self.expect_kw(Kw::SQL)?;
                    found.data_access = Some(format!("{word} SQL"));
                }
                Kw::READS | Kw::MODIFIES => {
                    let word = self.upper_word();
                    self.expect_kw(Kw::SQL)?;
                    self.expect_kw(Kw::DATA)?;
                    found.data_access = Some(format!("{word} SQL DATA"));
                }
                Kw::SQL => found.security_invoker = self.opt_sql_security()?,
                _ => return Ok(found),
            }
        }
    }

    fn trigger_detail(&mut self) -> PResult<RoutineDetail> {
        let before = self.expect_any(&[Kw::BEFORE, Kw::AFTER])? == Kw::BEFORE;
        let event = match self.expect_any(&[Kw::INSERT, Kw::UPDATE, Kw::DELETE])? {
            Kw::INSERT => TriggerEvent::Insert,
            Kw::UPDATE => TriggerEvent::Update,
            _ => TriggerEvent::Delete,
        };
        self.expect_kw(Kw::ON)?;
        let table = self.object_name()?;
        self.expect_kw(Kw::FOR)?;
        self.expect_kw(Kw::EACH)?;
        self.expect_kw(Kw::ROW)?;
        let order = match self.accept_any(&[Kw::FOLLOWS, Kw::PRECEDES]) {
            Some(kw) => Some((kw == Kw::FOLLOWS, self.ident_or_string()?)),
            None => None,
        };
        Ok(RoutineDetail::Trigger { before, event, table, order })
    }

    fn event_detail(&mut self) -> PResult<RoutineDetail> {
        self.expect_kw(Kw::ON)?;
        self.expect_kw(Kw::SCHEDULE)?;
        let schedule = self.schedule()?;
        let preserve = self.opt_completion()?;
        let status = self.opt_event_status()?;
        let comment = if self.accept_kw(Kw::COMMENT) { Some(self.string()?) } else { None };
        self.expect_kw(Kw::DO)?;
        Ok(RoutineDetail::Event { schedule, preserve, status, comment })
    }

    fn schedule(&mut self) -> PResult<Schedule> {
        if self.accept_kw(Kw::AT) {
            return Ok(Schedule::At(self.expr()?));
        }
        self.expect_kw(Kw::EVERY)?;
        let interval = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = if self.accept_kw(Kw::STARTS) { Some(self.expr()?) } else { None };
        let ends = if self.accept_kw(Kw::ENDS) { Some(self.expr()?) } else { None };
        Ok(Schedule::Every { interval, unit, starts, ends })
    }

    /// ON COMPLETION [NOT] PRESERVE.
    fn opt_completion(&mut self) -> PResult<Option<bool>> {
        if !self.accept_pair(Kw::ON, Kw::COMPLETION) {
            return Ok(None);
        }
        let preserve = !self.accept_kw(Kw::NOT);
        self.expect_kw(Kw::PRESERVE)?;
        Ok(Some(preserve))
    }

    fn opt_event_status(&mut self) -> PResult<Option<EventStatus>> {
        Ok(match self.accept_any(&[Kw::ENABLE, Kw::DISABLE]) {
            Some(Kw::ENABLE) => Some(EventStatus::Enabled),
            Some(_) if self.accept_kw(Kw::ON) => {
                self.expect_any(&[Kw::SLAVE, Kw::REPLICA])?;
                Some(EventStatus::DisabledOnReplica)
            }
            Some(_) => Some(EventStatus::Disabled),
            None => None,
        })
    }

    /// The body of an event, of which only the text is kept.
    fn event_body(&mut self) -> PResult<String> {
        let detail = RoutineDetail::Procedure {
            params: Vec::new(),
            characteristics: Characteristics::default(),
        };
        self.program(&detail).map(|(_, text)| text)
    }

    /// ALTER PROCEDURE | FUNCTION; the word is the current token.
    pub(super) fn alter_routine(&mut self) -> PResult<Statement> {
        let kind = match self.bump().kw {
            Kw::PROCEDURE => RoutineKind::Procedure,
            _ => RoutineKind::Function,
        };
        let name = self.object_name()?;
        let characteristics = self.characteristics()?;
        Ok(Statement::AlterRoutine(Box::new(AlterRoutine {
            kind,
            definer: None,
            name,
            characteristics,
            schedule: None,
            preserve: None,
            rename: None,
            status: None,
            body: None,
        })))
    }

    /// ALTER EVENT; EVENT is the current token.
    pub(super) fn alter_event(&mut self, definer: Option<Account>) -> PResult<Statement> {
        self.bump();
        let name = self.object_name()?;
        let schedule =
            if self.accept_pair(Kw::ON, Kw::SCHEDULE) { Some(self.schedule()?) } else { None };
        let preserve = self.opt_completion()?;
        let rename = if self.accept_kw(Kw::RENAME) {
            self.expect_kw(Kw::TO)?;
            Some(self.object_name()?)
        } else {
            None
        };
        let status = self.opt_event_status()?;
        let mut characteristics = Characteristics::default();
        if self.accept_kw(Kw::COMMENT) {
            characteristics.comment = Some(self.string()?);
        }
        let body = match self.accept_kw(Kw::DO) {
            true => Some(self.event_body()?),
            false => None,
        };
        if schedule.is_none()
            && (preserve, &rename, status) == (None, &None, None)
            && (&characteristics.comment, &body) == (&None, &None)
        {
            return Err(self.error());
        }
        Ok(Statement::AlterRoutine(Box::new(AlterRoutine {
            kind: RoutineKind::Event,
            definer,
            name,
            characteristics,
            schedule,
            preserve,
            rename,
            status,
            body,
        })))
    }

    /// DROP PROCEDURE | FUNCTION | TRIGGER | EVENT; the word is the current token.
    pub(super) fn drop_routine(&mut self) -> PResult<Statement> {
        let kind = match self.bump().kw {
            Kw::PROCEDURE => RoutineKind::Procedure,
            Kw::FUNCTION => RoutineKind::Function,
            Kw::TRIGGER => RoutineKind::Trigger,
            _ => RoutineKind::Event,
        };
        let if_exists = self.if_exists()?;
        Ok(Statement::DropRoutine(DropRoutine { kind, if_exists, name: self.object_name()? }))
    }
}
