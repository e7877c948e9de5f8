//! What `status` and the prompt show of the connection.

use super::{Shell, ShellError};
use inia_base::value::Value;
use inia_wire::Command;
use std::io::Write;

/// The session's user and database, and the character sets of server, database, client and
/// connection.
const QUESTION: &str = "SELECT DATABASE(), USER(), @@character_set_server, \
                        @@character_set_database, @@character_set_client, \
                        @@character_set_connection";

impl Shell {
    /// The text of `status`.
    pub(super) fn status(&mut self) -> Result<String, ShellError> {
        let connection = self.connection()?;
        let cipher = connection.rows("SHOW STATUS LIKE 'Ssl_cipher'")?;
        let tls = match cipher.first().and_then(|row| row.get(1)) {
            Some(Value::Text(name)) if !name.is_empty() => format!("Cipher in use is {name}"),
            _ => "Not in use".to_owned(),
        };
        let rows = connection.rows(QUESTION)?;
        let cells = rows.into_iter().next().unwrap_or_default();
        let cell = |at: usize| match cells.get(at) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        connection.send_command(&Command::Statistics)?;
        let statistics = String::from_utf8_lossy(&connection.read_payload()?).into_owned();
        let greeting = connection.greeting();
        let (id, version) = (greeting.connection_id, greeting.version.clone());
        let (how, place) = self.target.describe();
        let (uptime, rest) = statistics.split_once("  ").unwrap_or((&statistics, ""));
        let seconds = uptime.trim_start_matches("Uptime: ").trim().parse().unwrap_or(0);
        let lines = [
            format!("inia {}\n", env!("CARGO_PKG_VERSION")),
            format!("Connection id:\t\t{id}"),
            format!("Current database:\t{}", cell(0)),
            format!("Current user:\t\t{}", cell(1)),
            format!("SSL:\t\t\t{tls}"),
            format!("Current pager:\t\t{}", self.screen.pager().unwrap_or("stdout")),
            format!("Using outfile:\t\t'{}'", self.screen.tee().unwrap_or_default()),
            format!("Using delimiter:\t{}", String::from_utf8_lossy(&self.delimiter)),
            format!("Server version:\t\t{version}"),
            "Protocol version:\t10".to_owned(),
            format!("Connection:\t\t{how}"),
            format!("Server characterset:\t{}", cell(2)),
            format!("Db     characterset:\t{}", cell(3)),
            format!("Client characterset:\t{}", cell(4)),
            format!("Conn.  characterset:\t{}", cell(5)),
            place,
            format!("Uptime:\t\t\t{}\n", duration(seconds)),
            rest.trim().to_owned(),
        ];
        let rule = "-".repeat(14);
        Ok(format!("{rule}\n{}\n{rule}\n", lines.join("\n")))
    }

    /// The prompt, with what stands for its letters.
    pub(super) fn prompt(&self) -> String {
        let mut out = String::new();
        let mut letters = self.prompt.chars();
        while let Some(letter) = letters.next() {
            if letter != '\\' {
                out.push(letter);
                continue;
            }
            match letters.next() {
                Some('d') => out.push_str(self.database.as_deref().unwrap_or("(none)")),
                Some('h') => out.push_str(self.target.host()),
                Some('u') => out.push_str(self.target.user()),
                Some('U') => {
                    let (user, host) = (self.target.user(), self.target.host());
                    out.push_str(&format!("{user}@{host}"));
                }
                Some('p') => out.push_str(&self.target.port()),
                Some('v') => out.push_str(&self.version),
                Some('c') => out.push_str(&(self.statements + 1).to_string()),
                Some('l') => out.push_str(&String::from_utf8_lossy(&self.delimiter)),
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('_' | ' ') => out.push(' '),
                Some('S') => out.push(';'),
                Some(other) => out.push(other),
                None => {}
            }
        }
        out
    }

    /// Writes to standard output, and to the file that takes the output, too.
    pub(super) fn say(&self, text: &str) -> Result<(), ShellError> {
        let mut page = self.screen.open(false)?;
        page.write_all(text.as_bytes())?;
        Ok(page.close()?)
    }
}

/// `1 hour 2 min 3 sec`.
fn duration(seconds: u64) -> String {
    let parts = [(86_400, "day"), (3_600, "hour")];
    let mut text = String::new();
    let mut left = seconds;
    for (size, name) in parts {
        let count = left / size;
        left %= size;
        match count {
            0 => {}
            1 => text.push_str(&format!("1 {name} ")),
            n => text.push_str(&format!("{n} {name}s ")),
        }
    }
    if left >= 60 {
        text.push_str(&format!("{} min ", left / 60));
    }
    text.push_str(&format!("{} sec", left % 60));
    text
}
