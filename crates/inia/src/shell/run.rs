//! Running one statement: its results are printed while they are received.

use super::interrupt::Interrupts;
use super::output::{Output, Printing};
use super::print::Layout;
use super::split::{Ending, Piece, Task};
use super::{Shell, ShellError, error_line};
use crate::login_url::Connection;
use inia_base::column::Completion;
use inia_base::value::Value;
use inia_wire::client::{ClientError, Head, Step};
use inia_wire::column::ColumnDef;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

impl Shell {
    /// Runs a statement or a command, and prints what it comes to. An error, or Ctrl-C, ends a
    /// batch, not a session.
    pub(super) fn run_piece(&mut self, piece: &Piece) -> Result<(), ShellError> {
        let ended = match &piece.task {
            Task::Command(command) => self.run_command(command),
            Task::Statement(sql, ending) => self.run_statement(sql, *ending, piece.line),
        };
        match ended {
            Err(ShellError::Client(error)) => self.report(&error, piece.line),
            Err(ShellError::Input(text)) if self.interactive => self.say(&format!("{text}\n")),
            Err(ShellError::Failed) if self.interactive => Ok(()),
            ended => ended,
        }
    }

    /// Prints an error; it ends a batch.
    fn report(&mut self, error: &ClientError, line: u64) -> Result<(), ShellError> {
        self.failed = true;
        if matches!(error, ClientError::Io(_) | ClientError::Wire(_)) {
            self.connection = None;
        }
        let text = error_line(error, (!self.interactive).then_some(line));
        if self.interactive {
            return self.say(&format!("{text}\n\n"));
        }
        eprintln!("{text}");
        let goes_on = self.force && self.connection.is_some();
        if goes_on { Ok(()) } else { Err(ShellError::Failed) }
    }

    /// Runs one statement and prints its results.
    pub(super) fn run_statement(
        &mut self,
        sql: &[u8],
        ending: Ending,
        line: u64,
    ) -> Result<(), ShellError> {
        self.statements += 1;
        self.connection()?;
        if self.verbose > 0 && !self.interactive {
            let rule = "-".repeat(14);
            self.say(&format!("{rule}\n{}\n{rule}\n\n", String::from_utf8_lossy(sql)))?;
        }
        self.interrupts.begin();
        let ended = self.send_and_print(sql, ending);
        let interrupted = self.interrupts.end();
        if interrupted && !self.interactive {
            if let Err(ShellError::Client(error)) = &ended {
                self.report(error, line)?;
            }
            return Err(ShellError::Input("interrupted".to_owned()));
        }
        ended
    }

    fn send_and_print(&mut self, sql: &[u8], ending: Ending) -> Result<(), ShellError> {
        let started = Instant::now();
        self.connection()?.start_query_bytes(sql)?;
        let mut warnings = 0;
        while let Some(head) = self.connection()?.next_head()? {
            let (rows, end) = match head {
                Head::LocalFile(name) => {
                    self.send_local_file(sql, &name)?;
                    continue;
                }
                Head::Done(end) => (None, end),
                Head::Rows(columns) => {
                    let (rows, end) = self.print_result(sql, ending, &columns)?;
                    (Some(rows), end)
                }
            };
            warnings += end.warnings;
            if self.verbose > 1 {
                let elapsed = (self.verbose > 2).then(|| started.elapsed());
                self.say(&summary(rows, &end, elapsed))?;
            }
        }
        self.follow(sql);
        if self.show_warnings && warnings > 0 {
            self.print_warnings()?;
        }
        Ok(())
    }

    /// Sends the file that a LOAD DATA LOCAL names. A server can ask for any file, and gets one
    /// that the statement names only.
    fn send_local_file(&mut self, sql: &[u8], name: &[u8]) -> Result<(), ShellError> {
        let path = Path::new(OsStr::from_bytes(name));
        let is_named = !name.is_empty() && sql.windows(name.len()).any(|text| text == name);
        let opened = match is_named {
            true => File::open(path).map_err(|error| error.to_string()),
            false => Err("the statement does not name it".to_owned()),
        };
        let connection = self.connection()?;
        let sent = match opened {
            Ok(mut file) => connection.send_file(&mut file)?.map_err(|error| error.to_string()),
            Err(error) => {
                let _ = connection.send_file(&mut io::empty())?;
                Err(error)
            }
        };
        let Err(error) = sent else { return Ok(()) };
        // The server has loaded what came, and says so.
        while let Some(head) = connection.next_head()? {
            if let Head::Rows(columns) = head {
                drain(connection, &columns)?;
            }
        }
        Err(ShellError::Input(format!("cannot send the file '{}': {error}", path.display())))
    }

