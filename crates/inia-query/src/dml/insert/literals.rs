//! Rows of literals, from VALUES straight into a row.
//!
//! What a literal becomes in its column is known by looking at it where it is of the column's own
//! kind and fits: then it goes into the row's slot, whose memory is that of the row before. All
//! else takes the way of any expression, which knows every conversion, warning and error.

use super::run::InsertRun;
use super::{InsertPlan, bind_plain, refuse_generated};
use crate::bind::table_scope::TableScope;
use crate::catalog::Table;
use crate::context::SessionContext;
use crate::dml::fill::{Fills, Given};
use crate::dml::joined::has_subquery;
use inia_base::collation::{Charset, Collation};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::bind::{decimal_literal, int_literal, negate, text_literal};
use inia_expr::store::signed_range;
use inia_expr::{EvalContext, Expr, lob_bytes};
use inia_parser::ast::{self, RowValue, ValueRows};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Rows of VALUES.
pub(super) struct Literals {
    rows: Arc<ValueRows>,
    /// The values that are no literals.
    exprs: Vec<Expr>,
    /// The connection's collation: that of strings.
    collation: Collation,
}

/// Which literals a column takes as they are.
enum Takes {
    /// Integers of a range.
    Ints { range: RangeInclusive<i128>, unsigned: bool },
    /// Strings.
    Text {
        /// Of so many bytes.
        most: usize,
        /// Not only of ASCII characters.
        all: bool,
        /// Spaces at the end are dropped.
        trims: bool,
    },
    /// None.
    Nothing,
}

/// A column that rows give a value.
struct TargetColumn {
    column: usize,
    takes: Takes,
    nullable: bool,
}

/// The errors 1136 and 3105 of rows of literals.
pub(super) fn check(
    insert: &ast::Insert,
    targets: &[usize],
    fills: &Fills,
    table: &Table,
) -> Result<(), SqlError> {
    let ast::InsertSource::Rows(rows) = &insert.source else { return Ok(()) };
    if rows.width() != targets.len() {
        return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&1]));
    }
    if !targets.iter().any(|target| fills.is_generated(*target)) {
        return Ok(());
    }
    for row in rows.rows() {
        let mut given = row.iter().zip(targets).filter(|(value, _)| **value != RowValue::Default);
        given.try_for_each(|(_, target)| refuse_generated(fills, table, *target))?;
    }
    Ok(())
}

/// The statement with a node for each value, where some are subqueries: those are planned together
/// with what else stands in their row.
pub(super) fn with_subqueries(insert: &ast::Insert) -> Option<ast::Insert> {
    let ast::InsertSource::Rows(rows) = &insert.source else { return None };
    if !rows.exprs().iter().any(has_subquery) {
        return None;
    }
    Some(ast::Insert { source: ast::InsertSource::Values(rows.to_exprs()), ..insert.clone() })
}

