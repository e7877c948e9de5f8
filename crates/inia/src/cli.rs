//! The command line: `inia serve | sql | load | ping | check | bench | completions | man`.

use crate::config::{Config, OPTIONS, Variable, own_name};
use crate::data_dir::{DataDir, holds_database};
use crate::server::engine::{self, DatabaseAccounts, EngineBackend};
use crate::server::{Opened, Server};
use crate::{import, log, open, ping, shell};
use clap::{Arg, ArgAction, ArgMatches, Command};
use clap_complete::Shell;
use inia_base::process::Processes;
use inia_sql::{Database, StartOutcome};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flags of `serve`.
const IN_MEMORY: &str = "in-memory";
const UNTIL_EOF: &str = "until-eof";

/// What the help of `serve` says of system variables.
const VARIABLES: &str =
    "System variables are options, too: --sql-mode=ANSI. A my.cnf may have them under [mysqld].";

/// Runs the program with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = shell::with_password_option(arguments.into_iter().collect());
    let (arguments, variables) = without_variables(arguments);
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let done = |()| ExitCode::SUCCESS;
    let result = match matches.subcommand() {
        Some(("serve", matches)) => serve(matches, variables).map(done),
        Some(("sql", matches)) => {
            shell::Settings::read(matches).and_then(|settings| shell::run(&settings))
        }
        Some(("load", matches)) => import::run(matches),
        Some(("ping", matches)) => ping::run(matches).map(done),
        Some(("check", matches)) => check(matches).map(done),
        Some(("completions", matches)) => completions(matches).map(done),
        Some(("man", _)) => manual().map(done),
        Some(("bench", matches)) => inia_bench::cli::run(matches, crate::bench::open).map(done),
        _ => Err("choose a command; see inia --help".to_owned()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("inia: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let serve = OPTIONS.iter().fold(
        Command::new("serve").about("Run the server").after_help(VARIABLES),
        |command, option| {
            command.arg(
                Arg::new(option.name).long(option.name).value_name(option.value).help(option.help),
            )
        },
    );
    let serve = serve.arg(
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("Options file, or my.cnf; the command line wins over it"),
    );
    let flag = |name, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let serve = serve
        .arg(flag(IN_MEMORY, "Serve a database in memory, and print its URL"))
        .arg(flag(UNTIL_EOF, "End when standard input ends: with the program that holds it"));
    Command::new("inia")
        .about("A MySQL-compatible database in one binary")
        .version(env!("CARGO_PKG_VERSION"))
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand(serve)
        .subcommand(shell::command())
        .subcommand(import::command())
        .subcommand(ping::command())
        .subcommand(
            Command::new("check")
                .about("Check a data directory; exit code 1 if it is damaged")
                .arg(Arg::new("dir").value_name("DIR").required(true)),
        )
        .subcommand(
            Command::new("completions")
                .about("Print what a shell needs to complete this command line")
                .arg(
                    Arg::new("shell")
                        .value_name("SHELL")
                        .required(true)
                        .value_parser(clap::builder::EnumValueParser::<Shell>::new()),
                ),
        )
        .subcommand(Command::new("man").about("Print the manual page"))
        .subcommand(inia_bench::cli::command())
}

/// Takes system variables, such as `--sql-mode=ANSI`, out of the arguments of `inia serve`, and
/// gives options that MySQL calls otherwise the names that they have here.
fn without_variables(mut arguments: Vec<OsString>) -> (Vec<OsString>, Vec<Variable>) {
    let mut variables = Vec::new();
    if arguments.get(1).is_some_and(|command| command == "serve") {
        arguments.retain_mut(|argument| {
            let Some(option) = argument.to_str().and_then(|text| text.strip_prefix("--")) else {
                return true;
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let own = own_name(&name.replace('_', "-"));
            if own.is_none() && inia_sql::is_start_variable(name) {
                let (value, place) = (value.map(str::to_owned), format!("--{option}"));
                variables.push(Variable { name: name.to_owned(), value, place });
                return false;
            }
            if let Some(own) = own {
                let value = value.map(|value| format!("={value}")).unwrap_or_default();
                *argument = format!("--{own}{value}").into();
            }
            true
        });
    }
    (arguments, variables)
}

fn read_config(matches: &ArgMatches) -> Result<Config, String> {
    let mut config = Config::default();
    if let Some(file) = matches.get_one::<String>("config") {
        let unknown = config.read_file(Path::new(file))?;
        if !unknown.is_empty() {
            let names = unknown.join(", ");
            log::warning(format_args!("{file}: unknown options are left out: {names}"));
        }
    }
    for option in OPTIONS {
        if let Some(value) = matches.get_one::<String>(option.name) {
            config.set(option.name, value)?;
        }
    }
    config.in_memory = matches.get_flag(IN_MEMORY);
    Ok(config)
}

fn serve(matches: &ArgMatches, variables: Vec<Variable>) -> Result<(), String> {
    let mut config = read_config(matches)?;
    config.variables.extend(variables);
    config.validate()?;
    inia_sql::set_error_log(log::error);
    try_variables(&config)?;
    // Signals that come from here on are not lost.
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("no signals: {error}"))?;
    let server = Server::start(&config, |data, processes| open_database(&config, data, processes))
        .map_err(|error| error.to_string())?;
    announce(&server, &config);
    let handle = signals.handle();
    server.registry().on_shutdown(move || handle.close());
    let orphaned = Arc::new(AtomicBool::new(false));
    if matches.get_flag(UNTIL_EOF) {
        end_with_input(signals.handle(), orphaned.clone());
    }
    let name = match signals.forever().next() {
        Some(SIGTERM) => "SIGTERM",
        Some(_) => "SIGINT",
        None if orphaned.load(Ordering::Relaxed) => "end of standard input",
        None => "SHUTDOWN",
    };
    log::note(format_args!("{name}: shutting down"));
    server.shutdown()?;
    log::note(format_args!("shut down"));
    Ok(())
}

/// Ends the server when standard input ends. The thread that waits for it ends with the process.
fn end_with_input(handle: Handle, orphaned: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        // What comes is nobody's; an error is an end, too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        orphaned.store(true, Ordering::Relaxed);
        handle.close();
    });
}

