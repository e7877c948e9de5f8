//! Every command of the protocol, in every framing.

use crate::support::{TestServer, cell};
use inia_base::column::status;
use inia_base::value::Value;
use inia_wire::caps::Capabilities;
use inia_wire::client::LoginOptions;
use inia_wire::command::Command;
use inia_wire::command::execute_flags::CURSOR_READ_ONLY;

fn in_every_framing(run: impl Fn(&mut inia_wire::Client<std::net::TcpStream>)) {
    let server = TestServer::start();
    let old = Capabilities::CLIENT.without(Capabilities::DEPRECATE_EOF);
    let asking = Capabilities::CLIENT.with(Capabilities::QUERY_ATTRIBUTES);
    let zlib = Capabilities::CLIENT.with(Capabilities::COMPRESS);
    let zstd = Capabilities::CLIENT.with(Capabilities::ZSTD_COMPRESSION);
    for capabilities in [Capabilities::CLIENT, old, asking, zlib, zstd] {
        let options = LoginOptions { capabilities, ..LoginOptions::default() };
        run(&mut server.log_in(&options).unwrap());
    }
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn text_queries_and_several_results() {
    in_every_framing(|client| {
        let results = client.query("ROWS 2; DO 1; ROWS 0;").unwrap();
        assert_eq!(results.len(), 3);
        let expected = vec![vec![text("0"), Value::Null], vec![text("1"), text("odd")]];
        assert_eq!(results[0].rows, expected);
        assert_ne!(results[0].completion.status & status::MORE_RESULTS_EXISTS, 0);
        assert!(results[1].columns.is_empty());
        assert_eq!(results[2].columns.len(), 2);
        assert_eq!(results[2].completion.status, status::AUTOCOMMIT);
    });
}

#[test]
fn errors_leave_the_connection_usable() {
    in_every_framing(|client| {
        for sql in ["GARBAGE", "ROWS 3; GARBAGE", "PARTIAL", ""] {
            if !sql.is_empty() {
                assert_eq!(client.query(sql).unwrap_err().code(), Some(1105), "{sql}");
            }
            client.ping().unwrap();
        }
    });
}

#[test]
fn prepared_statements() {
    in_every_framing(|client| {
        let echo = client.prepare("PARAMS ? ?").unwrap();
        assert_eq!(echo.params, 2);
        let values = [Value::Int(7), text("é")];
        let rows = client.execute(echo.id, &values).unwrap().rows;
        assert_eq!(cell(&rows), "[Int(7), Text(\"é\")]");

        let list = client.prepare("ROWS 300").unwrap();
        assert_eq!(list.columns.len(), 2);
        let rows = client.execute(list.id, &[]).unwrap().rows;
        assert_eq!(rows.len(), 300);
        assert_eq!(rows[299], [Value::Int(299), text("odd")]);

        client.close_statement(echo.id).unwrap();
        let error = client.execute(echo.id, &values).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "ERROR 1243 (HY000): Unknown prepared statement handler ({}) given to \
                 mysql_stmt_precheck",
                echo.id
            )
        );
        assert_eq!(client.execute(list.id, &[]).unwrap().rows.len(), 300);
    });
}

#[test]
fn long_data_comes_in_pieces() {
    in_every_framing(|client| {
        let echo = client.prepare("PARAMS ?").unwrap();
        for piece in [&b"ab"[..], b"cd"] {
            let id = echo.id;
            client.send_command(&Command::SendLongData { id, param: 0, data: piece }).unwrap();
        }
        let rows = client.execute(echo.id, &[text("ignored")]).unwrap().rows;
        assert_eq!(cell(&rows), "[Text(\"abcd\")]");
        client.send_command(&Command::ResetStatement(echo.id)).unwrap();
        client.read_ok().unwrap();
        let rows = client.execute(echo.id, &[text("plain")]).unwrap().rows;
        assert_eq!(cell(&rows), "[Text(\"plain\")]");
    });
}

