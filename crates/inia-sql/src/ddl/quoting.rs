//! How definitions that SHOW prints quote names: in backticks, in double quotes under the mode
//! ANSI_QUOTES, and only where they need it while `sql_quote_show_create` is OFF.
//!
//! Texts are made with all names in backticks and rewritten here where the session wants another
//! form, so ``CREATE TABLE `t` (`a` int)`` becomes `CREATE TABLE t (a int)`.

use inia_base::sql_mode::SqlMode;
use inia_parser::keyword::{Kw, lookup};
use inia_query::context::SessionContext;

/// The form of names in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoting {
    ansi: bool,
    always: bool,
}

/// Whether MySQL writes a name without quotes.
fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    !name.is_empty()
        && name.bytes().all(fits)
        && !name.bytes().all(|byte| byte.is_ascii_digit())
        && lookup(name.as_bytes()) == Kw::NotKeyword
}

impl Quoting {
    /// The form that a session asks for.
    pub(crate) fn of(session: &SessionContext) -> Quoting {
        Quoting::under(session, session.env.sql_mode)
    }

    /// The form that a session asks for under the mode of a program.
    pub(crate) fn under(session: &SessionContext, mode: SqlMode) -> Quoting {
        let always = session.flag("sql_quote_show_create");
        Quoting { ansi: mode.has(SqlMode::ANSI_QUOTES), always }
    }

    /// The form that a stored condition has: double quotes are for texts that are shown.
    pub(crate) fn unless_ansi(self) -> Quoting {
        Quoting { ansi: false, ..self }
    }

    /// Whether names stay in backticks.
    fn is_usual(self) -> bool {
        self == Quoting { ansi: false, always: true }
    }

    /// A name.
    pub(crate) fn name(self, name: &str) -> String {
        match self.ansi {
            _ if !self.always && is_plain(name) => name.to_owned(),
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => inia_parser::quote_name(name),
        }
    }

    /// A text with all of its names in this form.
    pub(crate) fn all(self, text: String) -> String {
        if self.is_usual() { text } else { self.rewritten(&text, |_| false) }
    }

    /// The text of SHOW CREATE TABLE or DATABASE. Conditions of CHECK stay as they are stored, and
    /// all expressions under ANSI_QUOTES.
    pub(crate) fn definition(self, text: String) -> String {
        const EXPRESSIONS: [&str; 3] = ["CHECK ", "GENERATED ALWAYS AS ", "DEFAULT "];
        if self.is_usual() {
            return text;
        }
        // Open parentheses, and how many of them hold an expression. What follows the list of
        // columns has none.
        let (mut depth, mut kept, mut behind) = (0usize, 0usize, false);
        let ansi = self.ansi;
        self.rewritten(&text, move |read| {
            match read.as_bytes().last() {
                Some(b'(') => {
                    depth += 1;
                    let before = &read[..read.len() - 1];
                    let starts = match ansi {
                        true => depth > 2 || EXPRESSIONS.iter().any(|word| before.ends_with(word)),
                        false => before.ends_with("CHECK "),
                    };
                    kept += usize::from(kept > 0 || (starts && !behind));
                }
                Some(b')') => {
                    depth = depth.saturating_sub(1);
                    kept = kept.saturating_sub(1);
                    behind |= depth == 0;
                }
                _ => {}
            }
            kept > 0
        })
    }

    /// A text with its names in this form, but those at which `keeps` says `true` of the text that
    /// was written so far. It is asked at each parenthesis and name.
    fn rewritten(self, text: &str, mut keeps: impl FnMut(&str) -> bool) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        let mut kept = false;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '\'' | '`' => quoted_length(rest, first),
                _ => first.len_utf8(),
            };
            let (word, behind) = rest.split_at(length);
            match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
                Some(name) if !kept => out.push_str(&self.name(&name.replace("``", "`"))),
                _ => out.push_str(word),
            }
            if matches!(first, '(' | ')') {
                kept = keeps(&out);
            }
            rest = behind;
        }
        out
    }
}

/// The bytes of a text in quotes at the start of another. A quote in it is doubled, or follows a
/// backslash.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
        if quote == '\'' && letter == '\\' {
            letters.next();
        }
    }
    text.len()
}
