//! A shopper: walks one sequence of pages after the other and looks at what comes back.

use super::SEQUENCES;
use super::http::Wire;
use super::tables::{SUBJECTS, email, title};
use crate::random::{Picker, Rng};
use crate::session::Session;
use crate::target::{Class, Failure, Result};
use crate::workload::{Script, Tally};
use std::net::{SocketAddr, TcpStream};

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
        match self.sequence {
            0 => {
                let subject = rng.between(0, SUBJECTS - 1);
                self.visit("/".to_owned(), "Nile");
                self.visit(format!("/subject?id={subject}"), "books on this subject");
                self.book(book);
                self.visit(format!("/best?subject={subject}"), "best sellers");
                self.book(other);
            }
            1 => {
                self.visit(format!("/title?book={book}"), title(book));
                self.book(book);
                self.visit(format!("/author?book={other}"), title(other));
                self.book(other);
            }
            2 => {
                self.visit("/".to_owned(), "Nile");
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
                self.visit(format!("/cart?id={cart}"), title(other));
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
        self.bought += i64::from(path.starts_with("/buy"));
        self.registered += i64::from(path.starts_with("/register"));
        Ok(self.sequence)
    }

    fn repeated(&self) -> u64 {
        self.repeated
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("bought").or_default() += self.bought;
        *tally.entry("registered").or_default() += self.registered;
    }
}
