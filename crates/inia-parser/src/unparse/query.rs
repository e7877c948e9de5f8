//! Queries back to text, as SHOW CREATE VIEW prints them.
//!
//! The query is expected with its names resolved: every column qualified, `*` expanded, members
//! of USING turned into conditions. For example `SELECT a, COUNT(*) FROM t GROUP BY a` resolved
//! in the database `d` becomes ``select `d`.`t`.`a` AS `a`,count(0) AS `COUNT(*)` from `d`.`t`
//! group by `d`.`t`.`a` ``, or without the `d`s where the text is to be compact.

use super::{Printer, quote_name, quote_string, unit_name};
use crate::ast::{
    AggregateCall, AggregateFunc, BinaryOp, Cte, DerivedTable, Expr, FrameBound, FrameOffset,
    FrameUnit, IndexHint, IndexHintKind, IndexHintScope, Join, JoinConstraint, JoinKind, Limit,
    ObjectName, OrderItem, Over, Quantifier, Query, QueryBody, Select, SelectItem, SelectOptions,
    SetOp, SetTerm, TableFactor, TableRef, UnaryOp, WindowCall, WindowSpec, With,
};
use crate::parser::bp;
use std::fmt::Write;

/// The text of a resolved query; `compact` leaves names of databases out. `None` where it holds
/// what no view can.
pub fn unparse_query(query: &Query, compact: bool) -> Option<String> {
    printed(query, Printer::new(Some(compact), false))
}

/// The same with parentheses around every expression.
pub fn unparse_query_explicit(query: &Query) -> Option<String> {
    printed(query, Printer::new(Some(false), true))
}

fn printed(query: &Query, mut printer: Printer) -> Option<String> {
    printer.query(query);
    printer.possible.then_some(printer.out)
}

/// Whether IS TRUE and IS FALSE have no parentheses around this operand and themselves.
pub(super) fn is_bare_test(operand: &Expr) -> bool {
    match operand {
        Expr::Exists(_) => true,
        Expr::Function(call) => matches!(call.name.as_str(), "<materialize>" | "<exists>"),
        Expr::InSubquery { query, negated: false, .. } => reads_tables(&query.body),
        _ => false,
    }
}

/// Whether the query has a FROM.
fn reads_tables(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => !select.from.is_empty(),
        _ => true,
    }
}

fn join_word(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => " join ",
        JoinKind::Straight => " straight_join ",
        JoinKind::Left | JoinKind::Right => " left join ",
        JoinKind::Semi => " semi join ",
        JoinKind::Anti => " anti join ",
    }
}

impl Printer {
    pub(super) fn separated<T>(
        &mut self,
        items: &[T],
        separator: &str,
        print: impl Fn(&mut Self, &T),
    ) {
        for (i, item) in items.iter().enumerate() {
            self.put(if i > 0 { separator } else { "" });
            print(self, item);
        }
    }

    pub(super) fn query(&mut self, query: &Query) {
        self.with(query.with.as_ref());
        self.after_with(query);
    }

    pub(super) fn after_with(&mut self, query: &Query) {
        self.body(&query.body);
        if !query.order_by.is_empty() {
            self.put(" order by ");
            self.separated(&query.order_by, ",", Self::order_item);
        }
        if let Some(limit) = &query.limit {
            self.limit(limit);
        }
    }

    pub(super) fn with(&mut self, with: Option<&With>) {
        if let Some(with) = with {
            self.put(if with.recursive { "with recursive " } else { "with " });
            self.separated(&with.ctes, ", ", Self::cte);
            self.put(" ");
        }
    }

    fn cte(&mut self, cte: &Cte) {
        self.put(&quote_name(&cte.name));
        self.column_names(&cte.columns);
        self.put(" as (");
        self.query(&cte.query);
        self.put(")");
    }

    fn column_names(&mut self, names: &[String]) {
        if !names.is_empty() {
            self.put(" (");
            self.separated(names, ",", |printer, name| printer.put(&quote_name(name)));
            self.put(")");
        }
    }

