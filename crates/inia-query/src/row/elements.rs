//! Entries of multi-valued indexes: one for each element of a row's array.
//!
//! They are those of other secondary indexes ([`super::index`]), where an element stands in place
//! of the array. A row without an array (NULL) has one entry with NULL there, a row with an empty
//! one has none.
//!
//! Example: the index `(a, (CAST(j AS UNSIGNED ARRAY)))` has for the row `id 7, a 1, j [5, 3, 5]`
//! the entries `1 3 7` and `1 5 7`, and as a unique index `1 3: 7` and `1 5: 7`.

use super::cell::Cell;
use super::index::IndexCodec;
use crate::error::Damaged;
use crate::table_def::TableDef;
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::json::{self, Json};
use std::collections::BTreeMap;

/// Builds and takes apart the entries of one multi-valued index.
pub struct ElementsCodec {
    codec: IndexCodec,
    columns: Vec<usize>,
    /// The column that is an array.
    array: usize,
    element: DataType,
}

impl ElementsCodec {
    /// The codec of `def.indexes[index]`, where that is a multi-valued index.
    pub fn of(def: &TableDef, index: usize) -> Option<ElementsCodec> {
        let codec = IndexCodec::new(def, index);
        let index = &def.indexes[index];
        let (_, array) = def.array_part(index)?;
        let columns = index.parts.iter().map(|part| part.column).collect();
        Some(ElementsCodec { codec, columns, array, element: index.element.clone()? })
    }

    /// The columns that entries are made of, in the index's order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The entries of a row.
    pub fn entries<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        primary: &[u8],
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Damaged> {
        let mut entries = BTreeMap::new();
        let mut add = |element: Cell<'_>| {
            let (mut key, mut value) = (Vec::new(), Vec::new());
            let own = |column| if column == self.array { Ok(element) } else { cell(column) };
            self.codec.put_entry(own, primary, &mut key, &mut value)?;
            entries.insert(key, value);
            Ok(())
        };
        match cell(self.array)? {
            Cell::Null => add(Cell::Null)?,
            Cell::Text(text) => {
                let Json::Array(items) = json::stored(text) else { return Err(Damaged) };
                for item in items {
                    let value = json::element_value(item, &self.element).ok_or(Damaged)?;
                    add(element_cell(&value))?;
                }
            }
            _ => return Err(Damaged),
        }
        Ok(entries)
    }

    /// The clustered key that an entry leads to.
    pub fn primary_key<'e>(&self, key: &'e [u8], value: &'e [u8]) -> Result<&'e [u8], Damaged> {
        self.codec.primary_key(key, value)
    }
}

/// The key part of an element.
fn element_cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null | Value::Double(_) | Value::Json(_) => Cell::Null,
        Value::Int(number) => Cell::Int(*number),
        Value::UInt(number) => Cell::UInt(*number),
        Value::Decimal(number) => Cell::Decimal(*number),
        Value::Text(text) => Cell::Bytes(text.as_bytes()),
        Value::Bytes(bytes) => Cell::Bytes(bytes),
        Value::Date(date) => Cell::Date(*date),
        Value::Time(time) => Cell::Time(*time),
        Value::DateTime(moment) => Cell::DateTime(*moment),
    }
}
