//! PARTITION BY: from the syntax tree to a definition, with the checks of both.
//!
//! [`define`] needs the table's columns; [`finish`] needs its whole definition.

pub(super) mod alter;
mod exchange;
mod function;
mod values;

use super::table_builder::TableBuilder;
use super::tablespace;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{self, PartitionScheme};
use inia_query::catalog::{
    Division, DivisionMethod, IndexKind, LeafDef, PartitionBounds, PartitionDef, Partitioning,
    TRANSACTIONAL, TableDef, same_name,
};
use inia_query::context::SessionContext;

/// The most partitions, subpartitions counted.
pub(super) const MAX_PARTITIONS: usize = 8192;
const MAX_COLUMNS: usize = 16;
const MAX_COMMENT: usize = 1024;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// What PARTITION BY says of the table that is being defined.
pub(super) fn define(
    session: &mut SessionContext,
    builder: &TableBuilder,
    by: &ast::PartitionBy,
) -> Result<Box<Partitioning>, SqlError> {
    if builder.temporary {
        return error(ErrorCode::PartitionNoTemporary, &[]);
    }
    let method = method_of(&by.scheme);
    check_counts(method, by)?;
    if !method.has_columns() {
        values::check_types(session, by)?;
    }
    let main = division(session, builder, &by.scheme)?;
    let sub = by.sub.as_ref().map(|sub| division(session, builder, &sub.scheme)).transpose()?;
    let mut partitioning = Partitioning {
        by: main,
        sub,
        counted: by.partitions.is_empty(),
        says_count: by.count.is_some(),
        says_sub_count: by.sub.as_ref().is_some_and(|sub| sub.count.is_some()),
        sub_counted: by.partitions.iter().all(|spec| spec.subpartitions.is_empty()),
        partitions: Vec::new(),
    };
    let per = match &by.sub {
        None => 1,
        Some(sub) => {
            let listed = by.partitions.first().map_or(0, |spec| spec.subpartitions.len());
            let count = sub.count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
            count.unwrap_or(listed.max(1))
        }
    };
    let count = by.count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let parts = count.unwrap_or(by.partitions.len().max(1));
    if parts.saturating_mul(per) > MAX_PARTITIONS {
        return error(ErrorCode::TooManyPartitionsError, &[]);
    }
    partitioning.partitions = match partitioning.counted {
        true => (0..parts).map(|at| counted(at, per)).collect(),
        false => specs(session, builder, &partitioning, &by.partitions, per)?,
    };
    check_names(&partitioning)?;
    values::check_bounds(&partitioning, builder)?;
    Ok(Box::new(partitioning))
}

fn method_of(scheme: &PartitionScheme) -> DivisionMethod {
    match scheme {
        PartitionScheme::Range(_) => DivisionMethod::Range,
        PartitionScheme::List(_) => DivisionMethod::List,
        PartitionScheme::RangeColumns(_) => DivisionMethod::RangeColumns,
        PartitionScheme::ListColumns(_) => DivisionMethod::ListColumns,
        PartitionScheme::Hash { linear, .. } => DivisionMethod::Hash { linear: *linear },
        PartitionScheme::Key { linear, algorithm, .. } => {
            DivisionMethod::Key { linear: *linear, old: *algorithm == Some(1) }
        }
    }
}

/// How errors call a method.
fn word(method: DivisionMethod) -> &'static str {
    if method.is_range() { "RANGE" } else { "LIST" }
}

/// Errors 1504, 1484, 1492, 1500 and 1485.
fn check_counts(method: DivisionMethod, by: &ast::PartitionBy) -> Result<(), SqlError> {
    if by.count == Some(0) {
        return error(ErrorCode::NoPartsError, &[&"partitions"]);
    }
    if by.sub.as_ref().is_some_and(|sub| sub.count == Some(0)) {
        return error(ErrorCode::NoPartsError, &[&"subpartitions"]);
    }
    let listed = !by.partitions.is_empty();
    if listed && by.count.is_some_and(|count| count != by.partitions.len() as u64) {
        return error(ErrorCode::PartitionWrongNoPartError, &[]);
    }
    let subs = by.partitions.iter().any(|spec| !spec.subpartitions.is_empty());
    if (by.sub.is_some() && method.is_hash()) || (by.sub.is_none() && subs) {
        return error(ErrorCode::SubpartitionError, &[]);
    }
    if !listed && !method.is_hash() {
        return error(ErrorCode::PartitionsMustBeDefinedError, &[&word(method)]);
    }
    if let Some(sub) = by.sub.as_ref().filter(|_| subs) {
        let first = by.partitions[0].subpartitions.len();
        let wanted = sub.count.map_or(first, |count| count as usize);
        if by.partitions.iter().any(|spec| spec.subpartitions.len() != wanted) {
            return error(ErrorCode::PartitionWrongNoSubpartError, &[]);
        }
    }
    Ok(())
}

