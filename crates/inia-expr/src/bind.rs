//! Binding: a syntax tree becomes a typed [`Expr`]. Names are resolved by the caller's [`Scope`];
//! MySQL's implicit conversions are decided here, once, not at every row.

mod derive;
mod operators;
mod prepare;
mod row_lists;
pub mod sequence;
mod special;
pub mod unset;
mod years;

pub(crate) use derive::derive_stored;
pub use operators::negate;
pub(crate) use operators::{arithmetic_node, case_node, double_like, num_class, numeric};
pub(crate) use operators::{scalar_comparison, unary_class};
pub(crate) use prepare::as_class;
pub use prepare::{converted, prepare, prepare_operand, sort_key};
pub(crate) use years::{beside_years, year_meant};

use crate::aggregate::{Aggregate, WindowFunction};
use crate::collate;
use crate::column_types;
use crate::context::{Environment, SessionHost, StoredFunction, VarScope};
use crate::convert;
use crate::func;
use crate::tree::{
    CmpOp, Expr, ExprKind, Quantifier, RowLookup, StoredCall, Subquery, SubqueryKind,
};
use crate::ty::{Coercibility, ExprType, NOT_FIXED, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast;

/// A subquery that the scope has bound.
#[derive(Clone, Debug)]
pub struct BoundSubquery {
    /// The executor's number for it.
    pub id: usize,
    /// Types of its columns.
    pub columns: Vec<ExprType>,
    /// Whether it reads columns of enclosing rows.
    pub correlated: bool,
    /// Whether it has one row whatever the tables hold.
    pub certain: bool,
    /// Whether its rows are compared one by one although a hash table could find them.
    pub compared: bool,
}

/// Name resolution, as the statement around the expression provides it.
pub trait Scope {
    /// A column; error 1054 or 1052 where it is unknown or ambiguous.
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError>;

    /// A subquery inside the expression; `tested` where it only matters which rows there are, and
    /// not how many of each (EXISTS, IN, ANY, ALL).
    fn subquery(&mut self, query: &ast::Query, tested: bool) -> Result<BoundSubquery, SqlError> {
        let _ = (query, tested);
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"a subquery here"]))
    }

    /// Called before an aggregate's arguments are bound; error 1111 where none may stand.
    fn enter_aggregate(&mut self) -> Result<(), SqlError> {
        Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]))
    }

    /// An aggregate whose arguments are bound: where its result will be found.
    fn aggregate(&mut self, call: Aggregate) -> Result<Expr, SqlError> {
        let _ = call;
        Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]))
    }

    /// A function over a window. The scope binds the window itself.
    fn window(&mut self, call: WindowFunction, over: &ast::Over) -> Result<Expr, SqlError> {
        let _ = over;
        Err(SqlError::new(ErrorCode::WindowInvalidWindowFuncUse, &[&call.name()]))
    }

    /// `VALUES(column)`.
    fn insert_value(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.column(name)
    }

    /// `DEFAULT(column)`.
    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.column(name)
    }

    /// A function that is not built in; error 1305.
    fn stored_function(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        let full = match &call.db {
            Some(db) => format!("{db}.{}", call.name),
            None => call.name.clone(),
        };
        Err(SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &full]))
    }

    /// The index whose key part the expression is, where that may be CAST(… AS type ARRAY). It is
    /// given once: the cast stands at the top.
    fn array_index(&mut self) -> Option<String> {
        None
    }

    /// `MATCH … AGAINST`.
    fn match_against(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let _ = expr;
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"MATCH ... AGAINST"]))
    }
}

/// A scope without names, for constant expressions.
#[derive(Debug, Default)]
pub struct EmptyScope;

impl Scope for EmptyScope {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let mut full = name.name.clone();
        if let Some(table) = &name.table {
            full = format!("{table}.{full}");
        }
        Err(SqlError::new(ErrorCode::UnknownColumn, &[&full, &"field list"]))
    }
}

/// Binds expressions of one statement.
pub struct Binder<'b> {
    /// Name resolution.
    pub scope: &'b mut dyn Scope,
    /// The session's settings.
    pub env: &'b Environment,
    /// The session's variables.
    pub host: &'b dyn SessionHost,
}

