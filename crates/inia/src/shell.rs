//! `inia sql`: statements in, tables out, over the protocol.
//!
//! Statements end at a semicolon (or what DELIMITER says) outside quotes and comments; `\G` ends
//! one and prints its rows as lines. On a terminal lines are edited and remembered. Rows are
//! printed as they are received; Ctrl-C ends the running statement, at the prompt it clears the
//! line.

mod export;
mod interrupt;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod print;
mod split;

use crate::login_url::{Connection, LoginUrl};
use inia_base::column::Completion;
use inia_base::value::Value;
use inia_wire::client::{ClientError, Head, Step};
use inia_wire::column::ColumnDef;
use interrupt::Interrupts;
use output::{Output, Printing, ResultFile};
use print::Layout;
use rustyline::error::ReadlineError;
use split::{Ending, Piece, Splitter};
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) use output::FORMATS;

/// What the shell runs, and how it shows results.
pub(crate) struct Options<'a> {
    /// Instead of standard input.
    pub(crate) statements: Option<&'a str>,
    /// One of [`FORMATS`]; else what suits the output.
    pub(crate) format: Option<&'a str>,
    /// The file that the one result goes to.
    pub(crate) out: Option<&'a str>,
}

/// Runs the shell.
pub(crate) fn run(url: &str, options: &Options<'_>) -> Result<(), String> {
    let Options { statements, format, out } = *options;
    let target = LoginUrl::parse(url)?;
    let connection = target.connect()?;
    let interactive =
        statements.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let usual = if interactive { Layout::Table } else { Layout::Tabs };
    let printing = match format {
        Some(name) => Printing::parse(name, out.is_some())?,
        None => Printing::Text(usual),
    };
    let id = connection.greeting().connection_id;
    let interrupts = Interrupts::watch(target, id, interactive)?;
    let file = out.map(ResultFile::create).transpose()?;
    let mut shell = Shell { connection, printing, interactive, interrupts, file };
    let ended = match statements {
        Some(text) => shell.run_text(text),
        None if interactive => shell.run_terminal(),
        None => shell.run_lines(io::stdin().lock()),
    };
    if let Some(file) = shell.file {
        file.end(ended.is_ok())?;
    }
    match ended {
        Ok(()) => Ok(()),
        // The reader has closed the pipe, as with `| head`.
        Err(ShellError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(ShellError::Output(error)) => Err(format!("cannot write: {error}")),
        Err(ShellError::Input(text)) => Err(text),
        Err(ShellError::Client(error)) => Err(error.to_string()),
    }
}

/// Why the shell ends before its input does.
#[derive(Debug)]
enum ShellError {
    /// The server reports an error, or is gone.
    Client(ClientError),
    /// What is printed cannot be written.
    Output(io::Error),
    /// Statements cannot be read, or somebody interrupted them.
    Input(String),
}

impl From<ClientError> for ShellError {
    fn from(error: ClientError) -> ShellError {
        ShellError::Client(error)
    }
}

impl From<io::Error> for ShellError {
    fn from(error: io::Error) -> ShellError {
        ShellError::Output(error)
    }
}

struct Shell {
    connection: Connection,
    printing: Printing,
    interactive: bool,
    interrupts: Interrupts,
    /// Takes the rows instead of standard output.
    file: Option<ResultFile>,
}

impl Shell {
    /// Runs a text whole; its last statement needs no semicolon.
    fn run_text(&mut self, text: &str) -> Result<(), ShellError> {
        self.run_lines(text.as_bytes())
    }

    fn run_lines(&mut self, mut lines: impl BufRead) -> Result<(), ShellError> {
        let mut splitter = Splitter::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            if read.map_err(|error| ShellError::Input(error.to_string()))? == 0 {
                break;
            }
            for piece in splitter.feed(&line) {
                self.run_piece(&piece)?;
            }
        }
        match splitter.rest() {
            Some(piece) => self.run_piece(&piece),
            None => Ok(()),
        }
    }

    fn run_terminal(&mut self) -> Result<(), ShellError> {
        let greeting = self.connection.greeting();
        println!("Connected to {} (connection {}).", greeting.version, greeting.connection_id);
        println!("Statements end with ; or \\G. Type quit to leave.\n");
        let mut editor = rustyline::DefaultEditor::new()
            .map_err(|error| ShellError::Input(format!("no terminal: {error}")))?;
        let history = history_file();
        if let Some(path) = &history {
            let _ = editor.load_history(path);
        }
        let mut splitter = Splitter::default();
        loop {
            let prompt = if splitter.is_inside() { "   -> " } else { "inia> " };
            match editor.readline(prompt) {
                Ok(line) => {
                    if !line.trim().is_empty() {
                        let _ = editor.add_history_entry(line.as_str());
                    }
                    if !splitter.is_inside() && is_quit(&line) {
                        break;
                    }
                    for piece in splitter.feed(format!("{line}\n").as_bytes()) {
                        self.run_piece(&piece)?;
                    }
                }
                Err(ReadlineError::Interrupted) => splitter = Splitter::default(),
                Err(_) => break,
            }
        }
        if let Some(path) = &history {
            let _ = editor.save_history(path);
        }
        Ok(())
    }

    /// Runs one statement and prints its results. A server's error, or Ctrl-C, ends a batch, not a
    /// session.
    fn run_piece(&mut self, piece: &Piece) -> Result<(), ShellError> {
        self.interrupts.begin();
        let ended = self.run_statement(piece, Instant::now());
        let interrupted = self.interrupts.end();
        match ended {
            Err(ShellError::Client(ClientError::Server(error))) if self.interactive => {
                println!("{error}\n");
                Ok(())
            }
            Ok(()) if interrupted && !self.interactive => {
                Err(ShellError::Input("interrupted".to_owned()))
            }
            ended => ended,
        }
    }

    fn run_statement(&mut self, piece: &Piece, started: Instant) -> Result<(), ShellError> {
        let mut out = BufWriter::new(io::stdout());
        self.connection.start_query_bytes(&piece.sql)?;
        while let Some(head) = self.connection.next_head()? {
            let (rows, end) = match head {
                Head::Done(end) => (None, end),
                Head::Rows(columns) => {
                    let (rows, end) = self.print_rows(piece.ending, &columns, &mut out)?;
                    (Some(rows), end)
                }
            };
            if self.interactive {
                summary(&mut out, rows, &end, started.elapsed())?;
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Prints rows as they are received; how many there were, and how they ended.
    fn print_rows(
        &mut self,
        ending: Ending,
        columns: &[ColumnDef],
        out: &mut (dyn Write + Send),
    ) -> Result<(u64, Completion), ShellError> {
        let printing = match (ending, self.printing) {
            (Ending::Vertical, Printing::Text(_)) => Printing::Text(Layout::Vertical),
            (_, printing) => printing,
        };
        let out = match &mut self.file {
            Some(file) => file.begin()?,
            None => out,
        };
        let mut output = Output::new(out, printing, columns)?;
        let mut count = 0;
        loop {
            match self.connection.next_row(columns) {
                // Of a long result, what is under way when somebody interrupts it is not shown.
                Ok(Step::Row(_)) if output.is_long(count) && self.interrupts.is_interrupted() => {}
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
}

/// The number that the bytes of a BIT value are.
fn bits(value: &Value) -> u64 {
    let bytes = value.as_bytes().unwrap_or_default();
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Prints how a statement ended; `rows` is how many it had, if it was one with rows.
fn summary(
    out: &mut dyn Write,
    rows: Option<u64>,
    end: &Completion,
    elapsed: Duration,
) -> io::Result<()> {
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
    writeln!(out, "{what}{warnings} ({:.3} s)", elapsed.as_secs_f64())?;
    if !end.info.is_empty() {
        writeln!(out, "{}", end.info)?;
    }
    writeln!(out)
}

fn is_quit(line: &str) -> bool {
    let word = line.trim().trim_end_matches(';').to_ascii_lowercase();
    matches!(word.as_str(), "quit" | "exit" | "\\q")
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".inia_history"))
}

#[cfg(test)]
mod tests;