impl Literals {
    /// The statement's rows, if it has such.
    pub(super) fn bind(
        session: &SessionContext,
        insert: &ast::Insert,
        scope: &mut TableScope<'_>,
    ) -> Result<Option<Literals>, SqlError> {
        let ast::InsertSource::Rows(rows) = &insert.source else { return Ok(None) };
        let exprs = rows.exprs().iter().map(|expr| bind_plain(session, scope, expr));
        let exprs = exprs.collect::<Result<_, SqlError>>()?;
        Ok(Some(Literals { rows: rows.clone(), exprs, collation: session.env.collation }))
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether an expression reads a column.
    pub(super) fn reads_columns(&self) -> bool {
        self.exprs.iter().any(super::reads_columns)
    }

    /// Puts a literal into its slot if the column takes it as it is.
    #[inline]
    fn put(&self, target: &TargetColumn, value: RowValue, slot: &mut Value) -> bool {
        match (value, &target.takes) {
            (RowValue::Int { negative, value }, Takes::Ints { range, unsigned }) => {
                let wide = if negative { -i128::from(value) } else { i128::from(value) };
                let fits = range.contains(&wide);
                if fits {
                    *slot =
                        if *unsigned { Value::UInt(wide as u64) } else { Value::Int(wide as i64) };
                }
                fits
            }
            (RowValue::Text { start, end }, Takes::Text { most, all, trims }) => {
                let mut text = self.rows.text(start, end);
                let any = *all && self.collation != Collation::BINARY;
                if text.len() > *most || !(any || text.is_ascii()) {
                    return false;
                }
                if *trims {
                    text = text.trim_end_matches(' ');
                }
                match slot {
                    Value::Text(before) => text.clone_into(before),
                    slot => *slot = Value::Text(text.to_owned()),
                }
                true
            }
            (RowValue::Null, _) if target.nullable => {
                *slot = Value::Null;
                true
            }
            _ => false,
        }
    }

    /// A value as an expression; `None` for DEFAULT.
    fn expr<'e>(&'e self, value: RowValue, made: &'e mut Option<Expr>) -> Option<&'e Expr> {
        let signed = |negative: bool, expr| if negative { negate(expr) } else { expr };
        Some(made.insert(match value {
            RowValue::Default => return None,
            RowValue::Expr(at) => return Some(&self.exprs[at as usize]),
            RowValue::Null => Expr::null(),
            RowValue::Int { negative, value } => signed(negative, int_literal(value)),
            RowValue::Text { start, end } => {
                text_literal(self.rows.text(start, end), self.collation)
            }
            RowValue::Decimal { negative, start, end } => {
                signed(negative, decimal_literal(self.rows.text(start, end)))
            }
        }))
    }
}

impl InsertPlan {
    /// Writes the rows of VALUES that are literals.
    pub(super) fn run_literals(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        literals: &Literals,
        run: &mut InsertRun<'_>,
        row: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        let columns = &self.table.def.columns;
        let targets: Vec<TargetColumn> = self.targets.iter().map(|at| self.target(*at)).collect();
        let others: Vec<usize> =
            (0..columns.len()).filter(|column| !self.targets.contains(*column)).collect();
        // Expressions may read what other columns were given, or were not.
        let blind = literals.exprs.is_empty()
            && !(0..columns.len()).any(|column| self.fills.is_late(column));
        for (number, given) in literals.rows.rows().enumerate() {
            ctx.row_number = number as u64 + 1;
            if blind && number > 0 {
                for column in &others {
                    row[*column] = match columns[*column].auto_increment {
                        true => Value::Null,
                        false => self.fills.default(*column, Given::Added, &[], ctx)?,
                    };
                }
                self.give(literals, &targets, given, row, ctx)?;
            } else {
                self.complete(row, ctx, |plan, row, ctx| {
                    plan.give(literals, &targets, given, row, ctx)
                })?;
            }
            run.row(session, ctx, row, &[])?;
        }
        Ok(())
    }

    #[inline]
    fn give(
        &self,
        literals: &Literals,
        targets: &[TargetColumn],
        given: &[RowValue],
        row: &mut [Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        for (value, target) in given.iter().zip(targets) {
            if !literals.put(target, *value, &mut row[target.column]) {
                row[target.column] = self.converted(literals, target, *value, row, ctx)?;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn converted(
        &self,
        literals: &Literals,
        target: &TargetColumn,
        value: RowValue,
        row: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let mut made = None;
        match literals.expr(value, &mut made) {
            Some(expr) => {
                let value = expr.eval(ctx, row)?;
                self.admit(target.column, (value, &expr.ty), ctx)
            }
            None => self.default(target.column, row, ctx),
        }
    }

    fn target(&self, column: usize) -> TargetColumn {
        let def = &self.table.def.columns[column];
        let text = |most, collation: Collation, trims| Takes::Text {
            most,
            all: collation.charset() == Charset::Utf8mb4,
            trims,
        };
        let takes = match &def.data_type {
            DataType::Int { width, unsigned: false } => {
                let range = signed_range(*width);
                let range = i128::from(*range.start())..=i128::from(*range.end());
                Takes::Ints { range, unsigned: false }
            }
            DataType::Int { width, unsigned: true } => {
                let most = *signed_range(*width).end() as u64 * 2 + 1;
                Takes::Ints { range: 0..=i128::from(most), unsigned: true }
            }
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. }
                if !collation.charset().has_ascii() =>
            {
                Takes::Nothing
            }
            DataType::Char { chars, collation } => text(*chars as usize, *collation, true),
            DataType::VarChar { chars, collation } => text(*chars as usize, *collation, false),
            DataType::Text { size, collation } => {
                text(lob_bytes(*size) as usize, *collation, false)
            }
            _ => Takes::Nothing,
        };
        TargetColumn { column, takes, nullable: def.nullable || def.auto_increment }
    }
}