/// Binds one expression.
pub fn bind(
    expr: &ast::Expr,
    scope: &mut dyn Scope,
    env: &Environment,
    host: &dyn SessionHost,
) -> Result<Expr, SqlError> {
    Binder { scope, env, host }.bind(expr)
}

impl Binder<'_> {
    /// A `?`, from 0: of its known type, or a text of the connection's collation.
    fn param(&self, index: usize) -> Expr {
        let known = self.env.param_types.get(index).cloned();
        let derived = || {
            let param = self.derivation().and_then(|derivation| derivation.param(index));
            param.map(|param| param.bound(self.env.collation))
        };
        let ty = known
            .or_else(derived)
            .unwrap_or_else(|| ExprType::text(16_383, self.env.collation, true));
        Expr { kind: ExprKind::Param(index), ty }
    }

    /// Binds an expression that may be a row.
    pub fn bind(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        match expr {
            ast::Expr::Literal(literal) => self.literal(literal),
            ast::Expr::Column(name) => self.scope.column(name),
            ast::Expr::Param(index) => Ok(self.param(*index as usize)),
            ast::Expr::UserVar(name) => Ok(self.user_var(name)),
            ast::Expr::AssignVar { name, value } => {
                let value = self.scalar(value)?;
                let ty = assigned_type(&value.ty);
                let name = name.to_lowercase();
                self.host.note_assignment(&name);
                Ok(Expr { kind: ExprKind::AssignUserVar(name.into(), Box::new(value)), ty })
            }
            ast::Expr::SysVar(var) => self.sys_var(var),
            ast::Expr::Unary { op, expr } => self.unary(*op, expr),
            ast::Expr::Binary { op, left, right } => self.binary(*op, left, right),
            ast::Expr::And(items) => self.junction(items, ExprKind::And),
            ast::Expr::Or(items) => self.junction(items, ExprKind::Or),
            ast::Expr::IsNull { .. } | ast::Expr::IsTruth { .. } => self.is_test(expr),
            ast::Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            ast::Expr::Between { expr, low, high, negated } => {
                self.between(expr, low, high, *negated)
            }
            ast::Expr::Like { expr, pattern, escape, negated } => {
                self.like(expr, pattern, escape.as_deref(), *negated)
            }
            ast::Expr::Case { operand, whens, else_ } => {
                self.case(operand.as_deref(), whens, else_.as_deref())
            }
            ast::Expr::Function(call) => self.function(call),
            ast::Expr::Aggregate(call) => self.aggregate(call),
            ast::Expr::Window(call) => {
                for (unsupported, what) in
                    [(call.from_last, "FROM LAST"), (call.ignore_nulls, "IGNORE NULLS")]
                {
                    if unsupported {
                        return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
                    }
                }
                let args = self.window_arguments(call)?;
                let bound = WindowFunction::ranked(call.func, args)?;
                self.scope.window(bound, &call.over)
            }
            ast::Expr::InsertValue(name) => self.scope.insert_value(name),
            ast::Expr::DefaultOf(name) => self.scope.default_of(name),
            ast::Expr::Default => {
                Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"DEFAULT in an expression"]))
            }
            ast::Expr::Match { .. } => self.scope.match_against(expr),
            // A row has no type: the operators that take rows look at its items.
            ast::Expr::Row(items) => {
                let items: Result<Vec<Expr>, SqlError> =
                    items.iter().map(|item| self.bind(item)).collect();
                Ok(Expr { kind: ExprKind::Row(items?), ty: ExprType::null() })
            }
            ast::Expr::Subquery(_)
            | ast::Expr::Exists(_)
            | ast::Expr::Quantified { .. }
            | ast::Expr::InSubquery { .. } => self.subquery(expr),
            _ => self.special(expr),
        }
    }

    /// Binds an expression that must be one value; error 1241 for rows.
    pub fn scalar(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let bound = self.bind(expr)?;
        if width(&bound) != 1 {
            return Err(SqlError::new(ErrorCode::OperandColumns, &[&1]));
        }
        Ok(bound)
    }

    /// Binds several values.
    pub fn scalars(&mut self, exprs: &[ast::Expr]) -> Result<Vec<Expr>, SqlError> {
        exprs.iter().map(|expr| self.scalar(expr)).collect()
    }

    fn user_var(&self, name: &str) -> Expr {
        let name = name.to_lowercase();
        match self.host.user_var(&name) {
            Some(var) => {
                let ty = variable_type(var.ty.with_nullable(true));
                Expr { kind: ExprKind::UserVar(name.into()), ty }
            }
            None => self.unset_variable(&name),
        }
    }

    fn sys_var(&self, var: &ast::SysVar) -> Result<Expr, SqlError> {
        let scope = match var.scope {
            None => VarScope::Any,
            Some(ast::VarScope::Session) => VarScope::Session,
            Some(_) => VarScope::Global,
        };
        let name = match &var.component {
            Some(component) => format!("{component}.{}", var.name),
            None => var.name.clone(),
        };
        let (_, ty) = self.host.sysvar(scope, &name)?;
        Ok(Expr { kind: ExprKind::SysVar(scope, name.into()), ty: ty.with_nullable(true) })
    }

    fn literal(&self, literal: &ast::Literal) -> Result<Expr, SqlError> {
        use ast::Literal as L;
        Ok(match literal {
            L::Null => Expr::null(),
            L::Bool(value) => Expr::literal(Value::Int(i64::from(*value)), ExprType::bool(false)),
            L::Int(value) => int_literal(*value),
            L::Decimal(text) => decimal_literal(text),
            L::Float(value) => {
                let ty = ExprType { length: 22, ..ExprType::double(false) };
                Expr::literal(Value::Double(*value), ty)
            }
            L::String { charset: None, value } => text_literal(value, self.env.collation),
            L::String { charset: Some(charset), value } => {
                // An introducer says what the bytes mean that the client sent.
                self.introduced(charset, &self.env.client_charset.encode(value))?
            }
            L::RawBytes { charset: None, bytes } => bytes_literal(bytes.clone()),
            L::RawBytes { charset: Some(charset), bytes }
            | L::Hex { charset: Some(charset), bytes }
            | L::Bit { charset: Some(charset), bytes } => self.introduced(charset, bytes)?,
            L::Hex { charset: None, bytes } | L::Bit { charset: None, bytes } => {
                let mut ty = ExprType::binary(bytes.len() as u64, false);
                (ty.decimals, ty.hex) = (0, true);
                Expr { kind: ExprKind::HexLiteral(bytes.clone()), ty }
            }
            L::Date(text) => temporal_literal(text, DataType::Date, self.env)?,
            L::Time(text) => temporal_literal(text, DataType::Time { fsp: 6 }, self.env)?,
            L::Timestamp(text) => temporal_literal(text, DataType::DateTime { fsp: 6 }, self.env)?,
        })
    }

    /// A literal of these bytes in a character set; error 1300 if they are none of its.
    fn introduced(&self, charset: &str, bytes: &[u8]) -> Result<Expr, SqlError> {
        let collation = collate::charset_default(charset)?;
        if collation == Collation::BINARY {
            return Ok(bytes_literal(bytes.to_vec()));
        }
        let filled = collation.charset().whole_units(bytes);
        let text = collate::decode(collation, &filled).ok_or_else(|| {
            let hex: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            let name = charset.to_lowercase();
            SqlError::new(ErrorCode::InvalidCharacterString, &[&name, &hex])
        })?;
        Ok(text_literal(&text, collation))
    }

    fn function(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        if call.db.is_some() {
            return self.stored_function(call);
        }
        if call.written.apart {
            let code = ErrorCode::FuncInexistentNameCollision;
            return Err(SqlError::new(code, &[&self.full_name(call)]));
        }
        let Some(function) = func::lookup(&call.name) else {
            let found = self.stored_function(call);
            return found.map_err(|error| match error.code {
                ErrorCode::SpDoesNotExist => {
                    SqlError::new(error.code, &[&"FUNCTION", &self.full_name(call)])
                }
                _ => error,
            });
        };
        if call.args.len() < function.min || call.args.len() > function.max {
            let name = call.text();
            return Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&name]));
        }
        if function.name == "name_const" {
            special::check_name_const(&call.args)?;
        }
        self.demand_arguments(function.name, &call.args);
        let mut args = self.scalars(&call.args)?;
        self.settle_arguments(function.name, &call.args, &mut args)?;
        func::bind_call(function, args, self.env).map_err(|error| match error.code {
            ErrorCode::WrongParamcountToNativeFct => SqlError::new(error.code, &[&call.text()]),
            _ => error,
        })
    }

    /// A call of a stored function: errors 1305, 1318 and 1370.
    fn stored_function(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        let schema = call.db.as_deref().or(self.env.database.as_deref());
        let Some(found) = self.host.find_function(schema, call.text())? else {
            if let Some((name, args)) = sequence::sequence_of(call) {
                return self.sequence_call(call, name, args);
            }
            return self.scope.stored_function(call);
        };
        let StoredFunction { schema, name, params, returns, .. } = found;
        if params != call.args.len() {
            let (full, given) = (format!("{schema}.{name}"), call.args.len());
            let args: [&dyn std::fmt::Display; 4] = [&"FUNCTION", &full, &params, &given];
            return Err(SqlError::new(ErrorCode::SpWrongNoOfArgs, &args));
        }
        let args = self.scalars(&call.args)?;
        let node = StoredCall { schema, name, args };
        Ok(Expr { kind: ExprKind::Stored(Box::new(node)), ty: returns })
    }

    /// A function's name with the current database.
    fn full_name(&self, call: &ast::FunctionCall) -> String {
        match &self.env.database {
            Some(db) => format!("{db}.{}", call.text()),
            None => call.text().to_owned(),
        }
    }

    /// A call of a built-in function by name, for special syntax.
    pub(crate) fn call(&mut self, name: &str, args: Vec<Expr>) -> Result<Expr, SqlError> {
        let function = func::lookup(name)
            .ok_or_else(|| SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &name]))?;
        func::bind_call(function, args, self.env)
    }

    fn aggregate(&mut self, call: &ast::AggregateCall) -> Result<Expr, SqlError> {
        if let Some(over) = &call.over {
            let bound = self.aggregate_parts(call)?;
            return self.scope.window(WindowFunction::aggregate(bound)?, over);
        }
        self.scope.enter_aggregate()?;
        let bound = self.aggregate_parts(call)?;
        let of_group = bound.is_exact_mean();
        let aggregate = self.scope.aggregate(bound)?;
        let ty = ExprType { of_group, ..aggregate.ty };
        Ok(Expr { kind: aggregate.kind, ty })
    }

    fn aggregate_parts(&mut self, call: &ast::AggregateCall) -> Result<Aggregate, SqlError> {
        self.demand_aggregated(call);
        let args = self.scalars(&call.args)?;
        let mut order_by = Vec::new();
        for item in &call.order_by {
            let key = match &item.expr {
                ast::Expr::Literal(ast::Literal::Int(position)) => {
                    let at = usize::try_from(*position).unwrap_or(usize::MAX);
                    let found = at.checked_sub(1).and_then(|at| args.get(at)).cloned();
                    found.ok_or_else(|| {
                        SqlError::new(ErrorCode::UnknownColumn, &[position, &"order clause"])
                    })?
                }
                other => self.scalar(other)?,
            };
            order_by.push((key, item.desc));
        }
        Aggregate::new(call, args, order_by, self.env)
    }

    fn subquery(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        match expr {
            ast::Expr::Exists(query) => {
                let sub = self.scope.subquery(query, true)?;
                let kind = SubqueryKind::Exists { negated: false };
                // MySQL reports EXISTS as nullable where a column is; those of `*` do not count.
                let nullable = !selects_all(query) && sub.columns.iter().any(|ty| ty.nullable);
                Ok(subquery_expr(&sub, kind, ExprType::bool(nullable)))
            }
            ast::Expr::Subquery(query) => {
                let sub = self.scope.subquery(query, false)?;
                if let [only] = &sub.columns[..] {
                    let ty =
                        only.clone().with_nullable(only.nullable || !sub.certain).into_computed();
                    return Ok(subquery_expr(&sub, SubqueryKind::Scalar, ty));
                }
                let kind = SubqueryKind::Row(sub.columns.clone());
                Ok(subquery_expr(&sub, kind, ExprType::null()))
            }
            ast::Expr::InSubquery { expr, query, negated } => {
                refuse_limit(query)?;
                let left = self.bind(expr)?;
                let sub = self.scope.subquery(query, true)?;
                let op = if *negated { CmpOp::Ne } else { CmpOp::Eq };
                let quantifier = if *negated { Quantifier::All } else { Quantifier::Any };
                self.quantified(left, op, quantifier, &sub)
            }
            ast::Expr::Quantified { left, op, quantifier, query } => {
                refuse_limit(query)?;
                let left = self.bind(left)?;
                let sub = self.scope.subquery(query, true)?;
                let op = operators::cmp_op(*op).unwrap_or(CmpOp::Eq);
                let quantifier = match quantifier {
                    ast::Quantifier::All => Quantifier::All,
                    _ => Quantifier::Any,
                };
                self.quantified(left, op, quantifier, &sub)
            }
            _ => self.special(expr),
        }
    }

    /// `left op ANY/ALL (subquery)`, and `left op (subquery)` of rows.
    pub(crate) fn quantified(
        &mut self,
        left: Expr,
        op: CmpOp,
        quantifier: Quantifier,
        sub: &BoundSubquery,
    ) -> Result<Expr, SqlError> {
        let columns = width(&left);
        if columns != sub.columns.len() {
            return Err(SqlError::new(ErrorCode::OperandColumns, &[&columns]));
        }
        let left = match left.kind {
            ExprKind::Row(items) => items,
            _ => vec![left],
        };
        // A row subquery on the left is one operand that stands for several columns.
        let own = column_types(&left);
        if own.len() != columns {
            return Err(SqlError::new(ErrorCode::OperandColumns, &[&1]));
        }
        // The class depends on the operand as well as on its type (a constant beside a date), so
        // that the operand itself takes part where there is one for the column.
        let mut classes = Vec::new();
        for (at, ty) in sub.columns.iter().enumerate() {
            let unnamed = Expr::column(0, own[at].clone(), "");
            let operand = left.get(at).filter(|_| left.len() == columns).unwrap_or(&unnamed);
            classes.push(crate::compare::choose_beside_subquery(operand, ty, op.symbol())?);
        }
        let types: Vec<ExprType> =
            sub.columns.iter().map(|ty| ty.clone().into_computed()).collect();
        let certain = sub.certain && (columns == 1 || quantifier == Quantifier::Only);
        let is_nullable =
            !certain || own.iter().any(|ty| ty.nullable) || types.iter().any(|t| t.nullable);
        let null_safe = quantifier == Quantifier::Only && op == CmpOp::NullSafeEq;
        let nullable = is_nullable && !null_safe;
        // A hash table answers membership only, and serves all outer rows only where the subquery
        // does not depend on them.
        let asks_members =
            matches!((quantifier, op), (Quantifier::Any, CmpOp::Eq) | (Quantifier::All, CmpOp::Ne));
        let mut columns = classes.iter().zip(own.iter().zip(&types));
        let lookup = match asks_members
            && !sub.correlated
            && !sub.compared
            && columns.all(|(class, (left, right))| crate::compare::hashable(class, left, right))
        {
            true => RowLookup::HashTable,
            false => RowLookup::Compare,
        };
        let kind = SubqueryKind::Quantified { op, quantifier, left, classes, types, lookup };
        Ok(subquery_expr(sub, kind, ExprType::bool(nullable)))
    }
}

