//! Sessions that want more memory than the machine has: the server lives, others get answers, and
//! each hostile statement finishes by way of files or ends with an error.

use crate::process::{DataDir, Process, program};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError};
use inia_wire::command::Command as Request;
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Address space of the server in KiB. Its page table, stacks and the system's allocator reserve
/// most of it, and use little.
const ADDRESS_SPACE: u64 = 5_000_000;
/// The server may never have had more memory in use, in KiB: its pages, its budget for statements,
/// what is in transit, and what the allocator keeps of freed memory.
const MAX_RESIDENT: u64 = 600_000;
const CLIENTS: usize = 8;
/// How many hostile statements each of them runs.
const STATEMENTS: usize = 3;

/// A server that may not grow beyond its address space.
fn start(folder: &DataDir) -> Process {
    start_with(folder, &[])
}

fn start_with(folder: &DataDir, options: &[&str]) -> Process {
    let mut shell = Command::new("sh");
    let script = format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script, &program()]);
    let sizes = ["--buffer-pool-size", "32M", "--work-memory", "64M"];
    Process::start_by(shell, &folder.path(), &[&sizes, options].concat())
}

/// What a session sets to be allowed everything.
const GREED: &[&str] = &[
    "SET tmp_table_size = 1099511627776",
    "SET group_concat_max_len = 4294967295",
    "SET cte_max_recursion_depth = 1000000",
];

/// Each of these wants 30 MB or more at once, some twice and four times that.
const HOSTILE: &[&str] = &[
    // Sorts, hash joins, grouping, DISTINCT, set operations.
    "SELECT COUNT(*) FROM (SELECT REPEAT(x.b, 2000) r FROM wide x, wide y ORDER BY r, y.a \
     LIMIT 100000000) d",
    "SELECT COUNT(*) FROM (SELECT CONCAT(REPEAT(x.b, 2000), y.a) r, COUNT(*) FROM wide x, wide y \
     GROUP BY r) d",
    "SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(REPEAT(x.b, 2000), y.a) FROM wide x, wide y) d",
    "SELECT COUNT(*) FROM (SELECT CONCAT(REPEAT(x.b, 2000), y.a) FROM wide x, wide y UNION \
     SELECT CONCAT(REPEAT(x.b, 2000), y.a, 1) FROM wide x, wide y) d",
    "WITH big AS (SELECT x.a, y.a c, REPEAT(x.b, 2000) r FROM wide x, wide y) \
     SELECT COUNT(*) FROM big p JOIN big q ON p.a = q.a + 1000 AND p.r = q.r",
    // Aggregates that hold all their rows, and frames.
    "SELECT LENGTH(GROUP_CONCAT(REPEAT(x.b, 2000))) FROM wide x, wide y",
    "SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT(x.b, 2000))) FROM wide x, wide y",
    "SELECT JSON_LENGTH(JSON_OBJECTAGG(CONCAT(x.a, '-', y.a), REPEAT(x.b, 2000))) \
     FROM wide x, wide y",
    "SELECT COUNT(*) FROM (SELECT FIRST_VALUE(REPEAT(x.b, 2000)) OVER (ORDER BY y.a) f \
     FROM wide x, wide y) d",
    // Derived tables and recursion, which last until the statement ends.
    "WITH RECURSIVE n AS (SELECT 1 a, REPEAT('x', 20000) r UNION ALL SELECT a + 1, r FROM n \
     WHERE a < 1500) SELECT COUNT(*), COUNT(DISTINCT r) FROM n",
    // Variables, which last longer.
    "SET @a = REPEAT('x', 60000000), @b = REPEAT('y', 60000000), @c = REPEAT('z', 60000000)",
];

/// Errors that say that the memory does not suffice, or what MySQL says to values of this size.
const REFUSALS: &[u16] = &[3170, 1038, 1041, 1301];

fn attack(mut client: Client<TcpStream>, number: usize) {
    client.query("USE d").unwrap();
    GREED.iter().for_each(|sql| drop(client.query(sql).unwrap()));
    for step in 0..STATEMENTS {
        let sql = HOSTILE[(number + step * CLIENTS / 2) % HOSTILE.len()];
        match client.query(sql) {
            Ok(_) => {}
            Err(ClientError::Server(error)) => {
                assert!(REFUSALS.contains(&error.code), "{sql}: {error}");
            }
            Err(error) => panic!("the connection is lost by {sql}: {error}"),
        }
    }
}

