//! Inia compared with itself: ways of asking that must not change the answer.
//!
//! Three databases have the same tables: `keyed` with all keys, `unique` with those only that
//! refuse rows, and `bare` without any. A way asks twice and says whether the answers differ.

use super::side::{Outcome, Side, sorted};
use super::tables::{Keys, lessen, stored};
use inia_base::value::Value;

/// Two answers that should be the same.
pub(super) struct Difference {
    /// Differences of one kind are of one class.
    pub(super) class: String,
    pub(super) answers: String,
}

impl Difference {
    pub(super) fn between(what: [&str; 2], one: &Outcome, other: &Outcome) -> Difference {
        Difference {
            class: format!("{} / {}", one.class(), other.class()),
            answers: format!("--- {}\n{one}--- {}\n{other}", what[0], what[1]),
        }
    }
}

/// The databases of one comparison.
pub(super) struct Twins {
    pub(super) keyed: Side,
    pub(super) unique: Side,
    pub(super) bare: Side,
}

impl Twins {
    pub(super) fn open(address: &str) -> Twins {
        let side = |name| Side::open(address, name);
        let mut twins = Twins { keyed: side("keyed"), unique: side("uniques"), bare: side("bare") };
        // Joins of the small tables here are executed over batches in one database, on several
        // threads in another, and over rows in the third.
        twins.unique.ask("SET inia_batch_rows = 0");
        twins.bare.ask("SET inia_batch_rows = 1");
        twins.bare.ask("SET GLOBAL inia_parallel_workers = 3");
        twins.bare.ask("SET inia_parallel_workers = 3, inia_parallel_rows = 1");
        // Those that are read over batches keep columns in one database and read rows in the other.
        twins.unique.ask("SET inia_column_cache = EAGER");
        twins.bare.ask("SET inia_column_cache = OFF");
        twins
    }

    /// Makes the tables anew.
    pub(super) fn load(&mut self, setup: &[String]) {
        for side in [&mut self.keyed, &mut self.unique, &mut self.bare] {
            side.clear();
        }
        for sql in setup {
            self.keyed.ask(sql);
            self.unique.ask(&without_hints(&lessen(sql, Keys::Unique)));
            if sql.starts_with("CREATE") {
                self.bare.ask(&without_hints(&lessen(sql, Keys::None)));
            }
        }
        self.refill(setup);
    }

    /// Gives the bare tables the rows that the others have.
    pub(super) fn refill(&mut self, setup: &[String]) {
        for sql in setup.iter().filter(|sql| sql.starts_with("CREATE TABLE")) {
            let Some(table) = sql.split(' ').nth(2) else { continue };
            let columns = stored(sql).join(", ");
            self.bare.ask(&format!("DELETE FROM {table}"));
            self.bare.ask(&format!(
                "INSERT IGNORE INTO {table} ({columns}) SELECT {columns} FROM keyed.{table}"
            ));
        }
    }
}

/// A way of asking twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// With keys and without.
    Bare,
    /// With much memory and with little.
    Little,
    /// As text, and prepared with parameters.
    Prepared,
    /// With subqueries as joins and conditions in derived tables, and with both as written.
    Nested,
    /// All rows, and those where a condition is true, false, or NULL.
    Parts,
    /// Rows where a condition holds, and those that say so of themselves.
    Filter,
    /// Aggregates over all rows, and over the union of the three parts.
    Sums,
    /// Changes of tables with keys and without.
    Change,
}

impl Way {
    /// Ways for whole queries.
    pub(super) const QUERIES: [Way; 4] = [Way::Bare, Way::Little, Way::Prepared, Way::Nested];
    /// Ways for the items, the FROM and the condition of a query.
    pub(super) const CONDITIONS: [Way; 3] = [Way::Parts, Way::Filter, Way::Sums];

    /// How many texts the way works on.
    pub(super) fn pieces(self) -> usize {
        if Way::CONDITIONS.contains(&self) { 3 } else { 1 }
    }