fn division(
    session: &SessionContext,
    builder: &TableBuilder,
    scheme: &PartitionScheme,
) -> Result<Division, SqlError> {
    let method = method_of(scheme);
    let (expression, columns) = match scheme {
        PartitionScheme::Range(expr) | PartitionScheme::List(expr) => {
            function::normalised(session, builder, expr)?
        }
        PartitionScheme::Hash { expr, .. } => function::normalised(session, builder, expr)?,
        PartitionScheme::RangeColumns(columns)
        | PartitionScheme::ListColumns(columns)
        | PartitionScheme::Key { columns, .. } => (String::new(), named(builder, method, columns)?),
    };
    let implied = columns.is_empty();
    Ok(Division { method, expression, columns, implied })
}

/// The columns of COLUMNS and KEY as the table spells them; errors 1655, 1652, 1488, 1502, 1659.
fn named(
    builder: &TableBuilder,
    method: DivisionMethod,
    columns: &[String],
) -> Result<Vec<String>, SqlError> {
    let clause = match method {
        DivisionMethod::Key { .. } => "list of partition fields",
        _ => "partition fields",
    };
    if columns.len() > MAX_COLUMNS {
        return error(ErrorCode::TooManyPartitionFuncFieldsError, &[&clause]);
    }
    let mut out: Vec<String> = Vec::new();
    for name in columns {
        if out.iter().any(|known| same_name(known, name)) {
            return error(ErrorCode::SameNamePartitionField, &[name]);
        }
        let Some(at) = builder.column(name) else {
            return error(ErrorCode::FieldNotFoundPartError, &[]);
        };
        let def = &builder.columns[at].def;
        use DataType as T;
        match &def.data_type {
            T::Text { .. } | T::Blob(_) | T::Json => {
                return error(ErrorCode::BlobFieldInPartFuncError, &[]);
            }
            T::Int { .. }
            | T::Char { .. }
            | T::VarChar { .. }
            | T::Binary(_)
            | T::VarBinary(_)
            | T::Date
            | T::Time { .. }
            | T::DateTime { .. } => {}
            _ if matches!(method, DivisionMethod::Key { .. }) => {}
            _ => return error(ErrorCode::FieldTypeNotAllowedAsPartitionField, &[&def.name]),
        }
        out.push(def.name.clone());
    }
    Ok(out)
}

fn leaf(name: String) -> LeafDef {
    LeafDef {
        name,
        comment: String::new(),
        max_rows: 0,
        min_rows: 0,
        node_group: None,
        trees: Vec::new(),
    }
}

/// A partition of those that a number counts.
pub(super) fn counted(at: usize, per: usize) -> PartitionDef {
    let name = format!("p{at}");
    let leaves = match per {
        1 => vec![leaf(name.clone())],
        _ => (0..per).map(|sub| leaf(format!("{name}sp{sub}"))).collect(),
    };
    PartitionDef { name, values: PartitionBounds::Hash, description: String::new(), leaves }
}

/// Partitions that are listed; errors 1479, 1480, 1567, 1793 and those of their values.
pub(super) fn specs(
    session: &mut SessionContext,
    builder: &TableBuilder,
    by: &Partitioning,
    specs: &[ast::PartitionSpec],
    per: usize,
) -> Result<Vec<PartitionDef>, SqlError> {
    let last = specs.len().saturating_sub(1);
    let mut out = Vec::with_capacity(specs.len());
    for (at, spec) in specs.iter().enumerate() {
        check_form(by.by.method, spec)?;
        let all = std::iter::once(spec).chain(&spec.subpartitions);
        for name in all.filter_map(|spec| spec.options.tablespace.as_deref()) {
            tablespace::check_partition(session, &builder.name, name)?;
        }
        let (values, description) = values::bounds(session, builder, &by.by, spec, at == last)?;
        let mut leaves = Vec::new();
        if by.sub.is_none() {
            leaves.push(option_leaf(spec, &spec.options)?);
        } else if spec.subpartitions.is_empty() {
            for number in 0..per {
                let mut leaf = option_leaf(spec, &spec.options)?;
                leaf.name = format!("{}sp{number}", spec.name);
                leaves.push(leaf);
            }
        }
        for sub in &spec.subpartitions {
            let mut options = sub.options.clone();
            options.comment = options.comment.or_else(|| spec.options.comment.clone());
            leaves.push(option_leaf(sub, &options)?);
        }
        if !spec.subpartitions.is_empty() && leaves.len() != per {
            return error(ErrorCode::PartitionWrongNoSubpartError, &[]);
        }
        check_name(&spec.name)?;
        out.push(PartitionDef { name: spec.name.clone(), values, description, leaves });
    }
    Ok(out)
}