/// Whether a query is `SELECT * …`.
fn selects_all(query: &ast::Query) -> bool {
    matches!(&query.body, ast::QueryBody::Select(select)
        if matches!(select.items[..], [ast::SelectItem::Wildcard]))
}

/// Error 1235: the rows of IN, ANY and ALL are not limited in number.
fn refuse_limit(query: &ast::Query) -> Result<(), SqlError> {
    let limited = |body: &ast::QueryBody| match body {
        ast::QueryBody::Nested(inner) => refuse_limit(inner),
        _ => Ok(()),
    };
    if query.limit.is_some() {
        let what = "LIMIT & IN/ALL/ANY/SOME subquery";
        return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
    }
    match &query.body {
        ast::QueryBody::SetOperation { first, rest } => {
            limited(first)?;
            rest.iter().try_for_each(|term| limited(&term.body))
        }
        body => limited(body),
    }
}

/// How many columns an operand has.
pub(crate) fn width(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Row(items) => items.len(),
        ExprKind::Subquery(sub) => match &sub.kind {
            SubqueryKind::Row(types) => types.len(),
            _ => 1,
        },
        _ => 1,
    }
}

fn subquery_expr(sub: &BoundSubquery, kind: SubqueryKind, ty: ExprType) -> Expr {
    let node = Subquery { id: sub.id, kind, correlated: sub.correlated, certain: sub.certain };
    Expr { kind: ExprKind::Subquery(Box::new(node)), ty }
}

