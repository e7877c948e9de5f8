//! The shop's tables. Amounts are whole cents; keys are given by the application.

use crate::target::Dialect;
use crate::workload::Table;

/// Subjects that books are sorted by.
pub(super) const SUBJECTS: i64 = 25;
/// Books of each author.
const BOOKS_EACH: u64 = 10;
/// Copies of each book at first.
const STOCK: i64 = 100_000;

/// The title of a book: its number is in it, so that a page can be checked.
pub(super) fn title(book: i64) -> String {
    const WORDS: [&str; 8] =
        ["River", "Delta", "Flood", "Papyrus", "Harvest", "Cataract", "Oasis", "Source"];
    let word = |n: i64| WORDS[(n % 8) as usize];
    format!("The {} of the {}, volume {book}", word(book), word(book / 8))
}

/// The mail address of a customer, by which one logs in.
pub(super) fn email(customer: i64) -> String {
    format!("reader{customer}@nile.example")
}

pub(super) fn all(books: u64, customers: u64, dialect: Dialect) -> Vec<Table> {
    let authors = books.div_ceil(BOOKS_EACH);
    let mut tables = vec![
        Table::filled(
            "customers",
            "cust_id BIGINT NOT NULL PRIMARY KEY, email VARCHAR(64) NOT NULL, \
             name VARCHAR(64) NOT NULL, address VARCHAR(128) NOT NULL, card CHAR(16) NOT NULL",
            "cust_id, email, name, address, card",
            customers,
            |row, rng, out| {
                let id = row as i64 + 1;
                let [mut name, mut address, mut card] = [const { String::new() }; 3];
                rng.fill("@@@@@@ @@@@@@@@@", &mut name);
                rng.fill("### @@@@@@@@ Street, @@@@@@@@, #####", &mut address);
                rng.fill("################", &mut card);
                out.put(id).put(&email(id)).put(&name).put(&address).put(&card).end();
            },
        ),
        Table::filled(
            "authors",
            "author_id INTEGER NOT NULL PRIMARY KEY, author VARCHAR(64) NOT NULL",
            "author_id, author",
            authors,
            |row, rng, out| {
                let mut name = String::new();
                rng.fill("@@@@@@@ @@@@@@@@@", &mut name);
                out.put(row as i64 + 1).put(&name).end();
            },
        ),
        Table::filled(
            "books",
            "book_id INTEGER NOT NULL PRIMARY KEY, title VARCHAR(80) NOT NULL, \
             author_id INTEGER NOT NULL, subject INTEGER NOT NULL, price INTEGER NOT NULL, \
             stock BIGINT NOT NULL, sold BIGINT NOT NULL, blurb VARCHAR(400) NOT NULL",
            "book_id, title, author_id, subject, price, stock, sold, blurb",
            books,
            move |row, rng, out| {
                let id = row as i64 + 1;
                let mut blurb = String::new();
                rng.letters(200, &mut blurb);
                let author = rng.below(authors) as i64 + 1;
                out.put(id).put(&title(id)).put(author).put(id % SUBJECTS);
                out.put(rng.between(500, 9_999)).put(STOCK).put(0).put(&blurb).end();
            },
        ),
    ];
    tables.extend(trade());
    for table in &mut tables {
        table.create.push_str(dialect.table_options());
        let indexes: &[&str] = match table.name.as_str() {
            "customers" => &["UNIQUE INDEX customers_email ON customers (email)"],
            "books" => &[
                "INDEX books_subject ON books (subject, sold, book_id)",
                "INDEX books_title ON books (title)",
                "INDEX books_author ON books (author_id)",
            ],
            "nile_orders" => &["INDEX nile_orders_customer ON nile_orders (cust_id)"],
            _ => &[],
        };
        table.indexes = indexes.iter().map(|index| format!("CREATE {index}")).collect();
    }
    tables
}

/// What starts empty: carts and orders.
fn trade() -> impl Iterator<Item = Table> {
    let tables = [
        (
            "cart_lines",
            "cart_id BIGINT NOT NULL, book_id INTEGER NOT NULL, quantity INTEGER NOT NULL, \
             PRIMARY KEY (cart_id, book_id)",
        ),
        ("carts", "cart_id BIGINT NOT NULL PRIMARY KEY, cust_id BIGINT NOT NULL"),
        (
            "nile_orders",
            "order_id BIGINT NOT NULL PRIMARY KEY, cust_id BIGINT NOT NULL, total BIGINT NOT NULL",
        ),
        (
            "order_lines",
            "order_id BIGINT NOT NULL, book_id INTEGER NOT NULL, quantity INTEGER NOT NULL, \
             price INTEGER NOT NULL, PRIMARY KEY (order_id, book_id)",
        ),
    ];
    let made = |(name, columns)| Table::empty(name, format!("CREATE TABLE {name} ({columns})"));
    tables.into_iter().map(made)
}
