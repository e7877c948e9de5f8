//! The list of statements whose answers are known to differ.

use super::Place;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const FILE: &str = "known-differences.txt";

/// The listed places, apart by whether their scripts ran.
pub(super) struct Known {
    ran: BTreeSet<Place>,
    others: BTreeSet<Place>,
}

impl Known {
    /// Reads the list; `scripts` are the ones that ran.
    pub(super) fn read(root: &Path, scripts: &[String]) -> Known {
        let text = std::fs::read_to_string(root.join(FILE)).unwrap();
        let places = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (script, number) = line.rsplit_once(':').unwrap();
            (script.to_owned(), number.parse().unwrap())
        });
        let (ran, others) = places.partition(|(script, _)| scripts.contains(script));
        Known { ran, others }
    }

    /// Listed places of the scripts that ran.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Place> {
        self.ran.iter()
    }

    pub(super) fn contains(&self, place: &Place) -> bool {
        self.ran.contains(place)
    }

    /// Lists `places` for the scripts that ran.
    pub(super) fn replace(&mut self, places: impl Iterator<Item = Place>) {
        self.ran = places.collect();
    }

    pub(super) fn write(&self, root: &Path) {
        let mut text =
            "# Statements that do not answer as MySQL 8.0.31 does yet: script:line.\n".to_owned();
        for (script, line) in self.ran.union(&self.others) {
            writeln!(text, "{script}:{line}").unwrap();
        }
        std::fs::write(root.join(FILE), text).unwrap();
    }
}
