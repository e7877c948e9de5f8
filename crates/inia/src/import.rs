//! `inia load FILE TABLE`: rows of a file into a table.
//!
//! The file is read twice where the table does not exist: once for the type that each column needs,
//! then for the rows. Rows go in by INSERT in strict mode, many a statement and some thousands a
//! transaction. Where a statement is refused, its rows are tried in halves, until the rows that
//! cannot be stored stand alone:
//!
//! ```text
//! rows 1–4 refused ─┬─ 1–2 stored
//!                   └─ 3–4 refused ─┬─ 3 stored
//!                                   └─ 4 rejected, with the server's error
//! ```

mod columns;
mod delimited;
mod destination;
mod infer;
mod loader;
#[cfg(feature = "parquet")]
mod parquet;
mod report;
mod row;
mod table;
#[cfg(test)]
mod tests;

use clap::{Arg, ArgAction, ArgMatches, Command};
use destination::Destination;
use loader::Loader;
use report::Report;
use row::Source;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use columns::distinct_names;

/// The exit code where rows were rejected and all others stored.
const SOME_REJECTED: u8 = 3;

/// Rows of one transaction by default.
const BATCH: &str = "10000";

/// The command's arguments.
pub(crate) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("load")
        .about("Load a CSV or Parquet file into a table, which is made if it does not exist")
        .after_help(
            "Exit code 0: all rows are stored; 3: some rows were rejected, and all others are \
             stored; 1: the load failed.",
        )
        .arg(Arg::new("file").value_name("FILE").required(true))
        .arg(Arg::new("table").value_name("TABLE").required(true).help("[DATABASE.]TABLE"))
        .arg(
            option("url", "URL", "mysql://user:password@host:port/database, or inia:DIRECTORY")
                .default_value("mysql://root@127.0.0.1:3306/"),
        )
        .arg(option("delimiter", "CHARACTER", "Between fields; found out unless given"))
        .arg(option(
            "null",
            "TEXT",
            "What stands for NULL, without quotes [default: nothing, or \\N]",
        ))
        .arg(
            Arg::new("no-header")
                .long("no-header")
                .action(ArgAction::SetTrue)
                .help("The first line is a row; fields go to the table's columns in order"),
        )
        .arg(option("primary-key", "COLUMNS", "Primary key of a table that is made"))
        .arg(option("rejects", "FILE", "Write rows that cannot be stored to this file"))
        .arg(option("batch", "ROWS", "Rows of a transaction").default_value(BATCH))
}

/// Loads the file.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let file = text("file").unwrap_or_default();
    let name = table::TableName::parse(text("table").unwrap_or_default());
    let batch: usize = text("batch").unwrap_or(BATCH).parse().unwrap_or(0);
    if batch == 0 {
        return Err("--batch must be a number greater than 0".to_owned());
    }
    let header = !matches.get_flag("no-header");
    let reading = Reading { header, delimiter: text("delimiter"), null: text("null") };
    let mut source = open(Path::new(file), &reading)?;
    let mut destination = Destination::open(text("url").unwrap_or_default())?;
    let name = destination.settle(name)?;
    let (table, made) = match destination.table(&name)? {
        Some(table) => (table, false),
        None => {
            let key = text("primary-key");
            let create = source.definition(&name, key)?;
            destination.run(create.as_bytes()).map_err(|refusal| refusal.to_string())?;
            let table = destination.table(&name)?;
            (table.ok_or_else(|| format!("{name} is not there after it was made"))?, true)
        }
    };
    let places = table.places(source.columns(), header)?;
    let mut report = Report::new(text("rejects"), source.as_ref())?;
    let mut loader = Loader::new(destination, table, places, batch);
    let ended = loader.load(source.as_mut(), &mut report);
    report.finish(&name, made, loader.stored())?;
    ended?;
    Ok(match report.rejected() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(SOME_REJECTED),
    })
}

/// How a delimited file is read.
struct Reading<'a> {
    /// The first line names the columns.
    header: bool,
    /// None where it is to be found out.
    delimiter: Option<&'a str>,
    /// What stands for NULL.
    null: Option<&'a str>,
}

fn open(path: &Path, reading: &Reading<'_>) -> Result<Box<dyn Source>, String> {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    if extension.is_some_and(|extension| extension == "parquet") {
        return open_parquet(path);
    }
    Ok(Box::new(delimited::Delimited::open(path, reading)?))
}

#[cfg(feature = "parquet")]
fn open_parquet(path: &Path) -> Result<Box<dyn Source>, String> {
    Ok(Box::new(parquet::ParquetFile::open(path)?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(path: &Path) -> Result<Box<dyn Source>, String> {
    let path = path.display();
    Err(format!("{path}: this program was built without Parquet (cargo feature `parquet`)"))
}
