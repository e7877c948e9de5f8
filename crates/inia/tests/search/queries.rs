//! Makes SELECTs: FROM with joins of every kind, grouping, windows, set operations, common table
//! expressions.
//!
//! A query is made from the outside in: each SELECT knows the columns of its FROM by kind and those
//! of the SELECTs around it, so that nearly all of them are valid. Its rows do not depend on
//! chance: LIMIT comes with an ORDER BY of all columns, windows that distinguish peers order by a
//! primary key.

use super::maker::{Maker, Name, Scope, Source};
use super::shapes::{ROW_WINDOWS, WINDOWS};
use super::values::ValueClass;

/// A member of FROM and its columns.
type Member = (String, Vec<Name>);

impl Maker<'_> {
    pub(super) fn kinds(&mut self, most: usize) -> Vec<ValueClass> {
        (0..=self.random.index(most)).map(|_| ValueClass::any(self.random)).collect()
    }

    /// A query of its own.
    pub(super) fn query(&mut self) -> String {
        let mut with = String::new();
        if self.chance(15) {
            with = self.common_table();
        }
        if self.chance(12)
            && let Some(sql) = self.of_key()
        {
            return sql;
        }
        let kinds = self.kinds(4);
        let mut sql = self.select(&kinds, &[], 1, None);
        while self.chance(12) {
            let operation = self.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            sql = format!("{sql} {operation} {}", self.select(&kinds, &[], 0, None));
        }
        if self.chance(50) {
            let keys: Vec<String> =
                (1..=kinds.len()).map(|at| format!("{at}{}", self.pick(&["", " DESC"]))).collect();
            let limit = self.pick(&["", "", "", " LIMIT 1", " LIMIT 5", " LIMIT 3, 4"]);
            sql = format!("{sql} ORDER BY {}{limit}", keys.join(", "));
        }
        with + &sql
    }

    fn common_table(&mut self) -> String {
        let name = format!("w{}", self.common.len());
        if self.chance(30) {
            return self.recursive_table(name);
        }
        let kinds = self.kinds(3);
        let body = self.select(&kinds, &[], 0, Some("c"));
        let sql = format!("WITH {name} AS ({body}) ");
        self.common.push(Source {
            name,
            columns: numbered("c", &kinds),
            keys: Vec::new(),
            parts: Vec::new(),
            by_id: false,
        });
        sql
    }

    fn recursive_table(&mut self, name: String) -> String {
        let all = self.pick(&["ALL ", ""]);
        let (first, own) = self.member(&[], 0);
        let start = self.expression(&Scope::plain(&own, &[]), ValueClass::Int, 1);
        let (next, own) = self.member(&[], 0);
        let column = self.column(&own, ValueClass::Int).unwrap_or_else(|| "1".to_owned());
        let on = self.column(&own, ValueClass::Int).unwrap_or_else(|| "2".to_owned());
        let sql = format!(
            "WITH RECURSIVE {name} (c0, c1) AS (SELECT CAST({start} AS SIGNED), 0 FROM {first} \
             UNION {all}SELECT {column}, r.c1 + 1 FROM {name} r JOIN {next} ON {on} = r.c0 \
             WHERE r.c1 < 2) "
        );
        let columns = numbered("c", &[ValueClass::Int, ValueClass::Int]);
        self.common.push(Source {
            name,
            columns,
            keys: Vec::new(),
            parts: Vec::new(),
            by_id: false,
        });
        sql
    }

    /// A table, view, common table expression, or SELECT in FROM.
    fn member(&mut self, outer: &[Name], depth: u32) -> Member {
        if depth > 0 && self.left > 0 && self.chance(35) {
            return self.derived(outer, depth, "");
        }
        self.aliases += 1;
        let alias = format!("q{}", self.aliases);
        let number = self.sources.len() + self.common.len();
        let at = self.random.index(number);
        let hints = self.chance(10);
        let source = self.sources.get(at).unwrap_or_else(|| &self.common[at - self.sources.len()]);
        let columns = source.columns.iter().map(|c| Name(format!("{alias}.{}", c.0), c.1));
        let (mut sql, columns) = (format!("{} {alias}", source.name), columns.collect());
        if hints && !source.keys.is_empty() {
            let key = source.keys[self.random.index(source.keys.len())].clone();
            let hint = self.pick(&["FORCE", "FORCE", "IGNORE"]);
            sql = format!("{sql} {hint} INDEX ({key})");
        }
        (sql, columns)
    }

    fn derived(&mut self, outer: &[Name], depth: u32, lateral: &str) -> Member {
        self.left = self.left.saturating_sub(1);
        self.aliases += 1;
        let alias = format!("q{}", self.aliases);
        let kinds = self.kinds(3);
        let body = self.select(&kinds, outer, depth.saturating_sub(1), Some("c"));
        (format!("{lateral}({body}) {alias}"), numbered(&format!("{alias}.c"), &kinds))
    }

    /// A FROM clause without the word, and its columns.
    pub(super) fn from(&mut self, outer: &[Name], depth: u32) -> Member {
        let (mut sql, mut columns) = self.member(outer, depth);
        for _ in 0..[0, 0, 0, 1, 1, 1, 2][self.random.index(7)] {
            if self.left > 0 && self.chance(6) {
                let seen: Vec<Name> = columns.iter().chain(outer).cloned().collect();
                let (right, more) = self.derived(&seen, 0, "LATERAL ");
                let kind = self.pick(&["JOIN", "LEFT JOIN"]);
                columns.extend(more);
                sql = format!("{sql} {kind} {right} ON TRUE");
                continue;
            }
            (sql, columns) = self.join((sql, columns), outer, depth);
        }
        (sql, columns)
    }

    fn join(&mut self, left: Member, outer: &[Name], depth: u32) -> Member {
        let (mut right, mut more) = self.member(outer, depth);
        if self.chance(8) {
            (right, more) = self.join((right, more), outer, 0);
            right = format!("({right})");
        }
        let (sql, mut columns) = left;
        let word = self.pick(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        let common = common(&columns, &more);
        if !common.is_empty() && self.chance(12) {
            let name = common[self.random.index(common.len())].clone();
            columns.extend(more);
            return match self.chance(15) {
                true => (format!("{sql} NATURAL {word} {right}"), columns),
                false => (format!("{sql} {word} {right} USING ({name})"), columns),
            };
        }
        let on = self.join_condition(&columns, &more, outer);
        columns.extend(more);
        (format!("{sql} {word} {right} ON {on}"), columns)
    }

    pub(super) fn join_condition(
        &mut self,
        left: &[Name],
        right: &[Name],
        outer: &[Name],
    ) -> String {
        let kind = right[self.random.index(right.len())].1;
        let sides = (self.column(left, kind), self.column(right, kind));
        let both: Vec<Name> = left.iter().chain(right).cloned().collect();
        let scope = Scope::plain(&both, outer);
        let mut on = match sides {
            (Some(left), Some(right)) if self.chance(80) => {
                let equal = self.pick(&["=", "=", "=", "=", "=", "<=>", "<", ">="]);
                format!("{left} {equal} {right}")
            }
            _ => self.condition(&scope, 1),
        };
        if self.chance(25) {
            on = format!("{on} AND {}", self.condition(&scope, 1));
        }
        on
    }

    /// A SELECT of columns of these kinds; with `prefix` they are called by it and their numbers.
    pub(super) fn select(
        &mut self,
        kinds: &[ValueClass],
        outer: &[Name],
        depth: u32,
        prefix: Option<&str>,
    ) -> String {
        let (from, own) = self.from(outer, depth);
        let plain = Scope::plain(&own, outer);
        let mut filter = match self.chance(65) {
            true => format!(" WHERE {}", self.condition(&plain, 2)),
            false => String::new(),
        };
        while self.left > 0 && self.chance(20) {
            let word = if filter.is_empty() { "WHERE" } else { "AND" };
            filter = format!("{filter} {word} {}", self.nested(&plain));
        }
        let shape = self.random.index(10);
        let (group, tail) = if shape < 3 { self.grouping(&own) } else { (None, String::new()) };
        let scope = Scope { group: group.as_deref(), ..plain };
        let depth = 1 + u32::from(prefix.is_none());
        let mut items: Vec<String> =
            kinds.iter().map(|kind| self.expression(&scope, *kind, depth)).collect();
        let number = kinds.iter().position(|kind| *kind == ValueClass::Int);
        // MySQL's ranks in the rows of a ROLLUP are all 1.
        if let (3 | 2, Some(at), false) = (shape, number, tail.contains("ROLLUP")) {
            items[at] = self.window(&scope, &from);
        }
        let name = |(at, item): (usize, &String)| match prefix {
            None => item.clone(),
            Some(prefix) => format!("{item} AS {prefix}{at}"),
        };
        let items: Vec<String> = items.iter().enumerate().map(name).collect();
        let distinct = if group.is_none() && self.chance(20) { "DISTINCT " } else { "" };
        format!("SELECT {distinct}{} FROM {from}{filter}{tail}", items.join(", "))
    }

    /// A subquery as a condition, mostly with an equality with the rows around it.
    fn nested(&mut self, around: &Scope<'_>) -> String {
        self.left = self.left.saturating_sub(1);
        let outer = around.for_inner();
        let (mut from, own) = self.from(&outer, 0);
        if self.chance(60) {
            let on = self.join_condition(&outer, &own, &[]);
            from = format!("{from} WHERE {on}");
            if self.chance(40) {
                from = format!("{from} AND {}", self.condition(&Scope::plain(&own, &outer), 1));
            }
        }
        let not = self.pick(&["", "", "NOT "]);
        let kind = own[self.random.index(own.len())].1;
        let inside = Scope::plain(&own, &outer);
        let value = self.expression(&inside, kind, 1);
        match self.random.index(5) {
            0 | 1 => format!("{not}EXISTS (SELECT {value} FROM {from})"),
            2 | 3 => {
                let left = self.expression(around, kind, 1);
                format!("{left} {not}IN (SELECT {value} FROM {from})")
            }
            _ => {
                let left =
                    (self.expression(around, kind, 0), self.expression(around, ValueClass::Int, 0));
                let more = self.expression(&inside, ValueClass::Int, 0);
                format!("({}, {}) {not}IN (SELECT {value}, {more} FROM {from})", left.0, left.1)
            }
        }
    }

    /// The expressions that rows are grouped by, and the clauses that say so.
    fn grouping(&mut self, own: &[Name]) -> (Option<Vec<Name>>, String) {
        let mut keys: Vec<Name> = Vec::new();
        for _ in 0..[0, 1, 1, 1, 2][self.random.index(5)] {
            let key = own[self.random.index(own.len())].clone();
            if key.1 != ValueClass::Doc && !keys.iter().any(|k| k.0.contains(&key.0)) {
                let shape = match key.1 {
                    ValueClass::Int if self.chance(15) => "({} % 3)",
                    ValueClass::Text if self.chance(15) => "LEFT({}, 1)",
                    _ => "{}",
                };
                keys.push(Name(shape.replace("{}", &key.0), key.1));
            }
        }
        let list: Vec<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        let mut tail = String::new();
        if !list.is_empty() {
            let rollup = if self.chance(5) { " WITH ROLLUP" } else { "" };
            tail = format!(" GROUP BY {}{rollup}", list.join(", "));
        }
        if self.chance(30) {
            let scope = Scope { own, outer: &[], group: Some(&keys) };
            tail = format!("{tail} HAVING {}", self.condition(&scope, 1));
        }
        (Some(keys), tail)
    }

    fn window(&mut self, scope: &Scope<'_>, from: &str) -> String {
        let names = scope.group.unwrap_or(scope.own);
        let usable: Vec<Name> = names.iter().filter(|n| n.1 != ValueClass::Doc).cloned().collect();
        let partition = match self.chance(50) && !usable.is_empty() {
            true => format!("PARTITION BY {}", self.random.pick(&usable).0),
            false => String::new(),
        };
        let mut order = Vec::new();
        for _ in 0..1 + self.random.index(2) {
            if !usable.is_empty() {
                let way = self.pick(&["", " DESC"]);
                order.push(format!("{}{way}", self.random.pick(&usable).0));
            }
        }
        // A single table whose rows `id` distinguishes.
        let distinct_rows = scope.group.is_none()
            && self
                .sources
                .iter()
                .any(|s| s.by_id && from == format!("{} {}", s.name, alias(from)));
        let mut shapes = WINDOWS;
        if distinct_rows && self.chance(60) {
            order.push(format!("{}.id", alias(from)));
            shapes = ROW_WINDOWS;
        }
        let order = match order.is_empty() {
            true => String::new(),
            false => format!(" ORDER BY {}", order.join(", ")),
        };
        let shape = self.pick(shapes).replace("{w}", &format!("{partition}{order}"));
        let kind = ValueClass::any(self.random);
        self.fill(&shape, scope, kind, 0)
    }
}

/// The last word.
fn alias(from: &str) -> &str {
    from.rsplit(' ').next().unwrap_or(from)
}

fn numbered(prefix: &str, kinds: &[ValueClass]) -> Vec<Name> {
    kinds.iter().enumerate().map(|(at, kind)| Name(format!("{prefix}{at}"), *kind)).collect()
}

/// Names of columns that each side has once.
fn common(left: &[Name], right: &[Name]) -> Vec<String> {
    let bare = |name: &Name| name.0.rsplit('.').next().unwrap_or_default().to_owned();
    let once = |side: &[Name], name: &str| side.iter().filter(|n| bare(n) == name).count() == 1;
    right.iter().map(bare).filter(|name| once(left, name) && once(right, name)).collect()
}
