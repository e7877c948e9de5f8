//! Defaults, generated columns and CHECK constraints of a table, bound once per statement.

mod functional;

use crate::bind::table_scope::default_value;
use crate::catalog::{ColumnDef, ColumnDefault, Table, TableDef, quoted};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use inia_expr::slots_of;
use inia_expr::{
    Environment, EvalContext, Expr, ExprKind, ExprType, Level, Scope, SessionHost, Strictness,
    Warning,
};
use inia_parser::ast;

/// Why a column needs its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// DEFAULT was written, or the column was left out of INSERT's list: 1364 where there is none.
    Nothing,
    /// ALTER TABLE adds the column: the type's zero where there is none.
    Added,
}

enum Fill {
    Value(Value),
    Now(u8),
    Expr(Expr),
    /// NOT NULL without default.
    Missing(Value),
}

/// A table's expressions, bound.
pub struct Fills {
    fills: Vec<Fill>,
    names: Vec<String>,
    types: Vec<DataType>,
    /// The largest numbers that columns take, where their digits say so.
    limits: Vec<Option<f64>>,
    /// For each column NULL or, where it takes none, the type's zero.
    empty: Vec<Value>,
    generated: Vec<(usize, Expr)>,
    checks: Vec<(String, Expr)>,
    /// WITH CHECK OPTION of the view that rows are changed through.
    view_checks: Vec<(Expr, SqlError)>,
    /// The error of a view through which a column without default gets no value.
    pub(super) unfilled: Option<SqlError>,
}

/// Names the columns of a table for its own expressions.
struct OwnColumns<'d> {
    def: &'d TableDef,
    /// The index whose key part the expression is.
    index: Option<&'d str>,
}

impl<'d> OwnColumns<'d> {
    fn of(def: &'d TableDef) -> OwnColumns<'d> {
        OwnColumns { def, index: None }
    }
}

impl Scope for OwnColumns<'_> {
    fn array_index(&mut self) -> Option<String> {
        self.index.take().map(str::to_owned)
    }

    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let Some(index) = self.def.column(&name.name) else {
            return Err(SqlError::new(ErrorCode::UnknownColumn, &[&name.name, &"field list"]));
        };
        let column = &self.def.columns[index];
        let ty = ExprType::of_column(column.data_type.clone(), column.nullable);
        Ok(Expr { kind: ExprKind::Column { index, name: quoted(&column.name).into() }, ty })
    }

    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let Some(index) = self.def.column(&name.name) else { return self.column(name) };
        let column = &self.def.columns[index];
        let ty = ExprType::of_column(column.data_type.clone(), column.nullable);
        default_value(column, ty)
    }
}

impl Fills {
    /// Binds a table's expressions.
    pub fn compile(
        def: &TableDef,
        env: &Environment,
        host: &dyn SessionHost,
    ) -> Result<Fills, SqlError> {
        // Stored texts are parsed without the session's SQL mode, which could change their meaning.
        let bind_part = |text: &str, index| -> Result<Expr, SqlError> {
            let parsed = inia_parser::parse_expr(text, inia_parser::SqlMode::empty())
                .map_err(crate::error::parse_error)?;
            inia_expr::bind(&parsed, &mut OwnColumns { def, index }, env, host)
        };
        let bind = |text: &str| bind_part(text, None);
        let mut fills = Vec::with_capacity(def.columns.len());
        let (mut generated, mut checks) = (Vec::new(), Vec::new());
        for (i, column) in def.columns.iter().enumerate() {
            // As in MySQL, without a default a nullable column gets NULL, a NOT NULL ENUM its first
            // member. A default that was dropped is missing even where the column is nullable.
            fills.push(match &column.default {
                ColumnDefault::None if column.nullable => Fill::Value(Value::Null),
                ColumnDefault::None if matches!(column.data_type, DataType::Enum { .. }) => {
                    Fill::Value(inia_expr::store::implicit_default(&column.data_type))
                }
                ColumnDefault::Absent if column.nullable => Fill::Missing(Value::Null),
                ColumnDefault::None | ColumnDefault::Absent => {
                    Fill::Missing(inia_expr::store::implicit_default(&column.data_type))
                }
                ColumnDefault::Value(value) => Fill::Value(value.clone()),
                ColumnDefault::CurrentTimestamp => Fill::Now(moment_fsp(&column.data_type)),
                ColumnDefault::Expression(text) => Fill::Expr(bind(text)?),
            });
            if let Some(definition) = &column.generated {
                generated.push((i, bind_part(&definition.expression, def.array_index_of(i))?));
            }
        }
        // NOT ENFORCED constraints are kept for the definition only.
        for check in def.checks.iter().filter(|check| check.enforced) {
            checks.push((check.name.clone(), bind(&check.expression)?));
        }
        debug_assert!(generated.is_sorted_by_key(|(column, _)| *column), "columns go in order");
        debug_assert!(
            generated.iter().all(|(at, expr)| reads_computed_before(def, *at, expr)),
            "a generated column reads stored columns and generated ones before it"
        );
        Ok(Fills {
            fills,
            names: def.columns.iter().map(|c| c.name.clone()).collect(),
            types: def.columns.iter().map(|c| c.data_type.clone()).collect(),
            limits: def.columns.iter().map(ColumnDef::limit).collect(),
            empty: def.columns.iter().map(empty).collect(),
            generated,
            checks,
            view_checks: Vec::new(),
            unfilled: None,
        })
    }

