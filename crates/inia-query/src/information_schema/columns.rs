//! COLUMNS.

use super::tables::visible;
use super::{Information, Rows, listed, or_null, row, yes_no};
use crate::account::Privileges;
use crate::catalog::{ColumnDef, ColumnDefault, IndexKind, TableDef, stored_text};
use crate::computed::definitions;
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_base::value::Value;
use inia_expr::ExprType;
use inia_expr::charset;
use inia_expr::column_type::type_text;
use std::borrow::Cow;

/// What the type alone says: DATA_TYPE and the six columns after it, then character set,
/// collation and COLUMN_TYPE.
struct TypeFacts {
    name: String,
    chars: Option<u64>,
    bytes: Option<u64>,
    precision: Option<u64>,
    scale: Option<u64>,
    fsp: Option<u64>,
    collation: Option<Collation>,
    srid: Option<u32>,
    text: String,
}

fn facts(data_type: &DataType, width: Option<u8>, zerofill: bool) -> TypeFacts {
    let text = type_text(data_type, width, zerofill);
    let name = text.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let mut facts = TypeFacts {
        name,
        chars: None,
        bytes: None,
        precision: None,
        scale: None,
        fsp: None,
        collation: None,
        srid: None,
        text,
    };
    match data_type {
        DataType::Int { width, unsigned } => {
            // Precision counts digits: an unsigned BIGINT has one more than a signed one.
            facts.precision = Some(match width {
                IntWidth::Tiny => 3,
                IntWidth::Small => 5,
                IntWidth::Medium => 7,
                IntWidth::Int => 10,
                IntWidth::Big => 19 + u64::from(*unsigned),
            });
            facts.scale = Some(0);
        }
        DataType::Bit(bits) => facts.precision = Some(u64::from(*bits)),
        DataType::Decimal { precision, scale, .. } => {
            (facts.precision, facts.scale) = (Some((*precision).into()), Some((*scale).into()));
        }
        DataType::Float { decimals, .. } => {
            // 12 and, for DOUBLE, 22 are MySQL's display widths where none was declared.
            facts.precision = Some(width.map_or(12, u64::from));
            facts.scale = decimals.map(u64::from);
        }
        DataType::Double { decimals, .. } => {
            facts.precision = Some(width.map_or(22, u64::from));
            facts.scale = decimals.map(u64::from);
        }
        DataType::Char { chars, collation } | DataType::VarChar { chars, collation } => {
            facts.set_text(u64::from(*chars), *collation);
        }
        DataType::Text { size, collation } => {
            let shortest = u64::from(collation.charset().min_bytes());
            (facts.chars, facts.bytes) = (Some(lob(*size) / shortest), Some(lob(*size)));
            facts.collation = Some(*collation);
        }
        DataType::Binary(bytes) | DataType::VarBinary(bytes) => {
            (facts.chars, facts.bytes) = (Some((*bytes).into()), Some((*bytes).into()));
        }
        DataType::Blob(size) => (facts.chars, facts.bytes) = (Some(lob(*size)), Some(lob(*size))),
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => {
            facts.fsp = Some((*fsp).into());
        }
        DataType::Enum { members, collation } => {
            let longest = members.iter().map(|m| m.chars().count()).max().unwrap_or(0);
            facts.set_text(longest as u64, *collation);
        }
        DataType::Set { members, collation } => {
            // The longest value of SET has all members, with commas between them.
            let chars: usize = members.iter().map(|m| m.chars().count()).sum();
            facts.set_text((chars + members.len().saturating_sub(1)) as u64, *collation);
        }
        DataType::Null | DataType::Date | DataType::Year => {}
        DataType::Json => {}
        DataType::Geometry { srid, .. } => facts.srid = *srid,
    }
    facts
}

/// DATA_TYPE and the columns after it up to COLLATION_NAME, of what is no column.
pub(super) fn type_cells(ty: &ExprType) -> Vec<Value> {
    let found = facts(&ty.data_type, None, ty.zerofill);
    row![
        found.name,
        or_null(found.chars),
        or_null(found.bytes),
        or_null(found.precision),
        or_null(found.scale),
        or_null(found.fsp),
        or_null(found.collation.map(charset::charset_name)),
        or_null(found.collation.map(charset::name)),
    ]
}

/// Whether MySQL describes a table of information_schema by the bytes of its texts.
fn is_plain(table: &str) -> bool {
    const VIEWS: [&str; 3] = ["APPLICABLE_ROLES", "COLLATIONS", "ENABLED_ROLES"];
    crate::computed::is_no_view(table) && !VIEWS.contains(&table) && !table.starts_with("ROLE_")
}

impl TypeFacts {
    /// Bytes in place of characters, and no digits.
    fn make_plain(&mut self) {
        if self.collation.is_some() && self.chars.is_some_and(|chars| chars < lob(LobSize::Long)) {
            self.bytes = self.chars;
            self.chars = self.chars.map(|chars| chars / 3);
        }
        (self.precision, self.scale, self.fsp) = (None, None, None);
    }