fn check_name(name: &str) -> Result<(), SqlError> {
    match name.is_empty() || name.ends_with(' ') {
        true => error(ErrorCode::WrongPartitionName, &[]),
        false => Ok(()),
    }
}

/// Errors 1479 and 1480.
fn check_form(method: DivisionMethod, spec: &ast::PartitionSpec) -> Result<(), SqlError> {
    let code = ErrorCode::PartitionWrongValuesError;
    match &spec.values {
        ast::PartitionValues::In(_) if !method.is_list() => error(code, &[&"LIST", &"IN"]),
        ast::PartitionValues::LessThan(_) | ast::PartitionValues::Maxvalue
            if !method.is_range() =>
        {
            error(code, &[&"RANGE", &"LESS THAN"])
        }
        ast::PartitionValues::None if !method.is_hash() => {
            let form = if method.is_range() { "LESS THAN" } else { "IN" };
            let code = ErrorCode::PartitionRequiresValuesError;
            error(code, &[&word(method), &form])
        }
        _ => Ok(()),
    }
}

fn option_leaf(
    spec: &ast::PartitionSpec,
    options: &ast::PartitionOptions,
) -> Result<LeafDef, SqlError> {
    check_name(&spec.name)?;
    if let Some(engine) = &options.engine
        && !engine.eq_ignore_ascii_case(TRANSACTIONAL)
    {
        return error(ErrorCode::MixHandlerError, &[]);
    }
    let comment = options.comment.clone().unwrap_or_default();
    if comment.chars().count() > MAX_COMMENT {
        let code = ErrorCode::TooLongTablePartitionComment;
        return error(code, &[&spec.name, &MAX_COMMENT]);
    }
    Ok(LeafDef {
        comment,
        max_rows: options.max_rows.unwrap_or(0),
        min_rows: options.min_rows.unwrap_or(0),
        node_group: options.node_group,
        ..leaf(spec.name.clone())
    })
}

/// Error 1517: partitions and subpartitions have names of their own.
pub(super) fn check_names(by: &Partitioning) -> Result<(), SqlError> {
    let mut seen = std::collections::HashSet::new();
    for partition in &by.partitions {
        let leaves = partition.leaves.iter().filter(|_| by.sub.is_some());
        let names = std::iter::once(&partition.name).chain(leaves.map(|leaf| &leaf.name));
        for name in names {
            if !seen.insert(name.to_lowercase()) {
                return error(ErrorCode::SameNamePartition, &[name]);
            }
        }
    }
    Ok(())
}

/// Makes the checks that need the whole definition, and gives KEY () its columns: errors 1178,
/// 1506, 1214, 1488 and 1503.
pub(super) fn finish(def: &mut TableDef) -> Result<(), SqlError> {
    let Some(mut by) = def.partitioning.take() else { return Ok(()) };
    if def.is_merged() {
        return error(ErrorCode::PartitionMergeError, &[]);
    }
    if def.engine != TRANSACTIONAL {
        return error(ErrorCode::CheckNotImplemented, &[&"native partitioning"]);
    }
    if !def.foreign_keys.is_empty() {
        return error(ErrorCode::ForeignKeyOnPartitioned, &[]);
    }
    if def.indexes.iter().any(|index| index.kind.has_words()) {
        return error(ErrorCode::TableCantHandleFt, &[]);
    }
    for division in std::iter::once(&mut by.by).chain(&mut by.sub) {
        if division.implied {
            division.columns = key_columns(def)?;
        }
    }
    for index in &def.indexes {
        let what = match index.kind {
            IndexKind::Primary => "PRIMARY KEY",
            kind if kind.is_unique() => "UNIQUE INDEX",
            _ => continue,
        };
        let whole = |name: &String| {
            let column = def.column(name);
            index.parts.iter().any(|part| Some(part.column) == column && part.prefix.is_none())
        };
        if !by.divisions().flat_map(|division| &division.columns).all(whole) {
            return error(ErrorCode::UniqueKeyNeedAllFieldsInPf, &[&what]);
        }
    }
    def.partitioning = Some(by);
    Ok(())
}

