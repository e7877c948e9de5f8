//! The bodies of stored programs.
//!
//! Local variables are numbered while a body is parsed: a bare word that names one becomes
//! [`Expr::Param`](super::Expr::Param) of its slot, as MySQL lets a variable hide a column of the
//! same name. To a statement inside a body its variables are therefore what `?` is to a prepared
//! one.
//!
//! ```text
//! PROCEDURE p(IN n INT)          slots: 0 n INT, 1 i INT
//! BEGIN
//!   DECLARE i INT DEFAULT 0;     Assign { slot: 1, value: 0 }
//!   WHILE i < n DO               Loop(While(?1 < ?0))
//!     INSERT INTO t VALUES (i);  Sql(INSERT INTO t VALUES (?1))
//!     SET i = i + 1;             Assign { slot: 1, value: ?1 + 1 }
//!   END WHILE;
//! END
//! ```

use super::{Expr, IntoTarget, Query, Statement, TypeSpec};
use crate::parser::Hints;

/// A body with all that it declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Variables: parameters first, the others in the order of the text.
    pub slots: Vec<ProgramSlot>,
    /// Cursors, in the order of the text.
    pub cursors: Vec<ProgramCursor>,
    /// What it does.
    pub body: ProgramStatement,
    /// It has a RETURN.
    pub returns: bool,
}

/// A local variable.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramSlot {
    /// Its name as declared.
    pub name: String,
    /// What it holds.
    pub kind: SlotKind,
}

/// What a local variable holds.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotKind {
    /// A parameter or variable of this type.
    Declared(TypeSpec),
    /// A column of a trigger's OLD row.
    Old,
    /// A column of a trigger's NEW row.
    New,
    /// The operand of CASE, of whatever type that has.
    Operand,
}

/// A cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramCursor {
    /// Its name.
    pub name: String,
    /// Its query.
    pub query: ProgramSql,
}

/// A statement of SQL inside a body.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramSql {
    /// The statement; its parameters are slots.
    pub statement: Statement,
    /// Its text.
    pub text: String,
    /// Its optimizer hints.
    pub hints: Hints,
}

/// One statement of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramStatement {
    /// BEGIN … END.
    Block(Box<ProgramBlock>),
    /// IF.
    If {
        /// Conditions, with what follows THEN.
        arms: Vec<(Expr, Vec<ProgramStatement>)>,
        /// ELSE.
        otherwise: Option<Vec<ProgramStatement>>,
    },
    /// CASE.
    Case {
        /// The operand, and the slot that keeps it.
        operand: Option<(Expr, usize)>,
        /// Conditions, which compare the operand where there is one, with what follows THEN.
        arms: Vec<(Expr, Vec<ProgramStatement>)>,
        /// ELSE.
        otherwise: Option<Vec<ProgramStatement>>,
    },
    /// LOOP, WHILE and REPEAT.
    Loop {
        /// Its number, which LEAVE and ITERATE name.
        label: usize,
        /// When it ends.
        until: LoopEnd,
        /// What it repeats.
        body: Vec<ProgramStatement>,
    },
    /// LEAVE of a loop or block.
    Leave(usize),
    /// ITERATE of a loop.
    Iterate(usize),
    /// RETURN.
    Return(Expr),
    /// SET of a local variable or of a column of NEW, and DECLARE … DEFAULT.
    Assign {
        /// What gets the value.
        slot: usize,
        /// The value.
        value: Expr,
    },
    /// OPEN.
    Open(usize),
    /// FETCH.
    Fetch {
        /// The cursor.
        cursor: usize,
        /// What gets the row.
        into: Vec<IntoTarget>,
    },
    /// CLOSE.
    Close(usize),
    /// Any other statement.
    Sql(ProgramSql),
}

/// When a loop ends.
#[derive(Debug, Clone, PartialEq)]
pub enum LoopEnd {
    /// LOOP: only by LEAVE.
    Never,
    /// WHILE: where the condition does not hold before a round.
    While(Expr),
    /// REPEAT: where the condition holds after a round.
    Until(Expr),
}

