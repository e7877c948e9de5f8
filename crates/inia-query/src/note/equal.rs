//! What is equal in all rows that fulfil a condition.
//!
//! `x.a = y.a AND y.a = 3 AND x.b > y.a` says that `x.a`, `y.a` and 3 are equal. Each column is
//! then compared with the constant, or with the column that is read first, and elsewhere in the
//! condition the constant or that column stands for it: `x.a = 3 AND y.a = 3 AND x.b > 3`.
//! Equalities stand before all else, the last set of equal columns first. An operand of OR has its
//! own, besides those of the AND around it.

use super::Rewriter;
use super::condition::{all_of, binary, conjuncts, is_constant, truth};
use super::constant::ConstantTables;
use super::joins::table_of;
use super::order::Key;
use super::types::{Kind, kind};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::value::Value;
use inia_parser::ast::{BinaryOp, CastType, ColumnName, Expr, Literal};

/// Columns that are equal, and the constant that they equal.
#[derive(Clone)]
pub(super) struct Equal {
    pub(super) columns: Vec<ColumnName>,
    /// How many of them are from the condition itself, not from one around it.
    own: usize,
    pub(super) constant: Option<Expr>,
}

impl Equal {
    fn add(&mut self, column: &ColumnName) {
        self.columns.push(column.clone());
        self.own = self.columns.len();
    }
}

/// Where the tables of a SELECT stand in the order of reading.
pub(super) struct Places {
    pub(super) tables: Vec<Key>,
    pub(super) places: Vec<usize>,
}

impl Places {
    /// The place of a column's table; a table of a SELECT around is read before all.
    fn of(&self, column: &ColumnName) -> Option<usize> {
        let key = table_of(column);
        let at = self.tables.iter().position(|table| *table == key);
        at.map(|at| self.places[at])
    }
}

/// What is known of equal columns where a condition stands.
pub(super) struct Known<'k> {
    pub(super) around: Vec<Equal>,
    pub(super) places: &'k Places,
    pub(super) constants: &'k ConstantTables,
}