    /// Adds a condition that rows must satisfy, and the error where they do not.
    pub(crate) fn add_view_check(
        &mut self,
        condition: &ast::Expr,
        refused: &SqlError,
        def: &TableDef,
        env: &Environment,
        host: &dyn SessionHost,
    ) -> Result<(), SqlError> {
        let bound = inia_expr::bind(condition, &mut OwnColumns::of(def), env, host)?;
        self.view_checks.push((bound, refused.clone()));
        Ok(())
    }

    /// Adds a condition that is bound already.
    pub(crate) fn add_bound_check(&mut self, condition: Expr, refused: SqlError) {
        self.view_checks.push((condition, refused));
    }

    /// Error 1423, or a warning, where a view leaves out a column that has no default. Whether
    /// that is so.
    pub(crate) fn left_out(
        &self,
        column: usize,
        ctx: &mut EvalContext<'_>,
    ) -> Result<bool, SqlError> {
        let Some(error) = &self.unfilled else { return Ok(false) };
        if !matches!(self.fills[column], Fill::Missing(_)) || self.is_generated(column) {
            return Ok(false);
        }
        match ctx.strictness {
            Strictness::Strict => Err(error.clone()),
            _ => ctx.raise(inia_expr::Level::Warning, error.clone()).map(|()| true),
        }
    }

    /// A column's default value; an expression sees the other columns in `row`.
    pub fn default(
        &self,
        column: usize,
        given: Given,
        row: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        match &self.fills[column] {
            Fill::Value(value) => Ok(value.clone()),
            Fill::Now(fsp) => Ok(Value::DateTime(now(ctx, *fsp))),
            Fill::Expr(expr) => {
                let value = expr.eval(ctx, row)?;
                let (ty, name) = (&self.types[column], &self.names[column]);
                let value = inia_expr::store_value(value, &expr.ty, ty, ctx, name)?;
                limited(value, self.limits[column], name, ctx)
            }
            Fill::Missing(zero) => {
                if given == Given::Nothing && !self.is_generated(column) {
                    let name = &self.names[column];
                    // There is no empty geometry.
                    let geometry = matches!(self.types[column], DataType::Geometry { .. });
                    if ctx.strictness == Strictness::Strict || geometry {
                        return Err(SqlError::new(ErrorCode::NoDefaultForField, &[name]));
                    }
                    ctx.warn(ErrorCode::NoDefaultForField, &[name])?;
                }
                Ok(zero.clone())
            }
        }
    }

    /// What a column has before anything is assigned to it: its default where that is a constant,
    /// else NULL or, where it takes none, the type's zero.
    pub fn first(&self, column: usize, ctx: &EvalContext<'_>) -> Value {
        match &self.fills[column] {
            Fill::Value(value) | Fill::Missing(value) => value.clone(),
            Fill::Now(fsp) => Value::DateTime(now(ctx, *fsp)),
            Fill::Expr(_) => self.empty[column].clone(),
        }
    }

    /// Whether the column's default is an expression, to be computed when the others are there.
    pub fn is_late(&self, column: usize) -> bool {
        self.default_expr(column).is_some()
    }

    /// Whether there is a default that is an expression.
    pub(crate) fn has_late(&self) -> bool {
        self.fills.iter().any(|fill| matches!(fill, Fill::Expr(_)))
    }

    /// The expression that is the column's default, where that is one.
    pub(crate) fn default_expr(&self, column: usize) -> Option<&Expr> {
        match &self.fills[column] {
            Fill::Expr(expr) => Some(expr),
            _ => None,
        }
    }

    /// The generated columns in the order in which they are computed, with what computes them.
    pub(crate) fn generated(&self) -> impl Iterator<Item = (usize, &Expr)> {
        self.generated.iter().map(|(column, expr)| (*column, expr))
    }

