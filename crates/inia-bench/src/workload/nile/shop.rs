//! The bookstore's application: a blocking HTTP server, a thread for each visitor's connection,
//! and a pool of sessions on the target that pages borrow.

use super::http::Wire;
use crate::session::{Session, Statement};
use crate::target::{Answer, Class, Failure, Param, Result};
use crate::workload::Setting;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a page is tried again after a deadlock, or while the whole database is locked.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two tries.
const PAUSE: Duration = Duration::from_micros(200);

/// The statements, in the order of [`S`].
const TEXTS: [&str; 20] = [
    "SELECT book_id, title, price FROM books ORDER BY book_id LIMIT 10",
    "SELECT book_id, title, price FROM books WHERE subject = ? \
     ORDER BY sold DESC, book_id DESC LIMIT 20",
    "SELECT title, author, price, stock, blurb FROM books \
     JOIN authors ON authors.author_id = books.author_id WHERE book_id = ?",
    "SELECT book_id, title, price FROM books WHERE title >= ? ORDER BY title LIMIT 20",
    "SELECT b.book_id, b.title, b.price FROM books a JOIN books b ON b.author_id = a.author_id \
     WHERE a.book_id = ?",
    "INSERT INTO customers (cust_id, email, name, address, card) \
     VALUES (?, ?, ?, '1 River Street', '0000111122223333')",
    "SELECT cust_id, name FROM customers WHERE email = ?",
    "SELECT cart_id FROM carts WHERE cart_id = ?",
    "INSERT INTO carts (cart_id, cust_id) VALUES (?, ?)",
    "UPDATE cart_lines SET quantity = quantity + 1 WHERE cart_id = ? AND book_id = ?",
    "INSERT INTO cart_lines (cart_id, book_id, quantity) VALUES (?, ?, 1)",
    "SELECT cart_lines.book_id, title, price, quantity FROM cart_lines \
     JOIN books ON books.book_id = cart_lines.book_id WHERE cart_id = ? \
     ORDER BY cart_lines.book_id",
    "UPDATE books SET stock = stock - ?, sold = sold + ? WHERE book_id = ?",
    "INSERT INTO order_lines (order_id, book_id, quantity, price) VALUES (?, ?, ?, ?)",
    "INSERT INTO nile_orders (order_id, cust_id, total) VALUES (?, ?, ?)",
    "DELETE FROM cart_lines WHERE cart_id = ?",
    "DELETE FROM carts WHERE cart_id = ?",
    "SELECT order_id, total FROM nile_orders WHERE cust_id = ? ORDER BY order_id DESC LIMIT 10",
    "SELECT order_lines.book_id, title, order_lines.price, quantity FROM order_lines \
     JOIN books ON books.book_id = order_lines.book_id WHERE order_id = ?",
    "SELECT COUNT(*) FROM nile_orders WHERE cust_id = ?",
];

#[derive(Clone, Copy)]
#[repr(usize)]
enum S {
    Front,
    Subject,
    Book,
    Titles,
    SameAuthor,
    Register,
    LogIn,
    CartThere,
    NewCart,
    OneMore,
    AddLine,
    CartLines,
    Sell,
    OrderLine,
    Order,
    EmptyCart,
    EndCart,
    Orders,
    OrderLines,
    CountOrders,
}

/// What is wrong with a page.
enum Trouble {
    /// The path is not one of the shop's.
    NoSuchPage,
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failed(failure)
    }
}

/// A session of the pool with its statements.
struct Desk {
    session: Session,
    statements: Vec<Statement>,
}

struct Inner {
    desks: Mutex<Vec<Desk>>,
    free: Condvar,
    /// Number of the next customer.
    customer: AtomicI64,
    closing: AtomicBool,
}

/// The application, open until it is dropped.
pub(super) struct Shop {
    inner: Arc<Inner>,
    address: SocketAddr,
}

