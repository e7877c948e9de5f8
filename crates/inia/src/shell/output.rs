//! Where a result's rows go, and in which format.

use super::export::{Csv, Json};
use super::markup::{Language, Markup};
#[cfg(feature = "parquet")]
use super::parquet::ParquetWriter;
use super::print::{FIRST_ROWS, Layout, Printer, Style};
use inia_base::value::Value;
use inia_wire::column::ColumnDef;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The names of the formats on the command line.
pub(crate) const FORMATS: [&str; 9] =
    ["table", "vertical", "tabs", "csv", "json", "markdown", "html", "xml", "parquet"];

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printing {
    /// For people.
    Text(Layout),
    /// HTML, XML or Markdown.
    Markup(Language),
    /// RFC 4180.
    Csv,
    /// An array of objects.
    Json,
    /// With types, into a file.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Printing {
    /// The format of this name; `file` says whether there is a file to write to.
    pub(super) fn parse(name: &str, file: bool) -> Result<Printing, String> {
        match name {
            "table" => Ok(Printing::Text(Layout::Table)),
            "vertical" => Ok(Printing::Text(Layout::Vertical)),
            "html" => Ok(Printing::Markup(Language::Html)),
            "xml" => Ok(Printing::Markup(Language::Xml)),
            "markdown" => Ok(Printing::Markup(Language::Markdown)),
            "csv" => Ok(Printing::Csv),
            "json" => Ok(Printing::Json),
            "parquet" if !file => Err("--format parquet needs --out FILE".to_owned()),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Printing::Parquet),
            #[cfg(not(feature = "parquet"))]
            "parquet" => {
                Err("this program was built without Parquet (cargo feature `parquet`)".to_owned())
            }
            _ => Ok(Printing::Text(Layout::Tabs)),
        }
    }
}

/// One result on its way.
pub(super) enum Output<'a> {
    /// For people.
    Text(Printer<'a>),
    /// HTML, XML or Markdown.
    Markup(Markup<'a>),
    /// RFC 4180.
    Csv(Csv<'a>),
    /// An array of objects.
    Json(Json<'a>),
    /// With types.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<'a>>),
}

impl<'a> Output<'a> {
    /// Begins a result of a statement. `style` is that of text.
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        printing: Printing,
        style: Style,
        columns: &'a [ColumnDef],
        statement: &[u8],
    ) -> io::Result<Output<'a>> {
        Ok(match printing {
            Printing::Text(layout) => {
                Output::Text(Printer::new(out, Style { layout, ..style }, columns)?)
            }
            Printing::Markup(language) => {
                let head = (statement, style.names);
                Output::Markup(Markup::new(out, language, columns, head)?)
            }
            Printing::Csv => Output::Csv(Csv::new(out, columns)?),
            Printing::Json => Output::Json(Json::new(out, columns)?),
            #[cfg(feature = "parquet")]
            Printing::Parquet => Output::Parquet(Box::new(ParquetWriter::new(out, columns)?)),
        })
    }

    /// Writes a row, now or with others.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        match self {
            Output::Text(printer) => printer.row(row),
            Output::Markup(markup) => markup.row(row),
            Output::Csv(csv) => csv.row(row),
            Output::Json(json) => json.row(row),
            #[cfg(feature = "parquet")]
            Output::Parquet(parquet) => parquet.row(row),
        }
    }

    /// Whether so many rows are more than one looks through.
    pub(super) fn is_long(&self, rows: u64) -> bool {
        matches!(self, Output::Text(_)) && rows >= FIRST_ROWS as u64
    }

    /// Ends the result.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Output::Text(printer) => printer.finish().map(drop),
            Output::Markup(markup) => markup.finish(),
            Output::Csv(_) => Ok(()),
            Output::Json(json) => json.finish(),
            #[cfg(feature = "parquet")]
            Output::Parquet(parquet) => parquet.finish(),
        }
    }
}

/// The file that one result goes to. It is removed where the result did not get there whole.
pub(super) struct ResultFile {
    path: String,
    file: BufWriter<File>,
    begun: bool,
}

impl ResultFile {
    /// Makes the file.
    pub(super) fn create(path: &str) -> Result<ResultFile, String> {
        let file = File::create(path).map_err(|error| format!("cannot write {path}: {error}"))?;
        Ok(ResultFile { path: path.to_owned(), file: BufWriter::new(file), begun: false })
    }

    /// Takes the result that begins; a second one is refused.
    pub(super) fn begin(&mut self) -> io::Result<&mut (dyn Write + Send)> {
        if std::mem::replace(&mut self.begun, true) {
            return Err(io::Error::other("a file takes the rows of one statement, not of two"));
        }
        Ok(&mut self.file)
    }

    /// Closes the file.
    pub(super) fn end(mut self, whole: bool) -> Result<(), String> {
        let path = &self.path;
        let flushed = self.file.flush().map_err(|error| format!("cannot write {path}: {error}"));
        let empty = match self.begun {
            true => Ok(()),
            false if whole => Err("no statement has rows: nothing is written".to_owned()),
            false => Ok(()),
        };
        let is_file = self.file.get_ref().metadata().is_ok_and(|metadata| metadata.is_file());
        if is_file && (!whole || flushed.is_err() || empty.is_err()) {
            // A file that lacks rows could be taken for a whole one.
            let _ = std::fs::remove_file(path);
        }
        flushed.and(empty)
    }
}