    pub(super) fn check(self, twins: &mut Twins, pieces: &[String]) -> Option<Difference> {
        if pieces.len() != self.pieces() {
            return None;
        }
        match self {
            Way::Bare => bare(twins, &pieces[0]),
            Way::Little => little(twins, &pieces[0]),
            Way::Prepared => prepared(twins, &pieces[0]),
            Way::Nested => nested(twins, &pieces[0]),
            Way::Parts => parts(twins, pieces),
            Way::Filter => filter(twins, pieces),
            Way::Sums => sums(twins, pieces),
            Way::Change => change(twins, &pieces[0]),
        }
    }
}

/// Whether rows of a query come in an order that it says.
pub(super) fn ordered(sql: &str) -> bool {
    let end = sql.rsplit(')').next().unwrap_or(sql);
    end.contains(" ORDER BY 1")
}

fn compare(what: [&str; 2], sql: &str, one: Outcome, other: Outcome) -> Option<Difference> {
    let same = one.agrees(&other, ordered(sql));
    (!same).then(|| Difference::between(what, &one, &other))
}

fn bare(twins: &mut Twins, sql: &str) -> Option<Difference> {
    let plain = without_hints(sql);
    let (keyed, bare) = (twins.keyed.ask(sql), twins.bare.ask(&plain));
    // A key may be the reason why a group has one value only.
    if bare == Outcome::Failed(1055) {
        return None;
    }
    compare(["with keys", "without"], sql, keyed, bare)
}

/// Without `FORCE INDEX (k)`, since there is no such key.
pub(super) fn without_hints(sql: &str) -> String {
    let mut text = sql.to_owned();
    for word in [" FORCE INDEX (", " IGNORE INDEX ("] {
        while let Some(start) = text.find(word) {
            let length = text[start..].find(')').map_or(word.len(), |end| end + 1);
            text.replace_range(start..start + length, "");
        }
    }
    text
}

fn little(twins: &mut Twins, sql: &str) -> Option<Difference> {
    let much = twins.keyed.ask(sql);
    for setting in ["tmp_table_size = 1024", "join_buffer_size = 128", "sort_buffer_size = 32768"] {
        twins.keyed.ask(&format!("SET {setting}"));
    }
    let little = twins.keyed.ask(sql);
    for setting in ["tmp_table_size", "join_buffer_size", "sort_buffer_size"] {
        twins.keyed.ask(&format!("SET {setting} = DEFAULT"));
    }
    compare(["much memory", "little memory"], sql, much, little)
}

fn nested(twins: &mut Twins, sql: &str) -> Option<Difference> {
    let plain = without_hints(sql);
    let differs = |side: &mut Side| {
        side.ask("SET optimizer_switch = 'default,subquery_to_derived=on'");
        let joined = side.ask(&plain);
        side.ask(
            "SET optimizer_switch = 'default,semijoin=off,materialization=off,\
             derived_condition_pushdown=off'",
        );
        let nested = side.ask(&plain);
        side.ask("SET optimizer_switch = DEFAULT");
        compare(["joined", "nested"], sql, joined, nested)
    };
    differs(&mut twins.keyed).or_else(|| differs(&mut twins.bare))
}

fn prepared(twins: &mut Twins, sql: &str) -> Option<Difference> {
    let (marked, parameters) = with_parameters(sql);
    let prepared = twins.keyed.ask_prepared(&marked, &parameters);
    // A column that equals a literal is known in a group, one that equals a parameter is not.
    if prepared == Outcome::Failed(1055) {
        return None;
    }
    compare(["as text", &format!("{marked} {parameters:?}")], sql, twins.keyed.ask(sql), prepared)
}

/// A statement with parameters for the literals that something is compared with.
fn with_parameters(sql: &str) -> (String, Vec<Value>) {
    let mut parameters = Vec::new();
    let mut words: Vec<String> = sql.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if !["=", "<", ">", "<=", ">=", "<>", "<=>"].contains(&words[at - 1].as_str()) {
            continue;
        }
        let bare = words[at].trim_end_matches([')', ',']).to_owned();
        let text = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let value = match (text, bare.parse()) {
            (Some(text), _) => Value::Text(text.to_owned()),
            (None, Ok(number)) => Value::Int(number),
            _ => continue,
        };
        parameters.push(value);
        words[at] = format!("?{}", &words[at][bare.len()..]);
    }
    (words.join(" "), parameters)
}

