//! The bound expression tree.
//!
//! Binding resolves every name, picks every function and every comparison's operand class, and
//! leaves a tree that evaluation only walks. `a + 1 > '7'` over an INT column `a` becomes
//! `Compare(>, class Real, Arith(+, class Int, Column 0, Literal 1), Literal 7e0)`.

use crate::compare::{CmpClass, InSet};
use crate::context::VarScope;
use crate::eval::EvalFn;
use crate::like::Pattern;
use crate::row_set::RowSet;
use crate::ty::ExprType;
use inia_base::temporal::IntervalUnit;
use inia_base::value::Value;
use std::sync::Arc;

/// A typed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it does.
    pub kind: ExprKind,
    /// What comes out.
    pub ty: ExprType,
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<=>`
    NullSafeEq,
}

/// The arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `DIV`
    IntDiv,
    /// `%`
    Mod,
}

/// The numbers that an arithmetic node computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumClass {
    /// 64-bit integers; the result's signedness is in the node's type.
    Int,
    /// Exact decimals.
    Decimal,
    /// Doubles.
    Real,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// `x'41'` or `b'101'`: a binary string that counts as a number in numeric context.
    HexLiteral(Vec<u8>),
    /// A column of the current row. `name` is how error texts print it.
    Column {
        /// Position in the row.
        index: usize,
        /// Printed form, such as `` `db`.`t`.`c` ``.
        name: Arc<str>,
    },
    /// A column of an enclosing query's row; depth 1 is the next enclosing query.
    OuterColumn {
        /// How many queries outwards.
        depth: usize,
        /// Position in that row.
        index: usize,
        /// Printed form.
        name: Arc<str>,
    },
    /// The statement's parameter, from 0.
    Param(usize),
    /// `@name`.
    UserVar(Arc<str>),
    /// `@name := value`.
    AssignUserVar(Arc<str>, Box<Expr>),
    /// `@@name`.
    SysVar(VarScope, Arc<str>),
    /// The current group's aggregate number n.
    Aggregate(usize),
    /// The current row's function over a window, number n.
    Window(usize),
    /// `VALUES(column)` inside ON DUPLICATE KEY UPDATE.
    InsertValue(usize),
    /// A comparison of scalars.
    Compare(Box<Compare>),
    /// A comparison of rows of equal width.
    CompareRows(CmpOp, Vec<Compare>),
    /// `AND` of all.
    And(Vec<Expr>),
    /// `OR` of all.
    Or(Vec<Expr>),
    /// `XOR`.
    Xor(Box<Expr>, Box<Expr>),
    /// `NOT`.
    Not(Box<Expr>),
    /// `IS [NOT] NULL`; the flag means NOT.
    IsNull(Box<Expr>, bool),
    /// `IS [NOT] TRUE/FALSE`: the truth value asked for, and NOT.
    IsTruth(Box<Expr>, bool, bool),
    /// Arithmetic.
    Arith(Box<Arith>),
    /// Unary minus.
    Neg(Box<Expr>, NumClass),
    /// A function.
    Call(Box<Call>),
    /// `CASE`: operand comparisons are already part of the conditions.
    Case(Box<Case>),
    /// `IN (list)`.
    In(Box<InList>),
    /// `BETWEEN`.
    Between(Box<Between>),
    /// `LIKE`.
    Like(Box<Like>),
    /// `CAST`, `CONVERT`, and conversions that binding adds. The target is the node's type.
    Cast(Box<Expr>, CastKind),
    /// `expr COLLATE x`, and conversions between character sets: only the type changes.
    Collate(Box<Expr>),
    /// `(a, b, …)`.
    Row(Vec<Expr>),
    /// `date ± INTERVAL n unit`.
    DateArith(Box<DateArith>),
    /// A subquery in an expression.
    Subquery(Box<Subquery>),
    /// A stored function.
    Stored(Box<StoredCall>),
    /// `MATCH (columns) AGAINST (words)`: how relevant the row is to the words.
    Match(Box<Match>),
}

/// A call of a stored function. The function is looked up by its name at each call.
#[derive(Clone, Debug)]
pub struct StoredCall {
    /// Its database.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Arguments.
    pub args: Vec<Expr>,
}

impl StoredCall {
    /// `schema.name`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}

/// `MATCH (columns) AGAINST (words)`.
#[derive(Clone, Debug)]
pub struct Match {
    /// The executor's number for the search.
    pub id: usize,
    /// The FULLTEXT index that finds rows, as a position in the table's indexes.
    pub index: Option<usize>,
    /// What is searched for; the same for all rows.
    pub against: Expr,
    /// The texts that are searched, in the order of the index's parts.
    pub columns: Vec<Expr>,
}

/// Why a value is converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// CAST or CONVERT in the statement.
    Explicit,
    /// The same as an item of the select list, whose name warnings have.
    Item(Arc<str>),
    /// CAST to CHAR(n) or BINARY(n): longer values are cut with a warning.
    Limited(u32),
    /// Added by binding.
    Implicit,
    /// A constant beside a column of years: the year that it means, in its own type.
    Year,
}

/// `left op right`.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The operator.
    pub op: CmpOp,
    /// The class in which the operands compare.
    pub class: CmpClass,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
}

/// `left op right` in numbers.
#[derive(Clone, Debug)]
pub struct Arith {
    /// The operator.
    pub op: ArithOp,
    /// The numbers that it computes in.
    pub class: NumClass,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
}

/// A call of a function from the table.
#[derive(Clone, Debug)]
pub struct Call {
    /// Lower-case name, for printing.
    pub name: &'static str,
    /// The code.
    pub eval: EvalFn,
    /// Arguments.
    pub args: Vec<Expr>,
    /// A small constant that the binder gives the code: a unit, a number of digits, a flag.
    pub tag: i64,
    /// Whether equal arguments always give equal results within a statement.
    pub deterministic: bool,
}

/// CASE. One with an operand compares it in each condition.
#[derive(Clone, Debug)]
pub struct Case {
    /// The conditions all compare the same operand, which is computed once for all of them.
    pub simple: bool,
    /// Conditions and results.
    pub whens: Vec<(Expr, Expr)>,
    /// ELSE; NULL where absent.
    pub otherwise: Option<Expr>,
}

impl Case {
    /// Whether this is what NULLIF becomes: NULL where two values are equal, else the first.
    pub fn is_nullif(&self) -> bool {
        match &self.whens[..] {
            [(condition, result)] => {
                matches!(condition.kind, ExprKind::Compare(_))
                    && matches!(result.kind, ExprKind::Literal(Value::Null))
                    && self.otherwise.is_some()
            }
            _ => false,
        }
    }
}

/// `value [NOT] IN (list)`.
#[derive(Clone, Debug)]
pub struct InList {
    /// Left operand.
    pub value: Expr,
    /// Items with the class each compares as.
    pub items: Vec<(CmpClass, Expr)>,
    /// All items as a set, where all are constants of one class.
    pub set: Option<Arc<InSet>>,
    /// All rows of a list of constant rows.
    pub rows: Option<Arc<RowSet>>,
    /// All items are constants that compare in one class: MySQL converts them once.
    pub sorted: bool,
    /// NOT.
    pub negated: bool,
}

/// `value [NOT] BETWEEN low AND high`.
#[derive(Clone, Debug)]
pub struct Between {
    /// Left operand.
    pub value: Expr,
    /// Lower bound.
    pub low: Expr,
    /// Upper bound.
    pub high: Expr,
    /// Classes of the two comparisons.
    pub classes: (CmpClass, CmpClass),
    /// NOT.
    pub negated: bool,
}

/// `value [NOT] LIKE pattern`.
#[derive(Clone, Debug)]
pub struct Like {
    /// Left operand.
    pub value: Expr,
    /// The pattern as written.
    pub pattern: Expr,
    /// The escape character; `None` where the literal is empty.
    pub escape: Option<char>,
    /// The pattern analysed, where it is constant.
    pub compiled: Option<Pattern>,
    /// How characters compare.
    pub collation: inia_base::collation::Collation,
    /// NOT.
    pub negated: bool,
}

/// `date + INTERVAL amount unit`.
#[derive(Clone, Debug)]
pub struct DateArith {
    /// Left operand.
    pub date: Expr,
    /// The number or string before the unit.
    pub amount: Expr,
    /// The unit.
    pub unit: IntervalUnit,
    /// Minus.
    pub subtract: bool,
}

/// A subquery and how its rows are used.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// The executor's number for it.
    pub id: usize,
    /// How its rows are used.
    pub kind: SubqueryKind,
    /// Whether it reads columns of enclosing rows.
    pub correlated: bool,
    /// Whether it has one row whatever the tables hold.
    pub certain: bool,
}

impl Subquery {
    /// Whether it is one value, which is found once for the statement.
    pub fn is_run_once_value(&self) -> bool {
        !self.correlated && matches!(self.kind, SubqueryKind::Scalar)
    }
}

/// How the rows of a subquery are used.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// The one value of its one row; NULL where empty, error 1242 for more rows.
    Scalar,
    /// As an operand of a row comparison: its single row has these types.
    Row(Vec<ExprType>),
    /// `[NOT] EXISTS`.
    Exists {
        /// NOT.
        negated: bool,
    },
    /// `left op ANY/ALL (subquery)`; `IN` is `= ANY`, `NOT IN` is `<> ALL`. Rows are compared with
    /// a subquery's only row in the same way.
    Quantified {
        /// The operator.
        op: CmpOp,
        /// Which rows it must hold for.
        quantifier: Quantifier,
        /// Left operand's columns, or the subquery whose row they are.
        left: Vec<Expr>,
        /// Class of each column's comparison.
        classes: Vec<CmpClass>,
        /// Types of the subquery's columns.
        types: Vec<ExprType>,
        /// How rows that fulfil it are found.
        lookup: RowLookup,
    },
}

/// How a quantified comparison goes through its subquery's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLookup {
    /// The rows are in a hash table, made once; they are compared one by one where a row of several
    /// columns has a NULL, which the table cannot answer.
    HashTable,
    /// Each row is compared.
    Compare,
}

/// Which rows of a subquery a comparison must hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// ANY, SOME.
    Any,
    /// ALL.
    All,
    /// The only one; error 1242 for more.
    Only,
}

impl CmpOp {
    /// The operator with its operands swapped.
    pub fn swapped(self) -> CmpOp {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            same => same,
        }
    }

    /// As SQL writes it.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "=",
            CmpOp::Ne => "<>",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
            CmpOp::NullSafeEq => "<=>",
        }
    }

    /// Whether `ordering` between the operands makes it true.
    #[inline]
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            CmpOp::Eq | CmpOp::NullSafeEq => ordering.is_eq(),
            CmpOp::Ne => ordering.is_ne(),
            CmpOp::Lt => ordering.is_lt(),
            CmpOp::Le => ordering.is_le(),
            CmpOp::Gt => ordering.is_gt(),
            CmpOp::Ge => ordering.is_ge(),
        }
    }
}

impl ArithOp {
    /// As error texts print it.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            ArithOp::Add => "+",
            ArithOp::Sub => "-",
            ArithOp::Mul => "*",
            ArithOp::Div => "/",
            ArithOp::IntDiv => "DIV",
            ArithOp::Mod => "%",
        }
    }
}

impl Expr {
    /// A comparison of scalars.
    pub fn compares(compare: Compare) -> Expr {
        let nullable = compare.left.ty.nullable || compare.right.ty.nullable;
        let ty = ExprType::bool(nullable && compare.op != CmpOp::NullSafeEq);
        Expr { kind: ExprKind::Compare(Box::new(compare)), ty }
    }

    /// A constant of a type.
    pub fn literal(value: Value, ty: ExprType) -> Expr {
        Expr { kind: ExprKind::Literal(value), ty }
    }

    /// NULL.
    pub fn null() -> Expr {
        Expr::literal(Value::Null, ExprType::null())
    }

    /// A column of the current row.
    pub fn column(index: usize, ty: ExprType, name: impl Into<Arc<str>>) -> Expr {
        Expr { kind: ExprKind::Column { index, name: name.into() }, ty }
    }

    /// The constant's value, where this is one.
    #[inline]
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` for each direct child.
    pub fn children<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Compare(c) => [&c.left, &c.right].into_iter().for_each(visit),
            ExprKind::CompareRows(_, parts) => {
                parts.iter().for_each(|c| [&c.left, &c.right].into_iter().for_each(&mut *visit));
            }
            ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Row(items) => {
                items.iter().for_each(visit);
            }
            ExprKind::Xor(a, b) => [&**a, &**b].into_iter().for_each(visit),
            ExprKind::Not(a)
            | ExprKind::IsNull(a, _)
            | ExprKind::IsTruth(a, _, _)
            | ExprKind::Neg(a, _)
            | ExprKind::Cast(a, _)
            | ExprKind::Collate(a)
            | ExprKind::AssignUserVar(_, a) => visit(a),
            ExprKind::Arith(a) => [&a.left, &a.right].into_iter().for_each(visit),
            ExprKind::Call(call) => call.args.iter().for_each(visit),
            ExprKind::Stored(call) => call.args.iter().for_each(visit),
            ExprKind::Case(case) => {
                for (condition, result) in &case.whens {
                    visit(condition);
                    visit(result);
                }
                case.otherwise.iter().for_each(visit);
            }
            ExprKind::In(list) => {
                visit(&list.value);
                list.items.iter().for_each(|(_, item)| visit(item));
            }
            ExprKind::Between(b) => [&b.value, &b.low, &b.high].into_iter().for_each(visit),
            ExprKind::Like(l) => [&l.value, &l.pattern].into_iter().for_each(visit),
            ExprKind::DateArith(d) => [&d.date, &d.amount].into_iter().for_each(visit),
            ExprKind::Match(search) => {
                visit(&search.against);
                search.columns.iter().for_each(visit);
            }
            // The subquery's own expressions belong to its plan, not to this tree.
            ExprKind::Subquery(sub) => {
                if let SubqueryKind::Quantified { left, .. } = &sub.kind {
                    left.iter().for_each(visit);
                }
            }
            _ => {}
        }
    }

    /// Calls `visit` for each direct child, to be changed in place.
    pub fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        // The arms are those of [`Expr::children`], in the same order.
        match &mut self.kind {
            ExprKind::Compare(c) => {
                visit(&mut c.left);
                visit(&mut c.right);
            }
            ExprKind::CompareRows(_, parts) => {
                for part in parts {
                    visit(&mut part.left);
                    visit(&mut part.right);
                }
            }
            ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Row(items) => {
                items.iter_mut().for_each(visit);
            }
            ExprKind::Xor(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::Not(a)
            | ExprKind::IsNull(a, _)
            | ExprKind::IsTruth(a, _, _)
            | ExprKind::Neg(a, _)
            | ExprKind::Cast(a, _)
            | ExprKind::Collate(a)
            | ExprKind::AssignUserVar(_, a) => visit(a),
            ExprKind::Arith(a) => {
                visit(&mut a.left);
                visit(&mut a.right);
            }
            ExprKind::Call(call) => call.args.iter_mut().for_each(visit),
            ExprKind::Stored(call) => call.args.iter_mut().for_each(visit),
            ExprKind::Case(case) => {
                for (condition, result) in &mut case.whens {
                    visit(condition);
                    visit(result);
                }
                case.otherwise.iter_mut().for_each(visit);
            }
            ExprKind::In(list) => {
                visit(&mut list.value);
                list.items.iter_mut().for_each(|(_, item)| visit(item));
            }
            ExprKind::Between(b) => {
                visit(&mut b.value);
                visit(&mut b.low);
                visit(&mut b.high);
            }
            ExprKind::Like(l) => {
                visit(&mut l.value);
                visit(&mut l.pattern);
            }
            ExprKind::DateArith(d) => {
                visit(&mut d.date);
                visit(&mut d.amount);
            }
            ExprKind::Match(search) => {
                visit(&mut search.against);
                search.columns.iter_mut().for_each(visit);
            }
            ExprKind::Subquery(sub) => {
                if let SubqueryKind::Quantified { left, .. } = &mut sub.kind {
                    left.iter_mut().for_each(visit);
                }
            }
            _ => {}
        }
    }

    /// Calls `visit` for this node and all below it, parents first.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.children(&mut |child| child.walk(visit));
    }

    /// Calls `visit` for all nodes below this and then for this one, to be changed in place.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.children_mut(&mut |child| child.walk_mut(visit));
        visit(self);
    }

    /// Whether the value is the same for every row and every run of the statement.
    pub fn is_constant(&self) -> bool {
        let mut constant = true;
        self.walk(&mut |e| constant &= e.is_constant_node());
        constant
    }

    /// Whether nothing but its operands could make the value differ from one run to the next.
    pub fn is_constant_node(&self) -> bool {
        match &self.kind {
            ExprKind::Column { .. }
            | ExprKind::OuterColumn { .. }
            | ExprKind::Param(_)
            | ExprKind::UserVar(_)
            | ExprKind::AssignUserVar(..)
            | ExprKind::SysVar(..)
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_)
            | ExprKind::Match(_)
            | ExprKind::Subquery(_)
            | ExprKind::Stored(_) => false,
            ExprKind::Call(call) => call.deterministic,
            _ => true,
        }
    }

    /// Whether the value is the same for every row of one run of the statement: as
    /// [`is_constant`](Expr::is_constant), and parameters, NOW() and their like too.
    pub fn is_constant_in_statement(&self) -> bool {
        let mut constant = true;
        self.walk(&mut |e| {
            constant &= match &e.kind {
                ExprKind::Param(_) | ExprKind::SysVar(..) => true,
                ExprKind::Call(call) => call.deterministic || call.tag_is_statement_constant(),
                _ => e.is_constant_node(),
            }
        });
        constant
    }
}

impl Expr {
    /// Whether the value reads no row, so that it is the same for all rows of one run.
    pub(crate) fn is_same_for_all_rows(&self) -> bool {
        let mut same = true;
        self.walk(&mut |e| {
            same &= match &e.kind {
                ExprKind::UserVar(_) | ExprKind::Param(_) | ExprKind::SysVar(..) => true,
                ExprKind::Call(_) => true,
                _ => e.is_constant_node(),
            }
        });
        same
    }
}

impl Call {
    /// Whether the function's result is fixed when the statement starts.
    fn tag_is_statement_constant(&self) -> bool {
        const FIXED: [&str; 14] = [
            "now",
            "curdate",
            "curtime",
            "utc_date",
            "utc_time",
            "utc_timestamp",
            "database",
            "user",
            "current_user",
            "version",
            "connection_id",
            "unix_timestamp",
            "found_rows",
            "row_count",
        ];
        FIXED.contains(&self.name)
    }
}
