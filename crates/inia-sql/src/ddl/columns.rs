//! Column, index and constraint definitions: from the syntax tree into a [`TableBuilder`].

use super::quoting::Quoting;
use super::rules::{self, Owner};
use super::table_builder::{
    ColumnDraft, ForeignKeyDraft, IndexDraft, IndexPartDraft, TableBuilder,
};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::charset;
use inia_expr::column_type::column_type;
use inia_expr::{EmptyScope, Expr, ExprKind, ExprType, Level, NoSubqueries, Scope, Strictness};
use inia_parser::ast;
use inia_query::catalog::MAX_NAME;
use inia_query::catalog::{
    CheckDef, ColumnDef, ColumnDefault, ColumnFormat, ColumnStorage, ForeignKeyDef, Generated,
    HIDDEN, IndexKind, Placement, ReferentialAction, TRANSACTIONAL, same_name,
};
use inia_query::context::SessionContext;
use inia_query::dml::fill::limited;
use std::borrow::Cow;

const MAX_COLUMN_COMMENT: usize = 1024;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// Checks a column's name: error 1166.
pub(crate) fn check_column_name(name: &str) -> Result<(), SqlError> {
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > MAX_NAME {
        return error(ErrorCode::WrongColumnName, &[&name]);
    }
    Ok(())
}

/// A comment of at most `max` characters: a longer one is an error in strict modes, else it is cut
/// with a warning.
pub(super) fn comment(
    session: &mut SessionContext,
    text: &str,
    max: usize,
    code: ErrorCode,
    of: &str,
) -> Result<String, SqlError> {
    let Some((end, _)) = text.char_indices().nth(max) else { return Ok(text.to_owned()) };
    let too_long = SqlError::new(code, &[&of, &max]);
    if session.env.sql_mode.is_strict() {
        return Err(too_long);
    }
    session.push_warning(&too_long);
    Ok(text[..end].to_owned())
}

/// A column as defined, its expressions still unchecked (see [`finish_expressions`]).
pub(crate) fn column(
    session: &mut SessionContext,
    spec: &ast::ColumnDef,
    table: Collation,
) -> Result<ColumnDraft, SqlError> {
    check_column_name(&spec.name)?;
    let ty = column_type(&spec.name, &spec.ty, table, session.env.sql_mode.is_strict())?;
    for warning in &ty.deprecated {
        session.push_warning(warning);
    }
    let data_type = with_srid(session, ty.data_type, spec.srid)?;
    let serial = spec.ty.kind == ast::TypeKind::Serial;
    let auto_increment = spec.auto_increment || serial;
    let nullable = spec.nullable.unwrap_or(!(auto_increment || spec.primary_key));
    let mut def = ColumnDef {
        display_width: ty.display_width,
        zerofill: ty.zerofill,
        auto_increment,
        // The text comes when all columns are there.
        generated: spec
            .generated
            .as_ref()
            .map(|generated| Generated { expression: String::new(), stored: generated.stored }),
        invisible: spec.invisible,
        explicit_collation: ty.explicit_collation,
        placement: placement(spec),
        ..ColumnDef::new(&spec.name, data_type, nullable)
    };
    if spec.generated.is_some()
        && let Some(attribute) = ungenerated(spec, auto_increment)
    {
        return error(ErrorCode::WrongUsage, &[&attribute, &"generated column"]);
    }
    if auto_increment {
        def.nullable = false;
    }
    if let Some(text) = &spec.comment {
        let code = ErrorCode::TooLongFieldComment;
        def.comment = comment(session, text, MAX_COLUMN_COMMENT, code, &def.name)?;
    }
    if let Some(fsp) = spec.on_update_now {
        if !is_moment(&def.data_type, fsp) {
            return error(ErrorCode::InvalidOnUpdate, &[&def.name]);
        }
        def.on_update_now = true;
    }
    if let Some(default) = &spec.default {
        if spec.generated.is_some() {
            return error(ErrorCode::WrongUsage, &[&"DEFAULT", &"generated column"]);
        }
        def.default = column_default(session, &def, default)?;
    }
    // DEFAULT NULL says so, too.
    let null_default = matches!(
        spec.default,
        Some(ast::ColumnDefault::Literal(ast::Expr::Literal(ast::Literal::Null)))
    );
    let explicit_null = spec.nullable.unwrap_or(null_default);
    Ok(ColumnDraft { def, origin: None, explicit_null })
}