    pub(super) fn order_item(&mut self, item: &OrderItem) {
        self.expr(&item.expr);
        self.put(if item.desc { " desc" } else { "" });
    }

    pub(super) fn limit(&mut self, limit: &Limit) {
        self.put(" limit ");
        if let Some(offset) = &limit.offset {
            self.as_it_is(offset);
            self.put(",");
        }
        self.as_it_is(&limit.count);
    }

    fn body(&mut self, body: &QueryBody) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => {
                self.put("values ");
                self.separated(rows, ",", |printer, row| {
                    printer.put("row(");
                    printer.list(row, ",");
                    printer.put(")");
                });
            }
            QueryBody::Table(_) => self.possible = false,
            QueryBody::Nested(query) => self.nested(query),
            QueryBody::SetOperation { first, rest } => self.set_operation(first, rest),
        }
    }

    /// A query in parentheses, which stay where they mean something.
    fn nested(&mut self, query: &Query) {
        if query.with.is_none() && query.order_by.is_empty() && query.limit.is_none() {
            return self.set_operand(&query.body);
        }
        self.put("(");
        self.query(query);
        self.put(")");
    }

    fn set_operand(&mut self, body: &QueryBody) {
        match body {
            QueryBody::SetOperation { .. } => {
                self.put("(");
                self.body(body);
                self.put(")");
            }
            body => self.body(body),
        }
    }

    /// Operands before a change of the operator go into parentheses.
    fn set_operation(&mut self, first: &QueryBody, rest: &[SetTerm]) {
        let start = self.out.len();
        self.set_operand(first);
        let mut before: Option<SetOp> = None;
        for (at, term) in rest.iter().enumerate() {
            let appends = self.explained && at > 0 && term.all && !rest[at - 1].all;
            if before.is_some_and(|before| before != term.op) || appends {
                self.out.insert(start, '(');
                self.put(")");
            }
            before = Some(term.op);
            self.put(match term.op {
                SetOp::Union => " union ",
                SetOp::Intersect => " intersect ",
                SetOp::Except => " except ",
            });
            // A later UNION without ALL drops what is there twice, wherever it came from.
            let run = rest[at..].iter().take_while(|other| other.op == term.op);
            let all = term.all && (term.op != SetOp::Union || run.into_iter().all(|t| t.all));
            self.put(if all { "all " } else { "" });
            self.set_operand(&term.body);
        }
    }

    fn select(&mut self, select: &Select) {
        if self.explained && select.number > 0 {
            let _ = write!(self.out, "/* select#{} */ ", select.number);
        }
        self.put("select ");
        let mut options = select.options;
        if self.explained && select.number > 0 {
            self.statement_hints(select.hints.as_ref());
            let first = select.number == 1;
            options.straight_join |= first && Self::is_fixed(select.hints.as_ref());
        }
        self.select_options(options);
        self.separated(&select.items, ",", Self::select_item);
        if !select.from.is_empty() {
            self.put(" from ");
            self.table_list(&select.from);
        }
        if self.explained && select.from.is_empty() && select.where_.is_some() {
            self.put(" from DUAL ");
        }
        if let Some(condition) = &select.where_ {
            self.put(" where ");
            self.condition(condition);
        }
        if !select.group_by.is_empty() {
            self.put(" group by ");
            self.list(&select.group_by, ",");
            self.put(if select.rollup { " with rollup" } else { "" });
        }
        if let Some(condition) = &select.having {
            self.put(" having ");
            self.condition(condition);
        }
        if !select.windows.is_empty() {
            self.put(" window ");
            self.separated(&select.windows, ", ", |printer, (name, spec)| {
                printer.put(&quote_name(name));
                printer.put(" AS ");
                printer.window(spec);
            });
        }
    }

    fn select_options(&mut self, options: SelectOptions) {
        let words = [
            (options.straight_join, "straight_join "),
            (options.high_priority, "high_priority "),
            (options.distinct, "distinct "),
            (options.small_result, "sql_small_result "),
            (options.big_result, "sql_big_result "),
            (options.buffer_result, "sql_buffer_result "),
            (options.calc_found_rows, "sql_calc_found_rows "),
        ];
        words.iter().filter(|(on, _)| *on).for_each(|(_, word)| self.put(word));
    }

    fn select_item(&mut self, item: &SelectItem) {
        let SelectItem::Expr { expr, alias, .. } = item else {
            self.possible = false;
            return;
        };
        self.expr(expr);
        if let Some(alias) = alias {
            self.put(" AS ");
            self.put(&quote_name(alias));
        }
    }

    /// Members of FROM between commas are joins, from left to right.
    pub(super) fn table_list(&mut self, list: &[TableRef]) {
        if self.is_rewritten() {
            return self.separated(list, " join ", Self::table_ref);
        }
        for _ in 1..list.len() {
            self.put("(");
        }
        for (i, member) in list.iter().enumerate() {
            self.put(if i > 0 { " join " } else { "" });
            self.table_ref(member);
            self.put(if i > 0 { ")" } else { "" });
        }
    }

    fn table_ref(&mut self, table: &TableRef) {
        match table {
            TableRef::Table(factor) => self.table_factor(factor),
            TableRef::Derived(derived) => self.derived(derived),
            TableRef::Join(join) => self.join(join),
            TableRef::List(list) => self.table_list(list),
            TableRef::JsonTable(table) => self.json_table(table),
        }
    }

    pub(super) fn object(&mut self, name: &ObjectName) {
        if let Some(db) = name.db.as_ref().filter(|_| self.view != Some(true)) {
            self.put(&quote_name(db));
            self.put(".");
        }
        self.put(&quote_name(&name.name));
    }

    fn table_factor(&mut self, factor: &TableFactor) {
        self.object(&factor.name);
        if !factor.partitions.is_empty() {
            self.put(" PARTITION (");
            self.separated(&factor.partitions, ",", |printer, name| {
                printer.put(&quote_name(name));
            });
            self.put(")");
        }
        let alias = factor.alias.as_deref().map(super::explained::shown_name);
        if let Some(alias) = alias.filter(|alias| !self.explained || *alias != factor.name.name) {
            self.put(" ");
            self.put(&quote_name(alias));
        }
        if self.explained {
            return factor.hints.iter().rev().for_each(|hint| self.each_index(hint));
        }
        factor.hints.iter().for_each(|hint| self.hint(hint));
    }

    /// A hint for each of its indexes, the last one first.
    fn each_index(&mut self, hint: &IndexHint) {
        if hint.indexes.is_empty() {
            return self.hint(hint);
        }
        for index in hint.indexes.iter().rev() {
            self.hint(&IndexHint { indexes: vec![index.clone()], ..hint.clone() });
        }
    }

    fn hint(&mut self, hint: &IndexHint) {
        self.put(match hint.kind {
            IndexHintKind::Use => " USE INDEX ",
            IndexHintKind::Force => " FORCE INDEX ",
            IndexHintKind::Ignore => " IGNORE INDEX ",
        });
        self.put(match hint.scope {
            None => "",
            Some(IndexHintScope::Join) => "FOR JOIN ",
            Some(IndexHintScope::OrderBy) => "FOR ORDER BY ",
            Some(IndexHintScope::GroupBy) => "FOR GROUP BY ",
        });
        self.put("(");
        self.separated(&hint.indexes, ",", |printer, name| {
            match name.eq_ignore_ascii_case("PRIMARY") {
                true => printer.put("PRIMARY"),
                false => printer.put(&quote_name(name)),
            }
        });
        self.put(")");
    }

    fn derived(&mut self, derived: &DerivedTable) {
        if let Some(common) = &derived.common {
            self.put(&quote_name(common));
            if *common != derived.alias {
                let _ = write!(self.out, " {}", quote_name(&derived.alias));
            }
            return;
        }
        self.put(if derived.lateral { "lateral (" } else { "(" });
        self.query(&derived.query);
        self.put(") ");
        self.put(&quote_name(&derived.alias));
        self.column_names(&derived.columns);
    }

    /// A RIGHT JOIN is a LEFT JOIN with its sides swapped.
    fn join(&mut self, join: &Join) {
        if self.is_rewritten() {
            return self.explained_join(join);
        }
        let (left, right) = match join.kind {
            JoinKind::Right => (&join.right, &join.left),
            _ => (&join.left, &join.right),
        };
        self.put("(");
        self.table_ref(left);
        self.put(join_word(join.kind));
        self.table_ref(right);
        match &join.constraint {
            JoinConstraint::None => {}
            JoinConstraint::On(condition) => {
                self.put(" on(");
                self.condition(condition);
                self.put(")");
            }
            JoinConstraint::Using(_) => self.possible = false,
        }
        self.put(")");
    }

    /// Whether the query is one that was rewritten, whose FROM is a list of joins.
    fn is_rewritten(&self) -> bool {
        self.explained && self.view == Some(false)
    }

    /// Joins stand one behind the other; only what is joined as a whole is in parentheses.
    fn explained_join(&mut self, join: &Join) {
        self.table_ref(&join.left);
        self.put(join_word(join.kind));
        let whole = matches!(join.right, TableRef::List(_) | TableRef::Join(_));
        self.put(if whole { "(" } else { "" });
        self.table_ref(&join.right);
        self.put(if whole { ")" } else { "" });
        if let JoinConstraint::On(condition) = &join.constraint {
            self.put(" on(");
            self.condition(condition);
            self.put(")");
        }
    }

    fn window(&mut self, spec: &WindowSpec) {
        self.put("(");
        if let Some(base) = &spec.base {
            self.put(&quote_name(base));
            self.put(" ");
        }
        if !spec.partition_by.is_empty() {
            self.put("PARTITION BY ");
            self.list(&spec.partition_by, ",");
            self.put(" ");
        }
        if !spec.order_by.is_empty() {
            self.put("ORDER BY ");
            self.separated(&spec.order_by, ",", Self::order_item);
            self.put(" ");
        }
        if let Some(frame) = &spec.frame {
            self.put(match frame.unit {
                FrameUnit::Rows => "ROWS BETWEEN ",
                FrameUnit::Range => "RANGE BETWEEN ",
                FrameUnit::Groups => "GROUPS BETWEEN ",
            });
            self.frame_bound(&frame.start);
            self.put(" AND ");
            self.frame_bound(&frame.end);
        }
        self.put(") ");
    }

    fn frame_bound(&mut self, bound: &FrameBound) {
        let (offset, word) = match bound {
            FrameBound::UnboundedPreceding => return self.put("UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => return self.put("UNBOUNDED FOLLOWING"),
            FrameBound::CurrentRow => return self.put("CURRENT ROW"),
            FrameBound::Preceding(offset) => (offset, " PRECEDING"),
            FrameBound::Following(offset) => (offset, " FOLLOWING"),
        };
        match offset {
            FrameOffset::Expr(expr) => {
                self.as_it_is(expr);
            }
            FrameOffset::Interval(expr, unit) => {
                self.put("INTERVAL ");
                self.expr(expr);
                let _ = write!(self.out, " {}", unit_name(*unit));
            }
        }
        self.put(word);
    }

    fn over(&mut self, over: &Over) {
        self.put(" OVER ");
        match over {
            Over::Name(name) => self.put(&quote_name(name)),
            Over::Spec(spec) => self.window(spec),
        }
    }

    fn aggregate(&mut self, call: &AggregateCall) {
        use AggregateFunc::*;
        let name = match call.func {
            CountStar | Count => "count",
            Sum => "sum",
            Avg => "avg",
            Min => "min",
            Max => "max",
            BitAnd => "bit_and",
            BitOr => "bit_or",
            BitXor => "bit_xor",
            StddevPop => "std",
            StddevSamp => "stddev_samp",
            VarPop => "variance",
            VarSamp => "var_samp",
            GroupConcat => "group_concat",
            JsonArrayAgg => "json_arrayagg",
            Collect => "st_collect",
            JsonObjectAgg => "json_objectagg",
        };
        self.put(name);
        self.put("(");
        // Of equal values the smallest is the same, however many there are.
        let distinct = call.distinct && !matches!(call.func, Min | Max);
        self.put(if distinct { "distinct " } else { "" });
        self.put(if call.func == CountStar { "0" } else { "" });
        self.list(&call.args, ",");
        if !call.order_by.is_empty() {
            self.put(" order by ");
            self.separated(&call.order_by, ",", |printer, item| {
                printer.expr(&item.expr);
                printer.put(if item.desc { " DESC" } else { " ASC" });
            });
        }
        if call.func == GroupConcat {
            self.put(" separator ");
            self.put(&quote_string(call.separator.as_deref().unwrap_or(",")));
        }
        self.put(")");
        call.over.iter().for_each(|over| self.over(over));
    }

    fn window_call(&mut self, call: &WindowCall) {
        self.put(call.func.name());
        self.put("(");
        self.list(&call.args, ",");
        self.put(")");
        self.over(&call.over);
    }

    /// A condition that drops rows: false and NULL are the same to it.
    pub(super) fn condition(&mut self, expr: &Expr) -> u8 {
        match expr {
            Expr::And(list) | Expr::Or(list) => {
                let word = if matches!(expr, Expr::And(_)) { " and " } else { " or " };
                self.put("(");
                self.separated(list, word, |printer, operand| {
                    let start = printer.out.len();
                    if printer.condition(operand) < super::IS_FALSE {
                        printer.out.insert(start, '(');
                        printer.put(")");
                    }
                });
                self.put(")");
                bp::MAX
            }
            Expr::InSubquery { expr, query, negated: true } if reads_tables(&query.body) => {
                self.within(expr, query);
                self.put(" is false");
                super::IS_FALSE
            }
            Expr::Unary { op: UnaryOp::Not, expr } if matches!(**expr, Expr::Exists(_)) => {
                self.expr(expr);
                self.put(" is false");
                super::IS_FALSE
            }
            other => self.truth(other),
        }
    }

    fn in_parens(&mut self, query: &Query) {
        self.put("(");
        self.query(query);
        self.put(")");
    }

    /// `expr in (query)`.
    fn within(&mut self, expr: &Expr, query: &Query) -> u8 {
        self.operand(expr, bp::BIT_OR);
        self.put(" in ");
        self.in_parens(query);
        bp::PREDICATE
    }

    fn not_within(&mut self, expr: &Expr, query: &Query) -> u8 {
        self.put("(not(");
        self.within(expr, query);
        self.put("))");
        bp::MAX
    }

    /// Expressions that only queries have.
    pub(super) fn of_query(&mut self, expr: &Expr) -> u8 {
        match expr {
            Expr::Aggregate(call) => self.aggregate(call),
            Expr::Window(call) => self.window_call(call),
            Expr::Subquery(query) => self.in_parens(query),
            Expr::Exists(query) => {
                self.put("exists");
                self.in_parens(query);
            }
            Expr::InSubquery { expr, query, negated: false } => return self.within(expr, query),
            Expr::InSubquery { expr, query, .. } => return self.not_within(expr, query),
            Expr::Quantified { left, op: BinaryOp::Eq, quantifier: Quantifier::Any, query } => {
                return self.within(left, query);
            }
            Expr::Quantified { left, op: BinaryOp::Ne, quantifier: Quantifier::All, query } => {
                return self.not_within(left, query);
            }
            Expr::Quantified { left, op, quantifier, query } => {
                let word = if *quantifier == Quantifier::Any { "any" } else { "all" };
                self.operand(left, bp::COMPARE);
                let _ = write!(self.out, " {} {word} ", super::symbol(*op).0);
                self.in_parens(query);
                return bp::COMPARE;
            }
            _ => self.possible = false,
        }
        bp::MAX
    }
}