/// BEGIN … END.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramBlock {
    /// Its number, which LEAVE names.
    pub label: usize,
    /// Variables with their values at the beginning, in order; NULL where DEFAULT is missing.
    pub declared: Vec<(usize, Option<Expr>)>,
    /// Handlers.
    pub handlers: Vec<ProgramHandler>,
    /// Cursors that it declares.
    pub cursors: Vec<usize>,
    /// Its statements.
    pub body: Vec<ProgramStatement>,
}

/// DECLARE … HANDLER.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramHandler {
    /// EXIT instead of CONTINUE.
    pub exit: bool,
    /// What it handles.
    pub conditions: Vec<HandlerCondition>,
    /// What it does.
    pub body: Box<ProgramStatement>,
}

/// What a handler handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerCondition {
    /// A number.
    Number(u16),
    /// SQLSTATE.
    SqlState(String),
    /// SQLWARNING.
    Warning,
    /// NOT FOUND.
    NotFound,
    /// SQLEXCEPTION.
    Exception,
}

impl ProgramSql {
    /// The statement as a query.
    pub fn query(&self) -> Option<&Query> {
        match &self.statement {
            Statement::Select(query) => Some(query),
            _ => None,
        }
    }
}

impl ProgramStatement {
    /// Calls `visit` with each statement of SQL.
    pub fn for_each_sql(&self, visit: &mut dyn FnMut(&ProgramSql)) {
        let mut list = |list: &[ProgramStatement]| {
            list.iter().for_each(|statement| statement.for_each_sql(visit));
        };
        match self {
            ProgramStatement::Block(block) => {
                list(&block.body);
                block.handlers.iter().for_each(|handler| handler.body.for_each_sql(visit));
            }
            ProgramStatement::If { arms, otherwise }
            | ProgramStatement::Case { arms, otherwise, .. } => {
                arms.iter().for_each(|(_, body)| list(body));
                otherwise.iter().for_each(|body| list(body));
            }
            ProgramStatement::Loop { body, .. } => list(body),
            ProgramStatement::Sql(sql) => visit(sql),
            _ => {}
        }
    }
}

impl Statement {
    /// Whether it commits before it begins: no function and no trigger may have it, error 1422.
    pub fn commits(&self) -> bool {
        match self {
            Statement::CreateTable(create) => !create.temporary,
            Statement::DropTable(drop) => !drop.temporary,
            Statement::Begin(_)
            | Statement::Commit(_)
            | Statement::Rollback(_)
            | Statement::Truncate(_)
            | Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase { .. }
            | Statement::AlterTable(_)
            | Statement::RenameTable(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_)
            | Statement::CreateView(_)
            | Statement::DropView(_)
            | Statement::Sequence(_)
            | Statement::Server(_)
            | Statement::DropRoutine(_)
            | Statement::CreateUser(_)
            | Statement::AlterUser(_)
            | Statement::DropUser { .. }
            | Statement::RenameUser(_)
            | Statement::CreateRole { .. }
            | Statement::DropRole { .. }
            | Statement::Grant(_)
            | Statement::Revoke(_)
            | Statement::SetPassword(_) => true,
            _ => false,
        }
    }

    /// Whether it sends rows to the client: no function and no trigger may have it, error 1415.
    pub fn sends_rows(&self) -> bool {
        match self {
            Statement::Select(query) => query.into.is_none(),
            Statement::Insert(insert) => !insert.returning.is_empty(),
            Statement::Update(update) => !update.returning.is_empty(),
            Statement::Delete(delete) => !delete.returning.is_empty(),
            Statement::Show(_)
            | Statement::Describe(_)
            | Statement::Explain(_)
            | Statement::Help(_)
            | Statement::TableMaintenance(_) => true,
            _ => false,
        }
    }
}

impl ProgramStatement {
    /// One statement, or a block without a name of several: SET of several variables is several.
    pub(crate) fn of_list(mut body: Vec<ProgramStatement>) -> ProgramStatement {
        match (body.len(), body.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                body.extend(last);
                ProgramStatement::Block(Box::new(ProgramBlock {
                    label: usize::MAX,
                    declared: Vec::new(),
                    handlers: Vec::new(),
                    cursors: Vec::new(),
                    body,
                }))
            }
        }
    }
}