/// The type of what an assignment to a user variable shows.
fn assigned_type(value: &ExprType) -> ExprType {
    let ty = value.clone().into_computed().into_number();
    match ty.data_type {
        DataType::Null => ExprType::binary(0, true),
        // What is computed from variables shows as they do.
        DataType::Decimal { scale: MAX_SCALE.., .. } => variable_type(ty),
        DataType::Int { unsigned: false, .. } => ExprType::int(ty.length, ty.nullable),
        DataType::Int { unsigned: true, .. } => ExprType::uint(ty.length, ty.nullable),
        _ => ty,
    }
}

/// Values in user variables are of the widest type of their class.
fn variable_type(ty: ExprType) -> ExprType {
    let mut ty = ty.into_number();
    if ty.class() == TypeClass::Null {
        return ExprType::binary(VARIABLE_CHARS, true);
    }
    if ty.class() == TypeClass::Decimal {
        return ExprType::decimal(MAX_PRECISION.into(), MAX_SCALE.into(), false, ty.nullable);
    }
    match ty.data_type {
        DataType::Int { unsigned: true, .. } => return ExprType::uint(21, true),
        DataType::Int { unsigned: false, .. } => return ExprType::int(21, true),
        DataType::Double { decimals: None, .. } => return ExprType::double(true),
        _ => {}
    }
    let kept = ty.hex
        || matches!(
            ty.data_type,
            DataType::Enum { .. } | DataType::Set { .. } | DataType::Geometry { .. }
        );
    if ty.class() == TypeClass::String && !kept {
        let text = ExprType::text(VARIABLE_CHARS, ty.collation(), true);
        ty = ExprType { coercibility: ty.coercibility, ..text };
    }
    if ty.coercibility == Coercibility::Coercible {
        ty.coercibility = Coercibility::Implicit;
    }
    ty
}

