//! Expressions back to text, spelled as MySQL prints stored ones.
//!
//! SHOW CREATE TABLE prints defaults, generated columns and checks in a canonical form: every
//! operator in parentheses, functions under one of their names (`ucase` is `upper`, `date(x)` is
//! a cast), strings with an introducer, and truth values made explicit. For example
//! `A || Upper(b) = 'x'` becomes ``((0 <> `A`) or (upper(`b`) = _utf8mb4'x'))``.
//! The text parses again to an expression of the same meaning and the same text.
//!
//! Some kinds have no parentheses of their own (`a in (select 1)`, `-(a)`): printing an expression
//! returns how tightly its text binds, and an operand that binds less tightly than its place asks
//! gets parentheses there. The explicit form has them around every expression; both forms must
//! parse to the same.

use crate::ast::{
    BinaryOp, CastType, ColumnName, Expr, FunctionCall, JsonOnResponse, JsonValue, Literal,
    MatchMode, Quantifier, TrimSide, Truth, UnaryOp, VarScope,
};
use crate::parser::bp;
use inia_base::temporal::IntervalUnit;
use std::fmt::Write;

mod explained;
mod hints;
mod json_table;
mod query;

pub use explained::{
    MULTIPLE_EQUAL, TWIN, unparse_explained, unparse_traced, unparse_traced_condition,
};
pub use query::{unparse_query, unparse_query_explicit};

/// The text of `expr`, or `None` where it holds what no stored expression can: a subquery, an
/// aggregate, a window function, a parameter or an assignment. Strings get the introducer of
/// `charset`, the connection's character set.
pub fn unparse(expr: &Expr, charset: &str) -> Option<String> {
    let mut printer = Printer::new(None, false);
    printer.charset = charset.to_owned();
    printer.expr(expr);
    printer.possible.then_some(printer.out)
}

const UTF8: &str = "utf8mb4";

/// How tightly `a is false` binds: only what is looser than NOT may follow it.
const IS_FALSE: u8 = bp::NOT - 1;

/// A name in backticks.
pub fn quote_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string in single quotes with MySQL's escapes.
pub fn quote_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

struct Printer {
    out: String,
    possible: bool,
    /// Whole queries are printed; true leaves out names of databases.
    view: Option<bool>,
    /// Every expression is put into parentheses, needed or not.
    explicit: bool,
    /// The text is for EXPLAIN.
    explained: bool,
    /// The session's hints, where those of the statement are yet to be shown.
    hints: Option<Vec<String>>,
    /// The character set of strings without an introducer.
    charset: String,
}

