//! LIKE, REGEXP and JSON functions on parts of the input, which zero bytes separate.

use crate::session::session;
use inia_base::value::Value;
use inia_sql::Session;
use inia_testkit::RowCounter;
use std::cell::RefCell;

const STATEMENTS: [&str; 9] = [
    "SELECT ? LIKE ?, ? LIKE ? ESCAPE '|'",
    "SELECT ? COLLATE utf8mb4_bin LIKE ?",
    "SELECT ? REGEXP ?",
    "SELECT REGEXP_REPLACE(?, ?, ?)",
    "SELECT REGEXP_SUBSTR(?, ?), REGEXP_INSTR(?, ?)",
    "SELECT JSON_EXTRACT(?, ?), JSON_SEARCH(?, 'all', ?)",
    "SELECT JSON_SET(?, ?, ?), JSON_REMOVE(?, ?)",
    "SELECT JSON_MERGE_PATCH(?, ?), JSON_CONTAINS(?, ?)",
    "SELECT STR_TO_DATE(?, ?), DATE_FORMAT(?, ?)",
];

thread_local! {
    static SESSION: RefCell<(Session, Vec<(u32, usize)>)> = RefCell::new(prepared());
}

fn prepared() -> (Session, Vec<(u32, usize)>) {
    let mut session = session(&["SET sql_mode = ''"]);
    let ids = STATEMENTS.iter().map(|sql| {
        let id = session.prepare(sql).expect("these are statements").id;
        (id, sql.matches('?').count())
    });
    let ids = ids.collect();
    (session, ids)
}

pub fn run(data: &[u8]) {
    let texts: Vec<Value> = data
        .split(|byte| *byte == 0)
        .map(|part| Value::Text(String::from_utf8_lossy(part).into_owned()))
        .collect();
    SESSION.with_borrow_mut(|(session, prepared)| {
        for (id, count) in prepared {
            let params: Vec<Value> = texts.iter().cycle().take(*count).cloned().collect();
            let _ = session.execute_prepared(*id, &params, &mut RowCounter::default());
        }
    });
}
