//! CREATE TABLE … SELECT: the query's columns join those that are written out, and its rows are
//! inserted, all in the transaction that creates the table.

use super::columns::check_column_name;
use super::engine;
use super::engine_options::{self, Definer};
use super::foreign::{check_bases, check_rows};
use super::schema::hold_schema;
use super::table::{create_trees, define, is_taken, lock_new, partition};
use super::table_builder::{ColumnDraft, TableBuilder};
use super::tablespace::check_table;
use super::{DdlResult, aside, full_name, in_transaction, unix_seconds};

use inia_base::collation::Collation;
use inia_base::column::ResultColumn;
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::column_type::deprecated_in;
use inia_expr::store::implicit_default;
use inia_expr::{ExprType, TypeClass, lob_bytes};
use inia_parser::ast;
use inia_query::catalog::{
    Change, ColumnDef, ColumnDefault, MERGED, Placement, TRANSACTIONAL, Table, row_count, same_name,
};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::dml::InsertPlan;
use inia_query::error::StorageResult;
use inia_query::exec::Runner;
use inia_query::information_schema;
use inia_query::plan::{Origin, OutputColumn, StatementPlan};
use inia_query::planner::plan_source;
use std::sync::Arc;

/// CREATE TABLE … SELECT. Functions that the SELECT calls may change no table meanwhile.
pub(crate) fn create_table_select(
    session: &mut SessionContext,
    create: &ast::CreateTable,
    select: &ast::CreateSelect,
    params: &[Value],
) -> DdlResult {
    session.creating = Some(create.name.name.clone());
    let done = create_selected(session, create, select, params);
    session.creating = None;
    done
}

fn create_selected(
    session: &mut SessionContext,
    create: &ast::CreateTable,
    select: &ast::CreateSelect,
    params: &[Value],
) -> DdlResult {
    let name = full_name(session, &create.name)?;
    let schema = hold_schema(session, &name.0)?;
    if is_taken(session, &name, create)? {
        return Ok(StatementOutcome::default());
    }
    let _lock = lock_new(session, &name, create)?;
    if is_taken(session, &name, create)? {
        return Ok(StatementOutcome::default());
    }
    let mut builder = define(session, &name, schema.collation, create)?;
    if builder.engine == MERGED {
        return Err(SqlError::new(ErrorCode::WrongObject, &[&name.0, &name.1, &"BASE TABLE"]));
    }
    if create.temporary {
        if create.partition.is_some() {
            return Err(SqlError::new(ErrorCode::PartitionNoTemporary, &[]));
        }
        session.enter();
        let start = session.txn.get_mut().savepoint();
        let result = temporary_select(session, builder, select, params);
        session.leave(start, result.as_ref().err())?;
        return result;
    }
    in_transaction(session, |session, changes| {
        let plan = plan_source(session, &select.query)?;
        let names = add_columns(session, &mut builder, &plan)?;
        partition(session, &mut builder, create)?;
        let finished = builder.finish()?;
        let mut def = finished.def;
        check_bases(&def, true)?;
        def.id = session.db.catalog().new_table_id();
        def.created = unix_seconds();
        engine::check(session, &def)?;
        engine_options::check(session, &mut def, Definer::Create)?;
        check_table(session, &def)?;
        create_trees(session, &mut def)?;
        changes.push(Change::PutTable(def.clone()));
        let catalog = session.db.catalog();
        let (mdl, shared) = (catalog.mdl().name(&name.0, &name.1), catalog.shared(def.id));
        // The rows come and go with the table, whatever its engine.
        let logged = !def.is_transactional() && !def.is_volatile();
        if logged {
            def.engine = String::from(TRANSACTIONAL);
        }
        let table = Arc::new(Table::new(Arc::new(def.clone()), catalog.store(&def), mdl, shared));
        session.lock_read(&plan)?;
        let done = insert(session, &table, &names, plan, select, params)?;
        if logged {
            let txn = session.txn.get_mut();
            row_count::count(&session.db.engine, txn, &table.clustered).sql()?;
        }
        let keys: Vec<usize> = (0..table.def.foreign_keys.len()).collect();
        check_rows(session, &table.def, &keys)?;
        Ok(done)
    })
}