    /// A statement may have changed the default database, or names.
    fn follow(&mut self, sql: &[u8]) {
        let starts =
            |word: &[u8]| sql.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word));
        if !self.interactive {
            return;
        }
        if starts(b"USE") || starts(b"DROP DATABASE") || starts(b"DROP SCHEMA") {
            self.note_database();
        }
        self.rehash |=
            [&b"CREATE"[..], b"DROP", b"ALTER", b"RENAME", b"USE"].into_iter().any(starts);
    }

    /// Prints the rows of a result; how many there were, and how they ended.
    fn print_result(
        &mut self,
        sql: &[u8],
        ending: Ending,
        columns: &[ColumnDef],
    ) -> Result<(u64, Completion), ShellError> {
        let printing = match (ending, self.printing) {
            (Ending::Vertical, Printing::Text(_)) => Printing::Text(Layout::Vertical),
            (_, printing) => printing,
        };
        let (style, interrupts) = (self.style, self.interrupts.clone());
        let target = self.target.clone();
        let connection = self.connection.as_mut().ok_or(ShellError::Failed)?;
        if let Some(file) = &mut self.file {
            let out = file.begin()?;
            let output = Output::new(out, printing, style, columns, sql)?;
            return print_rows(connection, columns, output, &interrupts);
        }
        let mut page = self.screen.open(self.interactive)?;
        let output = Output::new(&mut page, printing, style, columns, sql)?;
        let printed = print_rows(connection, columns, output, &interrupts);
        let left = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        match printed {
            // The pager was left: the statement ends, and the shell goes on.
            Err(ShellError::Output(error)) if left(&error) && page.is_paged() => {
                interrupts.kill(&target);
                let ended = drain(connection, columns);
                page.close()?;
                ended
            }
            Ok(done) => {
                page.close()?;
                Ok(done)
            }
            Err(error) => {
                // The error counts, not what else cannot be written.
                let _ = page.close();
                Err(error)
            }
        }
    }

    /// Prints the warnings of the last statement.
    fn print_warnings(&mut self) -> Result<(), ShellError> {
        let rows = self.connection()?.rows("SHOW WARNINGS")?;
        let text =
            |value: Option<&Value>| value.and_then(Value::as_text).unwrap_or_default().to_owned();
        let lines = rows.iter().map(|row| {
            format!("{} (Code {}): {}\n", text(row.first()), text(row.get(1)), text(row.get(2)))
        });
        self.say(&lines.collect::<String>())
    }
}

/// Prints rows as they are received.
fn print_rows(
    connection: &mut Connection,
    columns: &[ColumnDef],
    mut output: Output<'_>,
    interrupts: &Interrupts,
) -> Result<(u64, Completion), ShellError> {
    let mut count = 0;
    loop {
        match connection.next_row(columns) {
            // Of a long result, what is under way when somebody interrupts it is not shown.
            Ok(Step::Row(_)) if output.is_long(count) && interrupts.is_interrupted() => {}
            Ok(Step::Row(row)) => {
                output.row(&row)?;
                count += 1;
            }
            Ok(Step::End(end)) => {
                output.finish()?;
                return Ok((count, end));
            }
            Err(error) => {
                output.finish()?;
                return Err(error.into());
            }
        }
    }
}

/// Reads the rest of a result that nobody wants any more.
fn drain(
    connection: &mut Connection,
    columns: &[ColumnDef],
) -> Result<(u64, Completion), ShellError> {
    let mut count = 0;
    loop {
        match connection.next_row(columns)? {
            Step::Row(_) => count += 1,
            Step::End(end) => return Ok((count, end)),
        }
    }
}

/// How a statement ended; `rows` is how many it had, if it was one with rows.
fn summary(rows: Option<u64>, end: &Completion, elapsed: Option<Duration>) -> String {
    let count = |n: u64| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
    let what = match rows {
        None => format!("Query OK, {} affected", count(end.affected_rows)),
        Some(0) => "Empty set".to_owned(),
        Some(rows) => format!("{} in set", count(rows)),
    };
    let warnings = match end.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let time = elapsed.map(|time| format!(" ({:.3} sec)", time.as_secs_f64())).unwrap_or_default();
    let info = match end.info.as_str() {
        "" => String::new(),
        info => format!("{info}\n"),
    };
    format!("{what}{warnings}{time}\n{info}\n")
}
