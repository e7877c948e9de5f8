//! The two engines behind one face: one in linear time, and one that goes back where a pattern
//! needs that, within bounds.

use super::Options;
use super::translate::{Translated, ends_line, names_no_class, translate};
use crate::eval::Stop;
use inia_base::error::{ErrorCode, SqlError};
use std::ops::Range;

/// Most memory of one compiled pattern.
const SIZE_LIMIT: usize = 4 << 20;
/// How often a match may go back before it is given up.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A compiled pattern.
pub(super) struct Engine {
    usual: Compiled,
    /// For texts that end with an end of line, where `$` means another thing in those.
    before_last: Option<Compiled>,
}

enum Compiled {
    Linear(regex::Regex),
    GoingBack(fancy_regex::Regex),
}

/// Where the groups of a match are, the whole match first.
pub(super) type Groups = Vec<Option<Range<usize>>>;

fn error(code: ErrorCode) -> Stop {
    Stop::Error(SqlError::new(code, &[]))
}

impl Compiled {
    fn new(pattern: &str, goes_back: bool, options: Options) -> Result<Compiled, Stop> {
        if goes_back {
            let built = fancy_regex::RegexBuilder::new(pattern)
                .case_insensitive(options.ignore_case)
                .multi_line(options.multi_line)
                .dot_matches_new_line(options.dot_newline)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(SIZE_LIMIT)
                .build();
            return built.map(Compiled::GoingBack).map_err(|failure| refused(&failure));
        }
        let built = regex::RegexBuilder::new(pattern)
            .case_insensitive(options.ignore_case)
            .multi_line(options.multi_line)
            .dot_matches_new_line(options.dot_newline)
            .size_limit(SIZE_LIMIT)
            .build();
        built.map(Compiled::Linear).map_err(|failure| syntax_error(&failure))
    }
}

impl Engine {
    /// Compiles a pattern; the errors 3684 to 3700.
    pub(super) fn compile(pattern: &str, options: Options) -> Result<Engine, Stop> {
        if names_no_class(pattern) {
            return Err(error(ErrorCode::RegexpIllegalArgument));
        }
        let translated = translate(pattern, options.dot_newline, options.multi_line);
        let Translated { pattern, goes_back, before_last } = translated;
        let usual = Compiled::new(&pattern, goes_back, options)?;
        let before_last = before_last.map(|pattern| Compiled::new(&pattern, true, options));
        Ok(Engine { usual, before_last: before_last.and_then(Result::ok) })
    }

    /// The pattern as `text` needs it.
    fn for_text(&self, text: &str) -> &Compiled {
        match &self.before_last {
            Some(compiled) if ends_line(text) => compiled,
            _ => &self.usual,
        }
    }

    /// Whether the pattern is anywhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> Result<bool, Stop> {
        match self.for_text(text) {
            Compiled::Linear(regex) => Ok(regex.is_match(text)),
            Compiled::GoingBack(regex) => regex.is_match(text).map_err(|failure| refused(&failure)),
        }
    }

    /// Where the match number `nth` is, from 0.
    pub(super) fn find(&self, text: &str, nth: usize) -> Result<Option<Range<usize>>, Stop> {
        match self.for_text(text) {
            Compiled::Linear(regex) => {
                Ok(regex.find_iter(text).nth(nth).map(|found| found.range()))
            }
            Compiled::GoingBack(regex) => {
                for (number, found) in regex.find_iter(text).enumerate() {
                    let found = found.map_err(|failure| refused(&failure))?;
                    if number == nth {
                        return Ok(Some(found.start()..found.end()));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Gives each match to `visit`.
    pub(super) fn each(
        &self,
        text: &str,
        visit: &mut dyn FnMut(&Groups) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match self.for_text(text) {
            Compiled::Linear(regex) => regex.captures_iter(text).try_for_each(|found| {
                visit(&found.iter().map(|group| group.map(|group| group.range())).collect())
            }),
            Compiled::GoingBack(regex) => regex.captures_iter(text).try_for_each(|found| {
                let found = found.map_err(|failure| refused(&failure))?;
                let range = |i: usize| found.get(i).map(|group| group.start()..group.end());
                visit(&(0..found.len()).map(range).collect())
            }),
        }
    }
}

/// What the engine that goes back says, as MySQL's error.
fn refused(failure: &fancy_regex::Error) -> Stop {
    use fancy_regex::{CompileError as C, Error as E, ParseError as P, RuntimeError as R};
    let code = match failure {
        E::RuntimeError(R::StackOverflow) => ErrorCode::RegexpStackOverflow,
        E::RuntimeError(_) => ErrorCode::RegexpTimeOut,
        E::ParseError(_, P::UnclosedOpenParen) => ErrorCode::RegexpMismatchedParen,
        E::ParseError(_, P::InvalidEscape(_)) => ErrorCode::RegexpBadEscapeSequence,
        E::ParseError(_, P::InvalidClass) => ErrorCode::RegexpMissingCloseBracket,
        E::ParseError(_, P::InvalidBackref) => ErrorCode::RegexpInvalidBackRef,
        E::ParseError(at, _) => {
            return SqlError::new(ErrorCode::RegexpRuleSyntax, &[&1, &(at + 1)]).into();
        }
        E::CompileError(failure) => match &**failure {
            C::InnerError(_) => ErrorCode::RegexpPatternTooBig,
            C::InvalidBackref(_) => ErrorCode::RegexpInvalidBackRef,
            C::LookBehindNotConst | C::VariableLookBehindRequiresFeature => {
                ErrorCode::RegexpLookBehindLimit
            }
            _ => ErrorCode::RegexpUnimplemented,
        },
        _ => ErrorCode::RegexpInternalError,
    };
    error(code)
}

/// What the linear engine says, as MySQL's error.
fn syntax_error(failure: &regex::Error) -> Stop {
    let text = failure.to_string();
    let codes = [
        ("unclosed character class", ErrorCode::RegexpMissingCloseBracket),
        ("unclosed group", ErrorCode::RegexpMismatchedParen),
        ("unopened group", ErrorCode::RegexpMismatchedParen),
        ("invalid character class range", ErrorCode::RegexpInvalidRange),
        ("invalid repetition count range", ErrorCode::RegexpMaxLtMin),
        ("repetition quantifier", ErrorCode::RegexpBadInterval),
        ("decimal literal", ErrorCode::RegexpBadInterval),
        ("escape sequence", ErrorCode::RegexpBadEscapeSequence),
        ("look-around", ErrorCode::RegexpUnimplemented),
        ("backreferences", ErrorCode::RegexpUnimplemented),
    ];
    if let regex::Error::CompiledTooBig(_) = failure {
        return error(ErrorCode::RegexpBufferOverflow);
    }
    match codes.iter().find(|(piece, _)| text.contains(piece)) {
        Some((_, code)) => error(*code),
        None => {
            let marker = text.lines().find(|line| line.trim() == "^");
            let column = marker.map_or(1, |line| line.len().saturating_sub(4));
            SqlError::new(ErrorCode::RegexpRuleSyntax, &[&1, &column]).into()
        }
    }
}