/// The type with its SRID attribute; errors 1221, 1690 and 3548.
fn with_srid(
    session: &SessionContext,
    data_type: DataType,
    srid: Option<u64>,
) -> Result<DataType, SqlError> {
    let Some(number) = srid else { return Ok(data_type) };
    let DataType::Geometry { kind, .. } = data_type else {
        return error(ErrorCode::WrongUsage, &[&"SRID", &"non-geometry column"]);
    };
    let Ok(srid) = u32::try_from(number) else {
        return error(ErrorCode::DataOutOfRange, &[&"SRID", &"SRID"]);
    };
    if session.db.catalog().reference_system(srid).is_none() {
        return error(ErrorCode::SrsNotFound, &[&srid]);
    }
    Ok(DataType::Geometry { kind, srid: Some(srid) })
}

/// Whether the column is a DATETIME or TIMESTAMP of just these fractional digits.
fn is_moment(data_type: &DataType, digits: u8) -> bool {
    match data_type {
        DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp == digits,
        _ => false,
    }
}

/// A literal or CURRENT_TIMESTAMP default; an expression is left for [`finish_expressions`].
pub(crate) fn column_default(
    session: &mut SessionContext,
    def: &ColumnDef,
    default: &ast::ColumnDefault,
) -> Result<ColumnDefault, SqlError> {
    let invalid = || SqlError::new(ErrorCode::InvalidDefault, &[&def.name]);
    match default {
        ast::ColumnDefault::Now(fsp) if is_moment(&def.data_type, *fsp) => {
            Ok(ColumnDefault::CurrentTimestamp)
        }
        ast::ColumnDefault::Now(_) => Err(invalid()),
        ast::ColumnDefault::Expr(_) => Ok(ColumnDefault::Expression(String::new())),
        ast::ColumnDefault::Literal(ast::Expr::Literal(ast::Literal::Null)) => {
            match (def.nullable, &def.data_type) {
                // TEXT and BLOB keep no default value, not even NULL.
                (true, DataType::Text { .. } | DataType::Blob(_)) => Ok(ColumnDefault::None),
                (true, _) => Ok(ColumnDefault::Value(Value::Null)),
                (false, _) => Err(invalid()),
            }
        }
        ast::ColumnDefault::Literal(literal) => {
            if def.auto_increment {
                return Err(invalid());
            }
            if has_no_default(&def.data_type) {
                return error(ErrorCode::BlobCantHaveDefault, &[&def.name]);
            }
            // A literal must fit its column in every SQL mode: each conversion error is 1067.
            let bound = inia_expr::bind(literal, &mut EmptyScope, &session.env, &session.host)?;
            let mut ctx = session.context(&[], &NoSubqueries);
            ctx.strictness = Strictness::Strict;
            let value = bound.eval(&mut ctx, &[])?;
            let stored =
                inia_expr::store_value(value, &bound.ty, &def.data_type, &mut ctx, &def.name)
                    .and_then(|value| limited(value, def.limit(), &def.name, &mut ctx));
            let stored = match stored {
                Ok(stored) => stored,
                Err(cause) => {
                    note_cause(session, def, &cause);
                    return Err(invalid());
                }
            };
            let warnings = std::mem::take(&mut ctx.warnings);
            session.take_warnings(warnings);
            Ok(ColumnDefault::Value(stored))
        }
    }
}

/// Reports why a default is wrong, before error 1067: as an error in strict mode, else as the
/// warning that it would be.
fn note_cause(session: &mut SessionContext, def: &ColumnDef, cause: &SqlError) {
    if session.env.sql_mode.is_strict() {
        session.add(Level::Error, cause);
        return;
    }
    let cut = matches!(cause.code, ErrorCode::DataTooLong);
    let cause = match cut {
        true => SqlError::new(ErrorCode::WarnDataTruncated, &[&def.name, &1]),
        false => cause.clone(),
    };
    session.push_warning(&cause);
}

