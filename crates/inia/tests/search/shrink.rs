//! Makes scripts small: parts of statements are left out while what is wrong remains.
//!
//! The text of a statement is cut into tokens. Candidates for leaving out are what stands between
//! two boundaries (commas, clauses, operators) of one pair of parentheses, all of a call but one
//! argument, and runs of one to three tokens. Whether the rest still makes sense is not looked at:
//! a statement that is refused shows nothing wrong, and so the candidate falls.

use std::ops::Range;

/// What a check says of a script: whether, and in which way, something is wrong.
pub(super) type Check<'c> = &'c mut dyn FnMut(&[String]) -> Option<String>;

/// A small script that is wrong in the same way as `script`, found with at most so many checks of
/// candidates.
pub(super) fn shrink(script: Vec<String>, attempts: usize, check: Check<'_>) -> Vec<String> {
    let Some(wrong) = check(&script) else { return script };
    let mut shrinker = Shrinker { script, wrong, left: attempts, check };
    shrinker.drop_statements();
    while shrinker.left > 0 {
        let before = shrinker.script.clone();
        for at in (0..shrinker.script.len()).rev() {
            shrinker.shrink_statement(at);
        }
        if shrinker.script == before {
            break;
        }
    }
    shrinker.script
}

struct Shrinker<'c> {
    script: Vec<String>,
    wrong: String,
    left: usize,
    check: Check<'c>,
}

impl Shrinker<'_> {
    /// Takes a candidate if it is wrong in the same way.
    fn takes(&mut self, candidate: Vec<String>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let wrong = (self.check)(&candidate).is_some_and(|found| found == self.wrong);
        if wrong {
            self.script = candidate;
        }
        wrong
    }

    /// Leaves out statements: halves of the script, quarters, and so on to single ones.
    fn drop_statements(&mut self) {
        let mut size = self.script.len().div_ceil(2);
        while size > 0 {
            let mut end = self.script.len().saturating_sub(1);
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut candidate = self.script.clone();
                candidate.drain(start..end);
                self.takes(candidate);
                end = start;
            }
            size /= 2;
        }
    }

    fn shrink_statement(&mut self, at: usize) {
        let mut tokens = tokens(&self.script[at]);
        let mut tried = 0;
        loop {
            let candidates = candidates(&tokens);
            let Some(drops) = candidates.get(tried) else { return };
            let rest = without(&tokens, drops);
            tried += 1;
            if fragile(&tokens, &rest, drops) {
                continue;
            }
            let mut candidate = self.script.clone();
            candidate[at] = text(&rest);
            if self.takes(candidate) {
                tokens = rest;
                tried = tried.saturating_sub(3);
            } else if self.left == 0 {
                return;
            }
        }
    }
}

/// Whether leaving something out of an ORDER BY lets chance decide on rows.
fn fragile(tokens: &[String], rest: &[String], drops: &[Range<usize>]) -> bool {
    const WORDS: &[&str] =
        &["LIMIT", "ROWS", "ROW_NUMBER", "LAG", "LEAD", "FIRST_VALUE", "NTILE", "NTH_VALUE"];
    if !rest.iter().any(|token| WORDS.contains(&token.trim())) {
        return false;
    }
    let mut depth = 0;
    let mut ordering = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.trim() {
            "(" => depth += 1,
            ")" => {
                depth -= 1;
                if ordering.is_some_and(|started| depth < started) {
                    ordering = None;
                }
            }
            "ORDER" => ordering = Some(depth),
            "LIMIT" | "ROWS" => ordering = None,
            _ => {}
        }
        if ordering.is_some() && drops.iter().any(|drop| drop.contains(&at)) {
            return true;
        }
    }
    false
}

/// Words, numbers, texts and signs, each with the space before it.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = sql.chars().peekable();
    while let Some(first) = chars.next() {
        let mut token = String::from(first);
        let mut start = first;
        if first == ' ' {
            let Some(next) = chars.next() else { break };
            token.push(next);
            start = next;
        }
        if start == '\'' {
            for next in chars.by_ref() {
                token.push(next);
                if next == '\'' {
                    break;
                }
            }
        } else if word(start) {
            while let Some(next) = chars.next_if(|next| word(*next)) {
                token.push(next);
            }
        } else if "<>=!".contains(start) {
            while let Some(next) = chars.next_if(|next| "<>=".contains(*next)) {
                token.push(next);
            }
        }
        tokens.push(token);
    }
    tokens
}

