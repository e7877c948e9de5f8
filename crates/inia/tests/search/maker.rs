//! Makes expressions and conditions: shapes whose holes are filled by what the place may name.

use super::shapes::{CONDITIONS, NESTED, aggregates, shapes};
use super::tables::{Table, keys};
use super::values::ValueClass;
use inia_testkit::Random;

/// An expression that a scope offers: mostly a column with its table's alias.
#[derive(Clone)]
pub(super) struct Name(pub(super) String, pub(super) ValueClass);

/// What FROM may name.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) columns: Vec<Name>,
    pub(super) keys: Vec<String>,
    /// Keys of columns alone, and their columns.
    pub(super) parts: Vec<(String, Vec<Name>)>,
    /// A column that differs from row to row.
    pub(super) by_id: bool,
}

impl Source {
    pub(super) fn of(table: &Table) -> Source {
        Source {
            name: table.name.clone(),
            columns: table.columns.iter().map(|c| Name(c.name.clone(), c.kind)).collect(),
            keys: keys(&table.create()).into_iter().map(str::to_owned).collect(),
            parts: table.keys_of_columns(),
            by_id: table.by_id,
        }
    }
}

/// What an expression may name.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope<'s> {
    /// The columns of the SELECT's own FROM.
    pub(super) own: &'s [Name],
    /// Those of the SELECTs around it.
    pub(super) outer: &'s [Name],
    /// The expressions of GROUP BY, where only those and aggregates may stand.
    pub(super) group: Option<&'s [Name]>,
}

impl<'s> Scope<'s> {
    pub(super) fn plain(own: &'s [Name], outer: &'s [Name]) -> Scope<'s> {
        Scope { own, outer, group: None }
    }

    /// What a SELECT inside may name from outside.
    pub(super) fn for_inner(&self) -> Vec<Name> {
        self.group.unwrap_or(self.own).iter().chain(self.outer).cloned().collect()
    }
}

/// The generator's state within one statement.
pub(super) struct Maker<'w> {
    pub(super) random: &'w mut Random,
    pub(super) sources: &'w [Source],
    /// Common table expressions of the statement.
    pub(super) common: Vec<Source>,
    pub(super) aliases: usize,
    /// So many more SELECTs may be inside the statement.
    pub(super) left: u32,
}

/// The most SELECTs inside one statement.
const MAX_INSIDE: u32 = 3;

