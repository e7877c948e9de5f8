//! The text that carries a JSON document inside the engine and in storage.
//!
//! It is the document as MySQL prints it, except that a scalar whose type the printed form does not
//! show is preceded by a byte that does. A printed document has no byte below a blank, so that
//! these bytes are unambiguous:
//!
//! ```text
//! JSON_ARRAY(1, 1.50, DATE'2020-01-31')    carried as  [1, ␃1.50, ␄"2020-01-31"]
//!                                          printed as  [1, 1.50, "2020-01-31"]
//! ```

use std::borrow::Cow;

/// Before an integer that is UNSIGNED INTEGER though its digits look like INTEGER.
pub const UNSIGNED: u8 = 1;
/// Before an integer that is INTEGER though its digits look like UNSIGNED INTEGER.
pub const SIGNED: u8 = 2;
/// Before a DECIMAL.
pub const DECIMAL: u8 = 3;
/// Before a DATE in quotes.
pub const DATE: u8 = 4;
/// Before a TIME in quotes.
pub const TIME: u8 = 5;
/// Before a DATETIME in quotes.
pub const DATETIME: u8 = 6;
/// Before bytes in base64, in quotes.
pub const OPAQUE: u8 = 7;

/// A document as MySQL prints it.
pub fn printed(carried: &str) -> Cow<'_, str> {
    if carried.bytes().all(|byte| byte >= b' ') {
        return Cow::Borrowed(carried);
    }
    Cow::Owned(carried.chars().filter(|c| *c >= ' ').collect())
}