    fn set_text(&mut self, chars: u64, collation: Collation) {
        self.chars = Some(chars);
        self.bytes = Some(chars * u64::from(charset::max_bytes(collation)));
        self.collation = Some(collation);
    }
}

fn lob(size: LobSize) -> u64 {
    match size {
        LobSize::Tiny => 255,
        LobSize::Normal => 65_535,
        LobSize::Medium => 16_777_215,
        LobSize::Long => 4_294_967_295,
    }
}

/// COLUMN_KEY: a unique index stands for a missing primary key.
fn column_key(def: &TableDef, column: usize) -> &'static str {
    let stands_in = |index: &&crate::catalog::IndexDef| {
        let whole = |part: &crate::catalog::IndexPart| {
            part.prefix.is_none() && !def.columns[part.column].nullable
        };
        index.kind == IndexKind::Unique && index.parts.iter().all(whole)
    };
    let primary = def.primary().or_else(|| def.indexes.iter().find(stands_in));
    if primary.is_some_and(|index| index.parts.iter().any(|part| part.column == column)) {
        return "PRI";
    }
    let mut key = "";
    for index in &def.indexes {
        if index.parts.first().is_none_or(|part| part.column != column) {
            continue;
        }
        if index.kind == IndexKind::Unique && index.parts.len() == 1 {
            return "UNI";
        }
        key = "MUL";
    }
    key
}

fn default_text(column: &ColumnDef, temporary: bool) -> Option<String> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::Absent | ColumnDefault::Value(Value::Null) => None,
        ColumnDefault::Value(value) => Some(match (value, &column.data_type) {
            (Value::UInt(bits), DataType::Bit(_)) => format!("b'{bits:b}'"),
            (Value::Bytes(bytes), DataType::Binary(_) | DataType::VarBinary(_)) => {
                hexadecimal(bytes)
            }
            _ => stored_text(value, column),
        }),
        ColumnDefault::CurrentTimestamp => Some(current_timestamp(&column.data_type)),
        ColumnDefault::Expression(text) if temporary => Some(format!("({text})")),
        ColumnDefault::Expression(text) => Some(super::escaped(text).into_owned()),
    }
}

/// A default of bytes as MySQL shows it: up to its first zero byte; an empty one is empty.
fn hexadecimal(bytes: &[u8]) -> String {
    let shown = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut out = String::from(if bytes.is_empty() { "" } else { "0x" });
    shown.iter().for_each(|byte| out.push_str(&format!("{byte:02X}")));
    out
}

fn current_timestamp(data_type: &DataType) -> String {
    match data_type {
        DataType::DateTime { fsp: fsp @ 1.. } | DataType::Timestamp { fsp: fsp @ 1.. } => {
            format!("CURRENT_TIMESTAMP({fsp})")
        }
        _ => String::from("CURRENT_TIMESTAMP"),
    }
}

/// EXTRA; MySQL shows less of temporary tables.
fn extra(column: &ColumnDef, temporary: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    if column.auto_increment {
        words.push(String::from("auto_increment"));
    }
    let computed =
        matches!(column.default, ColumnDefault::CurrentTimestamp | ColumnDefault::Expression(_));
    if computed && column.generated.is_none() && !temporary {
        words.push(String::from("DEFAULT_GENERATED"));
    }
    if column.on_update_now {
        words.push(format!("on update {}", current_timestamp(&column.data_type)));
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" };
        words.push(kind.to_owned());
    }
    if column.invisible && !column.is_hidden() {
        words.push(String::from("INVISIBLE"));
    }
    if temporary && words.is_empty() {
        words.push(String::from("NULL"));
    }
    words.join(" ")
}

fn privileges(held: Privileges) -> String {
    let all = [
        (Privileges::SELECT, "select"),
        (Privileges::INSERT, "insert"),
        (Privileges::UPDATE, "update"),
        (Privileges::REFERENCES, "references"),
    ];
    let held = all.iter().filter(|(one, _)| held.has(*one)).map(|(_, name)| *name);
    held.collect::<Vec<_>>().join(",")
}

/// What an account may do with a column that is computed: reading needs no privilege in
/// `information_schema` and in what it sees of the others.
fn privileges_on_computed(
    info: &Information<'_>,
    (schema, table, column): (&str, &str, &str),
) -> String {
    let held = info.access.on_column(schema, table, column);
    match schema == "information_schema" || held == Privileges::NONE {
        true => String::from("select"),
        false => privileges(held),
    }
}

/// Everything else that a row of COLUMNS says.
struct Rest<'r> {
    schema: &'r str,
    table: &'r str,
    column: &'r str,
    position: usize,
    default: Option<String>,
    nullable: bool,
    key: &'r str,
    extra: Option<String>,
    privileges: String,
    comment: &'r str,
    generation: Cow<'r, str>,
}

