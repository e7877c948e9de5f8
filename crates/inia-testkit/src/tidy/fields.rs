//! Types with many fields or flags: each says beside it why it is not several types.

/// More fields than these, or more flags, want a reason.
const MAX_FIELDS: usize = 12;
const MAX_FLAGS: usize = 4;

/// What a type's comment says its reason with.
const REASON: &str = "/// Wide:";

/// The structs without a reason: the line of each, from 0, and how many fields it has.
pub(super) fn wide_types(lines: &[&str]) -> Vec<(usize, usize)> {
    let starts = |line: &str| {
        let words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        words.into_iter().next() == Some("struct") && line.ends_with('{') && !line.starts_with(' ')
    };
    let wide = |(at, _): (usize, &&str)| {
        let body = lines[at + 1..].iter().take_while(|line| **line != "}");
        let (fields, flags) = body
            .filter_map(|line| field_type(line))
            .fold((0, 0), |sum, ty| (sum.0 + 1, sum.1 + usize::from(ty == "bool")));
        let comment = lines[..at].iter().rev().take_while(|line| line.starts_with(['/', '#']));
        let reason = comment.into_iter().any(|line| line.starts_with(REASON));
        ((fields > MAX_FIELDS || flags > MAX_FLAGS) && !reason).then_some((at, fields))
    };
    lines.iter().enumerate().filter(|(_, line)| starts(line)).filter_map(wide).collect()
}

/// The type of the field that a line declares.
fn field_type(line: &str) -> Option<&str> {
    let field = line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', '/', '#']))?;
    let (name, ty) = field.split_once(':')?;
    name.split_whitespace()
        .last()?
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some(())?;
    Some(ty.trim().trim_end_matches(','))
}
