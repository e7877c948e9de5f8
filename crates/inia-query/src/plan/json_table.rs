//! JSON_TABLE as a member of FROM: what it finds in a document, and in which slots.

use inia_base::datatype::DataType;
use inia_expr::Expr;
use inia_expr::json::Json;
use inia_expr::json::path::JsonPath;

/// JSON_TABLE in FROM.
#[derive(Debug)]
pub struct JsonTableSource {
    /// The name it goes by.
    pub(crate) alias: String,
    /// First slot.
    pub(crate) base: usize,
    /// The document; it may read slots filled before.
    pub(crate) document: Expr,
    /// Its rows.
    pub(crate) rows: JsonRows,
    /// Conditions on its columns.
    pub(crate) filter: Vec<Expr>,
}

/// A path of which every match is a row, or several where paths are nested in it.
#[derive(Clone, Debug)]
pub(crate) struct JsonRows {
    /// The path.
    pub(crate) path: JsonPath,
    /// Columns that each match fills.
    pub(crate) columns: Vec<JsonColumn>,
    /// Paths inside each match: their rows follow one another.
    pub(crate) nested: Vec<JsonRows>,
}

/// A column of JSON_TABLE.
#[derive(Clone, Debug)]
pub(crate) struct JsonColumn {
    /// Its place among all columns.
    pub(crate) at: usize,
    /// Its name.
    pub(crate) name: String,
    /// What it shows of a match.
    pub(crate) shows: JsonShows,
}

/// What a column shows of a match.
#[derive(Clone, Debug)]
pub(crate) enum JsonShows {
    /// FOR ORDINALITY.
    Number,
    /// EXISTS PATH.
    Exists(JsonPath, DataType),
    /// PATH.
    Value {
        /// Where.
        path: JsonPath,
        /// Its type.
        data_type: DataType,
        /// What it is where there is nothing.
        on_empty: JsonResponse,
        /// What it is where the value does not fit.
        on_error: JsonResponse,
    },
}

/// An answer to what is missing or wrong.
#[derive(Clone, Debug)]
pub(crate) enum JsonResponse {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// DEFAULT.
    Default(Json),
}

impl JsonRows {
    /// How many columns it has, those of nested paths included.
    pub(crate) fn width(&self) -> usize {
        self.columns.len() + self.nested.iter().map(JsonRows::width).sum::<usize>()
    }
}