#[test]
fn the_server_outlives_sessions_that_want_more_than_there_is() {
    let folder = DataDir::new();
    let server = start(&folder);
    let mut other = server.client();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.wide (a INT PRIMARY KEY, b VARCHAR(10))",
        "INSERT INTO d.wide WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n \
         WHERE a < 50) SELECT a, CONCAT('row', a) FROM n",
    ] {
        other.query(sql).unwrap();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let attackers: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = server.client();
                scope.spawn(move || attack(client, number))
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let rows = other.rows("SELECT b FROM d.wide WHERE a = 7").unwrap();
                assert_eq!(rows, [[Value::Text("row7".into())]]);
                let rows = other.rows("SELECT MAX(b) FROM d.wide GROUP BY a % 2 ORDER BY 1");
                assert_eq!(rows.unwrap().len(), 2);
            }
        });
        let ends: Vec<_> = attackers.into_iter().map(|attacker| attacker.join()).collect();
        done.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.unwrap());
    });
    let peak = server.peak_memory();
    assert!(peak < MAX_RESIDENT, "the server had {peak} KiB in use");
    // What the sessions held is free again: one alone may have its part.
    let mut client = server.client();
    client.query("SET @a = REPEAT('x', 10000000)").unwrap();
}

#[test]
fn variables_that_take_too_much_memory_are_an_error() {
    let folder = DataDir::new();
    let server = start(&folder);
    let mut client = server.client();
    client.query("SET @a = REPEAT('x', 10000000)").unwrap();
    let error = client.query("SET @b = REPEAT('x', 10000000)").unwrap_err();
    assert_eq!(error.code(), Some(3170), "{error}");
    client.query("SET @a = NULL").unwrap();
    client.query("SELECT REPEAT('x', 10000000) INTO @b").unwrap();
    client.query("SELECT @b := 1").unwrap();
    client.query("SET @a = REPEAT('x', 10000000)").unwrap();
}

#[test]
fn long_requests_take_no_more_than_others_leave() {
    let folder = DataDir::new();
    let server = start(&folder);
    let text = format!("SELECT LENGTH('{}')", "x".repeat(12 << 20));
    let length = [[Value::Text((12 << 20).to_string())]];
    assert_eq!(server.client().rows(&text).unwrap(), length);
    let mut hoarders: Vec<_> = (0..4).map(|_| server.client()).collect();
    for hoarder in &mut hoarders {
        hoarder.query("SET @a = REPEAT('x', 14000000)").unwrap();
    }
    // A server that cannot take the packet says so, and closes the connection.
    match server.client().rows(&text) {
        Ok(_) => panic!("a request has more memory than there is"),
        Err(ClientError::Server(error)) => assert_eq!(error.code, 1041, "{error}"),
        Err(ClientError::Io(_)) => {}
        Err(error) => panic!("{error}"),
    }
    assert_eq!(server.client().rows("SELECT 1").unwrap(), [[Value::Text("1".into())]]);
    hoarders.iter_mut().for_each(|hoarder| drop(hoarder.query("SET @a = NULL").unwrap()));
    assert_eq!(server.client().rows(&text).unwrap(), length);
}

/// Runs work on several connections at once; the server then answers, and has not grown too large.
fn hostile(server: &Process, work: impl Fn(Client<TcpStream>) + Sync) {
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let (work, client) = (&work, server.client());
            scope.spawn(move || work(client));
        }
    });
    let rows = server.client().rows("SELECT 1").unwrap();
    assert_eq!(rows, [[Value::Text("1".into())]]);
    let peak = server.peak_memory();
    assert!(peak < MAX_RESIDENT, "the server had {peak} KiB in use");
}

#[test]
fn syntax_trees_that_are_much_larger_than_their_texts_end_their_statements() {
    let folder = DataDir::new();
    let server = start(&folder);
    let many = format!("SELECT 1 IN ({}1)", "1,".repeat(400_000));
    hostile(&server, |mut client| {
        for _ in 0..3 {
            let error = client.query(&many).unwrap_err();
            assert!(matches!(error.code(), Some(3170 | 1041)), "{error}");
            if error.code() == Some(1041) {
                return;
            }
            let few = format!("SELECT 1 IN ({}1)", "2,".repeat(2000));
            match client.rows(&few) {
                Ok(rows) => assert_eq!(rows, [[Value::Text("1".into())]]),
                Err(error) => assert_eq!(error.code(), Some(3170), "{error}"),
            }
        }
    });
    let error = server.client().query(&many).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ERROR 3170 (HY000): Memory capacity of 16777216 bytes for 'parser_max_mem_size' \
         exceeded. Parser bailed out for this query."
    );
}

