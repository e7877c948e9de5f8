//! What `inia sql` is asked for: options files first, then the command line, as in `mysql`.
//!
//! Files are `~/.my.cnf`, or the one that `--defaults-file` names, and then `~/.mylogin.cnf`; their
//! groups are `[client]`, `[mysql]`, `[inia]`, and the one that `--login-path` names. A URL stands
//! above files, and options above both. A password comes from `-p`, which asks for it, from
//! `--password-file`, a file's `password`, or the environment (`INIA_PASSWORD`, `MYSQL_PWD`). One
//! in the command line is taken with a warning, since every user of the machine can read it there.

use super::output::FORMATS;
use super::screen::ask_password;
use super::target::Target;
use super::tls::{ClientTls, MODES};
use crate::login_paths;
use crate::login_url::{LoginUrl, ServerAddress};
use crate::options_file::{self, FileOption};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options without a value: name, letter, help.
const FLAGS: [(&str, Option<char>, &str); 19] = [
    ("batch", Some('B'), "Tabs between cells, no history, no summaries"),
    ("table", Some('t'), "Tables even when the output is not a terminal"),
    ("vertical", Some('E'), "A row as lines"),
    ("auto-vertical-output", None, "A row as lines where the table is wider than the terminal"),
    ("raw", Some('r'), "With --batch: line ends and tabs as they are"),
    ("skip-column-names", Some('N'), "Without the columns' names"),
    ("html", Some('H'), "HTML tables"),
    ("xml", Some('X'), "XML"),
    ("force", Some('f'), "Go on after an error"),
    ("unbuffered", Some('n'), "Flush after each result (always so)"),
    ("quick", Some('q'), "Do not keep results in memory (always so)"),
    ("show-warnings", None, "Show warnings after each statement"),
    ("no-auto-rehash", Some('A'), "Do not read names for completion"),
    ("binary-as-hex", None, "Binary strings as 0x... (so on a terminal)"),
    ("skip-binary-as-hex", None, "Binary strings as they are"),
    ("local-infile", None, "LOAD DATA LOCAL reads files of this machine"),
    ("no-defaults", None, "Read no options file but ~/.mylogin.cnf"),
    ("no-login-paths", None, "Do not read ~/.mylogin.cnf"),
    ("help", Some('?'), "Print this help"),
];

/// Flags that count.
const COUNTS: [(&str, char, &str); 2] =
    [("silent", 's', "Say less; twice: no names"), ("verbose", 'v', "Say more, up to three times")];

/// Options with a value: name, letter, placeholder, help.
const VALUES: [(&str, Option<char>, &str, &str); 15] = [
    ("host", Some('h'), "HOST", "Host of the server [default: 127.0.0.1]"),
    ("port", Some('P'), "PORT", "Its port [default: 3306]"),
    ("socket", Some('S'), "PATH", "Its Unix socket"),
    ("user", Some('u'), "NAME", "Account [default: root]"),
    ("password-file", None, "FILE", "Read the password from the first line of this file"),
    ("ssl-mode", None, "MODE", "TLS [default: PREFERRED, to other machines]"),
    ("ssl-ca", None, "FILE", "Certificates, one of which signs the server's"),
    ("database", Some('D'), "NAME", "Default database"),
    ("execute", Some('e'), "SQL", "Run these statements and leave"),
    ("format", None, "FORMAT", "How rows are written"),
    ("out", None, "FILE", "Write the rows of the one result to this file"),
    ("pager", None, "COMMAND", "Print results via a program"),
    ("tee", None, "FILE", "Append everything that is printed to this file"),
    ("prompt", None, "TEXT", "The prompt: \\d database, \\h host, \\u user, ..."),
    ("delimiter", None, "TEXT", "What ends statements [default: ;]"),
];

/// Options of files that need no action here.
const IGNORED: [&str; 9] = [
    "auto-rehash",
    "column-names",
    "connect-timeout",
    "default-character-set",
    "line-numbers",
    "max-allowed-packet",
    "named-commands",
    "net-buffer-length",
    "protocol",
];

/// The groups of options files that are read.
const GROUPS: [&str; 3] = ["client", "mysql", "inia"];
/// What stands for `-p` without a password.
const ASK: &str = "";

/// The sub-command.
pub(crate) fn command() -> Command {
    let command =
        Command::new("sql")
            .about("Talk to a server, or to a data directory that no server has open")
            .disable_help_flag(true)
            .arg(Arg::new("place").value_name("URL|DIR|DATABASE").help(
                "mysql://user@host:port/database, a data directory, or the name of a database",
            ))
            .arg(
                Arg::new("password")
                    .long("password")
                    .value_name("PASSWORD")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value(ASK)
                    .help("-p: ask for the password"),
            )
            .arg(
                Arg::new("defaults-file")
                    .long("defaults-file")
                    .value_name("FILE")
                    .help("Read this options file instead of ~/.my.cnf"),
            )
            .arg(
                Arg::new("login-path")
                    .long("login-path")
                    .value_name("NAME")
                    .help("Read this group of ~/.mylogin.cnf (mysql_config_editor), too"),
            );
    let command = FLAGS.iter().fold(command, |command, &(name, letter, help)| {
        let action = if name == "help" { ArgAction::Help } else { ArgAction::SetTrue };
        command.arg(lettered(Arg::new(name).long(name).action(action).help(help), letter))
    });
    let command = COUNTS.iter().fold(command, |command, &(name, letter, help)| {
        command.arg(Arg::new(name).long(name).short(letter).action(ArgAction::Count).help(help))
    });
    VALUES.iter().fold(command, |command, &(name, letter, value, help)| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        let arg = match name {
            "format" => arg.value_parser(FORMATS),
            "out" => arg.requires("format"),
            "ssl-mode" => arg.value_parser(PossibleValuesParser::new(MODES)).ignore_case(true),
            _ => arg,
        };
        command.arg(lettered(arg, letter))
    })
}