/// An attribute that no generated column has.
fn ungenerated(spec: &ast::ColumnDef, auto_increment: bool) -> Option<&'static str> {
    let attributes = [
        (auto_increment, "AUTO_INCREMENT"),
        (spec.on_update_now.is_some(), "ON UPDATE"),
        (spec.column_format.is_some(), "COLUMN_FORMAT"),
        (spec.storage.is_some(), "STORAGE"),
    ];
    attributes.into_iter().find_map(|(written, name)| written.then_some(name))
}

/// STORAGE and COLUMN_FORMAT as written.
fn placement(spec: &ast::ColumnDef) -> Placement {
    Placement {
        storage: match spec.storage.as_deref() {
            Some("DISK") => Some(ColumnStorage::Disk),
            Some("MEMORY") => Some(ColumnStorage::Memory),
            _ => None,
        },
        format: match spec.column_format.as_deref() {
            Some("FIXED") => Some(ColumnFormat::Fixed),
            Some("DYNAMIC") => Some(ColumnFormat::Dynamic),
            _ => None,
        },
    }
}

/// Whether columns of the type take no default but an expression.
fn has_no_default(data_type: &DataType) -> bool {
    use DataType::{Blob, Geometry, Json, Text};
    matches!(data_type, Text { .. } | Blob(_) | Json | Geometry { .. })
}

/// Names the columns of a table under construction for its own expressions.
pub(super) struct BuilderScope<'w> {
    pub(super) builder: &'w TableBuilder,
    pub(super) clause: Cow<'static, str>,
    /// The index whose key part the expression is, where that is CAST(… AS type ARRAY).
    pub(super) array: Option<String>,
}

impl<'w> BuilderScope<'w> {
    /// The names of an expression's columns.
    pub(super) fn of(
        builder: &'w TableBuilder,
        clause: impl Into<Cow<'static, str>>,
    ) -> BuilderScope<'w> {
        BuilderScope { builder, clause: clause.into(), array: None }
    }

    /// As [`BuilderScope::of`], for a key part of an index.
    fn of_part(builder: &'w TableBuilder, index: &str, part: &ast::Expr) -> BuilderScope<'w> {
        let is_array = matches!(part, ast::Expr::Cast { array: true, .. });
        let array = is_array.then(|| index.to_owned());
        BuilderScope { array, ..BuilderScope::of(builder, "functional index") }
    }
}

impl Scope for BuilderScope<'_> {
    fn array_index(&mut self) -> Option<String> {
        self.array.take()
    }

    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let Some(index) = self.builder.column(&name.name) else {
            return error(ErrorCode::UnknownColumn, &[&name.name, &self.clause]);
        };
        let def = &self.builder.columns[index].def;
        let ty = ExprType::of_column(def.data_type.clone(), def.nullable);
        let name = inia_query::catalog::quoted(&def.name).into();
        Ok(Expr { kind: ExprKind::Column { index, name }, ty })
    }
}

fn normalised(
    session: &SessionContext,
    builder: &TableBuilder,
    expr: &ast::Expr,
    owner: Owner<'_>,
) -> Result<(String, Vec<usize>), SqlError> {
    let clause = match owner {
        Owner::Generated(..) => Cow::from("generated column function"),
        Owner::Default(..) => "default value expression".into(),
        Owner::Check(name) => format!("check constraint {name} expression").into(),
        Owner::Index(_) => "functional index".into(),
    };
    rules::check_written(owner, expr)?;
    let mut scope = match owner {
        Owner::Index(index) => BuilderScope::of_part(builder, index, expr),
        _ => BuilderScope::of(builder, clause),
    };
    let bound = inia_expr::bind(expr, &mut scope, &session.env, session)?;
    let mut columns = Vec::new();
    bound.walk(&mut |node| {
        if let ExprKind::Column { index, .. } = &node.kind {
            columns.push(*index);
        }
    });
    rules::check_bound(owner, &bound, builder)?;
    let mut stored = expr.clone();
    stored.walk_mut(&mut |node| builder.spell_columns(node));
    let text = inia_parser::unparse(&stored, charset::charset_name(session.env.collation));
    let text = text.ok_or_else(|| {
        SqlError::new(ErrorCode::NotSupportedYet, &[&"this kind of stored expression"])
    })?;
    Ok((text, columns))
}

