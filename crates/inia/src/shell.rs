//! `inia sql`: statements in, tables out, over the protocol.
//!
//! It works as `mysql` does: statements end at a semicolon (or what DELIMITER says) outside quotes
//! and comments, `\G` ends one and prints its rows as lines, and the shell has commands of its own
//! ([`commands`]). On a terminal lines are edited, completed and remembered. Rows are printed as
//! they are received; Ctrl-C ends the running statement, at the prompt it clears the line.

mod commands;
mod complete;
mod export;
mod interrupt;
mod markup;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod print;
mod run;
mod screen;
mod settings;
mod split;
mod status;
mod target;
#[cfg(test)]
mod tests;
mod tls;

pub(crate) use self::settings::{Settings, command, with_password_option};

use self::commands::Command;
use self::complete::{Helping, Names};
use self::interrupt::Interrupts;
use self::output::{Printing, ResultFile};
use self::print::{Layout, Style};
use self::screen::{Screen, terminal_width};
use self::split::{Ending, Splitter};
use self::target::Target;
use crate::login_url::Connection;
use inia_base::value::Value;
use inia_wire::client::ClientError;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Config, Editor};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// The usual prompt.
const PROMPT: &str = "inia> ";
/// Files may run files to this depth.
const MAX_SOURCES: u32 = 32;
/// So many columns are read for completion.
const MAX_NAMES: u32 = 20_000;

