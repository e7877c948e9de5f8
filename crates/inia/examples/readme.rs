//! The README's example of the library, which is compiled and run here; and a check that it is the
//! one in the README.

use std::error::Error;

const README: &str = include_str!("../../../README.md");
const OWN: &str = include_str!("readme.rs");

fn main() -> Result<(), Box<dyn Error>> {
    let (_, block) = README.split_once("```rust\n").expect("a block of Rust");
    let (block, _) = block.split_once("```").expect("the block's end");
    let (_, own) = OWN.split_once("// The README's lines:\n").expect("the lines");
    let (own, _) = own.split_once("    // So far.\n").expect("their end");
    let own = own.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    let own: Vec<&str> = own.collect();
    assert_eq!(block.lines().collect::<Vec<_>>(), own, "the README has another example");

    let folder = std::env::temp_dir().join(format!("inia-readme-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::env::set_current_dir(&folder)?;
    let done = example();
    std::fs::remove_dir_all(&folder)?;
    Ok(done?)
}

#[rustfmt::skip]
fn example() -> inia::Result<()> {
    // The README's lines:
    let database = inia::Database::open("some/directory")?;  // or Database::in_memory()
    let shop = database.connect()?;                           // one connection a thread
    shop.execute_batch("CREATE DATABASE shop; USE shop")?;
    shop.execute_batch("CREATE TABLE goods (id INT PRIMARY KEY, name TEXT)")?;
    shop.transaction(|t| {                                    // commits, or rolls back on an error
        t.execute("INSERT INTO goods VALUES (?, ?), (?, ?)", (1, "tea", 2, "rice")).map(drop)
    })?;
    let goods: Vec<(i64, String)> = shop.query("SELECT id, name FROM goods", ())?;
    let server = database.serve("127.0.0.1:0")?;              // MySQL clients work on the same rows
    // So far.
    assert_eq!(goods, [(1, "tea".to_owned()), (2, "rice".to_owned())]);
    drop(server);
    Ok(())
}
