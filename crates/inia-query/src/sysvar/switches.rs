//! Variables that are lists of switches, such as `optimizer_switch`.
//!
//! ```text
//!   now       mrr=on,hash_join=on,skip_scan=off
//!   set to    'mrr=off,skip_scan=default'
//!   then      mrr=off,hash_join=on,skip_scan=on      (where the default is on)
//! ```
//! The word `default` alone gives all that are not named their defaults.

/// Changes switches as a text says. The error is the rest of the text from a mistake on.
pub fn changed<'w>(now: &str, default: &str, wanted: &'w str) -> Result<String, &'w str> {
    if wanted.is_empty() {
        return Ok(now.to_owned());
    }
    let (names, defaults): (Vec<&str>, Vec<bool>) = switches(default).unzip();
    let mut said: Vec<Option<bool>> = vec![None; names.len()];
    let (mut all, mut rest) = (false, wanted);
    loop {
        let (item, after) = rest.split_once(',').map_or((rest, None), |(a, b)| (a, Some(b)));
        if item.eq_ignore_ascii_case("default") && !all {
            all = true;
        } else {
            let (name, state) = item.split_once('=').ok_or(rest)?;
            let at = names.iter().position(|known| known.eq_ignore_ascii_case(name)).ok_or(rest)?;
            // Spaces behind the whole say nothing.
            let state = if after.is_none() { state.trim_end_matches(' ') } else { state };
            let state = match state.to_ascii_lowercase().as_str() {
                "on" => true,
                "off" => false,
                "default" => defaults[at],
                _ => return Err(rest),
            };
            if said[at].replace(state).is_some() {
                return Err(rest);
            }
        }
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    let before = switches(now).zip(&defaults);
    let kept = before.map(|((_, now), default)| if all { *default } else { now });
    Ok(text(names.into_iter().zip(said.into_iter().zip(kept).map(|(new, old)| new.unwrap_or(old)))))
}

/// The switches that a number's bits turn on, the first by the lowest; `None` where it has more.
pub fn of_number(default: &str, number: u64) -> Option<String> {
    let count = switches(default).count();
    let bits = switches(default).zip(0..).map(|((name, _), bit)| (name, number >> bit & 1 == 1));
    (number >> count == 0).then(|| text(bits))
}

fn switches(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split(',').filter_map(|item| item.split_once('=')).map(|(name, on)| (name, on == "on"))
}

fn text<'n>(switches: impl Iterator<Item = (&'n str, bool)>) -> String {
    let item = |(name, on)| format!("{name}={}", if on { "on" } else { "off" });
    switches.map(item).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