/// Spells the names of columns in defaults and generated columns as the columns are spelled now.
pub(super) fn spell_anew(session: &SessionContext, builder: &mut TableBuilder) {
    let charset = charset::charset_name(session.env.collation);
    let spelled = |text: &str, builder: &TableBuilder| {
        let mut parsed = inia_parser::parse_expr(text, inia_parser::SqlMode::empty()).ok()?;
        parsed.walk_mut(&mut |node| builder.spell_columns(node));
        inia_parser::unparse(&parsed, charset)
    };
    for at in 0..builder.columns.len() {
        let def = &builder.columns[at].def;
        let generated = def.generated.as_ref().and_then(|g| spelled(&g.expression, builder));
        let default = match &def.default {
            ColumnDefault::Expression(text) => spelled(text, builder),
            _ => None,
        };
        let def = &mut builder.columns[at].def;
        if let (Some(text), Some(generated)) = (generated, &mut def.generated) {
            generated.expression = text;
        }
        if let Some(text) = default {
            def.default = ColumnDefault::Expression(text);
        }
    }
}

/// Checks and normalises the expressions of column `name` once all columns are there.
pub(crate) fn finish_expressions(
    session: &SessionContext,
    builder: &mut TableBuilder,
    spec: &ast::ColumnDef,
) -> Result<(), SqlError> {
    let Some(index) = builder.column(&spec.name) else { return Ok(()) };
    if let Some(ast::ColumnDefault::Expr(default)) = &spec.default {
        finish_default(session, builder, index, default)?;
    }
    if let Some(generated) = &spec.generated {
        let owner = Owner::Generated(&spec.name, index);
        let (text, _) = normalised(session, builder, &generated.expr, owner)?;
        builder.columns[index].def.generated =
            Some(Generated { expression: text, stored: generated.stored });
    }
    for check in &spec.checks {
        add_check(session, builder, check, Some(index))?;
    }
    Ok(())
}

/// DEFAULT (expression).
pub(crate) fn finish_default(
    session: &SessionContext,
    builder: &mut TableBuilder,
    index: usize,
    default: &ast::Expr,
) -> Result<(), SqlError> {
    let name = builder.columns[index].def.name.clone();
    // A sequence is found whatever the current database is when a row gets its default.
    let mut default = default.clone();
    default.walk_mut(&mut |node| {
        if let ast::Expr::Function(call) = node
            && inia_expr::sequence_of(call).is_some()
            && let Some(ast::Expr::Column(sequence)) = call.args.first_mut()
            && sequence.table.is_none()
        {
            sequence.table.clone_from(&session.env.database);
        }
    });
    let (text, _) = normalised(session, builder, &default, Owner::Default(&name, index))?;
    builder.columns[index].def.default = ColumnDefault::Expression(text);
    Ok(())
}

/// Adds a CHECK constraint, maybe one of a column; errors 3820, 3813, 3818, 3822.
pub(crate) fn add_check(
    session: &SessionContext,
    builder: &mut TableBuilder,
    check: &ast::CheckDef,
    column: Option<usize>,
) -> Result<(), SqlError> {
    let name = check.name.clone().unwrap_or_else(|| {
        let taken = |name: &str| builder.checks.iter().any(|check| same_name(&check.name, name));
        let names = (1..).map(|n| format!("{}_chk_{n}", builder.name));
        names.into_iter().find(|name| !taken(name)).unwrap_or_default()
    });
    // The name of a condition is unique in its database, not only in its table.
    let elsewhere = session.db.catalog().schema(&builder.schema).is_some_and(|schema| {
        let others = schema.tables.values().filter(|table| table.def.id != builder.id);
        others.flat_map(|table| &table.def.checks).any(|other| same_name(&other.name, &name))
    });
    if elsewhere || builder.checks.iter().any(|other| same_name(&other.name, &name)) {
        return error(ErrorCode::CheckConstraintDupName, &[&name]);
    }
    if let Some(column) = column
        && !reads_only(&check.expr, &builder.columns[column].def.name)
    {
        return error(ErrorCode::ColumnCheckConstraintReferencesOtherColumn, &[&name]);
    }
    // An unknown column is error 3820 here, which takes the column's name from error 1054.
    let mut missing = None;
    let bound = normalised(session, builder, &check.expr, Owner::Check(&name));
    let (expression, columns) = bound
        .inspect_err(|error| {
            if error.code == ErrorCode::UnknownColumn {
                missing = error.message.split('\'').nth(1).map(str::to_owned);
            }
        })
        .map_err(|error| match &missing {
            // MySQL opens a table with functional keys before it looks at the condition's columns.
            Some(_) if builder.columns.iter().any(|c| c.def.name.starts_with(HIDDEN)) => error,
            Some(column) => {
                SqlError::new(ErrorCode::CheckConstraintRefersUnknownColumn, &[&name, column])
            }
            None => error,
        })?;
    if columns.iter().any(|column| builder.columns[*column].def.auto_increment) {
        return error(ErrorCode::CheckConstraintRefersAutoIncrementColumn, &[&name]);
    }
    // Conditions are kept as the session writes names, and so shown later.
    let expression = Quoting::of(session).unless_ansi().all(expression);
    builder.checks.push(CheckDef { name, expression, enforced: check.enforced });
    Ok(())
}