impl Printer {
    fn new(view: Option<bool>, explicit: bool) -> Printer {
        let charset = UTF8.to_owned();
        Printer {
            out: String::new(),
            possible: true,
            view,
            explicit,
            explained: false,
            hints: None,
            charset,
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn list(&mut self, items: &[Expr], separator: &str) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(separator);
            }
            self.expr(item);
        }
    }

    /// `name(args)`.
    fn call(&mut self, name: &str, args: &[&Expr]) {
        self.put(name);
        self.put("(");
        for (i, arg) in args.iter().enumerate() {
            if i > 0 {
                self.put(",");
            }
            self.expr(arg);
        }
        self.put(")");
    }

    /// `(left op right)`, of an operator that binds with `power`.
    fn infix(&mut self, left: &Expr, (op, power): (&str, u8), right: &Expr) {
        self.put("(");
        self.operand(left, power);
        self.put(op);
        self.operand(right, power + 1);
        self.put(")");
    }

    /// An expression where only those stand that bind at least as tightly as `min`.
    fn operand(&mut self, expr: &Expr, min: u8) {
        let start = self.out.len();
        if self.expr(expr) < min {
            self.out.insert(start, '(');
            self.put(")");
        }
    }

    /// Prints an expression; returns how tightly its text binds.
    fn expr(&mut self, expr: &Expr) -> u8 {
        let leaf = matches!(expr, Expr::Literal(_) | Expr::Column(_));
        if !self.explicit || leaf {
            return self.as_it_is(expr);
        }
        self.put("(");
        self.as_it_is(expr);
        self.put(")");
        bp::MAX
    }

    fn as_it_is(&mut self, expr: &Expr) -> u8 {
        match expr {
            Expr::Unary { op, expr } => return self.unary(*op, expr),
            // Only whole queries may hold these kinds; stored expressions cannot (below).
            Expr::InSubquery { .. }
            | Expr::Aggregate(_)
            | Expr::Window(_)
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::Quantified { .. }
                if self.view.is_some() =>
            {
                return self.of_query(expr);
            }
            Expr::Literal(literal) => self.literal(literal),
            Expr::Column(column) => self.column(column),
            Expr::UserVar(name) => {
                let _ = write!(self.out, "(@{})", quote_name(name));
            }
            Expr::SysVar(var) => {
                self.put(match var.scope {
                    None => "@@",
                    Some(VarScope::Global) => "@@global.",
                    Some(VarScope::Session) => "@@session.",
                    Some(VarScope::Persist) => "@@persist.",
                    Some(VarScope::PersistOnly) => "@@persist_only.",
                });
                if let Some(component) = &var.component {
                    let _ = write!(self.out, "{}.", quote_name(component));
                }
                self.put(&quote_name(&var.name));
            }
            Expr::Binary { op, left, right } => self.binary(*op, left, right),
            Expr::And(operands) => self.junction(operands, " and "),
            Expr::Or(operands) => self.junction(operands, " or "),
            Expr::Function(call) => self.function(call),
            Expr::Cast { expr, ty, array } => self.cast(expr, ty, *array),
            Expr::Row(items) => {
                self.put("(");
                self.list(items, ",");
                self.put(")");
            }
            Expr::InsertValue(column) if self.explained => {
                self.put("values(");
                self.column(column);
                self.put(")");
            }
            Expr::Default if self.explained => self.put("default"),
            Expr::AssignVar { name, value } if self.explained => {
                let _ = write!(self.out, "(@{}:=", name);
                self.expr(value);
                self.put(")");
            }
            Expr::Param(_)
            | Expr::AssignVar { .. }
            | Expr::InSubquery { .. }
            | Expr::Aggregate(_)
            | Expr::Window(_)
            | Expr::InsertValue(_)
            | Expr::Default
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::Quantified { .. } => self.possible = false,
            other => return self.predicate(other),
        }
        bp::MAX
    }

    /// Tests and pattern matches; the rest goes on to [`Printer::special`].
    fn predicate(&mut self, expr: &Expr) -> u8 {
        match expr {
            Expr::IsNull { expr, negated } => {
                self.put("(");
                self.operand(expr, bp::COMPARE);
                self.put(if *negated { " is not null)" } else { " is null)" });
            }
            Expr::IsTruth { expr, truth, negated } => {
                let bare = query::is_bare_test(expr);
                self.put(if bare { "" } else { "(" });
                if *truth == Truth::Unknown {
                    self.operand(expr, bp::COMPARE);
                } else {
                    self.truth_operand(expr, bp::COMPARE);
                }
                self.put(if *negated { " is not " } else { " is " });
                self.put(truth_name(*truth));
                if bare {
                    return IS_FALSE;
                }
                self.put(")");
            }
            // MySQL prints a list of one item as a comparison.
            Expr::InList { expr, list, negated } if list.len() == 1 => {
                self.binary(if *negated { BinaryOp::Ne } else { BinaryOp::Eq }, expr, &list[0]);
            }
            Expr::InList { expr, list, negated } => {
                self.put("(");
                self.operand(expr, bp::BIT_OR);
                self.put(if *negated { " not in (" } else { " in (" });
                self.list(list, ",");
                self.put("))");
            }
            Expr::Between { expr, low, high, negated } => {
                self.put("(");
                self.operand(expr, bp::BIT_OR);
                self.put(if *negated { " not between " } else { " between " });
                self.operand(low, bp::BIT_OR);
                self.put(" and ");
                self.operand(high, bp::PREDICATE);
                self.put(")");
            }
            Expr::Like { expr, pattern, escape, negated } => {
                self.like(expr, pattern, escape.as_deref(), *negated);
            }
            Expr::Regexp { expr, pattern, negated } => {
                self.put(if *negated { "(not(" } else { "" });
                self.call("regexp_like", &[expr, pattern]);
                self.put(if *negated { "))" } else { "" });
            }
            Expr::SoundsLike { left, right } => {
                self.put("(");
                self.call("soundex", &[left]);
                self.put(" = ");
                self.call("soundex", &[right]);
                self.put(")");
            }
            Expr::MemberOf { expr, array } => {
                self.operand(expr, bp::BIT_OR);
                self.put(" member of (");
                self.operand(array, bp::CONCAT);
                self.put(")");
                return bp::PREDICATE;
            }
            other => self.special(other),
        }
        bp::MAX
    }

    fn like(&mut self, expr: &Expr, pattern: &Expr, escape: Option<&Expr>, negated: bool) {
        self.put(if negated { "(not((" } else { "(" });
        self.operand(expr, bp::BIT_OR);
        self.put(" like ");
        self.operand(pattern, bp::CONCAT);
        if let Some(escape) = escape {
            self.put(" escape ");
            self.operand(escape, bp::CONCAT);
        }
        self.put(if negated { ")))" } else { ")" });
    }

    /// Expressions with a syntax of their own.
    fn special(&mut self, expr: &Expr) {
        match expr {
            Expr::Case { operand, whens, else_ } => self.case(operand, whens, else_),
            Expr::CastAtTimeZone { expr, zone, fsp } => {
                self.put("cast(");
                self.expr(expr);
                let _ = write!(self.out, " at time zone {} as datetime", quote_string(zone));
                self.length(*fsp);
                self.put(")");
            }
            Expr::ConvertUsing { expr, charset } => {
                self.put("convert(");
                self.expr(expr);
                let _ = write!(self.out, " using {})", charset_name(charset));
            }
            Expr::Trim { side, what, expr } => self.trim(*side, what.as_deref(), expr),
            Expr::Extract { .. } | Expr::DateArith { .. } | Expr::TimestampDiff { .. } => {
                self.temporal(expr);
            }
            Expr::Char { args, charset } => {
                self.put("char(");
                self.list(args, ",");
                if let Some(charset) = charset {
                    let _ = write!(self.out, " using {}", charset_name(charset));
                }
                self.put(")");
            }
            Expr::WeightString { expr, cast } => {
                self.put("weight_string(");
                self.expr(expr);
                match cast {
                    Some(CastType::Binary(n)) => {
                        self.put(" as binary");
                        self.length(*n);
                    }
                    Some(CastType::Char { length, .. }) => {
                        self.put(" as char");
                        self.length(*length);
                    }
                    _ => {}
                }
                self.put(")");
            }
            Expr::DefaultOf(column) => {
                self.put("default(");
                self.column(column);
                self.put(")");
            }
            Expr::Match { columns, against, mode } => self.match_against(columns, against, *mode),
            Expr::JsonExtract { column, path, unquote } => {
                self.put(if *unquote { "json_unquote(json_extract(" } else { "json_extract(" });
                self.column(column);
                let path = Literal::String { charset: None, value: path.clone() };
                self.put(",");
                self.literal(&path);
                self.put(if *unquote { "))" } else { ")" });
            }
            Expr::JsonValue(value) => self.json_value(value),
            Expr::Collate { expr, collation } => {
                self.put("(");
                self.operand(expr, bp::COLLATE);
                let _ = write!(self.out, " collate {})", collation.to_ascii_lowercase());
            }
            _ => self.possible = false,
        }
    }

    /// Expressions with units of time.
    fn temporal(&mut self, expr: &Expr) {
        match expr {
            Expr::Extract { unit, expr } => {
                let _ = write!(self.out, "extract({} from ", unit_name(*unit));
                self.expr(expr);
                self.put(")");
            }
            Expr::DateArith { expr, interval, unit, subtract } => {
                self.put("(");
                self.operand(expr, bp::ADD);
                self.put(if *subtract { " - interval " } else { " + interval " });
                self.expr(interval);
                let _ = write!(self.out, " {})", unit_name(*unit));
            }
            Expr::TimestampDiff { unit, from, to } => {
                let unit = unit.name();
                let _ = write!(self.out, "timestampdiff({unit},");
                self.expr(from);
                self.put(",");
                self.expr(to);
                self.put(")");
            }
            _ => self.possible = false,
        }
    }

    fn column(&mut self, column: &ColumnName) {
        let db = column.db.as_ref().filter(|_| self.view != Some(true));
        for part in [db, column.table.as_ref()].into_iter().flatten() {
            let _ = write!(self.out, "{}.", quote_name(explained::shown_name(part)));
        }
        self.put(&quote_name(&column.name));
    }

    fn literal(&mut self, literal: &Literal) {
        let hex = |out: &mut String, charset: &Option<String>, bytes: &[u8]| {
            if let Some(charset) = charset {
                let _ = write!(out, "_{} ", charset_name(charset));
            }
            out.push_str(if bytes.is_empty() { "x'" } else { "0x" });
            for byte in bytes {
                let _ = write!(out, "{byte:02x}");
            }
            out.push_str(if bytes.is_empty() { "'" } else { "" });
        };
        let out = &mut self.out;
        let _ = match literal {
            Literal::Null => write!(out, "NULL"),
            Literal::Bool(value) => write!(out, "{value}"),
            Literal::Int(value) => write!(out, "{value}"),
            Literal::Decimal(text) => write!(out, "{text}"),
            Literal::Float(value) => write!(out, "{value:e}"),
            Literal::String { charset: None, value } if self.view.is_some() => {
                write!(out, "{}", quote_string(value))
            }
            Literal::String { charset, value } => {
                // The text is UTF-8: in other character sets only ASCII reads back the same.
                let own = if value.is_ascii() { self.charset.as_str() } else { UTF8 };
                let charset = charset.as_deref().unwrap_or(own);
                write!(out, "_{}{}", charset_name(charset), quote_string(value))
            }
            Literal::RawBytes { charset, bytes }
            | Literal::Hex { charset, bytes }
            | Literal::Bit { charset, bytes } => {
                hex(out, charset, bytes);
                Ok(())
            }
            Literal::Date(text) => write!(out, "DATE{}", quote_string(text)),
            Literal::Time(text) => write!(out, "TIME{}", quote_string(text)),
            Literal::Timestamp(text) => write!(out, "TIMESTAMP{}", quote_string(text)),
        };
    }

    fn unary(&mut self, op: UnaryOp, expr: &Expr) -> u8 {
        match op {
            UnaryOp::Not => self.not(expr),
            UnaryOp::Plus => self.expr(expr),
            UnaryOp::Neg | UnaryOp::BitNot => {
                self.call(if op == UnaryOp::Neg { "-" } else { "~" }, &[expr]);
                bp::NEG
            }
            UnaryOp::Binary => {
                self.put("cast(");
                self.expr(expr);
                self.put(" as char charset binary)");
                bp::MAX
            }
        }
    }

    /// NOT: it goes into AND and OR, tests turn round, numbers are compared with zero.
    fn not(&mut self, expr: &Expr) -> u8 {
        use BinaryOp::*;
        // Where only a flag or an operator changes, a copy is printed in place of the expression.
        let mut turned_round = expr.clone();
        match &mut turned_round {
            Expr::And(operands) => self.not_junction(operands, " or "),
            Expr::Or(operands) => self.not_junction(operands, " and "),
            Expr::Unary { op: UnaryOp::Not, expr } => return self.truth(expr),
            Expr::IsNull { negated, .. }
            | Expr::IsTruth { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::InSubquery { negated, .. }
            | Expr::Between { negated, .. }
            | Expr::Like { negated, .. }
            | Expr::Regexp { negated, .. } => {
                *negated = !*negated;
                return self.expr(&turned_round);
            }
            Expr::Binary { op: Xor, left, right } => {
                self.put("(");
                self.not_operand(left, bp::XOR);
                self.put(" xor ");
                self.truth_operand(right, bp::XOR + 1);
                self.put(")");
            }
            Expr::Exists(_) => {
                self.put("(not ");
                self.expr(expr);
                self.put(")");
            }
            // NOT (a > ANY q) is a <= ALL q.
            Expr::Quantified { op, quantifier, .. } if let Some(turned) = op.opposite() => {
                *op = turned;
                *quantifier = match quantifier {
                    Quantifier::Any => Quantifier::All,
                    Quantifier::All => Quantifier::Any,
                };
                return self.expr(&turned_round);
            }
            Expr::Binary { op, left, right } if let Some(turned) = op.opposite() => {
                self.binary(turned, left, right);
            }
            // What has no opposite keeps its NOT, if it is a truth value.
            other if is_truth(other) => {
                self.put("(");
                self.call("not", &[other]);
                self.put(")");
            }
            other => {
                self.put("(0 = ");
                self.operand(other, bp::PREDICATE);
                self.put(")");
            }
        }
        bp::MAX
    }

    fn not_operand(&mut self, expr: &Expr, min: u8) {
        let start = self.out.len();
        if self.not(expr) < min {
            self.out.insert(start, '(');
            self.put(")");
        }
    }

    fn not_junction(&mut self, operands: &[Expr], word: &str) {
        self.put("(");
        for (i, operand) in operands.iter().enumerate() {
            self.put(if i > 0 { word } else { "" });
            self.not_operand(operand, IS_FALSE);
        }
        self.put(")");
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        use BinaryOp::*;
        if op == Xor {
            self.put("(");
            self.truth_operand(left, bp::XOR);
            self.put(" xor ");
            self.truth_operand(right, bp::XOR + 1);
            return self.put(")");
        }
        if let (Eq | Ne, Expr::Row(a), Expr::Row(b)) = (op, left, right)
            && a.len() == b.len()
        {
            self.put("(");
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                let word = if op == Eq { " and " } else { " or " };
                self.put(if i > 0 { word } else { "" });
                self.binary(op, a, b);
            }
            self.put(")");
            return;
        }
        let (symbol, power) = symbol(op);
        self.infix(left, (&format!(" {symbol} "), power), right);
    }

    fn junction(&mut self, operands: &[Expr], word: &str) {
        self.put("(");
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.put(word);
            }
            self.truth_operand(operand, IS_FALSE);
        }
        self.put(")");
    }

    /// An operand whose truth is asked for.
    fn truth(&mut self, expr: &Expr) -> u8 {
        if is_truth(expr) {
            return self.expr(expr);
        }
        self.put("(0 <> ");
        self.operand(expr, bp::PREDICATE);
        self.put(")");
        bp::MAX
    }

    fn truth_operand(&mut self, expr: &Expr, min: u8) {
        let start = self.out.len();
        if self.truth(expr) < min {
            self.out.insert(start, '(');
            self.put(")");
        }
    }

    fn function(&mut self, call: &FunctionCall) {
        // A stored function keeps its name, even where it is that of a built-in one.
        if let Some(db) = &call.db {
            let _ = write!(self.out, "{}.{}(", quote_name(db), quote_name(&call.name));
            self.list(&call.args, ",");
            return self.put(")");
        }
        let args: Vec<&Expr> = call.args.iter().collect();
        if self.explained && explained::is_internal(&call.name) {
            return self.internal(call);
        }
        // A word of the grammar that was quoted or stands apart from `(` stays a quoted name.
        if call.written.apart {
            return self.call(&quote_name(&call.name), &args);
        }
        let cast = match (call.name.as_str(), args.as_slice()) {
            ("date", [_]) => Some(CastType::Date),
            ("time", [_]) => Some(CastType::Time(None)),
            ("timestamp", [_]) => Some(CastType::DateTime(None)),
            _ => None,
        };
        if let Some(ty) = cast {
            return self.cast(args[0], &ty, false);
        }
        // MySQL prints these functions by another name, or with their default arguments.
        match (call.name.as_str(), args.as_slice()) {
            ("isnull", [arg]) => {
                self.put("(");
                self.operand(arg, bp::COMPARE);
                self.put(" is null)");
            }
            ("mod", [left, right]) => self.infix(left, (" % ", bp::MUL), right),
            ("round", [arg]) => self.call("round", &[arg, &Expr::int(0)]),
            ("week", [arg]) => self.call("week", &[arg, &Expr::int(0)]),
            ("weekofyear", [arg]) => self.call("week", &[arg, &Expr::int(3)]),
            ("yearweek", [arg]) => self.call("yearweek", &[arg, &Expr::int(0)]),
            ("datediff", [later, earlier]) => {
                self.put("(");
                self.call("to_days", &[later]);
                self.put(" - ");
                self.call("to_days", &[earlier]);
                self.put(")");
            }
            ("bin", [arg]) => self.call("conv", &[arg, &Expr::int(10), &Expr::int(2)]),
            ("oct", [arg]) => self.call("conv", &[arg, &Expr::int(10), &Expr::int(8)]),
            ("instr", [hay, needle]) => self.call("locate", &[needle, hay]),
            ("get_format", [Expr::Literal(Literal::String { value, .. }), format]) => {
                let _ = write!(self.out, "get_format({value}, ");
                self.expr(format);
                self.put(")");
            }
            (name, args) => {
                let name = canonical_name(name);
                let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if plain { self.call(name, args) } else { self.call(&quote_name(name), args) }
            }
        }
    }

    fn length(&mut self, length: Option<u64>) {
        if let Some(length) = length {
            let _ = write!(self.out, "({length})");
        }
    }

    fn cast(&mut self, expr: &Expr, ty: &CastType, array: bool) {
        self.put("cast(");
        self.expr(expr);
        self.put(" as ");
        match (array, ty) {
            (true, CastType::Char { length, charset: None }) => {
                self.put("char");
                self.length(*length);
            }
            (true, CastType::Binary(length)) => {
                self.put("binary");
                self.length(*length);
            }
            (true, CastType::Decimal { precision, scale }) => {
                let (p, s) = (precision.unwrap_or(10), scale.unwrap_or(0));
                let _ = write!(self.out, "decimal({p}, {s})");
            }
            _ => self.cast_type(ty),
        }
        self.put(if array { " array)" } else { ")" });
    }

    fn cast_type(&mut self, ty: &CastType) {
        let (name, length) = match ty {
            CastType::Binary(length) => {
                self.put("char");
                self.length(*length);
                return self.put(" charset binary");
            }
            CastType::Char { length, charset } => {
                self.put("char");
                self.length(*length);
                let charset = charset_name(charset.as_deref().unwrap_or("utf8mb4"));
                let _ = write!(self.out, " charset {charset}");
                return;
            }
            CastType::Decimal { precision, scale } => {
                let (p, s) = (precision.unwrap_or(10), scale.unwrap_or(0));
                let _ = write!(self.out, "decimal({p},{s})");
                return;
            }
            CastType::Geometry(name) => (name.as_str(), None),
            CastType::Signed => ("signed", None),
            CastType::Unsigned => ("unsigned", None),
            CastType::Date => ("date", None),
            CastType::Time(fsp) => ("time", *fsp),
            CastType::DateTime(fsp) => ("datetime", *fsp),
            CastType::Year => ("year", None),
            CastType::Float(precision) => ("float", *precision),
            CastType::Double => ("double", None),
            CastType::Real => ("real", None),
            CastType::Json => ("json", None),
        };
        self.put(name);
        self.length(length);
    }

    fn case(
        &mut self,
        operand: &Option<Box<Expr>>,
        whens: &[(Expr, Expr)],
        else_: &Option<Box<Expr>>,
    ) {
        self.put("(case ");
        if let Some(operand) = operand {
            self.expr(operand);
            self.put(" ");
        }
        for (when, then) in whens {
            self.put("when ");
            self.expr(when);
            self.put(" then ");
            self.expr(then);
            self.put(" ");
        }
        if let Some(else_) = else_ {
            self.put("else ");
            self.expr(else_);
            self.put(" ");
        }
        self.put("end)");
    }

    fn trim(&mut self, side: TrimSide, what: Option<&Expr>, expr: &Expr) {
        self.put("trim(");
        self.put(match side {
            TrimSide::Both => "",
            TrimSide::Leading => "leading ",
            TrimSide::Trailing => "trailing ",
        });
        if let Some(what) = what {
            self.expr(what);
            self.put(" ");
        }
        if what.is_some() || side != TrimSide::Both {
            self.put("from ");
        }
        self.expr(expr);
        self.put(")");
    }

    fn match_against(&mut self, columns: &[ColumnName], against: &Expr, mode: MatchMode) {
        self.put("(match ");
        for (i, column) in columns.iter().enumerate() {
            self.put(if i > 0 { "," } else { "" });
            self.column(column);
        }
        self.put(" against (");
        self.operand(against, bp::BIT_OR);
        self.put(match mode {
            MatchMode::Natural => "",
            MatchMode::Boolean => " in boolean mode",
            MatchMode::NaturalExpanded | MatchMode::Expanded => " with query expansion",
        });
        self.put("))");
    }

    fn json_value(&mut self, value: &JsonValue) {
        self.put("json_value(");
        self.expr(&value.doc);
        self.put(", ");
        self.expr(&value.path);
        if let Some(ty) = &value.returning {
            self.put(" returning ");
            self.cast_type(ty);
        }
        self.json_response(value.on_empty.as_ref(), " on empty");
        self.json_response(value.on_error.as_ref(), " on error");
        self.put(")");
    }

    fn json_response(&mut self, response: Option<&JsonOnResponse>, word: &str) {
        match response {
            None => return,
            Some(JsonOnResponse::Null) => self.put(" null"),
            Some(JsonOnResponse::Error) => self.put(" error"),
            Some(JsonOnResponse::Default(literal)) => {
                self.put(" default ");
                self.literal(literal);
            }
        }
        self.put(word);
    }
}

