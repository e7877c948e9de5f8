//! The library in one page: a database in memory, rows as types, a transaction, and MySQL clients.
//!
//! `cargo run -p inia --example quickstart`

use inia::{Database, Date, Result};

fn main() -> Result<()> {
    let database = Database::in_memory()?; // or Database::open("some/directory")
    let connection = database.connect()?;
    connection.execute_batch(
        "CREATE DATABASE library; USE library;
         CREATE TABLE books (
             id INT PRIMARY KEY AUTO_INCREMENT,
             title VARCHAR(100) NOT NULL,
             price DECIMAL(8, 2) NOT NULL,
             published DATE,
             UNIQUE (title))",
    )?;

    // Parameters take any types together; the statement is prepared once and kept.
    let insert = "INSERT INTO books (title, price, published) VALUES (?, ?, ?)";
    connection.execute(insert, ("The Sea", "12.50", Some(Date::new(1978, 8, 21))))?;
    connection.execute(insert, ("Emma", 9.9, None::<Date>))?;

    // Rows become tuples, or any type that implements FromRow.
    let books: Vec<(String, String, Option<Date>)> =
        connection.query("SELECT title, price, published FROM books ORDER BY id", ())?;
    for (title, price, published) in &books {
        let year = published.map_or("?".to_owned(), |date| date.year.to_string());
        println!("{title} ({year}): {price}");
    }
    assert_eq!(books.len(), 2);

    // A transaction commits when its closure succeeds and rolls back when it fails.
    let failed: Result<()> = connection.transaction(|transaction| {
        transaction.execute("UPDATE books SET price = price * 2", ())?;
        transaction.execute(insert, ("Emma", 1, None::<Date>))?;
        Ok(())
    });
    let error = failed.expect_err("the title is there already");
    println!("{error}");
    assert!(error.is_duplicate_key());

    let total: f64 = connection.query_one("SELECT SUM(price) FROM books", ())?;
    assert_eq!(total, 22.4);

    #[cfg(feature = "server")]
    {
        let server = database.serve("127.0.0.1:0")?;
        println!("MySQL clients connect by {}", server.url());
        server.stop()?;
    }
    Ok(())
}
