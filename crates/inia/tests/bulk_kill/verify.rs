//! What must be there after a start.

use super::work::is_defined;
use super::{Acknowledged, CLIENTS, Connection, checksum};
use std::sync::atomic::Ordering;

/// Looks at everything. `trims`: then takes away the numbers so far, ballast, and all but the last
/// entry of each client.
pub(super) fn all_is_whole(connection: &mut Connection, acknowledged: &Acknowledged, trims: bool) {
    ledger_has_what_was_acknowledged(connection, acknowledged);
    tables_are_as_noted_by_every_index(connection);
    rows_belong_together(connection);
    let defined = acknowledged.defined.lock().unwrap().clone();
    for ((table, what), is) in defined {
        let found = is_defined(connection, &table, what).unwrap();
        assert_eq!(found, is, "{table}: its extra {what}");
    }
    if trims {
        let last = "(SELECT client, MAX(n) AS n FROM ledger GROUP BY client)";
        connection.sure("DELETE FROM numbers");
        connection.sure("DELETE FROM ballast");
        connection.sure("UPDATE ledger SET parts = 0");
        connection.sure(&format!(
            "DELETE l FROM ledger l JOIN {last} last ON l.client = last.client AND l.n < last.n"
        ));
    }
    no_number_is_given_again(connection, acknowledged);
}

fn ledger_has_what_was_acknowledged(connection: &mut Connection, acknowledged: &Acknowledged) {
    for (client, last) in acknowledged.transactions.iter().enumerate() {
        let promised = last.load(Ordering::SeqCst);
        let of_client = format!("FROM ledger WHERE client = {client}");
        let found = connection.number(&format!("SELECT COALESCE(MAX(n), 0) {of_client}"));
        let holes = connection.sure(&format!("SELECT MAX(n) - MIN(n) + 1 - COUNT(*) {of_client}"));
        assert!(holes == "0" || holes == "NULL", "client {client}: {holes} entries are missing");
        let whole = found == promised || found == promised + 1;
        assert!(whole, "client {client}: {promised} acknowledged, {found} found");
        last.store(found, Ordering::SeqCst);
    }
}

fn tables_are_as_noted_by_every_index(connection: &mut Connection) {
    for client in 0..CLIENTS {
        let own = format!("pairs{client}");
        let noted = connection.sure(&format!(
            "SELECT pairs, checksum FROM ledger WHERE client = {client} ORDER BY n DESC LIMIT 1"
        ));
        let is = connection.sure(&checksum(&own));
        assert!(noted.is_empty() && is == "0 0" || is == noted, "{own}: noted {noted}, is {is}");
    }
    let tables = connection.sure("SHOW TABLES FROM bulk");
    for table in tables.lines() {
        let checked = connection.sure(&format!("CHECK TABLE {table} EXTENDED"));
        assert_eq!(checked, format!("bulk.{table} check status OK"));
        let indexes = connection.sure(&format!(
            "SELECT index_name, column_name FROM information_schema.statistics \
             WHERE table_schema = 'bulk' AND table_name = '{table}' AND seq_in_index = 1"
        ));
        let all = connection.sure(&checksum_of_any(table, ""));
        for line in indexes.lines() {
            let (index, column) = line.split_once(' ').unwrap();
            let least = if matches!(column, "code" | "note") { "''" } else { "-9e15" };
            let by = format!("FORCE INDEX (`{index}`) WHERE {column} >= {least}");
            let found = connection.sure(&checksum_of_any(table, &by));
            assert_eq!(found, all, "{table} by {index}");
        }
    }
}

/// As [`checksum`], of tables of every kind.
fn checksum_of_any(table: &str, by: &str) -> String {
    let columns = match table {
        "numbers" => "id, client, n, part",
        "ledger" => "client, n, parts, first, pairs, checksum",
        "parents" => "id, v",
        "children" => "id, parent, v",
        "digits" => "d",
        "ballast" => "id, filler",
        _ => return format!("{} {by}", checksum(table)),
    };
    format!("SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', {columns}))) FROM {table} {by}")
}

fn rows_belong_together(connection: &mut Connection) {
    let mut pairs = vec!["pairs".to_owned()];
    pairs.extend((0..CLIENTS).map(|client| format!("pairs{client}")));
    for table in pairs {
        let broken = connection.sure(&format!(
            "SELECT id, COUNT(*), SUM(balance) FROM {table} GROUP BY id \
             HAVING COUNT(*) <> 2 OR SUM(balance) <> 0 LIMIT 5"
        ));
        assert_eq!(broken, "", "{table}: id, rows, balance of what is no pair");
    }
    let numbers = connection.sure(
        "SELECT l.client, l.n, l.parts, l.first, c.parts, c.first FROM ledger l LEFT JOIN \
         (SELECT client, n, COUNT(*) AS parts, MIN(id) AS first FROM numbers GROUP BY client, n) \
         c ON c.client = l.client AND c.n = l.n WHERE l.parts <> COALESCE(c.parts, 0) \
         OR l.parts > 0 AND l.first <> c.first LIMIT 5",
    );
    assert_eq!(numbers, "", "entries whose numbers are not there");
    let stray = connection.number(
        "SELECT COUNT(*) FROM numbers c LEFT JOIN ledger l ON l.client = c.client AND l.n = c.n \
         WHERE l.n IS NULL",
    );
    assert_eq!(stray, 0, "numbers of no entry");
    let orphans = connection.number(
        "SELECT COUNT(*) FROM children c LEFT JOIN parents p ON p.id = c.parent WHERE p.id IS NULL",
    );
    assert_eq!(orphans, 0, "children without a parent");
}

fn no_number_is_given_again(connection: &mut Connection, acknowledged: &Acknowledged) {
    connection.sure("INSERT INTO numbers (client, n, part) VALUES (-1, -1, -1)");
    let given = connection.number("SELECT LAST_INSERT_ID()");
    let before = acknowledged.number.fetch_max(given, Ordering::SeqCst);
    assert!(given > before, "{before} was acknowledged, {given} is given out");
    connection.sure("DELETE FROM numbers WHERE client = -1");
}
