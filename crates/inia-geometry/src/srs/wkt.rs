//! The WKT of reference systems: nested nodes `WORD["name", 1, MEMBER[…]]`, and the two sorts that
//! a definition may be of.
//!
//! ```text
//! PROJCS[name, GEOGCS, PROJECTION[name, auth?], PARAMETER[name, number, auth?]…, UNIT,
//!        axes?, auth?]
//! GEOGCS[name, DATUM[name, SPHEROID[name, number, number, auth?], TOWGS84[7 numbers]?, auth?],
//!        PRIMEM[name, number, auth?], UNIT[name, number, auth?], axes, auth?]
//! ```
//!
//! where axes are two of `AXIS[name, direction]` and auth is `AUTHORITY[name, code]`.

/// Levels of nodes: PROJCS, GEOGCS, DATUM, SPHEROID, AUTHORITY.
const MAX_DEPTH: usize = 5;

/// What stands between the brackets of a node.
enum Item<'t> {
    /// A text in quotes.
    Text(&'t str),
    /// A number or a direction.
    Bare(&'t str),
    Node(&'t str, Vec<Item<'t>>),
}

/// A direction of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// NORTH.
    North,
    /// SOUTH.
    South,
    /// EAST.
    East,
    /// WEST.
    West,
    /// OTHER.
    Other,
}

impl Direction {
    const NAMES: [(&'static str, Direction); 5] = [
        ("NORTH", Direction::North),
        ("SOUTH", Direction::South),
        ("EAST", Direction::East),
        ("WEST", Direction::West),
        ("OTHER", Direction::Other),
    ];

    fn named(name: &str) -> Option<Direction> {
        let found = Direction::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, direction)| *direction)
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        Direction::NAMES[self as usize].0
    }
}

/// AUTHORITY.
pub(super) type Authority<'t> = Option<(&'t str, &'t str)>;

/// GEOGCS.
pub(super) struct Geographic<'t> {
    pub semi_major: f64,
    pub inverse_flattening: f64,
    pub to_wgs84: Option<[f64; 7]>,
    pub prime_meridian: f64,
    pub unit: f64,
    pub axes: [Direction; 2],
    pub authority: Authority<'t>,
}

/// PARAMETER.
pub(super) struct Parameter<'t> {
    pub name: &'t str,
    pub value: f64,
    pub authority: Authority<'t>,
}

/// What PROJCS has besides its GEOGCS.
pub(super) struct Projection<'t> {
    pub authority: Authority<'t>,
    pub parameters: Vec<Parameter<'t>>,
    pub unit: f64,
    pub axes: Option<[Direction; 2]>,
}

/// Reads a definition.
pub(super) fn read(text: &str) -> Option<(Geographic<'_>, Option<Projection<'_>>)> {
    let mut rest = text;
    let (word, items) = node(&mut rest, MAX_DEPTH)?;
    if !rest.trim().is_empty() {
        return None;
    }
    let mut whole = Items(&items);
    if word.eq_ignore_ascii_case("GEOGCS") {
        return Some((geographic(whole)?, None));
    }
    if !word.eq_ignore_ascii_case("PROJCS") {
        return None;
    }
    whole.text()?;
    let geographic = geographic(whole.node("GEOGCS")?)?;
    let mut projection = whole.node("PROJECTION")?;
    projection.text()?;
    let authority = projection.last_authority()?;
    let mut parameters = Vec::new();
    while let Some(mut parameter) = whole.node("PARAMETER") {
        parameters.push(Parameter {
            name: parameter.text()?,
            value: parameter.number()?,
            authority: parameter.last_authority()?,
        });
    }
    let unit = whole.node("UNIT")?.named_number()?;
    let axes = match whole.peeks("AXIS") {
        true => Some(whole.axes()?),
        false => None,
    };
    whole.last_authority()?;
    Some((geographic, Some(Projection { authority, parameters, unit, axes })))
}

