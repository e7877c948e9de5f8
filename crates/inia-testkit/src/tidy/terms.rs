//! Private words for things that have a name in the field, and that name.
//!
//! A term stands in `docs/GLOSSARY.md`; what this list has beside it reads as something else, or as
//! nothing. Comments, identifiers and documents keep to the terms.

/// What is not to be written, and what is. A word ends at a letter or digit: `put_off` is also in
/// `put_off_row`, and `MAX_`'s opposite number is in every constant that begins with it.
pub(super) const TERMS: &[(&str, &str)] = &[
    ("Core", "SessionContext or EngineShared"),
    ("Alone", "WriteLock, Single, Uncontended or StatementTxn"),
    ("_alone", "_untraced, _single, _uncontended or statement_txn"),
    ("look_first", "semi_consistent"),
    ("looks_first", "semi_consistent"),
    ("Spot", "RecordLocator"),
    ("spot", "locator"),
    ("Founded", "Bootstrapped"),
    ("founds a database", "bootstraps a database"),
    ("PartPlan", "Subplan"),
    ("struct Part", "a name with its subject"),
    ("enum Part", "a name with its subject"),
    ("struct Reads", "ReferencedObjects"),
    ("struct Work", "TableBuilder"),
    ("enum Known", "a name with its subject"),
    ("struct Texts", "PlanCache"),
    ("EndLookup", "IndexExtremum"),
    ("fleeting", "volatile"),
    ("a circle", "a cycle"),
    ("circles", "cycle"),
    ("stepping_back", "back_off_and_retry"),
    ("Bell", "Wakeup"),
    ("nap", "wait"),
    ("put_off", "buffer or defer"),
    ("put off", "buffered or deferred"),
    ("MOST_", "MAX_"),
    ("LEAST_", "MIN_"),
    ("FEW_", "_THRESHOLD"),
    ("strings2", "a name with its subject"),
    ("digits_next", "a value that is passed"),
    ("tested_next", "a value that is passed"),
    ("come to again", "found again"),
    ("its like", "the same digest, or what is meant"),
    ("and its kin", "what is meant"),
    ("Whoever", "the subject: a session, a reader, the caller"),
    ("whoever", "the subject: a session, a reader, the caller"),
    ("tell", "report, show, publish or distinguish"),
    ("tells", "reports, shows, publishes or distinguishes"),
    ("Tells", "Reports, shows, publishes or distinguishes"),
    ("telling", "reporting, showing, publishing or distinguishing"),
    ("told", "reported, shown, published or distinguished"),
    ("is come to", "is reached"),
];

/// The first term of a line that is not to be written, by its position in [`TERMS`].
pub(super) fn private_term(line: &str) -> Option<usize> {
    TERMS.iter().position(|(term, _)| holds(line, term))
}

/// Whether a line holds a term: no letter or digit goes on from either of its ends.
fn holds(line: &str, term: &str) -> bool {
    let goes_on = |inside: Option<u8>, outside: Option<&u8>| {
        inside.is_some_and(|byte| byte.is_ascii_alphanumeric())
            && outside.is_some_and(u8::is_ascii_alphanumeric)
    };
    let (bytes, own) = (line.as_bytes(), term.as_bytes());
    line.match_indices(term).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|index| bytes.get(index));
        !goes_on(own.first().copied(), before)
            && !goes_on(own.last().copied(), bytes.get(at + term.len()))
    })
}