/// The one line on standard output: where the server listens and how to connect. For a database in
/// memory, which programs start for themselves, it is the URL.
fn announce(server: &Server, config: &Config) {
    let address = server.address();
    let socket = match &config.socket {
        Some(path) => format!(" and {}", path.display()),
        None => String::new(),
    };
    let host = match address.ip() {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        ip if ip.is_ipv6() => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let mut out = std::io::stdout();
    let (version, port) = (env!("CARGO_PKG_VERSION"), address.port());
    let url = format!("mysql://root@{host}:{port}/");
    // The output may be closed; the server runs all the same.
    let _ = match config.in_memory {
        true => writeln!(out, "{url}"),
        false => {
            writeln!(out, "Inia {version} listens on {address}{socket}; connect by: inia sql {url}")
        }
    };
    let _ = out.flush();
}

fn open_database(
    config: &Config,
    data: &DataDir,
    processes: Arc<dyn Processes>,
) -> Result<Opened, String> {
    // A directory that is not taken yet must be empty.
    log::set_file(config.log_error.as_deref())
        .map_err(|error| format!("cannot write the error log: {error}"))?;
    let database = open::open(data, config, true)?;
    database.set_processes(processes);
    log::keep_in(&database);
    let accounts = Arc::new(DatabaseAccounts::new(database.clone()));
    // Nobody sees a database in memory before its first session, and no variable changes how its
    // schema `sys` is read.
    if config.in_memory && config.variables.is_empty() {
        return Ok(Opened { backend: Arc::new(EngineBackend::making_sys(database)), accounts });
    }
    engine::make_sys(&database);
    let fixed = set_variables(&database, config)?.join(", ");
    if !fixed.is_empty() {
        log::warning(format_args!("variables that cannot be changed keep their values: {fixed}"));
    }
    Ok(Opened { backend: Arc::new(EngineBackend::new(database)), accounts })
}

/// Tries the values of variables on a database in memory before a start makes a directory, so that
/// a start that is refused leaves none behind.
fn try_variables(config: &Config) -> Result<(), String> {
    let is_made = config.in_memory || holds_database(&config.data).unwrap_or(false);
    if is_made || config.variables.is_empty() {
        return Ok(());
    }
    let database = open::open(&DataDir::in_memory(), config, false)?;
    set_variables(&database, config).map(drop)
}

/// Gives system variables the values that the server was started with. It returns the names of
/// those that cannot be changed; an error names the place of one that cannot have its value.
fn set_variables<'a>(database: &Arc<Database>, config: &'a Config) -> Result<Vec<&'a str>, String> {
    let mut variables: Vec<&Variable> = config.variables.iter().collect();
    // A character set brings its default collation.
    variables.sort_by_key(|own| own.name.starts_with("collation"));
    let mut fixed = Vec::new();
    for Variable { name, value, place } in variables {
        match inia_sql::set_at_start(database, name, value.as_deref()) {
            Ok(StartOutcome::Taken) => {}
            Ok(StartOutcome::Fixed) => fixed.push(name.as_str()),
            Err(error) => return Err(format!("{place}: {error}")),
        }
    }
    Ok(fixed)
}

