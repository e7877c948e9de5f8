//! The lab from outside: measured rounds, interrupted ones, and wrong use that gets one line
//! of error.

use crate::process::{DataDir, Process};
use crate::support::TempDir;
use inia_bench::record::Record;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inia")).arg("bench").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command of words, on a target, at its smallest; what it kept.
#[track_caller]
fn measured(words: &str, target: &str) -> (Vec<Record>, String) {
    let folder = TempDir::new();
    let kept = folder.path().join("results.jsonl").display().to_string();
    let mut arguments: Vec<&str> = words.split(' ').collect();
    arguments.extend(["--target", target, "--json", &kept]);
    if arguments[0] != "seeds" {
        arguments.extend(["--rows", "1000", "--seconds", "0.1", "--warm-up", "0"]);
    }
    let output = bench(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = std::fs::read_to_string(&kept).unwrap();
    let records = lines.lines().map(|line| Record::parse(line).unwrap()).collect();
    (records, text(&output.stdout))
}

fn embedded(folder: &TempDir) -> String {
    format!("inia:{}", folder.path().join("data").display())
}

#[test]
fn a_workload_runs_on_the_embedded_database_and_is_kept() {
    let folder = TempDir::new();
    let (first, _) = measured("run oltp_read_only --clients 2", &embedded(&folder));
    let (records, shown) = measured("run oltp_read_only --clients 2", &embedded(&folder));
    let loaded = |records: &[Record]| records[0].outcome.as_ref().unwrap().load_seconds.is_some();
    assert_eq!((loaded(&first), loaded(&records)), (true, false), "loaded once for both");
    assert_eq!((records.len(), records[0].method.clients), (1, 2));
    assert!(records[0].outcome.as_ref().unwrap().transactions > 0);
    assert!(shown.contains("oltp_read_only"), "{shown}");
}

/// The same query engine with and without a server between, in one comparison.
#[test]
fn the_embedded_database_answers_a_warehouse_as_the_server_does() {
    let (folder, own) = (TempDir::new(), DataDir::new());
    let process = Process::start(&own.path(), &[]);
    let server = format!("server=mysql://root@{}/lab", process.address());
    let targets = format!("{server},{}", embedded(&folder));
    let words = ["compare", "--workload", "tpch,benchw", "--rows", "1500", "--clients", "1"];
    let output = bench(&[&words[..], &["--targets", &targets]].concat());
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(shown.contains("the 22 queries that all answered"), "{shown}");
}

/// The null server's answers mean nothing, but its figures are the floor of everybody's.
#[test]
fn the_floor_is_measured_beside_a_target_and_the_page_shows_both() {
    let folder = TempDir::new();
    let target = format!("inia={}", embedded(&folder));
    let words = "compare --workload oltp_point_select,oltp_read_write --clients 1,2 --floor";
    let (records, _) = measured(words, &target);
    let floors: Vec<&Record> = records.iter().filter(|r| r.target.product == "floor").collect();
    assert_eq!((records.len(), floors.len()), (8, 4));
    let kept = folder.path().join("kept.jsonl");
    let lines: Vec<String> = records.iter().map(Record::line).collect();
    std::fs::write(&kept, lines.join("\n")).unwrap();
    let page = folder.path().join("page.html");
    let (kept, shown) = (kept.display().to_string(), page.display().to_string());
    let output = bench(&["report", "--html", &shown, &kept]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Server CPU above the floor") && html.contains("</html>"));
}

/// Every workload of every report; each must have found its own answers right.
#[test]
fn the_reports_run_at_the_tiniest_scale() {
    let folder = TempDir::new();
    let target = format!("inia={}", embedded(&folder));
    let (records, shown) = measured("seeds --scale tiny --price inia=1000", &target);
    for workload in inia_bench::workload::all() {
        let name = workload.name();
        let mut of = records.iter().filter(|record| record.workload.name == name).peekable();
        assert!(of.peek().is_some(), "{name} was not run");
        assert!(of.all(|record| record.error.is_none()), "{name}");
    }
    // On a busy machine a tenth of a second may be too short for one of them, but not for all.
    let ended = |record: &Record| record.outcome.as_ref().unwrap().transactions;
    assert!(records.iter().map(ended).sum::<u64>() > 100, "nearly nothing ended");
    for report in inia_bench::seeds::REPORTS {
        assert!(shown.contains(report.title), "{}", report.title);
        for table in report.tables {
            assert!(shown.contains(table.title), "{}", table.title);
        }
    }
    assert!(records.iter().all(|record| record.run == records[0].run));
    // The set of the 13 reads was loaded for the first of them only.
    let reads = records.iter().filter(|record| record.workload.family == "PHPTestSuite");
    let loads = reads.filter_map(|record| record.outcome.as_ref()?.load_seconds);
    assert_eq!(loads.count(), 1);
}

/// Presses Ctrl-C when the first round was kept: the process's number, the rounds, what else was
/// shown.
fn interrupted(arguments: &[&str]) -> (u32, Vec<Record>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inia"))
        .arg("bench")
        .args(arguments)
        .args(["--json", "/dev/stdout"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.lines().last().is_some_and(|line| line.starts_with('{')) {
        assert!(out.read_line(&mut text).unwrap() > 0, "ended before a round did: {text}");
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let mut error = String::new();
    out.read_to_string(&mut text).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{error}");
    assert!(error.starts_with("inia: interrupted: what was measured until then is above"));
    assert_eq!(error.lines().count(), 1, "{error}");
    let (kept, shown): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('{'));
    let kept = kept.iter().map(|line| Record::parse(line).unwrap()).collect();
    (child.id(), kept, shown.join("\n"))
}

/// The rest would take an hour.
#[test]
fn an_interrupted_comparison_ends_cleanly_and_keeps_what_was_measured() {
    let folder = TempDir::new();
    let target = embedded(&folder);
    let (_, kept, shown) = interrupted(&[
        "run",
        "oltp_point_select",
        "--target",
        &target,
        "--clients",
        "2",
        "--rows",
        "500",
        "--seconds",
        "0.2",
        "--warm-up",
        "0",
        "--rounds",
        "18000",
    ]);
    assert!(!kept.is_empty() && kept.iter().all(|record| record.outcome.is_some()));
    assert!(shown.lines().any(|line| line.starts_with("oltp_point_select")), "{shown}");
    // The database was closed, and can be opened.
    let data = folder.path().join("data");
    let (code, said) = crate::process::run(&["check", data.to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn interrupted_reports_show_their_tables_and_leave_nothing_behind() {
    let (process, kept, shown) =
        interrupted(&["seeds", "--scale", "tiny", "--report", "smack", "--rounds", "18000"]);
    assert!(!kept.is_empty() && kept.iter().all(|record| record.outcome.is_some()));
    let report = inia_bench::seeds::report("smack").unwrap();
    assert!(shown.contains(report.title) && shown.contains(report.tables[0].title), "{shown}");
    assert!(!Path::new(&format!("/var/tmp/inia-lab-{process}")).exists());
}

#[test]
fn a_server_is_measured_through_its_unix_socket() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let socket = folder.path().join("socket").display().to_string().replace('/', "%2F");
    let (records, _) =
        measured("run oltp_point_select --clients 1", &format!("mysql://root@{socket}/"));
    let (target, outcome) = (&records[0].target, records[0].outcome.as_ref().unwrap());
    assert_eq!(target.product, "inia");
    // The process was found by its socket.
    assert!(outcome.rss.is_some() && outcome.cpu.server_seconds.is_some());
    drop(server);
}

/// Rounds use the same tables and the same seed, and so choose the same rows. What they write must
/// be new each time: servers have nothing to do for a row that already is what it is to become.
#[test]
fn each_round_changes_the_rows_that_it_updates() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let target = format!("mysql://root@{}/lab", server.address());
    let mut client = server.client();
    let mut bills = |words: &str| {
        measured(words, &target);
        client.rows("SELECT aid, bill FROM lab.Member WHERE bill <> 2 ORDER BY aid").unwrap()
    };
    let words = "run smack_update --clients 2 --option requests=50";
    let (first, second) = (bills(words), bills(words));
    let two_rounds = bills("run smack_update --clients 2 --option requests=50 --rounds 2");
    for (before, after) in [(&first, &second), (&second, &two_rounds)] {
        assert!(before.len() > 50 && before.len() == after.len(), "the same rows");
        assert!(before.iter().zip(after).all(|(a, b)| a[0] == b[0] && a[1] != b[1]));
    }
}

#[test]
fn an_open_loop_starts_no_more_than_its_rate() {
    let folder = TempDir::new();
    let (records, _) = measured("run oltp_point_select --clients 2 --rate 50", &embedded(&folder));
    let outcome = records[0].outcome.as_ref().unwrap();
    assert_eq!(records[0].method.rate, Some(50.0));
    assert!(outcome.transactions + outcome.unserved <= 5, "{outcome:?}");
}

#[test]
fn a_sweep_goes_over_clients_and_processors() {
    let folder = TempDir::new();
    let (records, shown) = measured(
        "sweep --workload oltp_point_select --clients 1,2 --cpus 1",
        &format!("mine={}", embedded(&folder)),
    );
    let clients: Vec<usize> = records.iter().map(|record| record.method.clients).collect();
    assert_eq!(clients, [1, 2]);
    assert!(records.iter().all(|record| record.method.server_cpus.len() == 1));
    assert!(shown.contains("oltp_point_select on mine, 1 processors: peak"), "{shown}");
    assert!(shown.contains("factor 1.00"), "{shown}");
}

#[test]
fn the_embedded_database_has_the_memory_it_is_given() {
    let folder = TempDir::new();
    let (records, _) =
        measured("run oltp_point_select --clients 1 --buffer-pool-size 72M", &embedded(&folder));
    assert_eq!(records[0].target.settings["innodb_buffer_pool_size"], (72 << 20).to_string());
}

/// TPC-C's customers as the standard has them, with fewer goods: its conditions hold before and
/// after a run.
#[test]
fn tpcc_runs_with_all_the_customers_of_the_standard() {
    let folder = TempDir::new();
    let kept = folder.path().join("kept").display().to_string();
    let output = bench(&[
        "run",
        "tpcc",
        "--target",
        &embedded(&folder),
        "--rows",
        "3000",
        "--option",
        "items=1000",
        "--clients",
        "2",
        "--seconds",
        "1",
        "--warm-up",
        "0",
        "--json",
        &kept,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = std::fs::read_to_string(&kept).unwrap();
    assert!(Record::parse(lines.trim()).unwrap().outcome.is_some());
}

/// A run with these arguments fails with this text, in one line and nothing else.
#[track_caller]
fn refused(arguments: &[&str], says: &str) {
    let output = bench(arguments);
    let (shown, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.contains(says), "{arguments:?}: {error}");
    assert_eq!(shown, "", "{arguments:?}");
}

#[test]
fn wrong_use_is_one_line_and_an_exit_code() {
    let folder = TempDir::new();
    let own = embedded(&folder);
    refused(&["run", "oltp_pint_select", "--target", &own], "did you mean oltp_point_select?");
    refused(
        &["run", "oltp_point_select", "--target", "mysql://root@127.0.0.1:1/"],
        "cannot connect",
    );
    refused(
        &["run", "oltp_point_select", "--target", "postgres://a@127.0.0.1:1/"],
        "cannot connect",
    );
    let nowhere = ["run", "oltp_point_select", "--target", "mysql://root@%2Fno%2Fsocket/"];
    refused(&nowhere, "cannot connect");
    let elsewhere = ["run", "oltp_point_select", "--target", &own, "--json", "/no/such/file"];
    refused(&elsewhere, "cannot write /no/such/file");
    refused(&["run", "oltp_point_select", "--target", &own, "--clients", "60000"], "to 10000");
    let same = format!("{own},{own}");
    refused(&["run", "oltp_point_select", "--target", &same], "is in use by another Inia server");
    let much = ["run", "oltp_point_select", "--target", &own, "--rows", "1000000000000"];
    refused(&much, "not enough disk: sbtest needs about");
    let many = ["run", "innodb_update_all", "--target", &own, "--clients", "2", "--rows", "10"];
    let output = bench(&many);
    assert!(text(&output.stderr).contains("one client's work: choose --clients 1"));
    assert_eq!(output.status.code(), Some(1));
    refused(&["run", "tpcc", "--target", &own, "--buffer-pool-size", "big"], "is not a size");
    let sweep = ["sweep", "--workload", "tpcc", "--target", &own, "--cpus", "100000"];
    refused(&sweep, "not 100000");
    let sets = ["run", "tpcc", "--target", &own, "--server-cpus", "0", "--client-cpus", "0,1"];
    refused(&sets, "--server-cpus and --client-cpus must be equal");
    refused(&["seeds", "--scale", "huge"], "choose tiny, small, medium or full");
    refused(&["seeds", "--report", "mine"], "unknown report 'mine': choose rdbms, smack");
    refused(&["seeds", "--target", &own, "--price", "x=1"], "no target is called so");
}

/// Statements for root on a server, which must succeed.
fn as_root(server: &Process, statements: &[&str]) {
    let mut client = server.client();
    for statement in statements {
        client.query(statement).unwrap();
    }
}

#[test]
fn a_server_that_does_not_let_the_lab_work_is_one_line_too() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--max-connections", "20"]);
    as_root(
        &server,
        &["CREATE USER poor@localhost", "CREATE USER safe@localhost IDENTIFIED BY 'x'"],
    );
    let address = server.address();
    let at = |login: &str| format!("mysql://{login}@{address}/");
    let run = |login: &str, clients: &str, says: &str| {
        refused(&["run", "oltp_point_select", "--target", &at(login), "--clients", clients], says);
    };
    run("safe:wrong", "1", "Access denied for user 'safe'@'localhost' (using password: YES)");
    run("safe", "1", "Access denied for user 'safe'@'localhost' (using password: NO)");
    run("nobody", "1", "Access denied for user 'nobody'@'localhost'");
    run("poor", "1", "(the lab needs CREATE, DROP, INDEX, INSERT, SELECT, UPDATE, DELETE)");
    run("root", "64", "takes 20 connections, too few for 64 clients and one to watch them");
    let taken = format!("inia:{}", Path::new(&folder.path()).display());
    refused(&["run", "oltp_point_select", "--target", &taken], "is in use by another Inia server");
    let much = ["run", "tpcb", "--target", &at("root"), "--rows", "1000000000000"];
    refused(&much, "not enough disk: tpcb needs about");
}
