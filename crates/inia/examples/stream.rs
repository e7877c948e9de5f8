//! Rows one by one: a result is never held whole, and a closure may end it.
//!
//! `cargo run -p inia --example stream`

use inia::{Database, Result};
use std::ops::ControlFlow;

fn main() -> Result<()> {
    let connection = Database::in_memory()?.connect()?;
    connection.execute_batch(
        "CREATE DATABASE log; USE log;
         CREATE TABLE events (id INT PRIMARY KEY AUTO_INCREMENT, level ENUM('info', 'error'))",
    )?;
    connection.transaction(|transaction| {
        let insert = transaction.prepare("INSERT INTO events (level) VALUES (?)")?;
        (1..=10_000).try_for_each(|n| {
            insert.execute([if n % 1_000 == 0 { "error" } else { "info" }]).map(drop)
        })
    })?;

    let mut errors = 0;
    connection.for_each("SELECT id, level FROM events ORDER BY id", (), |row| {
        errors += u32::from(row.get::<String>("level")? == "error");
        Ok(())
    })?;
    println!("{errors} errors");
    assert_eq!(errors, 10);

    let mut third = None;
    let mut seen = 0;
    connection.try_for_each("SELECT id FROM events WHERE level = ?", ("error",), |row| {
        seen += 1;
        if seen < 3 {
            return Ok(ControlFlow::Continue(()));
        }
        third = Some(row.get::<i64>("id")?);
        Ok(ControlFlow::Break(()))
    })?;
    assert_eq!(third, Some(3_000));
    Ok(())
}