/// `inia completions SHELL`.
fn completions(matches: &ArgMatches) -> Result<(), String> {
    let shell = matches.get_one::<Shell>("shell").copied().unwrap_or(Shell::Bash);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "inia", &mut script);
    print(&script)
}

/// `inia man`: the page of the program, then those of its commands.
fn manual() -> Result<(), String> {
    let mut page = Vec::new();
    let fail = |error: std::io::Error| error.to_string();
    let program = command();
    clap_mangen::Man::new(program.clone()).render(&mut page).map_err(fail)?;
    for part in program.get_subcommands() {
        let name = format!("inia {}", part.get_name());
        page.extend_from_slice(format!(".SH \"{}\"\n", name.to_uppercase()).as_bytes());
        let part = clap_mangen::Man::new(part.clone().bin_name(name));
        part.render_synopsis_section(&mut page).map_err(fail)?;
        part.render_description_section(&mut page).map_err(fail)?;
        part.render_options_section(&mut page).map_err(fail)?;
    }
    print(&page)
}

/// Prints a text; a reader that has left is no error.
fn print(text: &[u8]) -> Result<(), String> {
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| error.to_string()),
    }
}

/// Opens a directory that no server has open, and checks every page.
fn check(matches: &ArgMatches) -> Result<(), String> {
    let dir = Path::new(matches.get_one::<String>("dir").map_or("", String::as_str));
    if !dir.is_dir() {
        return Err(format!("{} is not a directory", dir.display()));
    }
    let holds =
        holds_database(dir).map_err(|error| format!("cannot read {}: {error}", dir.display()))?;
    if !holds {
        return Err(format!("{} holds no database", dir.display()));
    }
    let owned = DataDir::take(dir)?;
    let database = open::open(&owned, &Config::default(), false)?;
    let problems = inia_sql::check_database(&database).map_err(|error| error.to_string())?;
    database.close().map_err(|error| error.to_string())?;
    problems.iter().for_each(|problem| println!("{problem}"));
    match problems.len() {
        0 => {
            println!("{}: no problems", dir.display());
            Ok(())
        }
        1 => Err(format!("{}: 1 problem", dir.display())),
        n => Err(format!("{}: {n} problems", dir.display())),
    }
}