    /// What [`Fills::check`] evaluates.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Expr> {
        let checks = self.checks.iter().map(|(_, condition)| condition);
        checks.chain(self.view_checks.iter().map(|(condition, _)| condition))
    }

    /// Whether rows need [`Fills::compute`] or [`Fills::check`].
    pub(crate) fn plain(&self) -> bool {
        self.generated.is_empty() && self.checks.is_empty() && self.view_checks.is_empty()
    }

    /// Whether the column is computed.
    pub(crate) fn is_generated(&self, column: usize) -> bool {
        self.generated.iter().any(|(i, _)| *i == column)
    }

    /// Whether a generated column reads one with ON UPDATE CURRENT_TIMESTAMP.
    pub(crate) fn reads_update_time(&self, table: &Table) -> bool {
        let moment = |column: usize| table.def.columns[column].on_update_now;
        let reads = |expr: &Expr| {
            let needs = slots_of(expr);
            (0..self.fills.len()).any(|c| moment(c) && (needs.whole_row || needs.slots.contains(c)))
        };
        self.generated.iter().any(|(_, expr)| reads(expr))
    }

    /// Computes the generated columns of a row.
    pub fn compute(&self, row: &mut [Value], ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        for (i, expr) in &self.generated {
            let name = &self.names[*i];
            row[*i] = match functional::index_of(name) {
                None => self.computed(*i, expr, row, ctx)?,
                Some(index) => functional::compute_part(index, ctx, &mut |ctx| {
                    self.computed(*i, expr, row, ctx)
                })?,
            };
        }
        Ok(())
    }

    /// The value of a generated column.
    fn computed(
        &self,
        column: usize,
        expr: &Expr,
        row: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let name = &self.names[column];
        let value = expr.eval(ctx, row)?;
        let value = inia_expr::store_value(value, &expr.ty, &self.types[column], ctx, name)?;
        limited(value, self.limits[column], name, ctx)
    }

    /// Error 3819 where a CHECK constraint is violated, 1369 where a view's is.
    pub fn check(&self, row: &[Value], ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        for (name, expr) in &self.checks {
            if expr.eval_bool(ctx, row)? == Some(false) {
                for failure in inia_expr::schema_failures(expr, ctx, row) {
                    ctx.warnings.push(Warning::of(Level::Error, failure));
                }
                return Err(SqlError::new(ErrorCode::CheckConstraintViolated, &[name]));
            }
        }
        for (condition, refused) in &self.view_checks {
            if condition.eval_bool(ctx, row)? != Some(true) {
                return Err(refused.clone());
            }
        }
        Ok(())
    }
}

/// A value as a column of `table` stores it.
pub(crate) fn stored(
    table: &TableDef,
    column: usize,
    (value, ty): (Value, &ExprType),
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    let def = &table.columns[column];
    let stored = inia_expr::store_value(value, ty, &def.data_type, ctx, &def.name);
    let stored = stored.and_then(|value| limited(value, def.limit(), &def.name, ctx));
    stored.map_err(|mut error| {
        if error.code == ErrorCode::InvalidJsonText {
            let (own, full) = (format!("'{}'", def.name), format!("'{}.{}'", table.name, def.name));
            error.message =
                error.message.replace(&format!("column {own}"), &format!("column {full}"));
        }
        error
    })
}

/// A number with no more digits before its point than its column takes: error 1264, or a warning
/// and the nearest number that has no more.
pub fn limited(
    value: Value,
    limit: Option<f64>,
    name: &str,
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    match (value, limit) {
        (Value::Double(number), Some(limit)) if number.abs() > limit => {
            let error = SqlError::new(ErrorCode::WarnDataOutOfRange, &[&name, &ctx.row_number]);
            if ctx.strictness == Strictness::Strict {
                return Err(error);
            }
            ctx.raise(inia_expr::Level::Warning, error)?;
            Ok(Value::Double(limit.copysign(number)))
        }
        (value, _) => Ok(value),
    }
}

fn empty(column: &ColumnDef) -> Value {
    match column.nullable {
        true => Value::Null,
        false => inia_expr::store::implicit_default(&column.data_type),
    }
}

fn moment_fsp(data_type: &DataType) -> u8 {
    match data_type {
        DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    }
}

/// The value that ON UPDATE CURRENT_TIMESTAMP gives a column of this type.
pub fn now_for(data_type: &DataType, ctx: &EvalContext<'_>) -> Value {
    Value::DateTime(now(ctx, moment_fsp(data_type)))
}

/// CURRENT_TIMESTAMP(fsp): the statement's start, its further digits cut.
fn now(ctx: &EvalContext<'_>, fsp: u8) -> DateTime {
    let mut now = ctx.env.now();
    let step = 10u32.pow(6 - u32::from(fsp.min(6)));
    now.micros -= now.micros % step;
    now
}

/// Whether a generated column's expression reads only values that are there when it is computed.
fn reads_computed_before(def: &TableDef, at: usize, expr: &Expr) -> bool {
    let reads = slots_of(expr).slots;
    let later = |column: &usize| def.columns[*column].generated.is_some() && *column >= at;
    !(0..def.columns.len()).filter(later).any(|column| reads.contains(column))
}