#[test]
fn cursors_hand_out_rows_in_pieces() {
    in_every_framing(|client| {
        let list = client.prepare("ROWS 5").unwrap();
        let opened = client.execute_with_flags(list.id, &[], CURSOR_READ_ONLY).unwrap();
        assert_ne!(opened.completion.status & status::CURSOR_EXISTS, 0);
        let (rows, end) = client.fetch(list.id, 3, &opened.columns).unwrap();
        assert_eq!(rows.len(), 3);
        assert_ne!(end.status & status::CURSOR_EXISTS, 0);
        let (rows, end) = client.fetch(list.id, 3, &opened.columns).unwrap();
        assert_eq!(rows, [vec![Value::Int(3), text("odd")], vec![Value::Int(4), Value::Null]]);
        assert_ne!(end.status & status::LAST_ROW_SENT, 0);
        let error = client.fetch(list.id, 3, &opened.columns).unwrap_err();
        assert_eq!(error.code(), Some(1421));
    });
}

#[test]
fn the_small_commands() {
    in_every_framing(|client| {
        client.ping().unwrap();
        client.use_database("shop").unwrap();
        assert_eq!(client.use_database("nosuch").unwrap_err().code(), Some(1049));
        for command in [Command::SetOption(true), Command::SetOption(false), Command::Debug] {
            client.send_command(&command).unwrap();
            client.read_ok().unwrap();
        }
        client.send_command(&Command::Statistics).unwrap();
        let line = String::from_utf8(client.read_payload().unwrap()).unwrap();
        assert!(line.starts_with("Uptime: ") && line.contains("Threads: "), "{line}");
        let prepared = client.prepare("DO 1").unwrap();
        client.reset().unwrap();
        assert_eq!(client.execute(prepared.id, &[]).unwrap_err().code(), Some(1243));
    });
}

#[test]
fn field_lists_name_the_columns_that_match() {
    in_every_framing(|client| {
        for (pattern, expected) in [("", 2), ("n_m%", 1), ("%", 2), ("x", 0)] {
            let pattern = pattern.as_bytes();
            client.send_command(&Command::FieldList { table: b"t", pattern }).unwrap();
            let mut columns = 0;
            while client.read_payload().unwrap()[0] != 0xfe {
                columns += 1;
            }
            assert_eq!(columns, expected);
        }
    });
}

#[test]
fn requests_may_come_all_at_once() {
    use std::io::Write;
    let server = TestServer::start();
    let mut client = server.client();
    let mut requests = Vec::new();
    for _ in 0..100 {
        requests.extend_from_slice(b"\x01\0\0\0\x0e");
    }
    client.stream().write_all(&requests).unwrap();
    let mut replies = [0; 100 * 11];
    std::io::Read::read_exact(client.stream(), &mut replies).unwrap();
    assert!(replies.chunks(11).all(|reply| reply == b"\x07\0\0\x01\0\0\0\x02\0\0\0"));
}

#[test]
fn big_requests_and_big_replies_take_several_frames() {
    let server = TestServer::start();
    for compression in [Capabilities::default(), Capabilities::COMPRESS] {
        let capabilities = Capabilities::CLIENT.with(compression);
        let options = LoginOptions { capabilities, ..LoginOptions::default() };
        big_exchange(&mut server.log_in(&options).unwrap());
    }
}

fn big_exchange(client: &mut inia_wire::Client<std::net::TcpStream>) {
    let length = 17 << 20;
    let sql = format!("LENGTH {}", "x".repeat(length - 7));
    assert_eq!(cell(&client.rows(&sql).unwrap()), length.to_string());
    let reply = client.rows(&format!("BIG {length}")).unwrap();
    assert_eq!(cell(&reply).len(), length);
    assert_eq!(client.rows("ROWS 200000").unwrap().len(), 200_000);
    client.ping().unwrap();
}

#[test]
fn changes_of_the_session_are_tracked() {
    let server = TestServer::start();
    let mut client = server.client();
    let result = &client.query("USE shop").unwrap()[0];
    let expected = inia_base::column::SessionChange::Schema("shop".to_owned());
    assert_eq!(result.completion.changes, [expected]);
}