/// Whether an expression reads this column and no other.
fn reads_only(expr: &ast::Expr, column: &str) -> bool {
    let names = inia_query::referenced::columns_read(expr);
    !names.is_empty() && names.iter().all(|name| same_name(name, column))
}

/// The indexes that a column's own PRIMARY KEY and UNIQUE mean.
pub(crate) fn column_indexes(spec: &ast::ColumnDef) -> Vec<IndexDraft> {
    let serial = spec.ty.kind == ast::TypeKind::Serial;
    let mut out = Vec::new();
    if spec.primary_key {
        out.push(IndexKind::Primary);
    }
    if spec.unique || serial {
        out.push(IndexKind::Unique);
    }
    let part = IndexPartDraft { column: spec.name.clone(), prefix: None, descending: false };
    out.into_iter().map(|kind| plain_index(kind, None, vec![part.clone()])).collect()
}

fn plain_index(kind: IndexKind, name: Option<String>, parts: Vec<IndexPartDraft>) -> IndexDraft {
    IndexDraft {
        name,
        kind,
        parts,
        comment: String::new(),
        visible: true,
        using: None,
        origin: None,
        for_foreign_key: false,
        ngrams: false,
        element: None,
        expressions: Vec::new(),
    }
}

/// An index as defined.
pub(crate) fn index(
    session: &mut SessionContext,
    spec: &ast::IndexDef,
) -> Result<IndexDraft, SqlError> {
    let kind = match spec.kind {
        ast::IndexKind::Primary => IndexKind::Primary,
        ast::IndexKind::Unique => IndexKind::Unique,
        ast::IndexKind::Plain => IndexKind::Plain,
        ast::IndexKind::FullText => IndexKind::FullText,
        ast::IndexKind::Spatial => IndexKind::Spatial,
    };
    let mut parts = Vec::with_capacity(spec.parts.len());
    let mut expressions = Vec::new();
    for (at, part) in spec.parts.iter().enumerate() {
        let (column, prefix) = match &part.key {
            ast::KeyPartKey::Column { name, prefix } => (name.clone(), *prefix),
            ast::KeyPartKey::Expr(expr) => {
                functional(kind, expr)?;
                if part.ordered && matches!(expr, ast::Expr::Cast { array: true, .. }) {
                    let order = "explicit index order";
                    return error(ErrorCode::WrongUsage, &[&"multi-valued index", &order]);
                }
                // The part gets a hidden column in `finish_functional`, when all others are there.
                expressions.push((at, expr.clone()));
                (String::new(), None)
            }
        };
        let prefix = prefix.map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        parts.push(IndexPartDraft { column, prefix, descending: part.desc });
    }
    // An index without a name of its own has the name of its constraint.
    let name = spec.name.clone().or_else(|| spec.constraint.clone());
    let text = spec.options.comment.as_deref().unwrap_or_default();
    let shown = name.as_deref().unwrap_or("PRIMARY");
    let comment =
        comment(session, text, MAX_COLUMN_COMMENT, ErrorCode::TooLongIndexComment, shown)?;
    if let Some(name) = &name {
        if name.chars().count() > MAX_NAME {
            return error(ErrorCode::TooLongIdent, &[name]);
        }
        if name.is_empty() || name.ends_with(' ') {
            return error(ErrorCode::WrongNameForIndex, &[name]);
        }
    }
    Ok(IndexDraft {
        comment,
        visible: !spec.options.invisible,
        // USING HASH is dropped: every index here is a tree.
        using: spec.options.using.clone().filter(|using| using == "BTREE"),
        ngrams: parses_ngrams(kind, spec.options.parser.as_deref())?,
        expressions,
        ..plain_index(kind, name, parts)
    })
}