fn push(rows: &mut Rows, facts: TypeFacts, rest: Rest<'_>) {
    let charset = facts.collation.map(charset::charset_name);
    rows.push(row![
        "def",
        rest.schema,
        rest.table,
        rest.column,
        rest.position as u64 + 1,
        or_null(rest.default),
        yes_no(rest.nullable),
        facts.name,
        or_null(facts.chars),
        or_null(facts.bytes),
        or_null(facts.precision),
        or_null(facts.scale),
        or_null(facts.fsp),
        or_null(charset),
        or_null(facts.collation.map(charset::name)),
        facts.text,
        rest.key,
        or_null(rest.extra),
        rest.privileges,
        rest.comment,
        &*rest.generation,
        or_null(facts.srid.map(u64::from)),
    ]);
}

/// COLUMNS_EXTENSIONS: no column has attributes for an engine.
pub(super) fn columns_extensions(info: &Information<'_>, rows: &mut Rows) {
    let mut all = Rows::new();
    columns(info, &mut all);
    for mut row in all {
        row.truncate(4);
        row.extend([Value::Null, Value::Null]);
        rows.push(row);
    }
}

pub(super) fn columns(info: &Information<'_>, rows: &mut Rows) {
    for table in listed(info) {
        let def = table.definition();
        let (schema, name) = (def.schema.as_str(), def.name.as_str());
        let plain = schema == "information_schema" && is_plain(name);
        for (position, column) in def.columns.iter().enumerate() {
            let held = privileges_on_computed(info, (schema, name, &column.name));
            let mut rest = stored((schema, name), position, column, held);
            (rest.key, rest.extra) = (column_key(&def, position), Some(extra(column, false)));
            let mut facts = facts(&column.data_type, column.display_width, false);
            if plain {
                facts.make_plain();
            }
            if schema == "information_schema" {
                let declared = definitions::of(schema, name);
                let shown = declared.and_then(|declared| declared.shown_default(&column.name));
                rest.default = shown.map(str::to_owned);
            }
            push(rows, facts, rest);
        }
    }
    for table in visible(info) {
        let def = &table.def;
        // Hidden columns of functional indexes are left out before positions are counted.
        let hidden = info.focus.hidden;
        let shown =
            def.columns.iter().enumerate().filter(|(_, column)| hidden || !column.is_hidden());
        for (position, (index, column)) in shown.enumerate() {
            let own = (def.schema.as_str(), def.name.as_str());
            // A session sees its own temporary tables without any privilege.
            if !def.temporary && !info.access.sees_column(own.0, own.1, &column.name) {
                continue;
            }
            let held = info.access.on_column(own.0, own.1, &column.name);
            let mut rest = stored(own, position, column, privileges(held));
            rest.key = column_key(def, index);
            rest.extra = Some(extra(column, def.temporary));
            rest.default = default_text(column, def.temporary);
            push(rows, facts(&column.data_type, column.display_width, column.zerofill), rest);
        }
        if hidden {
            for (at, name) in engine_columns(def).iter().enumerate() {
                let column = ColumnDef::new(*name, DataType::Null, false);
                let held = privileges(info.access.on_table(&def.schema, &def.name));
                let own = (def.schema.as_str(), def.name.as_str());
                let mut rest = stored(own, def.columns.len() + at, &column, held);
                rest.extra = Some(String::new());
                let mut facts = facts(&column.data_type, None, false);
                (facts.name, facts.text) = (String::new(), String::new());
                push(rows, facts, rest);
            }
        }
    }
    for view in super::views::visible(info).filter(|view| super::views::is_whole(info, view)) {
        let def = &view.def;
        for (position, column) in def.columns.iter().enumerate() {
            let own = (def.schema.as_str(), def.name.as_str());
            if !info.access.sees_column(own.0, own.1, &column.name) {
                continue;
            }
            let held = info.access.on_column(own.0, own.1, &column.name);
            let mut rest = stored(own, position, column, privileges(held));
            rest.extra = Some(extra(column, false));
            push(rows, facts(&column.data_type, column.display_width, column.zerofill), rest);
        }
    }
}

/// The columns that MySQL's engine for transactions adds to a table.
pub(super) fn engine_columns(def: &TableDef) -> &'static [&'static str] {
    match (def.is_transactional(), def.clustered_index()) {
        (false, _) => &[],
        (true, None) => &["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"],
        (true, Some(_)) => &["DB_TRX_ID", "DB_ROLL_PTR"],
    }
}

/// What the definition of a stored table's or view's column gives.
fn stored<'r>(
    (schema, table): (&'r str, &'r str),
    position: usize,
    column: &'r ColumnDef,
    privileges: String,
) -> Rest<'r> {
    Rest {
        schema,
        table,
        column: &column.name,
        position,
        default: default_text(column, false),
        nullable: column.nullable,
        key: "",
        extra: None,
        privileges,
        comment: &column.comment,
        generation: match &column.generated {
            Some(generated) => super::escaped(&generated.expression),
            None => Cow::Borrowed(""),
        },
    }
}