/// Characters of the type of a user variable that has a string, and bytes of one that is NULL.
const VARIABLE_CHARS: u64 = 16_777_215;

/// A string literal of a collation: bytes where that is `binary`.
pub fn text_literal(value: &str, collation: Collation) -> Expr {
    if collation == Collation::BINARY {
        return bytes_literal(value.as_bytes().to_vec());
    }
    let ty = ExprType::text(value.chars().count() as u64, collation, false);
    Expr::literal(Value::Text(value.to_owned()), ty)
}

/// An integer literal.
pub fn int_literal(value: u64) -> Expr {
    let digits = value.checked_ilog10().unwrap_or(0) + 1;
    match i64::try_from(value) {
        Ok(value) => Expr::literal(Value::Int(value), ExprType::int(digits + 1, false)),
        Err(_) => Expr::literal(Value::UInt(value), ExprType::uint(digits, false)),
    }
}

/// A literal of a number with a point.
pub fn decimal_literal(text: &str) -> Expr {
    let value = Decimal::parse_prefix(text.as_bytes()).value;
    let (precision, scale) = (u32::from(value.precision()), u32::from(value.scale()));
    let whole = precision.saturating_sub(scale).max(1);
    Expr::literal(Value::Decimal(value), ExprType::decimal(whole + scale, scale, false, false))
}

fn bytes_literal(bytes: Vec<u8>) -> Expr {
    let ty = ExprType::binary(bytes.len() as u64, false);
    Expr::literal(Value::Bytes(bytes), ty)
}

fn temporal_literal(text: &str, target: DataType, env: &Environment) -> Result<Expr, SqlError> {
    let (value, data_type) = convert::temporal_literal(text, &target, env)?;
    let mut ty = ExprType::computed(data_type, false);
    ty.decimals = ty.fsp();
    debug_assert!(ty.decimals != NOT_FIXED);
    Ok(Expr::literal(value, ty))
}
