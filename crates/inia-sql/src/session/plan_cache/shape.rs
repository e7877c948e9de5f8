//! Which statements with parameters stand exactly for the texts with literals.
//!
//! A literal in place of a parameter may be folded, converted once, or warned about once. None of
//! that happens to the literals of these: statements over one table whose conditions compare a
//! column with a literal of its own class, which store literals in columns, add integers to integer
//! columns, and limit. Their select lists hold columns and aggregates of columns.
//!
//! `WHERE id = ? AND name IN (?, ?)` qualifies for an integer and two strings; `WHERE id = ?` with
//! a string does not, for it is compared as an integer or as a real number depending on its text.

use inia_base::datatype::DataType;
use inia_parser::LiteralKind;
use inia_parser::ast::{
    self, BinaryOp, Expr, InsertSource, ObjectName, QueryBody, SelectItem, Statement, TableRef,
    UnaryOp,
};
use inia_query::catalog::TableDef;

/// The single table of a statement.
pub(super) fn table_name(statement: &Statement) -> Option<&ObjectName> {
    let factor = match statement {
        Statement::Select(query) => match &query.body {
            QueryBody::Select(select) => single(&select.from)?,
            _ => return None,
        },
        Statement::Update(update) => single(&update.tables)?,
        Statement::Delete(delete) => match &delete.target {
            ast::DeleteTarget::Single(factor) => factor,
            ast::DeleteTarget::Multi { .. } => return None,
        },
        Statement::Insert(insert) => return Some(&insert.table),
        _ => return None,
    };
    Some(&factor.name)
}

fn single(tables: &[TableRef]) -> Option<&ast::TableFactor> {
    match tables {
        [TableRef::Table(factor)] => Some(factor),
        _ => None,
    }
}

/// Whether the statement over `def`, with parameters for literals of these kinds, means what it
/// meant with the literals.
pub(super) fn is_plain(statement: &Statement, def: &TableDef, kinds: &[LiteralKind]) -> bool {
    let mut shape = Shape { def, kinds, found: 0 };
    let plain = match statement {
        Statement::Select(query) => shape.query(query),
        Statement::Insert(insert) => shape.insert(insert),
        Statement::Update(update) => {
            update.with.is_none()
                && update.returning.is_empty()
                && shape.assignments(&update.assignments)
                && update.where_.iter().all(|condition| shape.condition(condition))
                && update.order_by.iter().all(|item| shape.column(&item.expr).is_some())
                && shape.limit(update.limit.as_ref())
        }
        Statement::Delete(delete) => {
            delete.with.is_none()
                && delete.returning.is_empty()
                && delete.where_.iter().all(|condition| shape.condition(condition))
                && delete.order_by.iter().all(|item| shape.column(&item.expr).is_some())
                && shape.limit(delete.limit.as_ref())
        }
        _ => false,
    };
    // A parameter that was not met stands somewhere else.
    plain && shape.found == kinds.len()
}

struct Shape<'s> {
    def: &'s TableDef,
    kinds: &'s [LiteralKind],
    /// Parameters met.
    found: usize,
}

impl<'s> Shape<'s> {
    fn query(&mut self, query: &ast::Query) -> bool {
        let QueryBody::Select(select) = &query.body else { return false };
        query.with.is_none()
            && query.into.is_none()
            && select.items.iter().all(|item| self.item(item))
            && select.group_by.iter().all(|key| self.column(key).is_some())
            && !select.rollup
            && select.having.is_none()
            && select.windows.is_empty()
            && select.where_.iter().all(|condition| self.condition(condition))
            && query.order_by.iter().all(|item| self.column(&item.expr).is_some())
            && self.limit(query.limit.as_ref())
    }

    fn item(&self, item: &SelectItem) -> bool {
        let SelectItem::Expr { expr, .. } = item else { return true };
        match expr {
            Expr::Aggregate(call) => {
                call.over.is_none()
                    && call.order_by.is_empty()
                    && call.args.iter().all(|arg| self.column(arg).is_some())
            }
            expr => self.column(expr).is_some(),
        }
    }

    fn insert(&mut self, insert: &ast::Insert) -> bool {
        if insert.row_alias.is_some()
            || !insert.returning.is_empty()
            || matches!(insert.source, InsertSource::Query(_))
        {
            return false;
        }
        insert.source.exprs().all(|value| self.value(value))
            && self.assignments(&insert.on_duplicate)
    }

    fn assignments(&mut self, assignments: &[ast::Assignment]) -> bool {
        assignments.iter().all(|assignment| self.value(&assignment.value))
    }

    /// A value for a column. What is stored is converted when the statement runs, literal or not.
    fn value(&mut self, value: &Expr) -> bool {
        match value {
            Expr::Param(_) => {
                self.found += 1;
                true
            }
            Expr::Unary { op: UnaryOp::Neg, expr } => match **expr {
                Expr::Param(at) => self.is_int(at),
                _ => false,
            },
            Expr::Binary { op: BinaryOp::Add | BinaryOp::Sub, left, right } => {
                match (self.column(left), &**right) {
                    (Some(DataType::Int { .. }), Expr::Param(at)) => self.is_int(*at),
                    _ => false,
                }
            }
            Expr::Literal(_) | Expr::Default => true,
            value => self.column(value).is_some(),
        }
    }

    fn limit(&mut self, limit: Option<&ast::Limit>) -> bool {
        let parts = limit.into_iter().flat_map(|limit| limit.offset.iter().chain([&limit.count]));
        parts.into_iter().all(|part| match part {
            Expr::Param(at) => self.is_int(*at),
            _ => false,
        })
    }

    fn is_int(&mut self, param: u32) -> bool {
        self.found += 1;
        self.kinds.get(param as usize) == Some(&LiteralKind::Int)
    }

    fn column(&self, expr: &Expr) -> Option<&'s DataType> {
        let Expr::Column(name) = expr else { return None };
        let at = self.def.column(&name.name)?;
        Some(&self.def.columns[at].data_type)
    }

    fn condition(&mut self, condition: &Expr) -> bool {
        match condition {
            Expr::And(parts) | Expr::Or(parts) => parts.iter().all(|part| self.condition(part)),
            Expr::Unary { op: UnaryOp::Not, expr } => self.condition(expr),
            Expr::Binary { op, left, right } if op.is_comparison() => {
                self.compares(left, right) || self.compares(right, left)
            }
            Expr::Between { expr, low, high, .. } => {
                self.compares(expr, low) && self.compares(expr, high)
            }
            Expr::InList { expr, list, .. } => list.iter().all(|item| self.compares(expr, item)),
            Expr::IsNull { expr, .. } => self.column(expr).is_some(),
            _ => false,
        }
    }

    /// Whether a column is compared with a parameter of its own class.
    fn compares(&mut self, column: &Expr, operand: &Expr) -> bool {
        let (Some(data_type), Expr::Param(at)) = (self.column(column), operand) else {
            return false;
        };
        let fits = match data_type {
            DataType::Int { .. } => LiteralKind::Int,
            DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } => {
                LiteralKind::PlainString
            }
            _ => return false,
        };
        self.found += 1;
        let kind = self.kinds.get(*at as usize).copied();
        let kind = kind.map(|kind| match kind {
            LiteralKind::EscapedString => LiteralKind::PlainString,
            kind => kind,
        });
        kind == Some(fits)
    }
}
