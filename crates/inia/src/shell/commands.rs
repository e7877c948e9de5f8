//! The shell's own commands, by their words and letters, as `mysql` has them.

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// What commands there are; or the server's help on a topic.
    Help(String),
    /// Connects anew, to a database if one is named.
    Connect(String),
    /// Changes the character set.
    Charset(String),
    /// Results go through a program; without a name the last or usual one.
    Pager(String),
    /// They no longer do.
    NoPager,
    /// What is printed is appended to a file, too.
    Tee(String),
    /// It no longer is.
    NoTee,
    /// Shows what has been typed of a statement.
    Print(String),
    /// Changes the prompt; without a text to the usual one.
    Prompt(String),
    /// Ends the shell.
    Quit,
    /// Reads the names for completion anew.
    Rehash,
    /// Resets the session.
    Reset,
    /// Runs a file.
    Source(String),
    /// Shows the connection.
    Status,
    /// Runs a command of the system.
    System(String),
    /// Changes the default database.
    Use(String),
    /// Warnings are shown after each statement, or no longer.
    Warnings(bool),
}

/// What `help` prints: word, letter, description.
const HELP: [(&str, &str, &str); 20] = [
    ("?", "\\?", "Synonym for `help'."),
    ("charset", "\\C", "Switch to another character set."),
    ("clear", "\\c", "Clear the current input statement."),
    ("connect", "\\r", "Reconnect to the server. Optional argument: a database."),
    ("delimiter", "\\d", "Set statement delimiter."),
    ("ego", "\\G", "Send statement to the server, display result vertically."),
    ("exit", "\\q", "Exit the shell. Same as quit."),
    ("go", "\\g", "Send statement to the server."),
    ("help", "\\h", "Display this help; with a topic, the server's."),
    ("nopager", "\\n", "Print to standard output."),
    ("notee", "\\t", "Don't write into outfile."),
    ("nowarning", "\\w", "Don't show warnings after every statement."),
    ("pager", "\\P", "Print results via a program: pager less -S."),
    ("print", "\\p", "Print current statement."),
    ("prompt", "\\R", "Change the prompt."),
    ("rehash", "\\#", "Read names for completion anew."),
    ("source", "\\.", "Execute an SQL script file. Takes a file name as an argument."),
    ("status", "\\s", "Get status information from the server."),
    ("system", "\\!", "Execute a system shell command."),
    ("tee", "\\T", "Append everything that is printed to a file."),
];
const MORE_HELP: [(&str, &str, &str); 3] = [
    ("use", "\\u", "Use another database. Takes database name as argument."),
    ("warnings", "\\W", "Show warnings after every statement."),
    ("resetconnection", "\\x", "Clean session context."),
];

/// The text of `help`.
pub(super) fn help() -> String {
    let mut text = String::from("List of all commands:\n");
    for (word, letter, what) in HELP.into_iter().chain(MORE_HELP) {
        text.push_str(&format!("{word:<15} ({letter}) {what}\n"));
    }
    text.push_str("\nStatements end with ; or \\g, or with \\G for a row as lines.\n");
    text
}

impl Command {
    /// The command of a word at the begin of a line; `None` where the line is a statement.
    pub(super) fn of_word(word: &str, rest: &[u8]) -> Option<Command> {
        let argument = argument(rest);
        let command = match word {
            "help" | "?" => Command::Help(argument),
            "charset" if !argument.is_empty() => Command::Charset(argument),
            "connect" => Command::Connect(argument),
            "pager" => Command::Pager(argument),
            "prompt" => Command::Prompt(argument),
            "source" if !argument.is_empty() => Command::Source(argument),
            "system" if !argument.is_empty() => Command::System(argument),
            "tee" if !argument.is_empty() => Command::Tee(argument),
            "use" if !argument.is_empty() => Command::Use(unquoted(&argument)),
            _ if !argument.is_empty() => return None,
            "exit" | "quit" => Command::Quit,
            "nopager" => Command::NoPager,
            "notee" => Command::NoTee,
            "nowarning" => Command::Warnings(false),
            "rehash" => Command::Rehash,
            "resetconnection" => Command::Reset,
            "status" => Command::Status,
            "warnings" => Command::Warnings(true),
            _ => return None,
        };
        Some(command)
    }

    /// The command of a letter after a backslash, and whether the rest of its line is its argument.
    pub(super) fn of_letter(letter: u8, rest: &[u8]) -> Option<(Command, bool)> {
        let argument = || argument(rest);
        let command = match letter {
            b'h' | b'?' => Command::Help(argument()),
            b'r' => Command::Connect(argument()),
            b'C' => Command::Charset(argument()),
            b'P' => Command::Pager(argument()),
            b'R' => Command::Prompt(argument()),
            b'.' => Command::Source(argument()),
            b'!' => Command::System(argument()),
            b'T' => Command::Tee(argument()),
            b'u' => Command::Use(unquoted(&argument())),
            b'q' => return Some((Command::Quit, false)),
            b'n' => return Some((Command::NoPager, false)),
            b't' => return Some((Command::NoTee, false)),
            b'w' => return Some((Command::Warnings(false), false)),
            b'W' => return Some((Command::Warnings(true), false)),
            b'#' => return Some((Command::Rehash, false)),
            b'x' => return Some((Command::Reset, false)),
            b's' => return Some((Command::Status, false)),
            _ => return None,
        };
        Some((command, true))
    }
}

/// The text of an argument, without an end mark.
fn argument(rest: &[u8]) -> String {
    let text = String::from_utf8_lossy(rest);
    text.trim().trim_end_matches(';').trim_end().to_owned()
}

/// A name without the quotes around it.
fn unquoted(name: &str) -> String {
    let name = name.split_whitespace().next().unwrap_or_default();
    for quote in ['`', '\'', '"'] {
        let inner = name.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner.replace(&format!("{quote}{quote}"), &quote.to_string());
        }
    }
    name.to_owned()
}
