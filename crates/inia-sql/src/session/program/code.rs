//! What a compiled program consists of.

use super::super::plan::PlannedStatement;
use inia_expr::{Expr, ExprType};
use inia_parser::ast::{self, HandlerCondition, IntoTarget, ProgramSql};
use inia_query::catalog::StoredProgram;
use inia_query::catalog::program::ParsedProgram;
use parking_lot::Mutex;
use std::sync::Arc;

/// A plan or a bound expression, and the settings that it was made under.
pub(super) struct Kept<T> {
    pub(super) made: T,
    pub(super) settings: u64,
}

/// A statement with the plan that it keeps.
pub(super) struct SqlCode {
    pub(super) sql: ProgramSql,
    pub(super) plan: Mutex<Option<Arc<Kept<PlannedStatement>>>>,
}

impl SqlCode {
    pub(super) fn new(sql: ProgramSql) -> SqlCode {
        SqlCode { sql, plan: Mutex::default() }
    }
}

/// An expression.
pub(super) enum ExprCode {
    /// One without subqueries.
    Plain {
        expr: ast::Expr,
        /// Its type may differ from one evaluation to the next, so it is bound each time.
        changes: bool,
        bound: Mutex<Option<Arc<Kept<Expr>>>>,
    },
    /// One with subqueries: the query `SELECT expr`.
    Query(Box<SqlCode>),
}

/// One step.
pub(super) enum Instruction {
    /// Stores a value as into a column of the slot's type.
    Assign { slot: usize, value: ExprCode },
    /// Keeps the operand of CASE as it is; an error goes on at `resume`.
    Operand { slot: usize, value: ExprCode, resume: usize },
    /// Goes on at `to` unless the condition holds; an error goes on at `resume`.
    JumpUnless { condition: ExprCode, to: usize, resume: usize },
    /// Goes on elsewhere.
    Jump(usize),
    /// RETURN.
    Return(ExprCode),
    /// A statement.
    Sql(Box<SqlCode>),
    /// SELECT … INTO.
    SelectInto { query: Box<SqlCode>, into: Vec<IntoTarget> },
    /// CALL.
    Call(ast::Call),
    /// SIGNAL.
    Signal(ast::Signal),
    /// RESIGNAL.
    Resignal(ast::Signal),
    /// GET DIAGNOSTICS.
    GetDiagnostics(ast::GetDiagnostics),
    /// OPEN.
    Open(usize),
    /// FETCH.
    Fetch { cursor: usize, into: Vec<IntoTarget> },
    /// CLOSE.
    Close(usize),
    /// The cursors of a block are not open when it begins.
    Forget(Vec<usize>),
    /// No WHEN of a CASE holds, and it has no ELSE.
    NoCase,
    /// The end of a handler: back to behind what was handled, or out of the block.
    EndHandler { exit: Option<usize> },
}

impl Instruction {
    /// Whether warnings raised before it are forgotten: it computes a value or uses a cursor.
    pub(super) fn clears_warnings(&self) -> bool {
        use Instruction::{Assign, Close, Fetch, JumpUnless, Open, Operand, Return};
        let computes = matches!(self, Assign { .. } | JumpUnless { .. } | Operand { .. });
        computes || matches!(self, Return(_) | Open(_) | Fetch { .. } | Close(_))
    }
}

/// A handler.
pub(super) struct HandlerCode {
    pub(super) conditions: Vec<HandlerCondition>,
    /// The instructions that it covers.
    pub(super) covers: std::ops::Range<usize>,
    /// How many blocks are around it.
    pub(super) depth: usize,
    /// Its own instructions.
    pub(super) body: std::ops::Range<usize>,
}

/// A program as one session runs it.
pub(super) struct CompiledProgram {
    pub(super) stored: Arc<StoredProgram>,
    pub(super) parsed: Arc<ParsedProgram>,
    pub(super) code: Vec<Instruction>,
    pub(super) handlers: Vec<HandlerCode>,
    pub(super) cursors: Vec<SqlCode>,
    /// Types of the slots; those of OLD and NEW and of operands are set when the program runs.
    pub(super) types: Vec<ExprType>,
}