/// Runs the shell. Exit code 1 says that a statement failed, as in `mysql`.
pub(crate) fn run(settings: &Settings) -> Result<ExitCode, String> {
    let target = match settings.target() {
        Ok(target) => Arc::new(target),
        Err(error) => return refused(error),
    };
    let connection = match target.connect() {
        Ok(connection) => connection,
        Err(error) => return refused(error),
    };
    let statements = settings.value("execute");
    let typed = statements.is_none() && io::stdin().is_terminal();
    let interactive = typed && io::stdout().is_terminal() && !settings.has("batch");
    let mut shell = Shell::new(settings, target.clone(), interactive)?;
    shell.begin(connection);
    let ended = match statements {
        Some(text) => shell.run_lines(text.as_bytes()),
        None if interactive => shell.run_terminal(),
        None => shell.run_lines(io::stdin().lock()),
    };
    if let Some(file) = shell.file.take() {
        file.end(ended.is_ok() && !shell.failed)?;
    }
    drop(shell);
    if let Some(target) = Arc::into_inner(target) {
        target.close()?;
    }
    match ended {
        Ok(()) | Err(ShellError::Quit) => Ok(ExitCode::SUCCESS),
        // The reader has closed the pipe, as with `| head`.
        Err(ShellError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(ShellError::Output(error)) => Err(format!("cannot write: {error}")),
        Err(ShellError::Input(text)) => Err(text),
        Err(ShellError::Failed) => Ok(ExitCode::FAILURE),
        Err(ShellError::Client(error)) => refused(error_line(&error, None)),
    }
}

/// Prints why the shell does not go on.
fn refused(error: String) -> Result<ExitCode, String> {
    if error.starts_with("ERROR ") {
        eprintln!("{error}");
        return Ok(ExitCode::FAILURE);
    }
    Err(error)
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
    /// A statement has failed, and its error is printed.
    Failed,
    /// Somebody asked for the end.
    Quit,
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

/// An error as `mysql` prints it: with its line where statements are not typed.
fn error_line(error: &ClientError, line: Option<u64>) -> String {
    let (head, message) = match error {
        ClientError::Server(error) => {
            (format!("ERROR {} ({})", error.code, error.state), error.message.clone())
        }
        ClientError::Io(_) => {
            let text = "Lost connection to MySQL server during query";
            ("ERROR 2013 (HY000)".to_owned(), text.to_owned())
        }
        other => ("ERROR 2000 (HY000)".to_owned(), other.to_string()),
    };
    match line {
        Some(line) => format!("{head} at line {line}: {message}"),
        None => format!("{head}: {message}"),
    }
}

/// The shell.
///
/// Wide: its settings, which its own commands change, beside the connection.
struct Shell {
    target: Arc<Target>,
    /// None after the connection was lost.
    connection: Option<Connection>,
    version: String,
    database: Option<String>,
    printing: Printing,
    style: Style,
    screen: Screen,
    interrupts: Interrupts,
    /// Takes the rows instead of standard output.
    file: Option<ResultFile>,
    delimiter: Vec<u8>,
    prompt: String,
    verbose: u8,
    statements: u64,
    sources: u32,
    interactive: bool,
    force: bool,
    show_warnings: bool,
    /// Names for completion are to be read.
    rehash: bool,
    /// Names are read when the database changes.
    auto_rehash: bool,
    /// Some statement has failed.
    failed: bool,
}

impl Shell {
    fn new(settings: &Settings, target: Arc<Target>, interactive: bool) -> Result<Shell, String> {
        let on_terminal = io::stdout().is_terminal() && !settings.has("batch");
        let quiet = settings.silent > 0;
        let layout = match () {
            () if settings.has("vertical") => Layout::Vertical,
            () if settings.has("table") || settings.verbose > 2 => Layout::Table,
            () if on_terminal && !quiet => Layout::Table,
            () => Layout::Tabs,
        };
        let file = settings.value("out");
        let marked = [("html", "html"), ("xml", "xml")];
        let marked = marked.into_iter().find(|(flag, _)| settings.has(flag));
        let printing = match settings.value("format").or(marked.map(|(_, name)| name)) {
            Some(name) => Printing::parse(name, file.is_some())?,
            None => Printing::Text(layout),
        };
        let style = Style {
            names: !settings.has("skip-column-names") && settings.silent < 2,
            raw: settings.has("raw"),
            hex: settings.has("binary-as-hex")
                || (on_terminal && !settings.has("skip-binary-as-hex")),
            most_columns: settings
                .has("auto-vertical-output")
                .then(|| terminal_width().unwrap_or(80)),
            ..Style::new(layout)
        };
        let mut screen = Screen::default();
        if let Some(program) = settings.value("pager").filter(|_| interactive) {
            screen.set_pager(program);
        }
        if let Some(path) = settings.value("tee") {
            screen.set_tee(path)?;
        }
        Ok(Shell {
            interrupts: Interrupts::watch(&target, interactive)?,
            target,
            connection: None,
            version: String::new(),
            database: None,
            printing,
            style,
            screen,
            file: file.map(ResultFile::create).transpose()?,
            delimiter: settings.value("delimiter").unwrap_or(";").as_bytes().to_vec(),
            prompt: settings.value("prompt").unwrap_or(PROMPT).to_owned(),
            verbose: settings.verbose.max(if interactive && !quiet { 3 } else { 0 }),
            statements: 0,
            sources: 0,
            interactive,
            force: settings.has("force"),
            show_warnings: settings.has("show-warnings"),
            rehash: true,
            auto_rehash: !settings.has("no-auto-rehash"),
            failed: false,
        })
    }

    /// Takes a new connection.
    fn begin(&mut self, connection: Connection) {
        let greeting = connection.greeting();
        self.interrupts.set_connection(greeting.connection_id);
        self.version.clone_from(&greeting.version);
        self.connection = Some(connection);
        if self.interactive {
            self.note_database();
        }
    }

    /// The connection; a new one where it was lost.
    fn connection(&mut self) -> Result<&mut Connection, ShellError> {
        if self.connection.is_none() {
            if !self.interactive {
                return Err(ShellError::Failed);
            }
            println!("No connection. Trying to reconnect...");
            let made = self.target.connect_to(self.database.clone().as_deref());
            let connection = made.map_err(|error| {
                println!("{error}");
                ShellError::Failed
            })?;
            let id = connection.greeting().connection_id;
            self.begin(connection);
            let database = self.database.as_deref().unwrap_or("*** NONE ***");
            println!("Connection id:    {id}\nCurrent database: {database}\n");
        }
        self.connection.as_mut().ok_or(ShellError::Failed)
    }

    /// Asks which database is the default one.
    fn note_database(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        let Ok(rows) = connection.rows("SELECT DATABASE()") else { return };
        self.database = match rows.first().and_then(|row| row.first()) {
            Some(Value::Text(name)) => Some(name.clone()),
            _ => None,
        };
    }

    /// Runs the lines of a text; its last statement needs no semicolon.
    fn run_lines(&mut self, mut lines: impl BufRead) -> Result<(), ShellError> {
        let mut splitter = Splitter::with_delimiter(&self.delimiter);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            if read.map_err(|error| ShellError::Input(error.to_string()))? == 0 {
                break;
            }
            self.run_pieces(&mut splitter, &line)?;
        }
        match splitter.rest() {
            Some(piece) => self.run_piece(&piece),
            None => Ok(()),
        }
    }

    /// Runs what a line completes. What ends statements is the same in files and around them.
    fn run_pieces(&mut self, splitter: &mut Splitter, line: &[u8]) -> Result<(), ShellError> {
        let pieces = splitter.feed(line);
        if self.delimiter != splitter.delimiter() {
            self.delimiter = splitter.delimiter().to_vec();
        }
        pieces.iter().try_for_each(|piece| self.run_piece(piece))?;
        splitter.set_delimiter(&self.delimiter);
        Ok(())
    }

    /// `source FILE`.
    fn run_file(&mut self, path: &str) -> Result<(), ShellError> {
        let file = File::open(path).map_err(|error| {
            let code = error.raw_os_error().unwrap_or(0);
            ShellError::Input(format!("Failed to open file '{path}', error: {code}"))
        })?;
        if self.sources == MAX_SOURCES {
            return Err(ShellError::Input(format!("'{path}' is run too deeply")));
        }
        self.sources += 1;
        let ended = self.run_lines(BufReader::new(file));
        self.sources -= 1;
        ended
    }

    fn run_terminal(&mut self) -> Result<(), ShellError> {
        if self.verbose > 0 {
            let id = self.connection()?.greeting().connection_id;
            println!("Connected to {} (connection {id}).", self.version);
            println!("Statements end with ; or \\G. Type help for help, quit to leave.\n");
        }
        let no_terminal = |error| ShellError::Input(format!("no terminal: {error}"));
        let config = Config::builder().auto_add_history(false).max_history_size(10_000);
        let config = config.map_err(no_terminal)?.build();
        let editor = Editor::<Helping, DefaultHistory>::with_config(config);
        let mut editor = editor.map_err(no_terminal)?;
        editor.set_helper(Some(Helping { names: Names::usual() }));
        let history = history_file();
        if let Some(path) = &history {
            let _ = editor.load_history(path);
        }
        let ended = self.run_typed(&mut editor);
        if let Some(path) = &history {
            let _ = editor.save_history(path);
        }
        match ended {
            Err(ShellError::Quit) => Ok(()),
            ended => ended,
        }
    }

    fn run_typed(
        &mut self,
        editor: &mut Editor<Helping, DefaultHistory>,
    ) -> Result<(), ShellError> {
        let mut splitter = Splitter::with_delimiter(&self.delimiter);
        loop {
            if std::mem::take(&mut self.rehash) && self.auto_rehash {
                let names = self.read_names();
                if let Some(helping) = editor.helper_mut() {
                    helping.names = names;
                }
            }
            let prompt = match splitter.is_inside() {
                true => format!("{:>1$}> ", format!("{}", splitter.open_mark()), 4),
                false => self.prompt(),
            };
            match editor.readline(&prompt) {
                Ok(line) => {
                    // A password stays out of the history.
                    if !line.trim().is_empty() && !names_password(&line) {
                        let _ = editor.add_history_entry(line.as_str());
                    }
                    self.run_pieces(&mut splitter, format!("{line}\n").as_bytes())?;
                }
                Err(ReadlineError::Interrupted) => splitter.clear(),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Runs a command of the shell.
    fn run_command(&mut self, command: &Command) -> Result<(), ShellError> {
        match command {
            Command::Quit => return Err(ShellError::Quit),
            Command::Help(topic) if topic.is_empty() => self.say(&commands::help())?,
            Command::Help(topic) => {
                let topic = topic.trim_matches('\'').replace('\'', "\'\'");
                self.run_statement(format!("HELP '{topic}'").as_bytes(), Ending::Plain, 1)?;
            }
            Command::Status => {
                let text = self.status()?;
                self.say(&text)?;
            }
            Command::Use(name) => self.use_database(name)?,
            Command::Source(path) => self.run_file(path)?,
            Command::Print(text) => self.say(&format!("{text}\n"))?,
            Command::Connect(database) => {
                self.connection = None;
                if !database.is_empty() {
                    self.database = Some(database.trim().to_owned());
                }
                self.connection()?;
            }
            Command::Charset(name) => {
                let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
                self.connection()?.query(&format!("SET NAMES {name}"))?;
                self.note("Charset changed")?;
            }
            Command::Reset => {
                self.connection()?.reset()?;
                self.note_database();
            }
            Command::System(text) => {
                let _ = std::process::Command::new("sh").args(["-c", text]).status()?;
            }
            Command::Warnings(on) => {
                self.show_warnings = *on;
                self.note(if *on { "Show warnings enabled." } else { "Show warnings disabled." })?;
            }
            Command::Rehash => (self.rehash, self.auto_rehash) = (true, true),
            Command::Prompt(text) => {
                let text = if text.is_empty() { PROMPT } else { text };
                self.prompt = text.to_owned();
                self.note(&format!("PROMPT set to '{text}'"))?;
            }
            Command::Pager(_) | Command::NoPager | Command::Tee(_) | Command::NoTee => {
                self.set_output(command)?;
            }
        }
        Ok(())
    }

    /// `pager`, `nopager`, `tee` and `notee`.
    fn set_output(&mut self, command: &Command) -> Result<(), ShellError> {
        let said = match command {
            Command::Pager(name) => match self.screen.set_pager(name) {
                Some(name) => format!("PAGER set to '{name}'"),
                None => "Default pager wasn't set, using stdout.".to_owned(),
            },
            Command::NoPager => {
                self.screen.clear_pager();
                "PAGER set to stdout".to_owned()
            }
            Command::Tee(path) => {
                self.screen.set_tee(path).map_err(ShellError::Input)?;
                format!("Logging to file '{path}'")
            }
            _ => {
                self.screen.clear_tee();
                "Outfile disabled.".to_owned()
            }
        };
        self.note(&said)
    }

    /// Says what a command has done, on a terminal.
    fn note(&self, text: &str) -> Result<(), ShellError> {
        if self.interactive { self.say(&format!("{text}\n")) } else { Ok(()) }
    }

    fn use_database(&mut self, name: &str) -> Result<(), ShellError> {
        let done = self.connection()?.use_database(name);
        done?;
        self.note_database();
        self.rehash = true;
        self.note("Database changed")
    }

    /// The names that the server has.
    fn read_names(&mut self) -> Names {
        let mut names = Names::usual();
        let Some(connection) = &mut self.connection else { return names };
        let texts = |connection: &mut Connection, sql: &str| -> Vec<String> {
            let rows = connection.rows(sql).unwrap_or_default().into_iter().flatten();
            rows.filter_map(|value| value.as_text().map(str::to_owned)).collect()
        };
        names.keywords.extend(texts(
            connection,
            "SELECT word FROM information_schema.keywords WHERE reserved = 1",
        ));
        names.schemas.extend(texts(connection, "SHOW DATABASES"));
        if self.database.is_some() {
            names.tables.extend(texts(connection, "SHOW TABLES"));
            let sql = format!(
                "SELECT CONCAT(table_name, '.', column_name) FROM information_schema.columns \
                 WHERE table_schema = DATABASE() LIMIT {MAX_NAMES}"
            );
            names.columns.extend(texts(connection, &sql));
        }
        names
    }
}

/// The number that the bytes of a BIT value are.
fn bits(value: &Value) -> u64 {
    let bytes = value.as_bytes().unwrap_or_default();
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Whether a line may hold a password.
fn names_password(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.contains("identified") || line.contains("password")
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".inia_history"))
}