/// CREATE TEMPORARY TABLE … SELECT: the table is made beside the transaction, its rows in it.
fn temporary_select(
    session: &mut SessionContext,
    mut builder: TableBuilder,
    select: &ast::CreateSelect,
    params: &[Value],
) -> DdlResult {
    let plan = plan_source(session, &select.query)?;
    let names = add_columns(session, &mut builder, &plan)?;
    let mut def = builder.finish()?.def;
    def.id = session.db.catalog().new_table_id();
    def.created = unix_seconds();
    let name = (def.schema.clone(), def.name.clone());
    session.temporary.created |= !session.autocommits();
    engine::check(session, &def)?;
    engine_options::check(session, &mut def, Definer::Create)?;
    check_table(session, &def)?;
    aside(session, |session, changes| {
        create_trees(session, &mut def)?;
        changes.push(Change::PutTable(def));
        Ok(())
    })?;
    let Some(table) = session.temporary.get(&name.0, &name.1).cloned() else {
        return Ok(StatementOutcome::default());
    };
    session.lock_read(&plan)?;
    let result = insert(session, &table, &names, plan, select, params);
    if result.is_err() {
        session.temporary.doom(&name.0, &name.1);
        session.settings += 1;
    }
    result
}

/// Adds the query's columns, behind all others and in the query's order; those that are written
/// out keep their definitions. The names of all of them.
fn add_columns(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    plan: &StatementPlan,
) -> Result<Vec<String>, SqlError> {
    let mut names = Vec::with_capacity(plan.root.columns.len());
    for column in &plan.root.columns {
        let name = &column.result.name;
        if names.contains(name) {
            return Err(SqlError::new(ErrorCode::DupFieldname, &[name]));
        }
        names.push(name.clone());
        let written = match builder.column(name) {
            Some(at) => builder.columns.remove(at),
            None => {
                check_column_name(name)?;
                let def = column_def(session, column, false);
                for warning in &deprecated_in(&def.data_type, def.zerofill) {
                    session.push_warning(warning);
                }
                ColumnDraft { def, origin: None, explicit_null: false }
            }
        };
        builder.add_column(None, written)?;
    }
    Ok(names)
}