impl<'w> Maker<'w> {
    pub(super) fn new(random: &'w mut Random, sources: &'w [Source]) -> Maker<'w> {
        Maker { random, sources, common: Vec::new(), aliases: 0, left: MAX_INSIDE }
    }

    pub(super) fn pick<'p>(&mut self, choices: &[&'p str]) -> &'p str {
        choices[self.random.index(choices.len())]
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.random.chance(percent, 100)
    }

    pub(super) fn literal(&mut self, kind: ValueClass) -> String {
        // A NULL in a list makes MySQL compare times as texts.
        match kind != ValueClass::Clock && self.chance(4) {
            true => "NULL".to_owned(),
            false => self.pick(kind.literals()).to_owned(),
        }
    }

    /// A column of the kind, or one that may stand for it.
    pub(super) fn column(&mut self, columns: &[Name], kind: ValueClass) -> Option<String> {
        let fits =
            |own: ValueClass| own == kind || (kind == ValueClass::Number && own == ValueClass::Int);
        let fitting: Vec<&Name> = columns.iter().filter(|column| fits(column.1)).collect();
        (!fitting.is_empty()).then(|| self.random.pick(&fitting).0.clone())
    }

    /// A column or literal.
    fn leaf(&mut self, scope: &Scope<'_>, kind: ValueClass, literals: u64) -> String {
        if let Some(group) = scope.group {
            let key = self.column(group, kind).filter(|_| self.random.chance(2, 3));
            return key.unwrap_or_else(|| self.aggregate(scope.own, kind));
        }
        let from_outside = !scope.outer.is_empty() && self.chance(25);
        let columns = if from_outside { scope.outer } else { scope.own };
        let column = self.column(columns, kind).or_else(|| self.column(scope.own, kind));
        match column {
            Some(column) if !self.chance(literals) => column,
            _ => self.literal(kind),
        }
    }

    /// An expression of a kind, at most `depth` shapes deep.
    pub(super) fn expression(&mut self, scope: &Scope<'_>, kind: ValueClass, depth: u32) -> String {
        if depth == 0 || self.chance(40) {
            return self.leaf(scope, kind, 15);
        }
        let shape = self.pick(shapes(kind));
        if shape == "{1}" && self.left == 0 {
            return self.leaf(scope, kind, 15);
        }
        self.fill(shape, scope, kind, depth - 1)
    }

    pub(super) fn aggregate(&mut self, own: &[Name], kind: ValueClass) -> String {
        let shape = self.pick(aggregates(kind));
        let drawn = ValueClass::any(self.random);
        let left = std::mem::take(&mut self.left);
        let filled = self.fill(shape, &Scope::plain(own, &[]), drawn, 1);
        self.left = left;
        filled
    }

    /// A condition, at most `depth` shapes deep.
    pub(super) fn condition(&mut self, scope: &Scope<'_>, depth: u32) -> String {
        let own = scope.group.unwrap_or(scope.own);
        // Mostly about a kind of which there is a column.
        let kind = match own.is_empty() || self.chance(15) {
            true => ValueClass::any(self.random),
            false => own[self.random.index(own.len())].1,
        };
        let nested = self.left > 0 && depth > 0 && self.chance(25);
        let shape = match nested {
            true => self.pick(NESTED),
            false if depth == 0 => self.pick(&CONDITIONS[..10]),
            false => self.pick(CONDITIONS),
        };
        self.fill(shape, scope, kind, depth.saturating_sub(1))
    }

    /// A shape with its holes filled; `kind` is what `{x}` stands for.
    pub(super) fn fill(
        &mut self,
        shape: &str,
        scope: &Scope<'_>,
        kind: ValueClass,
        depth: u32,
    ) -> String {
        let mut text = String::new();
        let mut rest = shape;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let hole = rest[at + 1..].chars().next().expect("holes have a letter");
            text.push_str(&self.hole(hole, scope, kind, depth));
            rest = &rest[at + 3..];
        }
        text + rest
    }

    fn hole(&mut self, hole: char, scope: &Scope<'_>, kind: ValueClass, depth: u32) -> String {
        match hole {
            'x' => self.expression(scope, kind, depth),
            'y' => {
                let other = if self.chance(8) { kind.near(self.random) } else { kind };
                self.expression(scope, other, depth)
            }
            'X' => self.leaf(scope, kind, 2),
            'L' => {
                let other = if self.chance(6) { kind.near(self.random) } else { kind };
                self.literal(other)
            }
            'p' => self.condition(scope, depth),
            'c' => self.pick(&["=", "=", "<", ">", "<=", ">=", "<>", "<=>"]).to_owned(),
            'N' => self.pick(&["", "NOT "]).to_owned(),
            'Q' => self.inner(&[kind], scope),
            'R' => self.inner(&[kind, ValueClass::Int], scope),
            'E' => {
                let kind = ValueClass::any(self.random);
                self.inner(&[kind], scope)
            }
            '1' => self.single(kind, scope),
            letter => {
                let kind = ValueClass::of(letter).expect("a letter of the table of holes");
                self.expression(scope, kind, depth)
            }
        }
    }

    /// A SELECT inside an expression.
    fn inner(&mut self, kinds: &[ValueClass], scope: &Scope<'_>) -> String {
        self.left = self.left.saturating_sub(1);
        let outer = scope.for_inner();
        self.select(kinds, &outer, 0, None)
    }

    /// A SELECT that gives at most one row, in parentheses.
    fn single(&mut self, kind: ValueClass, scope: &Scope<'_>) -> String {
        self.left = self.left.saturating_sub(1);
        let outer = scope.for_inner();
        let (from, own) = self.from(&outer, 0);
        let inside = Scope::plain(&own, &outer);
        // Mostly an equality with the row around, as of a group that is looked up.
        let filter = match !outer.is_empty() && self.chance(60) {
            true => self.join_condition(&outer, &own, &[]),
            false => self.condition(&inside, 1),
        };
        if self.chance(20) {
            let value = self.leaf(&inside, kind, 5);
            return format!("(SELECT {value} FROM {from} WHERE {filter} ORDER BY 1 LIMIT 1)");
        }
        let groups = Scope { own: &own, outer: &[], group: Some(&[]) };
        let value = match self.chance(60) {
            true => self.aggregate(&own, kind),
            false => self.expression(&groups, kind, 1),
        };
        format!("(SELECT {value} FROM {from} WHERE {filter})")
    }
}