/// The columns of KEY (): those of the primary key, or of a unique key that takes no NULL.
fn key_columns(def: &TableDef) -> Result<Vec<String>, SqlError> {
    let candidates = def.primary().into_iter().chain(
        def.indexes
            .iter()
            .filter(|index| index.kind == IndexKind::Unique)
            .filter(|index| index.parts.iter().all(|part| !def.columns[part.column].nullable)),
    );
    match candidates.into_iter().next() {
        Some(index) => {
            let name = |part: &inia_query::catalog::IndexPart| &def.columns[part.column].name;
            Ok(index.parts.iter().map(name).cloned().collect())
        }
        None => error(ErrorCode::FieldNotFoundPartError, &[]),
    }
}

/// Error 3855: a column that divides stays, under its name. Errors 1486, 1491, 1502, 1654 and 1659:
/// its new type is none that divides.
pub(super) fn check_columns(
    session: &SessionContext,
    old: &TableDef,
    builder: &TableBuilder,
) -> Result<(), SqlError> {
    let Some(by) = &old.partitioning else { return Ok(()) };
    if builder.partitioning.as_ref().is_none_or(|new| !same_rule(by, new)) {
        return Ok(());
    }
    for name in by.divisions().flat_map(|division| &division.columns) {
        let origin = old.column(name);
        let kept = |column: &super::table_builder::ColumnDraft| {
            column.origin == origin && same_name(&column.def.name, name)
        };
        if origin.is_some() && !builder.columns.iter().any(kept) {
            return error(ErrorCode::DependentByPartitionFunc, &[name]);
        }
    }
    by.divisions().try_for_each(|division| check_types(session, builder, division))?;
    check_values(builder, by)
}

/// Whether the columns of a division are of types that it can have.
fn check_types(
    session: &SessionContext,
    builder: &TableBuilder,
    division: &Division,
) -> Result<(), SqlError> {
    if division.expression.is_empty() {
        return named(builder, division.method, &division.columns).map(|_| ());
    }
    match inia_parser::parse_expr(&division.expression, inia_parser::SqlMode::empty()) {
        Ok(expr) => function::normalised(session, builder, &expr).map(|_| ()),
        Err(_) => Ok(()),
    }
}

/// Error 1654: the values of COLUMNS are no more of their column's kind.
fn check_values(builder: &TableBuilder, by: &Partitioning) -> Result<(), SqlError> {
    use DataType as T;
    if !by.by.method.has_columns() {
        return Ok(());
    }
    let fits = |at: usize, value: &Value| {
        let def = by.by.columns.get(at).and_then(|name| builder.column(name));
        let Some(def) = def.map(|column| &builder.columns[column].def) else { return true };
        match value {
            Value::Int(_) | Value::UInt(_) => matches!(def.data_type, T::Int { .. }),
            Value::Text(_) => matches!(def.data_type, T::Char { .. } | T::VarChar { .. }),
            Value::Bytes(_) => matches!(def.data_type, T::Binary(_) | T::VarBinary(_)),
            Value::Date(_) | Value::DateTime(_) => {
                matches!(def.data_type, T::Date | T::DateTime { .. })
            }
            Value::Time(_) => matches!(def.data_type, T::Time { .. }),
            _ => true,
        }
    };
    let all_fit = by.partitions.iter().all(|partition| match &partition.values {
        PartitionBounds::Hash => true,
        PartitionBounds::LessThan(limits) => {
            let given = limits.iter().enumerate();
            given.filter_map(|(at, limit)| Some((at, limit.as_ref()?))).all(|(at, v)| fits(at, v))
        }
        PartitionBounds::In(rows) => {
            rows.iter().all(|row| row.iter().enumerate().all(|(at, value)| fits(at, value)))
        }
    });
    if all_fit { Ok(()) } else { error(ErrorCode::WrongTypeColumnValueError, &[]) }
}

/// Whether two tables are divided in the same way into the same partitions, wherever those are.
pub(super) fn same_rule(a: &Partitioning, b: &Partitioning) -> bool {
    let plain = |by: &Partitioning| {
        let mut by = by.clone();
        by.leaves_mut().for_each(|leaf| leaf.trees.clear());
        by
    };
    plain(a) == plain(b)
}