#[test]
fn prepared_statements_take_no_more_than_their_session_may() {
    let folder = DataDir::new();
    let server = start(&folder);
    let text = format!("SELECT LENGTH('{}')", "x".repeat(60_000));
    hostile(&server, |mut client| {
        let mut ids = Vec::new();
        let error = loop {
            match client.prepare(&text) {
                Ok(statement) => ids.push(statement.id),
                Err(error) => break error,
            }
        };
        assert!(ids.len() < 100, "{} statements", ids.len());
        let lacking = "ERROR 1037 (HY001): Out of memory; restart server and try again";
        assert!(error.to_string().starts_with(lacking), "{error}");
        ids.into_iter().for_each(|id| client.close_statement(id).unwrap());
    });
    let mut client = server.client();
    let id = client.prepare(&text).unwrap().id;
    assert_eq!(client.execute(id, &[]).unwrap().rows, [[Value::Int(60_000)]]);
}

#[test]
fn parameters_that_wait_for_executions_take_no_more_than_there_is() {
    const PIECE: usize = 100 << 10;
    let folder = DataDir::new();
    let server = start(&folder);
    let piece = vec![b'x'; PIECE];
    hostile(&server, |mut client| {
        let id = client.prepare("SELECT LENGTH(?)").unwrap().id;
        for _ in 0..300 {
            client.send_command(&Request::SendLongData { id, param: 0, data: &piece }).unwrap();
        }
        let error = client.execute(id, &[Value::Null]).unwrap_err();
        assert_eq!(error.code(), Some(1037), "{error}");
        client.send_command(&Request::ResetStatement(id)).unwrap();
        client.read_ok().unwrap();
        // Others may still hold what there is.
        match client.execute(id, &[Value::Text("now".into())]) {
            Ok(result) => assert_eq!(result.rows, [[Value::Int(3)]]),
            Err(error) => assert_eq!(error.code(), Some(1037), "{error}"),
        }
    });
    let mut client = server.client();
    let id = client.prepare("SELECT LENGTH(?)").unwrap().id;
    for _ in 0..5 {
        for _ in 0..30 {
            client.send_command(&Request::SendLongData { id, param: 0, data: &piece }).unwrap();
        }
        let rows = client.execute(id, &[Value::Null]).unwrap().rows;
        assert_eq!(rows, [[Value::Int(30 * PIECE as i64)]], "what was executed is free again");
    }
}

#[test]
fn a_line_that_is_too_long_ends_its_load_data() {
    let folder = DataDir::new();
    let place = folder.path().with_file_name("files");
    std::fs::create_dir(&place).unwrap();
    let (long, short) = (place.join("long"), place.join("short"));
    std::fs::write(&long, vec![b'x'; 12 << 20]).unwrap();
    std::fs::write(&short, "1\n2\n").unwrap();
    let server = start_with(&folder, &["--secure-file-priv", place.to_str().unwrap()]);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.lines (a LONGTEXT)").unwrap();
    let load = |path: &std::path::Path| {
        format!("LOAD DATA INFILE '{}' INTO TABLE d.lines", path.display())
    };
    hostile(&server, |mut client| {
        let error = client.query(&load(&long)).unwrap_err();
        assert_eq!(error.code(), Some(1037), "{error}");
    });
    assert_eq!(client.query(&load(&short)).unwrap()[0].completion.affected_rows, 2);
}

/// How many temporary files the server has made.
fn temporary_files(client: &mut Client<TcpStream>) -> u64 {
    let rows = client.rows("SHOW GLOBAL STATUS LIKE 'Created_tmp_files'").unwrap();
    let Value::Text(files) = &rows[0][1] else { panic!("{rows:?}") };
    files.parse().unwrap()
}

#[test]
fn indexes_are_built_in_the_memory_that_is_left() {
    let folder = DataDir::new();
    let server = start(&folder);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("SET cte_max_recursion_depth = 30000").unwrap();
    client
        .query(
            "CREATE TABLE d.t AS WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n \
             WHERE a < 20000) SELECT a, SHA2(a, 512) b FROM n",
        )
        .unwrap();
    let files_of_build = |client: &mut Client<TcpStream>| {
        let before = temporary_files(client);
        client.query("ALTER TABLE d.t ADD UNIQUE (b), ADD INDEX (a), ADD INDEX c (b, a)").unwrap();
        temporary_files(client) - before
    };
    let with_all = files_of_build(&mut client);
    client.query("ALTER TABLE d.t DROP INDEX b, DROP INDEX a, DROP INDEX c").unwrap();
    let mut hoarders: Vec<_> = (0..5).map(|_| server.client()).collect();
    for (hoarder, size) in hoarders.iter_mut().zip([14, 14, 14, 14, 8]) {
        hoarder.query(&format!("SET @a = REPEAT('x', {size}000000)")).unwrap();
    }
    let with_little = files_of_build(&mut client);
    assert!(with_little > with_all, "{with_little} files where little is left, {with_all} else");
    let rows = client.rows("CHECK TABLE d.t").unwrap();
    assert_eq!(rows[0][3], Value::Text("OK".into()));
}