fn lettered(arg: Arg, letter: Option<char>) -> Arg {
    match letter {
        Some(letter) => arg.short(letter),
        None => arg,
    }
}

/// The arguments with `-p` in a form that the parser of options takes: its value, if any, follows
/// without a blank.
pub(crate) fn with_password_option(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "sql") {
        return arguments;
    }
    let takes_value = |argument: &OsString| {
        let text = argument.to_string_lossy();
        VALUES.iter().any(|(name, letter, ..)| {
            let is_letter = letter.is_some_and(|letter| *text == format!("-{letter}"));
            is_letter || *text == format!("--{name}")
        })
    };
    let mut out: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let is_value = out.last().is_some_and(takes_value);
        let password = argument.to_str().and_then(|text| text.strip_prefix("-p"));
        match password {
            Some(ASK) if !is_value => out.push("--password".into()),
            Some(password) if !is_value => out.push(format!("--password={password}").into()),
            _ => out.push(argument),
        }
    }
    out
}

/// What the shell is asked for.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    flags: BTreeSet<String>,
    values: BTreeMap<String, String>,
    pub(super) silent: u8,
    pub(super) verbose: u8,
    place: Option<String>,
}

impl Settings {
    /// Reads the options files and the command line.
    pub(crate) fn read(matches: &ArgMatches) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let named = matches.get_one::<String>("login-path").map(|name| name.to_ascii_lowercase());
        let mut groups = GROUPS.to_vec();
        groups.extend(named.as_deref());
        if !matches.get_flag("no-defaults") {
            let file = matches.get_one::<String>("defaults-file").map(Path::new);
            settings.take_all(options_of(file)?, &groups);
        }
        if !matches.get_flag("no-login-paths") {
            let options = login_paths::place().map(|path| warned(login_paths::read(&path)));
            settings.take_all(options.unwrap_or_default(), &groups);
        }
        settings.place = matches.get_one::<String>("place").cloned();
        settings.prefer_url()?;
        let given = FLAGS.iter().map(|(name, ..)| *name).filter(|name| *name != "help");
        for name in given.filter(|name| matches.get_flag(name)) {
            settings.flags.insert(name.to_owned());
        }
        for (name, ..) in VALUES {
            if let Some(value) = matches.get_one::<String>(name) {
                settings.values.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(password) = matches.get_one::<String>("password") {
            if password != ASK {
                eprintln!("inia: [Warning] A password on the command line can be read by others.");
            }
            settings.values.insert("password".to_owned(), password.clone());
            settings.values.remove("password-file");
        }
        settings.silent = settings.silent.max(matches.get_count("silent"));
        settings.verbose = settings.verbose.max(matches.get_count("verbose"));
        Ok(settings)
    }

    /// A URL says where to connect and as whom, rather than files do.
    fn prefer_url(&mut self) -> Result<(), String> {
        let Some(url) = self.place.as_deref().filter(|place| is_url(place)) else { return Ok(()) };
        let url = LoginUrl::parse(url)?;
        let mut said = vec!["host", "port", "socket", "user"];
        said.extend(url.database.and(Some("database")));
        if !url.password.is_empty() {
            said.extend(["password", "password-file"]);
        }
        said.into_iter().for_each(|name| drop(self.values.remove(name)));
        Ok(())
    }

    /// Takes the options of a file that stand in these groups.
    fn take_all(&mut self, options: Vec<FileOption>, groups: &[&str]) {
        let own = options.into_iter().filter(|one| groups.contains(&one.group.as_str()));
        let mut unknown = Vec::new();
        for option in own {
            let loose = option.name.strip_prefix("loose-");
            let name = loose.unwrap_or(&option.name);
            if !self.take(name, option.value.as_deref()) && loose.is_none() {
                unknown.push(format!("{} ({})", option.name, option.place));
            }
        }
        if !unknown.is_empty() {
            eprintln!("inia: [Warning] unknown options are left out: {}", unknown.join(", "));
        }
    }

    /// Takes an option of a file; false where there is none of this name.
    fn take(&mut self, name: &str, value: Option<&str>) -> bool {
        let off =
            matches!(value.map(str::to_ascii_lowercase).as_deref(), Some("0" | "off" | "false"));
        let positive = name.strip_prefix("skip-").or_else(|| name.strip_prefix("disable-"));
        match (name, positive) {
            ("silent", _) => self.silent = value.and_then(|n| n.parse().ok()).unwrap_or(1),
            ("verbose", _) => self.verbose = value.and_then(|n| n.parse().ok()).unwrap_or(1),
            ("password", _) => {
                self.values.insert("password".to_owned(), value.unwrap_or(ASK).to_owned());
            }
            ("ssl", _) if !off => {
                self.values.insert("ssl-mode".to_owned(), "REQUIRED".to_owned());
            }
            ("ssl", _) | (_, Some("ssl")) => {
                self.values.insert("ssl-mode".to_owned(), "DISABLED".to_owned());
            }
            (_, Some("auto-rehash")) => drop(self.flags.insert("no-auto-rehash".to_owned())),
            (_, Some("column-names")) => drop(self.flags.insert("skip-column-names".to_owned())),
            (name, _) if FLAGS.iter().any(|(flag, ..)| *flag == name) => match off {
                true => drop(self.flags.remove(name)),
                false => drop(self.flags.insert(name.to_owned())),
            },
            (name, _) if VALUES.iter().any(|(known, ..)| *known == name) => {
                self.values.insert(name.to_owned(), value.unwrap_or_default().to_owned());
            }
            (name, positive) => return IGNORED.contains(&positive.unwrap_or(name)),
        }
        true
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// What to talk to. It asks for a password where it is to.
    pub(super) fn target(&self) -> Result<Target, String> {
        let place = self.place.as_deref();
        if let Some(dir) = place.and_then(directory_of) {
            let database = self.value("database").map(str::to_owned);
            let (user, password) = ("root".to_owned(), String::new());
            let place = ServerAddress::Unix(String::new());
            let login = LoginUrl { place, user, password, database };
            let target = Target::directory(dir, login)?;
            return Ok(target.with_local_files(self.has("local-infile")));
        }
        let mut login = match place.filter(|place| is_url(place)) {
            Some(url) => LoginUrl::parse(url)?,
            None => LoginUrl::parse("mysql://root@127.0.0.1:3306/")?,
        };
        let name = place.filter(|place| !is_url(place)).or(self.value("database"));
        if let Some(name) = name {
            login.database = Some(name.to_owned());
        }
        self.place_of(&mut login)?;
        if let Some(user) = self.value("user") {
            login.user = user.to_owned();
        }
        if let Some(password) = self.password()? {
            login.password = password;
        } else if login.password.is_empty() {
            let named = |name| std::env::var(name).ok();
            login.password =
                named("INIA_PASSWORD").or_else(|| named("MYSQL_PWD")).unwrap_or_default();
        }
        let tls = ClientTls::new(self.value("ssl-mode"), self.value("ssl-ca"))?;
        Ok(Target::server(login, tls).with_local_files(self.has("local-infile")))
    }

    fn place_of(&self, login: &mut LoginUrl) -> Result<(), String> {
        if let Some(path) = self.value("socket").filter(|_| self.value("host").is_none()) {
            login.place = ServerAddress::Unix(path.to_owned());
            return Ok(());
        }
        let ServerAddress::Tcp(host, port) = &mut login.place else { return Ok(()) };
        if let Some(name) = self.value("host") {
            *host = if name == "localhost" { "127.0.0.1".to_owned() } else { name.to_owned() };
        }
        if let Some(text) = self.value("port") {
            *port = text.parse().map_err(|_| format!("'{text}' is not a port"))?;
        }
        Ok(())
    }

    /// The password that options say.
    fn password(&self) -> Result<Option<String>, String> {
        if let Some(file) = self.value("password-file") {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| format!("cannot read {file}: {error}"))?;
            return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
        }
        match self.value("password") {
            Some(ASK) => ask_password("Enter password: ").map(Some),
            Some(password) => Ok(Some(password.to_owned())),
            None => Ok(None),
        }
    }
}

fn is_url(place: &str) -> bool {
    directory_of(place).is_none() && place.contains(['@', ':'])
}

/// The options of the file that is named, or of `~/.my.cnf`.
fn options_of(named: Option<&Path>) -> Result<Vec<FileOption>, String> {
    let own = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".my.cnf"));
    match (named, own) {
        (Some(path), _) => options_file::read(path),
        (None, Some(path)) if path.exists() => Ok(warned(options_file::read(&path))),
        _ => Ok(Vec::new()),
    }
}

/// What a file says; a warning where it cannot be read.
fn warned(options: Result<Vec<FileOption>, String>) -> Vec<FileOption> {
    options.unwrap_or_else(|error| {
        eprintln!("inia: [Warning] {error}");
        Vec::new()
    })
}

/// The directory that a place names: an existing one, or what looks like a path.
fn directory_of(place: &str) -> Option<&str> {
    if let Some(dir) = place.strip_prefix("inia:").filter(|rest| !rest.starts_with("//")) {
        return Some(dir);
    }
    let is_url = place.contains("://") || place.contains('@');
    let is_path = place.starts_with(['/', '.']) || Path::new(place).is_dir();
    (!is_url && is_path).then_some(place)
}