fn rows(outcome: Outcome) -> Option<Vec<Vec<String>>> {
    match outcome {
        Outcome::Rows(rows) => Some(rows),
        _ => None,
    }
}

/// The three parts' conditions.
fn cases(condition: &str) -> [String; 3] {
    [condition.to_owned(), format!("NOT ({condition})"), format!("({condition}) IS NULL")]
}

fn parts(twins: &mut Twins, pieces: &[String]) -> Option<Difference> {
    let select = format!("SELECT {} FROM {}", pieces[0], pieces[1]);
    let whole = rows(twins.keyed.ask(&select))?;
    let mut together = Vec::new();
    for case in cases(&pieces[2]) {
        together.extend(rows(twins.keyed.ask(&format!("{select} WHERE {case}")))?);
    }
    let what = ["all rows", "those of the three parts"];
    compare(what, "", Outcome::Rows(whole), Outcome::Rows(together))
}

fn filter(twins: &mut Twins, pieces: &[String]) -> Option<Difference> {
    let [items, from, condition] = pieces else { return None };
    let filtered = rows(twins.keyed.ask(&format!("SELECT {items} FROM {from} WHERE {condition}")))?;
    let evaluated =
        rows(twins.keyed.ask(&format!("SELECT ({condition}) IS TRUE, {items} FROM {from}")))?;
    let true_ones = evaluated.into_iter().filter(|row| row[0] == "1");
    let evaluated: Vec<Vec<String>> = true_ones.map(|row| row[1..].to_vec()).collect();
    let what = ["rows of WHERE", "rows whose condition evaluates to true"];
    compare(what, "", Outcome::Rows(filtered), Outcome::Rows(evaluated))
}

fn sums(twins: &mut Twins, pieces: &[String]) -> Option<Difference> {
    const SUMS: &str = "COUNT(*), COUNT(c), MIN(c), MAX(c), COUNT(DISTINCT c)";
    let [items, from, condition] = pieces else { return None };
    if items.contains(", ") {
        return None;
    }
    let direct = SUMS.replace("c)", &format!("{items})"));
    let direct = twins.keyed.ask(&format!("SELECT {direct} FROM {from}"));
    let union: Vec<String> = cases(condition)
        .iter()
        .map(|case| format!("SELECT {items} AS c FROM {from} WHERE {case}"))
        .collect();
    let union = twins.keyed.ask(&format!("SELECT {SUMS} FROM ({}) u", union.join(" UNION ALL ")));
    rows(direct.clone()).and(rows(union.clone()))?;
    compare(["aggregates of all rows", "of the union of the parts"], "", direct, union)
}

/// Runs a change on both, and looks at all tables of it.
fn change(twins: &mut Twins, sql: &str) -> Option<Difference> {
    let (one, other) = (twins.keyed.ask(sql), twins.unique.ask(&without_hints(sql)));
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    if !(failed(&one) && failed(&other)) {
        let what = ["with keys", "without"];
        if let Some(difference) = compare(what, "", one, other) {
            return Some(difference);
        }
    }
    let tables = rows(twins.keyed.ask("SHOW FULL TABLES WHERE table_type = 'BASE TABLE'"))?;
    for table in tables.iter().map(|row| &row[0]) {
        let contents = format!("SELECT * FROM {table}");
        let (one, other) = (twins.keyed.ask(&contents), twins.unique.ask(&contents));
        if !one.agrees(&other, false) {
            return Some(Difference::between(["with keys", "without"], &one, &other));
        }
        let check = rows(twins.keyed.ask(&format!("CHECK TABLE {table} EXTENDED")))?;
        if sorted(&check).iter().any(|row| row[3] != "ok") {
            return Some(Difference {
                class: "check".to_owned(),
                answers: format!("{}", Outcome::Rows(check)),
            });
        }
    }
    None
}