/// Whether WITH PARSER names the parser of ngrams; error 1128 for one that is not there.
fn parses_ngrams(kind: IndexKind, parser: Option<&str>) -> Result<bool, SqlError> {
    match parser {
        Some(name) if kind == IndexKind::FullText && !name.eq_ignore_ascii_case("ngram") => {
            error(ErrorCode::FunctionNotDefined, &[&name])
        }
        Some(_) => Ok(kind == IndexKind::FullText),
        None => Ok(false),
    }
}

/// Errors 3756, 3759, 3760 and 3762 of an expression as a part of an index.
fn functional(kind: IndexKind, expr: &ast::Expr) -> Result<(), SqlError> {
    match (kind, expr) {
        (IndexKind::Primary, _) => error(ErrorCode::FunctionalIndexPrimaryKey, &[]),
        (IndexKind::FullText, _) => error(ErrorCode::FulltextFunctionalIndex, &[]),
        (IndexKind::Spatial, _) => error(ErrorCode::SpatialFunctionalIndex, &[]),
        (_, ast::Expr::Column(_)) => error(ErrorCode::FunctionalIndexOnField, &[]),
        _ => Ok(()),
    }
}

/// Gives expressions of indexes their hidden columns, once all other columns are there; those of
/// indexes that are gone go.
pub(crate) fn finish_functional(
    session: &SessionContext,
    builder: &mut TableBuilder,
) -> Result<(), SqlError> {
    let used = |name: &str, indexes: &[IndexDraft]| {
        indexes.iter().flat_map(|index| &index.parts).any(|part| part.column == name)
    };
    let indexes = std::mem::take(&mut builder.indexes);
    builder.columns.retain(|column| !column.def.is_hidden() || used(&column.def.name, &indexes));
    // They are computed last, as they may read other computed columns.
    builder.columns.sort_by_key(|column| column.def.is_hidden());
    builder.indexes = indexes;
    for at in 0..builder.indexes.len() {
        let index = builder.indexes[at].name.clone();
        let index = index.unwrap_or_else(|| String::from("functional_index"));
        for (part, expr) in std::mem::take(&mut builder.indexes[at].expressions) {
            let names = (0..).map(|n| format!("{HIDDEN}{index}!{part}!{n}"));
            let free = |name: &String| builder.column(name).is_none();
            let name = names.into_iter().find(free).unwrap_or_default();
            let (column, element) = hidden_column(session, builder, &index, name.clone(), &expr)?;
            if let Some(element) = element {
                make_multi_valued(&mut builder.indexes[at], element)?;
            }
            builder.columns.push(ColumnDraft { def: column, origin: None, explicit_null: false });
            builder.indexes[at].parts[part].column = name;
        }
    }
    Ok(())
}

/// Makes an index one of the elements that a part has; error 1235 where it is one already.
fn make_multi_valued(index: &mut IndexDraft, element: DataType) -> Result<(), SqlError> {
    if index.element.is_some() {
        let what = "more than one multi-valued key part per index";
        return error(ErrorCode::NotSupportedYet, &[&what]);
    }
    index.kind = IndexKind::MultiValued { unique: index.kind == IndexKind::Unique };
    index.element = Some(element);
    Ok(())
}