fn geographic<'t>(mut items: Items<'_, 't>) -> Option<Geographic<'t>> {
    items.text()?;
    let mut datum = items.node("DATUM")?;
    datum.text()?;
    let mut spheroid = datum.node("SPHEROID")?;
    spheroid.text()?;
    let (semi_major, inverse_flattening) = (spheroid.number()?, spheroid.number()?);
    spheroid.last_authority()?;
    let mut to_wgs84 = None;
    if let Some(mut shift) = datum.node("TOWGS84") {
        let mut numbers = [0.0; 7];
        for number in &mut numbers {
            *number = shift.number()?;
        }
        shift.end()?;
        to_wgs84 = Some(numbers);
    }
    datum.last_authority()?;
    Some(Geographic {
        semi_major,
        inverse_flattening,
        to_wgs84,
        prime_meridian: items.node("PRIMEM")?.named_number()?,
        unit: items.node("UNIT")?.named_number()?,
        axes: items.axes()?,
        authority: items.last_authority()?,
    })
}

/// The items of a node that have not been taken yet.
struct Items<'i, 't>(&'i [Item<'t>]);

impl<'i, 't> Items<'i, 't> {
    fn text(&mut self) -> Option<&'t str> {
        let (Item::Text(text), rest) = self.0.split_first()? else { return None };
        self.0 = rest;
        Some(text)
    }

    fn bare(&mut self) -> Option<&'t str> {
        let (Item::Bare(word), rest) = self.0.split_first()? else { return None };
        self.0 = rest;
        Some(word)
    }

    fn number(&mut self) -> Option<f64> {
        let word = self.bare()?;
        let allowed = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.filter(|_| word.bytes().all(allowed))
    }

    fn peeks(&self, word: &str) -> bool {
        matches!(self.0.first(), Some(Item::Node(own, _)) if own.eq_ignore_ascii_case(word))
    }

    fn node(&mut self, word: &str) -> Option<Items<'i, 't>> {
        let (Item::Node(own, items), rest) = self.0.split_first()? else { return None };
        if !own.eq_ignore_ascii_case(word) {
            return None;
        }
        self.0 = rest;
        Some(Items(items))
    }

    fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    /// AUTHORITY where there is one; nothing may follow.
    fn last_authority(mut self) -> Option<Authority<'t>> {
        let authority = match self.node("AUTHORITY") {
            Some(mut authority) => {
                let pair = (authority.text()?, authority.text()?);
                authority.end()?;
                Some(pair)
            }
            None => None,
        };
        self.end()?;
        Some(authority)
    }

    /// A name, a number, and perhaps AUTHORITY.
    fn named_number(mut self) -> Option<f64> {
        self.text()?;
        let number = self.number()?;
        self.last_authority()?;
        Some(number)
    }

    fn axes(&mut self) -> Option<[Direction; 2]> {
        Some([self.axis()?, self.axis()?])
    }

    fn axis(&mut self) -> Option<Direction> {
        let mut axis = self.node("AXIS")?;
        axis.text()?;
        let direction = Direction::named(axis.bare()?)?;
        axis.end()?;
        Some(direction)
    }
}

/// Reads a node at the start of the text: its word and what is in its brackets. Nodes in more than
/// `depth` levels belong to no definition.
fn node<'t>(text: &mut &'t str, depth: usize) -> Option<(&'t str, Vec<Item<'t>>)> {
    let inner = depth.checked_sub(1)?;
    let open = text.find(['[', '('])?;
    let word = text[..open].trim();
    let close = if text.as_bytes()[open] == b'[' { ']' } else { ')' };
    let mut rest = &text[open + 1..];
    let mut items = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"').filter(|(name, _)| !name.is_empty())?;
            items.push(Item::Text(name));
            rest = after;
        } else {
            let end = rest.find(['[', '(', ',', ']', ')'])?;
            if matches!(rest.as_bytes()[end], b'[' | b'(') {
                let (word, members) = node(&mut rest, inner)?;
                items.push(Item::Node(word, members));
            } else {
                items.push(Item::Bare(rest[..end].trim()));
                rest = &rest[end..];
            }
        }
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(',') {
            rest = after;
            continue;
        }
        *text = rest.strip_prefix(close)?;
        return Some((word, items));
    }
}