impl Rewriter<'_> {
    /// The equalities among conditions that all hold, and the other conditions. `None` where they
    /// contradict each other.
    pub(super) fn equalities(&self, condition: Expr) -> Option<(Vec<Equal>, Vec<Expr>)> {
        let (mut equal, mut rest): (Vec<Equal>, Vec<Expr>) = (Vec::new(), Vec::new());
        for condition in conjuncts(condition) {
            let Expr::Binary { op: BinaryOp::Eq, left, right } = &condition else {
                rest.push(self.folded(condition));
                continue;
            };
            match (&**left, &**right) {
                (Expr::Column(a), Expr::Column(b)) if self.compare_alike(a, b) => {
                    if !unite(&mut equal, a, b) {
                        return None;
                    }
                }
                (Expr::Column(column), constant) | (constant, Expr::Column(column))
                    if is_constant(constant) && self.equals_constant(column, constant) =>
                {
                    let column = column.clone();
                    match self.folded(condition) {
                        Expr::Binary { left, right, .. } => {
                            let mut sides = [*left, *right].into_iter();
                            let constant = sides.find(is_constant);
                            let constant = constant.map(|one| self.computed(&column, one));
                            if !fix(&mut equal, &column, &constant.unwrap_or_else(Expr::null)) {
                                return None;
                            }
                        }
                        decided => rest.push(decided),
                    }
                }
                _ => rest.push(self.folded(condition)),
            }
        }
        match rest.contains(&truth(false)) {
            true => None,
            false => Some((equal, rest)),
        }
    }

    /// A constant beside a BIGINT is computed at once.
    fn computed(&self, column: &ColumnName, constant: Expr) -> Expr {
        let column = self.types.column(column);
        let big = column.is_some_and(|column| {
            matches!(column.data_type, DataType::Int { width: IntWidth::Big, .. })
        });
        match self.value(&constant) {
            Some(Value::Int(value)) if big => super::fold::integer(i128::from(value)),
            _ => constant,
        }
    }

    /// Whether two columns' values compare as they are stored.
    fn compare_alike(&self, a: &ColumnName, b: &ColumnName) -> bool {
        match (self.types.column(a), self.types.column(b)) {
            (Some(a), Some(b)) => a.data_type == b.data_type,
            _ => true,
        }
    }

    /// Whether a constant may stand for the column that it equals.
    fn equals_constant(&self, column: &ColumnName, constant: &Expr) -> bool {
        let literal = matches!(constant, Expr::Literal(literal) if *literal != Literal::Null);
        let Some(column) = self.types.column(column) else { return literal };
        let big = matches!(column.data_type, DataType::Int { width: IntWidth::Big, .. });
        match (kind(&column.data_type), constant) {
            (Kind::Text, Expr::Literal(Literal::String { .. })) => true,
            (Kind::Number, Expr::Literal(constant)) => match column.data_type {
                DataType::Decimal { .. } => matches!(constant, Literal::Decimal(_)),
                DataType::Float { .. } | DataType::Double { .. } => {
                    matches!(constant, Literal::Float(_))
                }
                _ => big || matches!(constant, Literal::Int(_)),
            },
            (Kind::Number, Expr::Collate { .. }) => false,
            (Kind::Date | Kind::DateTime, _) => true,
            (Kind::Number, _) => matches!(column.data_type, DataType::Int { .. }),
            (Kind::Text, constant) => !matches!(constant, Expr::Literal(_) | Expr::Collate { .. }),
            _ => false,
        }
    }

    /// The condition with the equalities that it says, and those around it put to use.
    pub(super) fn equated(&self, condition: Expr, known: &Known<'_>) -> Expr {
        if let Expr::Or(list) = condition {
            return Expr::Or(list.into_iter().map(|one| self.equated(one, known)).collect());
        }
        let Some((mut own, rest)) = self.equalities(condition) else { return truth(false) };
        for equal in &mut own {
            if !inherit(equal, &known.around) {
                return truth(false);
            }
        }
        self.written(own, rest, known)
    }

    /// The conditions that say what is equal, and the other ones with the constants or first
    /// columns in them.
    pub(super) fn written(&self, own: Vec<Equal>, rest: Vec<Expr>, known: &Known<'_>) -> Expr {
        let mut around = known.around.clone();
        around.retain(|equal| {
            !own.iter().any(|o| equal.columns.iter().all(|c| o.columns.contains(c)))
        });
        around.extend(own.iter().cloned());
        let inside = Known { around, places: known.places, constants: known.constants };
        let mut conditions = Vec::new();
        for equal in own.iter().rev() {
            conditions.extend(self.comparisons(equal, known));
        }
        for mut condition in rest {
            self.compare_made(&mut condition);
            if let Expr::Or(_) = condition {
                condition = self.equated(condition, &inside);
            } else {
                self.put(&mut condition, &inside);
                condition = self.folded(condition);
            }
            conditions.push(super::fold::cached(condition));
        }
        all_of(conditions).unwrap_or_else(|| truth(true))
    }

    /// `column = constant` or `column = first column` of each column of a set.
    fn comparisons(&self, equal: &Equal, known: &Known<'_>) -> Vec<Expr> {
        let mut columns: Vec<&ColumnName> = equal.columns[..equal.own].iter().collect();
        columns.retain(|column| !known.constants.reads(&table_of(column)));
        columns.sort_by_key(|column| known.places.of(column));
        let said = |column: &ColumnName| {
            let is = |around: &&Equal| around.columns.contains(column);
            known.around.iter().find(is).is_some_and(|around| around.constant.is_some())
        };
        let (head, others) = match &equal.constant {
            Some(constant) => (constant.clone(), columns),
            None => {
                let mut found = Vec::new();
                for set in self.apart(&columns) {
                    let Some((head, others)) = set.split_first() else { continue };
                    let others = others.iter().filter(|column| !said(column));
                    let head = Expr::Column(head.clone());
                    found.extend(others.map(|column| {
                        binary(Expr::Column(column.clone()), BinaryOp::Eq, head.clone())
                    }));
                }
                return found;
            }
        };
        let plain = matches!(head, Expr::Literal(_) | Expr::Column(_))
            || columns_are_looked_up(self, &others);
        let head = match plain {
            true => head,
            false => super::condition::internal("<cache>", vec![head]),
        };
        others
            .into_iter()
            .filter(|column| !said(column))
            .map(|column| binary(Expr::Column(column.clone()), BinaryOp::Eq, head.clone()))
            .collect()
    }

    /// Equal columns, in the order of reading, as sets of those that are compared: one of a
    /// materialized subquery stands for it among the others, and its own are compared by
    /// themselves.
    fn apart(&self, columns: &[&ColumnName]) -> Vec<Vec<ColumnName>> {
        let mut sets = vec![Vec::new()];
        let mut seen: Vec<usize> = Vec::new();
        for column in columns {
            let made = self.made.iter().position(|made| made.has(column));
            let Some(made) = made else {
                sets[0].push((*column).clone());
                continue;
            };
            if seen.contains(&made) {
                continue;
            }
            seen.push(made);
            let own = columns.iter().filter(|column| self.made[made].has(column));
            let own: Vec<ColumnName> = own.map(|column| (*column).clone()).collect();
            let stands =
                |column: &ColumnName| self.made[made].column(&Expr::Column(column.clone()));
            sets[0].extend(own.iter().find_map(stands));
            sets.push(own);
        }
        sets
    }

    /// Whether two columns are both of one materialized subquery, or of none.
    fn are_together(&self, a: &ColumnName, b: &ColumnName) -> bool {
        self.made.iter().all(|made| made.has(a) == made.has(b))
    }

    /// Compares with the column of a materialized subquery what is compared with its expression.
    fn compare_made(&self, condition: &mut Expr) {
        let Expr::Binary { op: BinaryOp::Eq, left, right } = condition else { return };
        for made in &self.made {
            let of_made = |side: &Expr| {
                let (mut own, mut other) = (false, false);
                super::condition::each_column(side, &mut |column| match made.has(column) {
                    true => own = true,
                    false => other = true,
                });
                (own, other)
            };
            let (l, r) = (of_made(left), of_made(right));
            let side = match (l.0, r.0) {
                (true, false) => &mut *left,
                (false, true) => &mut *right,
                _ => continue,
            };
            if let Some(column) = made.column(side) {
                **side = Expr::Column(column);
            }
        }
    }

    /// Puts constants, or the columns that are read first, in the place of equal columns.
    fn put(&self, expr: &mut Expr, known: &Known<'_>) {
        if let Expr::Column(name) = expr {
            let Some(equal) = known.around.iter().find(|equal| equal.columns.contains(name)) else {
                return;
            };
            if let Some(constant) = &equal.constant {
                *expr = constant.clone();
            } else if let Some(head) = equal
                .columns
                .iter()
                .filter(|column| self.are_together(column, name))
                .min_by_key(|column| known.places.of(column))
                && table_of(head) != table_of(name)
            {
                *expr = Expr::Column(head.clone());
            }
            return;
        }
        // A conversion is of the column's own value.
        if is_internal(expr) || is_conversion(expr) {
            return;
        }
        let opaque = matches!(expr, Expr::Binary { left, right, .. }
            if self.types.of(left).is_some() && self.types.of(right).is_some()
                && self.types.of(left).map(kind) != self.types.of(right).map(kind));
        if !opaque {
            expr.for_each_child_mut(&mut |child| self.put(child, known));
        }
    }
}

