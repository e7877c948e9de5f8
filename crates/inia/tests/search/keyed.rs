//! Makes SELECTs that a key may answer alone, group by group: different values of its first
//! columns, the least and the greatest values of the column behind them, ranges behind columns
//! without a condition.

use super::maker::{Maker, Name, Scope};
use super::shapes::CONDITIONS;

/// Conditions that bound a column of a key: the first of all.
const BOUNDS: usize = 15;

impl Maker<'_> {
    /// A SELECT of one table by one of its keys, where one has columns alone.
    pub(super) fn of_key(&mut self) -> Option<String> {
        let keyed: Vec<usize> =
            (0..self.sources.len()).filter(|at| !self.sources[*at].parts.is_empty()).collect();
        if keyed.is_empty() {
            return None;
        }
        let source = &self.sources[keyed[self.random.index(keyed.len())]];
        let (key, parts) = source.parts[self.random.index(source.parts.len())].clone();
        let from = format!("{} q", source.name);
        let hint = match self.chance(80) {
            true => format!("/*+ GROUP_INDEX(q {key}) */ "),
            false => String::new(),
        };
        let parts: Vec<Name> = parts.iter().map(|c| Name(format!("q.{}", c.0), c.1)).collect();
        let filter = self.bounds(&parts);
        let groups = 1 + self.random.index(parts.len());
        let list = |names: &[Name]| {
            names.iter().map(|name| name.0.as_str()).collect::<Vec<&str>>().join(", ")
        };
        let (group, all) = (list(&parts[..groups]), list(&parts));
        Some(match self.random.index(8) {
            0 | 1 => format!("SELECT {hint}DISTINCT {group} FROM {from}{filter}"),
            2 => format!("SELECT {hint}{group} FROM {from}{filter} GROUP BY {group}"),
            3 => {
                let call = self.pick(&["COUNT", "COUNT", "SUM", "AVG"]);
                let group = if call == "COUNT" { &group } else { &parts[0].0 };
                format!("SELECT {hint}{call}(DISTINCT {group}) FROM {from}{filter}")
            }
            4 => format!("SELECT /*+ SKIP_SCAN(q {key}) */ {all} FROM {from}{filter}"),
            _ => {
                let column = &parts[self.random.index(parts.len())].0;
                let ends = self.pick(&["MIN({})", "MAX({})", "MIN({}), MAX({})"]);
                let ends = ends.replace("{}", column);
                let having = self.pick(&["", "", "", " HAVING COUNT(*) > 0"]);
                format!("SELECT {hint}{group}, {ends} FROM {from}{filter} GROUP BY {group}{having}")
            }
        })
    }

    /// Conditions on some of the columns.
    fn bounds(&mut self, parts: &[Name]) -> String {
        let mut filter = String::new();
        for part in parts {
            if self.chance(50) {
                continue;
            }
            let own = std::slice::from_ref(part);
            let left = std::mem::take(&mut self.left);
            let shape = self.pick(&CONDITIONS[..BOUNDS]);
            let bound = self.fill(shape, &Scope::plain(own, &[]), part.1, 0);
            self.left = left;
            let word = if filter.is_empty() { " WHERE" } else { " AND" };
            filter = format!("{filter}{word} {bound}");
        }
        filter
    }
}
