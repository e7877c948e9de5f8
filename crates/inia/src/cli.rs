//! The command line: `inia serve | sql | load | check | bench`.

use crate::config::{Config, OPTIONS};
use crate::data_dir::{DataDir, holds_database};
use crate::server::engine::{self, DatabaseAccounts, EngineBackend};
use crate::server::{Opened, Server};
use crate::{import, log, shell};
use clap::{Arg, ArgAction, ArgMatches, Command};
use inia_base::process::Processes;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the program with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let done = |()| ExitCode::SUCCESS;
    let result = match matches.subcommand() {
        Some(("serve", matches)) => serve(matches).map(done),
        Some(("sql", matches)) => sql(matches).map(done),
        Some(("load", matches)) => import::run(matches),
        Some(("check", matches)) => check(matches).map(done),
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
    let serve =
        OPTIONS.iter().fold(Command::new("serve").about("Run the server"), |command, option| {
            command.arg(
                Arg::new(option.name).long(option.name).value_name(option.value).help(option.help),
            )
        });
    let serve = serve.arg(
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("Options file; the command line wins over it"),
    );
    Command::new("inia")
        .about("A MySQL-compatible database in one binary")
        .version(env!("CARGO_PKG_VERSION"))
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand(serve)
        .subcommand(sql_command())
        .subcommand(import::command())
        .subcommand(
            Command::new("check")
                .about("Check a data directory; exit code 1 if it is damaged")
                .arg(Arg::new("dir").value_name("DIR").required(true)),
        )
        .subcommand(inia_bench::cli::command())
}

fn sql_command() -> Command {
    Command::new("sql")
        .about("Talk to a server")
        .arg(
            Arg::new("url")
                .value_name("URL")
                .default_value("mysql://root@127.0.0.1:3306/")
                .help("mysql://user:password@host:port/database"),
        )
        .arg(
            Arg::new("execute")
                .short('e')
                .long("execute")
                .value_name("SQL")
                .help("Run these statements and leave"),
        )
        .arg(
            Arg::new("table")
                .short('t')
                .long("table")
                .action(ArgAction::SetTrue)
                .help("Print tables even when the output is not a terminal"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(shell::FORMATS)
                .conflicts_with("table")
                .help("How rows are written"),
        )
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FILE")
                .requires("format")
                .help("Write the rows of the one result to this file"),
        )
}

fn read_config(matches: &ArgMatches) -> Result<Config, String> {
    let mut config = Config::default();
    if let Some(file) = matches.get_one::<String>("config") {
        config.read_file(Path::new(file))?;
    }
    for option in OPTIONS {
        if let Some(value) = matches.get_one::<String>(option.name) {
            config.set(option.name, value)?;
        }
    }
    Ok(config)
}

fn serve(matches: &ArgMatches) -> Result<(), String> {
    let config = read_config(matches)?;
    config.validate()?;
    inia_sql::set_error_log(log::error);
    // Signals that come from here on are not lost.
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("no signals: {error}"))?;
    let server = Server::start(&config, |data, processes| open_database(&config, data, processes))
        .map_err(|error| error.to_string())?;
    announce(&server, &config);
    let handle = signals.handle();
    server.registry().on_shutdown(move || handle.close());
    let name = match signals.forever().next() {
        Some(SIGTERM) => "SIGTERM",
        Some(_) => "SIGINT",
        None => "SHUTDOWN",
    };
    log::note(format_args!("{name}: shutting down"));
    server.shutdown()?;
    log::note(format_args!("shut down"));
    Ok(())
}

/// The one line on standard output: where the server listens and how to connect.
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
    // The output may be closed; the server runs all the same.
    let _ = writeln!(
        out,
        "Inia {} listens on {address}{socket}; connect by: inia sql mysql://root@{host}:{}/",
        env!("CARGO_PKG_VERSION"),
        address.port()
    );
    let _ = out.flush();
}

fn open_database(
    config: &Config,
    data: &DataDir,
    processes: Arc<dyn Processes>,
) -> Result<Opened, String> {
    let database = engine::open(data, config, true)?;
    database.set_processes(processes);
    let accounts = Arc::new(DatabaseAccounts::new(database.clone()));
    Ok(Opened { backend: Arc::new(EngineBackend::new(database)), accounts })
}

fn sql(matches: &ArgMatches) -> Result<(), String> {
    let url = matches.get_one::<String>("url").map_or("", String::as_str);
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let table = matches.get_flag("table").then_some("table");
    let format = text("format").or(table);
    let options = shell::Options { statements: text("execute"), format, out: text("out") };
    shell::run(url, &options)
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
    let database = engine::open(&owned, &Config::default(), false)?;
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
