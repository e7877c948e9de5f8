//! Tablespaces. All tables are in one file, so that tablespaces have no sizes.

use super::{Rows, or_null, row};
use crate::catalog::{DICTIONARY_SPACE, SYSTEM_SPACE, TEMPORARY_SPACE, TablespaceDef};
use crate::information::Information;
use inia_base::value::Value;

const PAGE: u64 = 16_384;
const BLOCK: u64 = 4096;
const EXTENT: u64 = 1 << 20;
/// The flags that InnoDB has for tablespaces of many tables and for compressed pages of 8 KB.
const SHARED: u64 = 18_432;
const TEMPORARY: u64 = 4096;
const SERVER: &str = "8.0.31";

/// A tablespace as InnoDB sees it.
struct Space {
    id: u64,
    name: String,
    file: String,
    flag: u64,
    row_format: &'static str,
    zip_page: u64,
    sort: &'static str,
    state: &'static str,
    autoextend: u64,
    attribute: Option<String>,
}

impl Space {
    fn fixed(id: u64, name: &str, file: &str, (flag, row_format, sort): Fixed) -> Space {
        Space {
            id,
            name: name.to_owned(),
            file: file.to_owned(),
            flag,
            row_format,
            zip_page: 0,
            sort,
            state: "normal",
            autoextend: 0,
            attribute: None,
        }
    }

    fn defined(def: &TablespaceDef) -> Space {
        let kind = match (def.undo, def.block_size) {
            (true, _) => (0, "Undo", "Undo"),
            (_, 0 | PAGE) => (SHARED, "Any", "General"),
            // The flags have the size of the pages in steps of a power of two, from 512 bytes on.
            (_, size) => {
                let steps = u64::from((size / 512).trailing_zeros());
                (SHARED + 33 + steps * 2, "Compressed", "General")
            }
        };
        let state = match (def.undo, def.active) {
            (true, true) => "active",
            (true, false) => "empty",
            _ => "normal",
        };
        Space {
            zip_page: if def.block_size == PAGE { 0 } else { def.block_size },
            state,
            autoextend: def.autoextend,
            attribute: def.engine_attribute.clone(),
            ..Space::fixed(def.id.into(), &def.name, &def.file, kind)
        }
    }

    /// The file's path as FILES has it.
    fn path(&self) -> String {
        match self.file.starts_with(['/', '.']) {
            true => self.file.clone(),
            false => format!("./{}", self.file),
        }
    }
}

/// Flags, row format and sort.
type Fixed = (u64, &'static str, &'static str);

fn system() -> Space {
    Space::fixed(0, SYSTEM_SPACE, "ibdata1", (SHARED, "Compact or Redundant", "System"))
}

fn dictionary() -> Space {
    Space::fixed(4_294_967_294, DICTIONARY_SPACE, "./mysql.ibd", (SHARED, "Any", "General"))
}

fn temporary() -> Space {
    let kind = (TEMPORARY, "Compact or Redundant", "System");
    Space::fixed(4_294_967_293, TEMPORARY_SPACE, "./ibtmp1", kind)
}

fn defined(info: &Information<'_>) -> impl Iterator<Item = Space> {
    info.db.catalog().tablespaces().into_iter().map(|def| Space::defined(&def))
}

pub(super) fn tablespaces(info: &Information<'_>, rows: &mut Rows) {
    let all = [dictionary(), temporary()].into_iter().chain(defined(info));
    rows.extend(all.map(|space| {
        row![
            space.id,
            space.name,
            space.flag,
            space.row_format,
            PAGE,
            space.zip_page,
            space.sort,
            BLOCK,
            0_u64,
            0_u64,
            space.autoextend,
            SERVER,
            1_u64,
            "N",
            space.state,
        ]
    }));
}

pub(super) fn brief(info: &Information<'_>, rows: &mut Rows) {
    let all = std::iter::once(system()).chain(defined(info));
    let bytes = |number: u64| number.to_string().into_bytes();
    rows.extend(all.map(|space| {
        let sort = if space.sort == "Undo" { "Single" } else { space.sort };
        row![bytes(space.id), space.name, space.file, bytes(space.flag), sort]
    }));
}

pub(super) fn datafiles(info: &Information<'_>, rows: &mut Rows) {
    let all = std::iter::once(system()).chain(defined(info));
    rows.extend(all.map(|space| row![space.id.to_string().into_bytes(), space.file]));
}

pub(super) fn files(info: &Information<'_>, rows: &mut Rows) {
    /// Columns between AUTOEXTEND_SIZE and DATA_FREE, which are NULL.
    const UNKNOWN: usize = 12;
    let all = [dictionary(), system(), temporary()].into_iter().chain(defined(info));
    rows.extend(all.map(|space| {
        let kind = match (space.sort, space.flag) {
            ("Undo", _) => "UNDO LOG",
            (_, TEMPORARY) => "TEMPORARY",
            _ => "TABLESPACE",
        };
        let autoextend = if space.autoextend == 0 { EXTENT } else { space.autoextend };
        let mut row = row![space.id, space.path(), kind, space.name, ""];
        row.extend((0..4).map(|_| Value::Null));
        row.push("InnoDB".into());
        row.extend((0..3).map(|_| Value::Null));
        row.extend(row![0_u64, 0_u64, EXTENT, 0_u64]);
        row.push(Value::Null);
        row.push(autoextend.into());
        row.extend((0..UNKNOWN).map(|_| Value::Null));
        row.push(0_u64.into());
        row.extend((0..4).map(|_| Value::Null));
        row.push("NORMAL".into());
        row.push(Value::Null);
        row
    }));
}

pub(super) fn extensions(info: &Information<'_>, rows: &mut Rows) {
    let all = [dictionary(), system(), temporary()].into_iter().chain(defined(info));
    rows.extend(all.map(|space| row![space.name, or_null(space.attribute.map(Value::Json))]));
}