/// The column that holds the values of an index's expression, and the type of their elements where
/// they are arrays; error 3757.
fn hidden_column(
    session: &SessionContext,
    builder: &TableBuilder,
    index: &str,
    name: String,
    written: &ast::Expr,
) -> Result<(ColumnDef, Option<DataType>), SqlError> {
    let (expression, _) = normalised(session, builder, written, Owner::Index(index))?;
    let mut scope = BuilderScope::of_part(builder, index, written);
    let bound = inia_expr::bind(written, &mut scope, &session.env, session)?;
    let data_type = bound.ty.data_type.clone();
    let element = bound.as_array_cast().map(|(_, element)| element.clone());
    // A text of unknown length counts as one that is too long to be indexed whole.
    const LONGEST: u32 = 16_000;
    let unfit = match &data_type {
        data_type if has_no_default(data_type) => element.is_none(),
        DataType::VarChar { chars, .. } => *chars > LONGEST,
        _ => false,
    };
    if bound.ty.is_geometry() {
        return error(ErrorCode::SpatialFunctionalIndex, &[]);
    }
    if unfit || data_type == DataType::Null {
        return error(ErrorCode::FunctionalIndexOnLob, &[]);
    }
    let column = ColumnDef {
        generated: Some(Generated { expression, stored: false }),
        invisible: true,
        ..ColumnDef::new(name, data_type, true)
    };
    Ok((column, element))
}

/// Adds a foreign key and the index it needs.
pub(crate) fn add_foreign_key(
    session: &SessionContext,
    builder: &mut TableBuilder,
    spec: &ast::ForeignKeyDef,
) -> Result<(), SqlError> {
    let references = &spec.references;
    if references.columns.len() != spec.columns.len() {
        let name = spec.constraint.as_deref().unwrap_or("foreign key without name");
        let what = "Key reference and table reference don't match";
        return error(ErrorCode::WrongFkDef, &[&name, &what]);
    }
    let ref_schema = references.table.db.clone().unwrap_or_else(|| builder.schema.clone());
    let ref_table = references.table.name.clone();
    let itself = ref_schema == builder.schema && ref_table == builder.name;
    let name = spec.constraint.clone().unwrap_or_else(|| {
        builder.last_foreign += 1;
        format!("{}_ibfk_{}", builder.name, builder.last_foreign)
    });
    let action = |action: Option<ast::ReferenceAction>| match action {
        None | Some(ast::ReferenceAction::NoAction) => ReferentialAction::NoAction,
        Some(ast::ReferenceAction::Restrict) => ReferentialAction::Restrict,
        Some(ast::ReferenceAction::Cascade) => ReferentialAction::Cascade,
        Some(ast::ReferenceAction::SetNull) => ReferentialAction::SetNull,
        Some(ast::ReferenceAction::SetDefault) => ReferentialAction::SetDefault,
    };
    let def = ForeignKeyDef {
        name,
        // The positions of columns are known when the definition is finished.
        columns: Vec::new(),
        ref_schema,
        ref_table,
        ref_columns: references.columns.clone(),
        on_delete: action(references.on_delete),
        on_update: action(references.on_update),
    };
    let draft = ForeignKeyDraft { columns: spec.columns.clone(), def, added: true };
    // A table that refers to itself may lack columns yet. Engines without transactions drop the
    // key when the definition is finished.
    if session.flag("foreign_key_checks") && !itself && builder.engine == TRANSACTIONAL {
        super::foreign::check_columns(builder, &draft)?;
        check_parent(session, references, &draft.def)?;
    }
    let part =
        |name: &String| IndexPartDraft { column: name.clone(), prefix: None, descending: false };
    let parts: Vec<IndexPartDraft> = spec.columns.iter().map(part).collect();
    let index_name = spec.constraint.clone().or_else(|| spec.index_name.clone());
    // `drop_needless_indexes` removes this index where another one serves the key.
    let mut index = plain_index(IndexKind::Plain, index_name, parts);
    index.for_foreign_key = true;
    builder.indexes.push(index);
    builder.foreign_keys.push(draft);
    Ok(())
}

/// Errors 1824 and 3734 for a parent that is another table.
fn check_parent(
    session: &SessionContext,
    references: &ast::References,
    ForeignKeyDef { name: constraint, ref_schema: schema, ref_table: table, .. }: &ForeignKeyDef,
) -> Result<(), SqlError> {
    let parent = session.db.catalog().table(schema, table);
    let Some(parent) = parent.filter(|parent| parent.def.is_transactional()) else {
        return error(ErrorCode::FkCannotOpenParent, &[&table]);
    };
    if parent.def.partitioning.is_some() {
        return error(ErrorCode::ForeignKeyOnPartitioned, &[]);
    }
    for column in &references.columns {
        if parent.def.column(column).is_none() {
            return error(ErrorCode::FkNoColumnParent, &[column, &constraint, &table]);
        }
    }
    Ok(())
}