impl Shop {
    /// Opens with so many sessions; `customer` is the number of the next customer.
    pub(super) fn open(setting: &Setting, sessions: usize, customer: i64) -> Result<Shop> {
        let mut desks = Vec::with_capacity(sessions);
        for _ in 0..sessions {
            let mut session = setting.session();
            session.connect()?;
            let statements =
                TEXTS.iter().map(|text| session.statement(text)).collect::<Result<_>>()?;
            desks.push(Desk { session, statements });
        }
        let closed =
            |error| Failure::new(Class::Statement, format!("the shop cannot open: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(closed)?;
        let address = listener.local_addr().map_err(closed)?;
        let inner = Arc::new(Inner {
            desks: Mutex::new(desks),
            free: Condvar::new(),
            customer: AtomicI64::new(customer),
            closing: AtomicBool::new(false),
        });
        let own = inner.clone();
        std::thread::Builder::new()
            .name("nile-shop".to_owned())
            .spawn(move || accept(&listener, &own))
            .map_err(closed)?;
        Ok(Shop { inner, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.inner.closing.store(true, Ordering::Release);
        // Wakes the thread that waits for visitors.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, inner: &Arc<Inner>) {
    for stream in listener.incoming() {
        if inner.closing.load(Ordering::Acquire) {
            return;
        }
        let (Ok(stream), inner) = (stream, inner.clone()) else { continue };
        let serve = move || {
            if let Ok(mut wire) = Wire::new(stream) {
                inner.serve(&mut wire);
            }
        };
        // A visitor whose thread cannot start finds the connection closed.
        let _ = std::thread::Builder::new().stack_size(256 * 1024).spawn(serve);
    }
}

impl Inner {
    /// Answers one visitor until one of the two hangs up.
    fn serve(&self, wire: &mut Wire) {
        let mut page = String::new();
        while let Ok(Some(path)) = wire.request() {
            page.clear();
            page.push_str("<!doctype html><title>Nile</title>\n");
            let (done, retries) = self.page(&path, &mut page);
            let status = match done {
                Ok(()) => "200 OK",
                Err(Trouble::NoSuchPage) => "404 Not Found",
                Err(Trouble::Failed(failure)) => {
                    let _ = write!(page, "{failure}");
                    "500 Internal Server Error"
                }
            };
            if wire.reply(status, &page, retries).is_err() {
                return;
            }
        }
    }

    fn pool(&self) -> MutexGuard<'_, Vec<Desk>> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn borrow(&self) -> Desk {
        let mut desks = self.pool();
        loop {
            if let Some(desk) = desks.pop() {
                return desk;
            }
            desks = self.free.wait(desks).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes a page; returns how often that was tried in vain, too.
    fn page(&self, path: &str, page: &mut String) -> (std::result::Result<(), Trouble>, u64) {
        let mut desk = self.borrow();
        let (head, begun, mut retries) = (page.len(), Instant::now(), 0);
        let outcome = loop {
            let outcome = self.compose(&mut desk, path, page);
            let Err(Trouble::Failed(failure)) = &outcome else { break outcome };
            let _ = desk.session.rollback();
            if failure.class != Class::Retry || begun.elapsed() > PATIENCE {
                break outcome;
            }
            retries += 1;
            std::thread::sleep(PAUSE);
            page.truncate(head);
        };
        self.pool().push(desk);
        self.free.notify_one();
        (outcome, retries)
    }

    fn compose(
        &self,
        desk: &mut Desk,
        path: &str,
        page: &mut String,
    ) -> std::result::Result<(), Trouble> {
        let (name, query) = path.split_once('?').unwrap_or((path, ""));
        let text = |key: &str| {
            let fields = query.split('&').filter_map(|field| field.split_once('='));
            fields.into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
        };
        let number =
            |key: &str| text(key).and_then(|text| text.parse().ok()).ok_or(Trouble::NoSuchPage);
        match name {
            "/" => desk.list(page, "This week at Nile", S::Front, &[])?,
            "/subject" => {
                let subject: i64 = number("id")?;
                desk.list(page, "books on this subject", S::Subject, &[subject.into()])?;
            }
            "/best" => {
                let subject: i64 = number("subject")?;
                desk.list(page, "best sellers", S::Subject, &[subject.into()])?;
            }
            "/book" => desk.book(page, number("id")?)?,
            "/title" => {
                let title = super::tables::title(number("book")?);
                desk.list(page, "titles", S::Titles, &[(&title).into()])?;
            }
            "/author" => {
                let book: i64 = number("book")?;
                desk.list(page, "by the same author", S::SameAuthor, &[book.into()])?;
            }
            "/register" => {
                let id = self.customer.fetch_add(1, Ordering::Relaxed);
                desk.register(page, id, text("name").ok_or(Trouble::NoSuchPage)?)?;
            }
            "/login" => desk.log_in(page, text("email").ok_or(Trouble::NoSuchPage)?)?,
            "/add" => desk.add(page, number("cart")?, number("book")?, number("customer")?)?,
            "/cart" => desk.cart(page, number("id")?)?,
            "/buy" => desk.buy(page, number("cart")?, number("customer")?)?,
            "/orders" => desk.orders(page, number("customer")?)?,
            _ => return Err(Trouble::NoSuchPage),
        }
        Ok(())
    }
}

/// Cells of all rows as text.
fn cells(answer: &Answer) -> Vec<Vec<String>> {
    let row = |row| (0..answer.columns()).map(move |c| answer.text(row, c).unwrap_or_default());
    (0..answer.rows()).map(|n| row(n).collect()).collect()
}

fn table(page: &mut String, rows: &[Vec<String>]) {
    page.push_str("<table>\n");
    for row in rows {
        let _ = writeln!(page, "<tr><td>{}", row.join("<td>"));
    }
    page.push_str("</table>\n");
}

impl Desk {
    fn run(&mut self, statement: S, params: &[Param<'_>]) -> Result<&Answer> {
        self.session.run(self.statements[statement as usize], params)
    }

    fn write(&mut self, statement: S, params: &[Param<'_>]) -> Result<()> {
        let changed = self.run(statement, params)?.affected();
        if changed == 1 {
            return Ok(());
        }
        let text = TEXTS[statement as usize];
        Err(Failure::wrong(format!("{text}: {changed} rows, not one")))
    }

    fn list(&mut self, page: &mut String, head: &str, s: S, params: &[Param<'_>]) -> Result<()> {
        let rows = cells(self.run(s, params)?);
        let _ = writeln!(page, "<h1>{} {head}</h1>", rows.len());
        table(page, &rows);
        Ok(())
    }

    fn book(&mut self, page: &mut String, id: i64) -> Result<()> {
        let rows = cells(self.run(S::Book, &[id.into()])?);
        if rows.len() != 1 {
            return Err(Failure::wrong(format!("book {id}: {} rows", rows.len())));
        }
        table(page, &rows);
        Ok(())
    }

    fn register(&mut self, page: &mut String, id: i64, name: &str) -> Result<()> {
        let email = super::tables::email(id);
        self.write(S::Register, &[id.into(), (&email).into(), name.into()])?;
        let _ = writeln!(page, "<h1>Welcome, customer {id}.</h1>");
        Ok(())
    }

    fn log_in(&mut self, page: &mut String, email: &str) -> Result<()> {
        let rows = cells(self.run(S::LogIn, &[email.into()])?);
        let [row] = &rows[..] else {
            return Err(Failure::wrong(format!("{email}: {} customers", rows.len())));
        };
        let id: i64 = row[0].parse().map_err(|_| Failure::wrong("a customer without number"))?;
        let orders = self.run(S::CountOrders, &[id.into()])?.int(0, 0).unwrap_or(0);
        let _ = writeln!(page, "<h1>{}, customer {id}. {orders} orders</h1>", row[1]);
        Ok(())
    }

    fn add(&mut self, page: &mut String, cart: i64, book: i64, customer: i64) -> Result<()> {
        self.session.begin()?;
        if self.run(S::CartThere, &[cart.into()])?.rows() == 0 {
            self.write(S::NewCart, &[cart.into(), customer.into()])?;
        }
        let line = [cart.into(), book.into()];
        if self.run(S::OneMore, &line)?.affected() == 0 {
            self.write(S::AddLine, &line)?;
        }
        self.session.commit()?;
        let _ = writeln!(page, "<p>book {book} is in cart {cart}, now in cart:");
        Ok(())
    }

    fn cart(&mut self, page: &mut String, cart: i64) -> Result<()> {
        self.list(page, "books in the cart", S::CartLines, &[cart.into()])
    }

    /// The lines of the cart become an order; books in order of their numbers, as all do.
    fn buy(&mut self, page: &mut String, cart: i64, customer: i64) -> Result<()> {
        self.session.begin()?;
        let answer = self.run(S::CartLines, &[cart.into()])?;
        let line = |row| Some([answer.int(row, 0)?, answer.int(row, 2)?, answer.int(row, 3)?]);
        let lines: Option<Vec<[i64; 3]>> = (0..answer.rows()).map(line).collect();
        let lines = lines.filter(|lines| !lines.is_empty());
        let lines = lines.ok_or_else(|| Failure::wrong(format!("cart {cart} is empty")))?;
        let mut total = 0;
        for [book, price, quantity] in lines {
            self.write(S::Sell, &[quantity.into(), quantity.into(), book.into()])?;
            let line = [cart.into(), book.into(), quantity.into(), price.into()];
            self.write(S::OrderLine, &line)?;
            total += price * quantity;
        }
        self.write(S::Order, &[cart.into(), customer.into(), total.into()])?;
        self.run(S::EmptyCart, &[cart.into()])?;
        self.write(S::EndCart, &[cart.into()])?;
        self.session.commit()?;
        let _ = writeln!(page, "<h1>Thank you</h1> Order {cart}: {total} cents");
        Ok(())
    }

    fn orders(&mut self, page: &mut String, customer: i64) -> Result<()> {
        let rows = cells(self.run(S::Orders, &[customer.into()])?);
        let _ = writeln!(page, "<h1>orders of customer {customer}</h1>");
        table(page, &rows);
        if let Some(id) = rows.first().and_then(|row| row[0].parse::<i64>().ok()) {
            self.list(page, "books in the last order", S::OrderLines, &[id.into()])?;
        }
        Ok(())
    }
}
