//! Log lines on standard error or in a file: time, level, text.

use inia_base::io::FILE_MODE;
use inia_sql::{Database, ErrorLine};
use parking_lot::Mutex;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where lines go beside standard error.
struct Places {
    /// The file that takes them in place of standard error.
    file: Option<(PathBuf, File)>,
    /// Keeps the last of them for queries.
    database: Weak<Database>,
}

static PLACES: Mutex<Places> = Mutex::new(Places { file: None, database: Weak::new() });

/// Sends lines to a file from now on, or back to standard error.
pub fn set_file(path: Option<&Path>) -> io::Result<()> {
    let file = path.map(|path| open(path).map(|file| (path.to_owned(), file))).transpose()?;
    PLACES.lock().file = file;
    Ok(())
}

/// Has a database keep the last lines, too.
pub fn keep_in(database: &Arc<Database>) {
    PLACES.lock().database = Arc::downgrade(database);
}

/// Closes the file, and opens what now has its name; the old one stays where that fails.
pub fn reopen() -> io::Result<()> {
    let mut places = PLACES.lock();
    if let Some((path, file)) = &mut places.file {
        *file = open(path)?;
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)
}

/// Something worth knowing.
pub fn note(text: fmt::Arguments<'_>) {
    line("Note", text);
}

/// Something that needs attention.
pub fn warning(text: fmt::Arguments<'_>) {
    line("Warning", text);
}

/// Something that went wrong.
pub fn error(text: fmt::Arguments<'_>) {
    line("Error", text);
}

fn line(level: &'static str, text: fmt::Arguments<'_>) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(since.as_secs() / 86_400);
    let second = since.as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let said = format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z [{level}] {text}",
        since.subsec_millis()
    );
    let database = {
        let mut places = PLACES.lock();
        match &mut places.file {
            // There is no other place to say that the file cannot be written.
            Some((_, file)) if (&*file).write_all(format!("{said}\n").as_bytes()).is_ok() => {}
            _ => eprintln!("{said}"),
        }
        places.database.upgrade()
    };
    if let Some(database) = database {
        let at = since.as_micros() as i64;
        database.observer.note_error(ErrorLine { at, level, text: text.to_string() });
    }
}

/// The calendar date of a day counted from 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years here begin in March, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
