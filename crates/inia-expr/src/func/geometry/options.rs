//! The options argument of functions that read and write coordinates: `'axis-order=lat-long'`.

use super::error;
use crate::eval::{Args, Stop};
use inia_base::error::ErrorCode;
use inia_geometry::{Axes, Srs};

impl Args<'_, '_> {
    /// Whether coordinates are latitude first in what is read or written: as the system says, or
    /// as the options argument does where there is one.
    pub(super) fn swaps(&mut self, system: &Srs, options: usize) -> Result<bool, Stop> {
        let order = match self.len() > options {
            true => self.axis_order(options)?,
            false => None,
        };
        Ok(match order {
            None => system.swaps(),
            Some(order) => system.is_geographic() && order == Axes::LatLong,
        })
    }

    /// The order that options ask for; errors 3558 to 3564.
    pub(super) fn axis_order(&mut self, at: usize) -> Result<Option<Axes>, Stop> {
        let text = self.text(at)?;
        let name = self.call.name;
        let text = text.as_ref();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let edge = |c: Option<char>| c.filter(|c| matches!(c, ',' | '='));
        if let Some(first) = edge(text.chars().next()) {
            return Err(error(ErrorCode::InvalidOptionStartCharacter, &[&name, &first]));
        }
        if let Some(last) = edge(text.chars().next_back()) {
            return Err(error(ErrorCode::InvalidOptionEndCharacter, &[&name, &last]));
        }
        for wrong in [",,", "==", ",=", "=,"] {
            if text.contains(wrong) {
                return Err(error(ErrorCode::InvalidOptionCharacters, &[&name, &wrong]));
            }
        }
        let mut found = None;
        for pair in text.split(',') {
            let parts: Vec<&str> = pair.split('=').collect();
            let [key, value] = parts.as_slice() else {
                return Err(error(ErrorCode::InvalidOptionKeyValuePair, &[&pair, &name]));
            };
            let (key, value) = (key.trim(), value.trim());
            if !key.eq_ignore_ascii_case("axis-order") {
                return Err(error(ErrorCode::InvalidOptionKey, &[&key, &name]));
            }
            if found.is_some() {
                return Err(error(ErrorCode::DuplicateOptionKey, &[&key, &name]));
            }
            found = Some(match value.to_ascii_lowercase().as_str() {
                "lat-long" => Some(Axes::LatLong),
                "long-lat" => Some(Axes::LongLat),
                "srid-defined" => None,
                _ => return Err(error(ErrorCode::InvalidOptionValue, &[&value, &key, &name])),
            });
        }
        Ok(found.flatten())
    }
}