fn truth_name(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "null",
    }
}

/// An operator's sign, and how tightly it binds.
fn symbol(op: BinaryOp) -> (&'static str, u8) {
    use BinaryOp::*;
    match op {
        Add => ("+", bp::ADD),
        Sub => ("-", bp::ADD),
        Mul => ("*", bp::MUL),
        Div => ("/", bp::MUL),
        IntDiv => ("DIV", bp::MUL),
        Mod => ("%", bp::MUL),
        BitOr => ("|", bp::BIT_OR),
        BitAnd => ("&", bp::BIT_AND),
        BitXor => ("^", bp::BIT_XOR),
        ShiftLeft => ("<<", bp::SHIFT),
        ShiftRight => (">>", bp::SHIFT),
        Eq => ("=", bp::COMPARE),
        NullSafeEq => ("<=>", bp::COMPARE),
        Ne => ("<>", bp::COMPARE),
        Lt => ("<", bp::COMPARE),
        Le => ("<=", bp::COMPARE),
        Gt => (">", bp::COMPARE),
        Ge => (">=", bp::COMPARE),
        Xor => ("xor", bp::XOR),
    }
}

/// True for expressions that are true or false by nature.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Bool(_))
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. }
        | Expr::SoundsLike { .. }
        | Expr::MemberOf { .. }
        | Expr::Exists(_)
        | Expr::Match { .. }
        | Expr::Quantified { .. } => true,
        Expr::Unary { op, expr } => match op {
            UnaryOp::Not => true,
            UnaryOp::Plus => is_truth(expr),
            _ => false,
        },
        Expr::Binary { op, .. } => op.is_comparison() || *op == BinaryOp::Xor,
        Expr::Function(call) => {
            let truths =
                ["isnull", "regexp_like", "json_contains", "json_contains_path", "json_valid"];
            let own = explained::is_internal(&call.name) && call.name != "<cache>";
            call.db.is_none() && (own || truths.contains(&call.name.as_str()))
        }
        _ => false,
    }
}

/// The name of a character set, for which `utf8` is another one.
fn charset_name(name: &str) -> String {
    match name.to_ascii_lowercase() {
        name if name == "utf8" => "utf8mb3".to_owned(),
        name => name,
    }
}

/// The name under which MySQL prints a function.
fn canonical_name(name: &str) -> &str {
    match name {
        "lcase" => "lower",
        "ucase" => "upper",
        "character_length" => "char_length",
        "octet_length" => "length",
        "power" => "pow",
        "ceil" => "ceiling",
        "day" => "dayofmonth",
        "schema" => "database",
        "sha1" => "sha",
        "json_merge" => "json_merge_preserve",
        other => other,
    }
}

/// A unit in lower case.
fn unit_name(unit: IntervalUnit) -> String {
    unit.name().to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