fn word(char: char) -> bool {
    char.is_alphanumeric() || "_.@".contains(char)
}

fn text(tokens: &[String]) -> String {
    tokens.concat().trim().to_owned()
}

fn without(tokens: &[String], drops: &[Range<usize>]) -> Vec<String> {
    let stays = |at: &usize| !drops.iter().any(|drop| drop.contains(at));
    (0..tokens.len()).filter(stays).map(|at| tokens[at].clone()).collect()
}

const BOUNDARIES: &[&str] = &[
    ",",
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "JOIN",
    "LEFT",
    "RIGHT",
    "NATURAL",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "AND",
    "OR",
    "XOR",
    "ON",
    "WITH",
    "SET",
    "VALUES",
    "SELECT",
    "WHEN",
    "ELSE",
    "IS",
    "BETWEEN",
    "IN",
    "+",
    "-",
    "*",
    "=",
    "<",
    ">",
    "<=",
    ">=",
    "<>",
    "<=>",
];

/// What may be left out, the largest first.
fn candidates(tokens: &[String]) -> Vec<Vec<Range<usize>>> {
    let mut found: Vec<Vec<Range<usize>>> = Vec::new();
    let mut open = vec![(0, vec![0])];
    for (at, token) in tokens.iter().enumerate() {
        match token.trim() {
            "(" => open.push((at, vec![at + 1])),
            ")" if open.len() > 1 => {
                let (start, boundaries) = open.pop().expect("looked at above");
                group(start, boundaries, at, tokens, &mut found);
            }
            token if BOUNDARIES.contains(&token) => {
                open.last_mut().expect("one is always open").1.push(at);
            }
            _ => {}
        }
    }
    let (_, boundaries) = open.swap_remove(0);
    between(boundaries, tokens.len(), &mut found);
    for length in 1..=3 {
        for start in 0..tokens.len().saturating_sub(length - 1) {
            if balanced(&tokens[start..start + length]) {
                found.push(std::iter::once(start..start + length).collect());
            }
        }
    }
    let size = |drops: &Vec<Range<usize>>| drops.iter().map(ExactSizeIterator::len).sum::<usize>();
    found.retain(|drops| size(drops) > 0 && size(drops) < tokens.len());
    found.sort_by_key(|drops| std::cmp::Reverse(size(drops)));
    found
}

/// A pair of parentheses: what is in it, all of it, and all but one argument.
fn group(
    start: usize,
    boundaries: Vec<usize>,
    end: usize,
    tokens: &[String],
    found: &mut Vec<Vec<Range<usize>>>,
) {
    let called = start > 0 && !tokens[start].starts_with(' ') && word_token(&tokens[start - 1]);
    let from = start - usize::from(called);
    found.push(std::iter::once(from..end + 1).collect());
    if from > 0 {
        found.push(std::iter::once(from - 1..end + 1).collect());
    }
    if boundaries.len() < 12 {
        for (at, first) in boundaries.iter().enumerate() {
            let last = boundaries.get(at + 1).copied().unwrap_or(end);
            let first = if *first == start + 1 { *first } else { *first + 1 };
            found.push(vec![from..first, last..end + 1]);
        }
    }
    between(boundaries, end, found);
}

fn word_token(token: &str) -> bool {
    token.chars().last().is_some_and(word)
}

/// What stands between boundaries: all, halves, quarters and so on.
fn between(mut boundaries: Vec<usize>, end: usize, found: &mut Vec<Vec<Range<usize>>>) {
    boundaries.push(end);
    let mut size = boundaries.len() - 1;
    while size > 0 {
        for first in (0..boundaries.len() - 1).step_by(size) {
            let last = (first + size).min(boundaries.len() - 1);
            found.push(std::iter::once(boundaries[first]..boundaries[last]).collect());
        }
        size /= 2;
    }
}

fn balanced(tokens: &[String]) -> bool {
    let mut depth = 0;
    for token in tokens {
        match token.trim() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[test]
fn what_is_not_needed_is_left_out() {
    let script = ["SET x = 1", "SELECT a, COALESCE(b, 'it (is)'), 3 FROM t WHERE a > 1 AND b < 2"];
    let mut check = |script: &[String]| {
        let last = script.last()?;
        (last.contains("SELECT") && last.contains('b')).then(|| "wrong".to_owned())
    };
    let small = shrink(script.map(str::to_owned).to_vec(), 1000, &mut check);
    assert_eq!(small, ["SELECT b"]);
}
