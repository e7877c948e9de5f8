//! Answers to the same query, compared by value.
//!
//! Targets write one answer in several ways: `17`, `17.00` and `17.0` are one number, a fixed
//! column comes with or without the spaces that fill it, and a quotient has as many digits as the
//! dialect gives it. Rows are compared as sets, since an ORDER BY may leave ties; what it does
//! order is looked at by [`ordered`].
//!
//! ```text
//! mysql   37734107.00 | 25.522006          sqlite  37734107.0 | 25.5220058532573
//!         ^ equal as numbers               ^ equal to the last digit that both have
//! ```

use crate::target::Answer;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Share by which a floating-point sum may differ from another sum of the same numbers.
const ROUNDING: f64 = 1e-9;
/// A quotient has at least so many digits behind the point; what has fewer is exact.
const QUOTIENT: u32 = 6;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// A number, and its digits behind the point; none of a floating-point number.
    Number(f64, Option<u32>),
    /// A text, a date or any other value.
    Text(String),
}

/// The rows of an answer.
pub type Lines = Vec<Vec<Cell>>;

impl Cell {
    /// The value that a text stands for.
    pub fn of(text: &str) -> Cell {
        let text = text.trim_end();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match text.parse() {
            Ok(number) if plain => {
                let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                Cell::Number(number, Some(decimals as u32))
            }
            _ => Cell::Text(text.to_owned()),
        }
    }

    /// Whether two cells hold one value, of numbers within `slack`.
    fn agrees(&self, other: &Cell, slack: f64) -> bool {
        match (self, other) {
            (Cell::Number(a, digits), Cell::Number(b, others)) => {
                let fewer = digits.unwrap_or(u32::MAX).min(others.unwrap_or(u32::MAX));
                let last = match fewer {
                    QUOTIENT..=16 => 10f64.powi(-(fewer as i32)) * 1.01,
                    _ => 0.0,
                };
                let exact = digits.is_some() && others.is_some();
                let rounding = if exact { 0.0 } else { a.abs().max(b.abs()) * ROUNDING };
                (a - b).abs() <= slack.max(last).max(rounding)
            }
            _ => self == other,
        }
    }

    fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Number(a, _), Cell::Number(b, _)) => a.total_cmp(b),
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Null, Cell::Null) => Ordering::Equal,
            (Cell::Null, _) | (Cell::Number(..), Cell::Text(_)) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    fn shown(&self) -> String {
        match self {
            Cell::Null => "NULL".to_owned(),
            Cell::Number(value, Some(digits)) => format!("{value:.*}", *digits as usize),
            Cell::Number(value, None) => value.to_string(),
            Cell::Text(text) => format!("'{text}'"),
        }
    }
}

/// The rows of an answer.
pub fn lines(answer: &Answer) -> Lines {
    let cell = |row, column| match (answer.double(row, column), answer.text(row, column)) {
        (Some(value), _) => Cell::Number(value, None),
        (None, Some(text)) => Cell::of(&text),
        (None, None) => Cell::Null,
    };
    let columns = answer.columns();
    (0..answer.rows()).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

/// The first row at which an answer is not in the order of these columns, from 0; the flag says
/// whether a column descends.
pub fn ordered(rows: &[Vec<Cell>], by: &[(usize, bool)]) -> Result<(), usize> {
    let before = |a: &[Cell], b: &[Cell]| {
        let columns =
            by.iter().filter_map(|&(at, down)| Some((a.get(at)?.order(b.get(at)?), down)));
        let mut orders = columns.map(|(order, down)| if down { order.reverse() } else { order });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    match rows.windows(2).position(|pair| before(&pair[0], &pair[1]).is_gt()) {
        Some(at) => Err(at + 1),
        None => Ok(()),
    }
}

/// Says where two answers differ, rows in any order and numbers within `slack`.
pub fn difference(a: &[Vec<Cell>], b: &[Vec<Cell>], slack: f64) -> Option<String> {
    if a.len() != b.len() {
        return Some(format!("{} rows, not {}", a.len(), b.len()));
    }
    let (a, b) = (sorted(a), sorted(b));
    for (row, other) in a.iter().zip(&b) {
        let agree = row.len() == other.len()
            && row.iter().zip(*other).all(|(cell, other)| cell.agrees(other, slack));
        if !agree {
            let shown = |row: &[Cell]| row.iter().map(Cell::shown).collect::<Vec<_>>().join(", ");
            return Some(format!("a row ({}), not ({})", shown(row), shown(other)));
        }
    }
    None
}

/// Rows by their texts first: two that hold almost the same numbers stand in one order then.
fn sorted(rows: &[Vec<Cell>]) -> Vec<&Vec<Cell>> {
    let mut sorted: Vec<&Vec<Cell>> = rows.iter().collect();
    sorted.sort_by(|a, b| {
        let texts = |text: bool| {
            let pairs = a.iter().zip(b.iter());
            let mut pairs = pairs.filter(move |(a, _)| matches!(a, Cell::Text(_)) == text);
            pairs.find_map(|(a, b)| Some(a.order(b)).filter(|order| order.is_ne()))
        };
        texts(true).or_else(|| texts(false)).unwrap_or(Ordering::Equal)
    });
    sorted
}

/// What the first target of a comparison answered to each query; the others must agree.
#[derive(Debug, Default)]
pub struct Agreement {
    known: Mutex<BTreeMap<String, (String, Lines)>>,
}

impl Agreement {
    /// Says where an answer differs from what another target has answered to the query. A
    /// query that is run for the first time is answered by this.
    pub fn differs(&self, query: &str, label: &str, rows: &Lines) -> Option<String> {
        let mut known = self.known.lock().expect("no comparison panics");
        let Some((first, answer)) = known.get(query) else {
            known.insert(query.to_owned(), (label.to_owned(), rows.clone()));
            return None;
        };
        let found = difference(rows, answer, 0.0)?;
        Some(if first == label { format!("{found} before") } else { format!("{found} on {first}") })
    }
}

#[cfg(test)]
mod tests;