/// Whether the columns are all numbers with an index that begins with one of them: the constant is
/// then computed for the look-up.
fn columns_are_looked_up(rewriter: &Rewriter<'_>, columns: &[&ColumnName]) -> bool {
    let number = |name: &&ColumnName| {
        let column = rewriter.types.column(name);
        column.is_some_and(|column| kind(&column.data_type) == Kind::Number)
    };
    columns.iter().all(number) && columns.iter().any(|name| rewriter.types.begins_index(name))
}

/// Whether an expression converts a column, as comparisons of two kinds of values do.
fn is_conversion(expr: &Expr) -> bool {
    match expr {
        Expr::Cast { expr, ty, .. } => {
            let ty = matches!(ty, CastType::Double | CastType::Date | CastType::DateTime(_));
            ty && matches!(**expr, Expr::Column(_))
        }
        _ => false,
    }
}

fn is_internal(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if call.name.starts_with('<'))
}

/// Adds to a set what the condition around it says of its columns.
fn inherit(equal: &mut Equal, around: &[Equal]) -> bool {
    for outer in around {
        if !outer.columns.iter().any(|column| equal.columns.contains(column)) {
            continue;
        }
        for column in &outer.columns {
            if !equal.columns.contains(column) {
                equal.columns.push(column.clone());
            }
        }
        match (&equal.constant, &outer.constant) {
            (Some(own), Some(constant)) if own != constant => return false,
            (None, Some(constant)) => equal.constant = Some(constant.clone()),
            _ => {}
        }
    }
    true
}

/// Makes two columns equal; false where that is a contradiction.
fn unite(equal: &mut Vec<Equal>, a: &ColumnName, b: &ColumnName) -> bool {
    if a == b {
        return true;
    }
    let find = |equal: &[Equal], name| equal.iter().position(|set| set.columns.contains(name));
    match (find(equal, a), find(equal, b)) {
        (Some(first), Some(second)) if first == second => {}
        (Some(first), Some(second)) => {
            let (first, second) = (first.min(second), first.max(second));
            let Equal { columns, constant, .. } = equal.remove(second);
            equal[first].columns.extend(columns);
            equal[first].own = equal[first].columns.len();
            match (&equal[first].constant, constant) {
                (Some(own), Some(other)) if *own != other => return false,
                (None, other) => equal[first].constant = other,
                _ => {}
            }
        }
        (Some(at), None) => equal[at].add(b),
        (None, Some(at)) => equal[at].add(a),
        (None, None) => {
            equal.push(Equal { columns: vec![a.clone(), b.clone()], own: 2, constant: None });
        }
    }
    true
}

/// Makes a column equal a constant; false where it equals another one.
fn fix(equal: &mut Vec<Equal>, column: &ColumnName, constant: &Expr) -> bool {
    match equal.iter_mut().find(|set| set.columns.contains(column)) {
        Some(set) => match &set.constant {
            Some(own) => own == constant,
            None => {
                set.constant = Some(constant.clone());
                true
            }
        },
        None => {
            let columns = vec![column.clone()];
            equal.push(Equal { columns, own: 1, constant: Some(constant.clone()) });
            true
        }
    }
}
