//! The null server speaks well enough for any client.

use super::*;
use inia_wire::client::{self, LoginOptions};

fn connect(capabilities: Capabilities) -> client::Client<TcpStream> {
    let floor = Floor::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(floor.address()).unwrap();
    thread::spawn(move || floor.run());
    let options = LoginOptions { capabilities, ..LoginOptions::default() };
    client::Client::connect(stream, &options).unwrap()
}

#[test]
fn sysbench_s_statements_get_rows_of_their_shape() {
    let old = Capabilities::CLIENT.without(Capabilities::DEPRECATE_EOF);
    for capabilities in [Capabilities::CLIENT, old] {
        let mut client = connect(capabilities);
        let statements = [
            ("BEGIN", 0, 0),
            ("SELECT c FROM sbtest1 WHERE id=?", 1, 1),
            ("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", 2, 100),
            ("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", 2, 1),
            ("COMMIT", 0, 0),
        ];
        for (sql, params, rows) in statements {
            let prepared = client.prepare(sql).unwrap();
            assert_eq!(prepared.params, params, "{sql}");
            let values = vec![inia_base::value::Value::Int(1); params];
            assert_eq!(client.execute(prepared.id, &values).unwrap().rows.len(), rows, "{sql}");
            assert_eq!(client.rows(sql).unwrap().len(), rows, "{sql}");
            client.close_statement(prepared.id).unwrap();
        }
    }
}