/// A selected column as a table's column: a base column keeps its type, default and comment; a
/// view's column does so in another view, and else its comment and a default that is an expression.
pub(super) fn column_def(
    session: &SessionContext,
    column: &OutputColumn,
    for_view: bool,
) -> ColumnDef {
    let result = &column.result;
    let base = session.table(&result.schema, &result.org_table).and_then(|table| {
        table.def.column(&result.org_name).map(|at| table.def.columns[at].clone())
    });
    let base = if for_view { base.or_else(|| computed_column(result)) } else { base };
    let view = session.db.catalog().view(&result.schema, &result.org_table).and_then(|view| {
        view.def.columns.iter().find(|known| same_name(&known.name, &result.org_name)).cloned()
    });
    // A merged derived table's column goes by its own name, which may be that of another one.
    let same = |base: &ColumnDef| base.data_type == column.ty.data_type;
    if let Some(base) = base.or_else(|| view.clone().filter(|_| for_view)).filter(same) {
        let placement = Placement::default();
        let mut def = ColumnDef { name: result.name.clone(), placement, ..base };
        if column.ty.nullable && !def.nullable && def.default == ColumnDefault::None {
            def.default = ColumnDefault::Absent;
        }
        def.nullable |= column.ty.nullable;
        if def.auto_increment {
            def.default = ColumnDefault::Value(Value::Int(0));
        }
        if column.origin == Origin::Merged && !for_view {
            lose_default(&mut def);
        }
        (def.auto_increment, def.generated, def.invisible) = (false, None, false);
        return def;
    }
    let data_type = computed_type(column);
    let nullable = column.ty.nullable;
    let defaults = matches!(
        data_type,
        DataType::Int { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Double { .. }
            | DataType::Char { .. }
            | DataType::VarChar { .. }
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::Time { .. }
    );
    // A zero date is a default only where the mode lets it be one.
    let dated = !matches!(column.origin, Origin::Column | Origin::Merged)
        && column.ty.class() == TypeClass::Dated
        && !session.env.sql_mode.has(SqlMode::NO_ZERO_DATE);
    let default = match !nullable && (defaults || dated) {
        true => ColumnDefault::Value(implicit_default(&data_type)),
        false => ColumnDefault::None,
    };
    let mut def = ColumnDef { default, ..ColumnDef::new(&result.name, data_type, nullable) };
    if let DataType::Double { decimals: Some(_), .. } = def.data_type {
        def.display_width = u8::try_from(column.ty.length).ok();
    }
    if let Some(known) = view {
        def.comment = known.comment;
        match known.default {
            ColumnDefault::Expression(_) => def.default = known.default,
            ColumnDefault::None if !known.nullable => def.default = ColumnDefault::None,
            _ => {}
        }
    }
    def
}

/// The definition of a column of a table that the server computes.
fn computed_column(result: &ResultColumn) -> Option<ColumnDef> {
    let def = information_schema::find(&result.schema, &result.org_table)?.definition();
    def.column(&result.org_name).map(|at| def.columns[at].clone())
}

/// A merged derived table has lost the defaults that are values, not comments and expressions.
fn lose_default(def: &mut ColumnDef) {
    def.on_update_now = false;
    match def.default {
        ColumnDefault::Value(_) if !def.nullable => {
            def.default = ColumnDefault::Value(implicit_default(&def.data_type));
        }
        ColumnDefault::Value(_) | ColumnDefault::CurrentTimestamp => {
            def.default = ColumnDefault::None;
        }
        _ => {}
    }
}

/// Characters of a system variable's text, and of a user variable that was never set.
const VARIABLE_CHARS: [u32; 2] = [21_845, 16_383];

/// The type of a table's column that takes computed values.
fn computed_type(column: &OutputColumn) -> DataType {
    let computed = column.result.org_name.is_empty();
    let length = column.ty.length;
    if let Some(data_type) = remade_type(&column.ty, column.origin) {
        return data_type;
    }
    match &column.ty.data_type {
        DataType::Null => DataType::Binary(0),
        // A computed number that fits is an INT.
        DataType::Int { width: IntWidth::Big, unsigned } if fits_int(length, column.origin) => {
            DataType::Int { width: IntWidth::Int, unsigned: *unsigned }
        }
        // MAX of a column is of its kind.
        DataType::Text { size, collation } if computed && length < lob_bytes(*size) => {
            let bytes = u64::from(length) * u64::from(collation.charset().max_bytes());
            DataType::Text { size: size_for(bytes), collation: *collation }
        }
        DataType::VarChar { chars, collation } if computed && VARIABLE_CHARS.contains(chars) => {
            let bytes = u64::from(*chars) * u64::from(collation.charset().max_bytes());
            DataType::Text { size: size_for(bytes), collation: *collation }
        }
        DataType::VarBinary(bytes) if u64::from(*bytes) == MAX_NORMAL_BYTES => {
            DataType::Blob(LobSize::Normal)
        }
        DataType::Blob(_) if computed => DataType::Blob(size_for(length.into())),
        _ => column.ty.clone().fitted_to_column().data_type,
    }
}

/// Whether a computed BIGINT of so many characters becomes an INT.
fn fits_int(length: u32, origin: Origin) -> bool {
    match origin {
        Origin::Aggregate | Origin::Column | Origin::IfNull => false,
        Origin::Function | Origin::Variable => length <= 11,
        Origin::Window => length < 10,
        _ => length <= 10,
    }
}

/// The type that a column's type becomes on its way through a function, a subquery or a variable;
/// `None` where it stays what it is.
fn remade_type(ty: &ExprType, origin: Origin) -> Option<DataType> {
    let int = |big: bool| {
        let width = if big { IntWidth::Big } else { IntWidth::Int };
        Some(DataType::Int { width, unsigned: ty.is_unsigned() })
    };
    let handed = matches!(origin, Origin::Varying | Origin::Subquery | Origin::Variable);
    let function = matches!(origin, Origin::Varying | Origin::Function);
    match &ty.data_type {
        DataType::VarChar { chars: 0, collation }
            if matches!(origin, Origin::Literal | Origin::Subquery | Origin::Merged) =>
        {
            Some(DataType::Char { chars: 0, collation: *collation })
        }
        DataType::Int { width: IntWidth::Big, .. } => None,
        DataType::Int { .. } if origin == Origin::Subquery => int(ty.length >= 10),
        DataType::Int { .. } if handed || function => int(false),
        DataType::Bit(bits) if handed || function => int(*bits > 10),
        DataType::Year if matches!(origin, Origin::Subquery | Origin::Variable) => int(false),
        DataType::Char { chars, collation } if handed || function || origin == Origin::IfNull => {
            Some(DataType::VarChar { chars: *chars, collation: *collation })
        }
        DataType::Binary(bytes) if handed => Some(DataType::VarBinary(*bytes)),
        DataType::Enum { collation, .. } | DataType::Set { collation, .. } if handed => {
            Some(DataType::VarChar { chars: ty.length, collation: *collation })
        }
        DataType::Text { size: LobSize::Normal, collation } if handed => {
            let size = match origin {
                Origin::Subquery => LobSize::Medium,
                _ => LobSize::Long,
            };
            Some(DataType::Text { size, collation: *collation })
        }
        DataType::Blob(LobSize::Normal) if function && u64::from(ty.length) >= MAX_NORMAL_BYTES => {
            Some(DataType::Blob(LobSize::Long))
        }
        _ if origin == Origin::Variable => assigned_type(ty),
        _ => None,
    }
}

/// The type of a column that takes the value of `@name := value`, numbers and strings being what
/// variables hold.
fn assigned_type(ty: &ExprType) -> Option<DataType> {
    let text = |collation| Some(DataType::VarChar { chars: ty.length, collation });
    match ty.data_type {
        DataType::Decimal { precision, scale, .. } => {
            Some(DataType::Decimal { precision, scale, unsigned: false })
        }
        DataType::Float { .. } => Some(DataType::Double { decimals: None, unsigned: false }),
        DataType::Date
        | DataType::Time { .. }
        | DataType::DateTime { .. }
        | DataType::Timestamp { .. } => text(Collation::DEFAULT),
        DataType::Json => {
            Some(DataType::Text { size: LobSize::Long, collation: Collation::UTF8MB4_BIN })
        }
        _ => None,
    }
}

/// Most bytes of a TEXT or BLOB.
const MAX_NORMAL_BYTES: u64 = 65_535;

/// The kind of TEXT or BLOB that a computed string of so many bytes becomes.
fn size_for(bytes: u64) -> LobSize {
    match bytes {
        0..=MAX_NORMAL_BYTES => LobSize::Normal,
        _ => LobSize::Long,
    }
}

fn insert(
    session: &mut SessionContext,
    table: &Arc<Table>,
    names: &[String],
    source: StatementPlan,
    select: &ast::CreateSelect,
    params: &[Value],
) -> DdlResult {
    let targets = names.iter().filter_map(|name| table.def.column(name)).collect();
    let replace = select.on_duplicate == ast::LoadDuplicate::Replace;
    let ignore = select.on_duplicate == ast::LoadDuplicate::Ignore;
    let plan = InsertPlan::of_rows(session, table, targets, Some(source), replace, ignore)?;
    let Some(source) = plan.source() else { return Ok(StatementOutcome::default()) };
    let (result, warnings) = {
        let shared: &SessionContext = session;
        let runner = Runner::new(source, shared.exec_context());
        let mut ctx = shared.context(params, &runner);
        let result = plan.run(shared, &mut ctx, Some(&runner));
        (result, std::mem::take(&mut ctx.warnings))
    };
    session.take_warnings(warnings);
    result
}
