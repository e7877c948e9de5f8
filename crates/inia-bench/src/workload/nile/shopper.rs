//! A shopper: walks one sequence of pages after the other and looks at what comes back.

use super::SEQUENCES;
use super::http::Wire;
use super::tables::{SUBJECTS, email, title};
use crate::random::{Picker, Rng};
use crate::session::Session;
use crate::target::{Class, Failure, Result};
use crate::workload::{Script, Tally};
use std::net::{SocketAddr, TcpStream};

/// Books on a page of a subject.
const LISTED: i64 = 20;

/// Wide: one prepared statement for each page of the shop.
pub(super) struct Shopper {
    address: SocketAddr,
    client: usize,
    books: Picker,
    customers: Picker,
    wire: Option<Wire>,
    /// Paths still to visit in this sequence, last first, each with what its page must say.
    path: Vec<(String, String)>,
    sequence: usize,
    carts: i64,
    /// Carts with something in them, and books put in.
    filled: i64,
    /// The number of the last cart.
    last_cart: Option<String>,
    added: i64,
    bought: i64,
    registered: i64,
    /// How often the shop ran the last page's transaction again.
    repeated: u64,
}

impl Shopper {
    pub(super) fn new(
        address: SocketAddr,
        client: usize,
        books: Picker,
        customers: Picker,
    ) -> Shopper {
        Shopper {
            address,
            client,
            books,
            customers,
            wire: None,
            path: Vec::new(),
            sequence: 0,
            carts: 0,
            filled: 0,
            last_cart: None,
            added: 0,
            bought: 0,
            registered: 0,
            repeated: 0,
        }
    }

    fn visit(&mut self, path: String, says: impl Into<String>) {
        self.path.push((path, says.into()));
    }

    fn book(&mut self, book: i64) {
        self.visit(format!("/book?id={book}"), title(book));
    }

    /// How many books a page of a subject shows.
    fn on_subject(&self, subject: i64) -> i64 {
        let books = self.books.rows() as i64;
        let held = books / SUBJECTS + i64::from((1..=books % SUBJECTS).contains(&subject));
        held.min(LISTED)
    }

    /// A cart of this shopper alone.
    fn cart(&mut self) -> i64 {
        self.carts += 1;
        ((self.client as i64 + 1) << 32) + self.carts
    }

    /// Plans the next sequence, in order; it is walked from the front.
    fn plan(&mut self, rng: &mut Rng) {
        let mut drawn = rng.below(100);
        self.sequence = SEQUENCES.len() - 1;
        for (n, (_, share)) in SEQUENCES.iter().enumerate() {
            if drawn < *share {
                self.sequence = n;
                break;
            }
            drawn -= share;
        }
        let (book, other) = (self.books.pick(rng), self.books.pick(rng));
        let customer = self.customers.pick(rng);
        let login = format!("/login?email={}", email(customer));
        let welcome = format!("customer {customer}.");
        let front = format!("{} This week at Nile", self.books.rows().min(10));
        match self.sequence {
            0 => {
                let subject = rng.between(0, SUBJECTS - 1);
                self.visit("/".to_owned(), front);
                let held = self.on_subject(subject);
                self.visit(
                    format!("/subject?id={subject}"),
                    format!("{held} books on this subject"),
                );
                self.book(book);
                self.visit(format!("/best?subject={subject}"), format!("{held} best sellers"));
                self.book(other);
            }
            1 => {
                self.visit(format!("/title?book={book}"), title(book));
                self.book(book);
                self.visit(format!("/author?book={other}"), title(other));
                self.book(other);
            }
            2 => {
                self.visit("/".to_owned(), front);
                let name = format!("new.{}.{}", self.client, self.registered);
                self.visit(format!("/register?name={name}"), "Welcome");
            }
            3 | 4 => {
                let cart = self.cart();
                if self.sequence == 4 {
                    self.visit(login, welcome);
                }
                self.book(book);
                self.visit(format!("/add?cart={cart}&book={book}&customer={customer}"), "in cart");
                self.visit(format!("/add?cart={cart}&book={other}&customer={customer}"), "in cart");
                let kinds = 1 + i64::from(book != other);
                self.visit(format!("/cart?id={cart}"), format!("<h1>{kinds} books in the cart"));
                if self.sequence == 4 {
                    self.visit(format!("/buy?cart={cart}&customer={customer}"), "Thank you");
                }
            }
            _ => {
                self.visit(login, welcome);
                self.visit(format!("/orders?customer={customer}"), "orders of customer");
            }
        }
        self.path.reverse();
    }
}

impl Script for Shopper {
    fn start(&mut self, _session: &mut Session) -> Result<()> {
        let wire = TcpStream::connect(self.address).and_then(Wire::new);
        self.wire = Some(wire.map_err(|error| {
            Failure::new(Class::Lost, format!("the shop does not answer: {error}"))
        })?);
        Ok(())
    }

    fn transaction(&mut self, _session: &mut Session, rng: &mut Rng) -> Result<usize> {
        if self.path.is_empty() {
            self.plan(rng);
        }
        let Some((path, says)) = self.path.pop() else { return Ok(self.sequence) };
        let wire = self.wire.as_mut().ok_or_else(|| Failure::wrong("outside the shop"))?;
        let (status, page, repeated) = wire
            .get(&path)
            .map_err(|error| Failure::new(Class::Lost, format!("{path}: {error}")))?;
        self.repeated = repeated;
        if status != 200 || !page.contains(&says) {
            let head: String = page.chars().take(300).collect();
            return Err(Failure::wrong(format!(
                "{path}: {status}, not a page of '{says}': {head}"
            )));
        }
        if path.starts_with("/add") {
            let cart = path.split(['=', '&']).nth(1);
            if cart != self.last_cart.as_deref() {
                self.filled += 1;
                self.last_cart = cart.map(str::to_owned);
            }
            self.added += 1;
        }
        self.bought += i64::from(path.starts_with("/buy"));
        self.registered += i64::from(path.starts_with("/register"));
        Ok(self.sequence)
    }

    fn repeated(&self) -> u64 {
        self.repeated
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("carts").or_default() += self.filled;
        *tally.entry("added").or_default() += self.added;
        *tally.entry("bought").or_default() += self.bought;
        *tally.entry("registered").or_default() += self.registered;
    }
}
