//! Expressions back to text, spelled as MySQL prints stored ones.
//!
//! SHOW CREATE TABLE prints defaults, generated columns and checks in a canonical form: every
//! operator in parentheses, functions under one of their names (`ucase` is `upper`, `date(x)` is
//! a cast), strings with an introducer, and truth values made explicit. For example
//! `A || Upper(b) = 'x'` becomes ``((0 <> `A`) or (upper(`b`) = _utf8mb4'x'))``.
//! The text parses again to an expression of the same meaning and the same text.

use crate::ast::{
    BinaryOp, CastType, ColumnName, Expr, FunctionCall, IntervalUnit, JsonOnResponse, JsonValue,
    Literal, MatchMode, TrimSide, Truth, UnaryOp, VarScope,
};
use std::fmt::Write;

mod query;

pub use query::unparse_query;

/// The text of `expr`, or `None` where it holds what no stored expression can: a subquery, an
/// aggregate, a window function, a parameter or an assignment.
pub fn unparse(expr: &Expr) -> Option<String> {
    let mut printer = Printer { out: String::new(), possible: true, view: None };
    printer.expr(expr);
    printer.possible.then_some(printer.out)
}

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
}

impl Printer {
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

    /// `(left op right)`.
    fn infix(&mut self, left: &Expr, op: &str, right: &Expr) {
        self.put("(");
        self.expr(left);
        self.put(op);
        self.expr(right);
        self.put(")");
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
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
            Expr::Unary { op, expr } => self.unary(*op, expr),
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
            Expr::InSubquery { .. }
            | Expr::Aggregate(_)
            | Expr::Window(_)
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::Quantified { .. }
                if self.view.is_some() =>
            {
                self.of_query(expr);
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
            other => self.predicate(other),
        }
    }

    /// Tests and pattern matches; the rest goes on to [`Printer::special`].
    fn predicate(&mut self, expr: &Expr) {
        match expr {
            Expr::IsNull { expr, negated } => {
                self.put("(");
                self.expr(expr);
                self.put(if *negated { " is not null)" } else { " is null)" });
            }
            Expr::IsTruth { expr, truth: Truth::False, negated: false }
                if matches!(**expr, Expr::InSubquery { .. } | Expr::Exists(_)) =>
            {
                self.expr(expr);
                self.put(" is false");
            }
            Expr::IsTruth { expr, truth, negated } => {
                self.put("(");
                if *truth == Truth::Unknown {
                    self.expr(expr)
                } else {
                    self.truth(expr)
                }
                self.put(if *negated { " is not " } else { " is " });
                self.put(match truth {
                    Truth::True => "true)",
                    Truth::False => "false)",
                    Truth::Unknown => "null)",
                });
            }
            Expr::InList { expr, list, negated } if list.len() == 1 => {
                self.binary(if *negated { BinaryOp::Ne } else { BinaryOp::Eq }, expr, &list[0]);
            }
            Expr::InList { expr, list, negated } => {
                self.put("(");
                self.expr(expr);
                self.put(if *negated { " not in (" } else { " in (" });
                self.list(list, ",");
                self.put("))");
            }
            Expr::Between { expr, low, high, negated } => {
                self.put("(");
                self.expr(expr);
                self.put(if *negated { " not between " } else { " between " });
                self.expr(low);
                self.put(" and ");
                self.expr(high);
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
                self.expr(expr);
                self.put(" member of (");
                self.expr(array);
                self.put(")");
            }
            other => self.special(other),
        }
    }

    fn like(&mut self, expr: &Expr, pattern: &Expr, escape: Option<&Expr>, negated: bool) {
        self.put(if negated { "(not((" } else { "(" });
        self.expr(expr);
        self.put(" like ");
        self.expr(pattern);
        if let Some(escape) = escape {
            self.put(" escape ");
            self.expr(escape);
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
                let _ = write!(self.out, " using {})", charset.to_ascii_lowercase());
            }
            Expr::Trim { side, what, expr } => self.trim(*side, what.as_deref(), expr),
            Expr::Extract { .. } | Expr::DateArith { .. } | Expr::TimestampDiff { .. } => {
                self.temporal(expr);
            }
            Expr::Char { args, charset } => {
                self.put("char(");
                self.list(args, ",");
                if let Some(charset) = charset {
                    let _ = write!(self.out, " using {}", charset.to_ascii_lowercase());
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
                let _ = write!(self.out, ",_utf8mb4{}", quote_string(path));
                self.put(if *unquote { "))" } else { ")" });
            }
            Expr::JsonValue(value) => self.json_value(value),
            Expr::Collate { expr, collation } => {
                self.put("(");
                self.expr(expr);
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
                self.expr(expr);
                self.put(if *subtract { " - interval " } else { " + interval " });
                self.expr(interval);
                let _ = write!(self.out, " {})", unit_name(*unit));
            }
            Expr::TimestampDiff { unit, from, to } => {
                let unit = unit_name(*unit).to_ascii_uppercase();
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
            let _ = write!(self.out, "{}.", quote_name(part));
        }
        self.put(&quote_name(&column.name));
    }

    fn literal(&mut self, literal: &Literal) {
        let hex = |out: &mut String, charset: &Option<String>, bytes: &[u8]| {
            if let Some(charset) = charset {
                let _ = write!(out, "_{charset} ");
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
                let charset = charset.as_deref().unwrap_or("utf8mb4");
                write!(out, "_{charset}{}", quote_string(value))
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

    fn unary(&mut self, op: UnaryOp, expr: &Expr) {
        match op {
            UnaryOp::Not => self.not(expr),
            UnaryOp::Plus => self.expr(expr),
            UnaryOp::Neg => self.call("-", &[expr]),
            UnaryOp::BitNot => self.call("~", &[expr]),
            UnaryOp::Binary => {
                self.put("cast(");
                self.expr(expr);
                self.put(" as char charset binary)");
            }
        }
    }

    /// NOT: it goes into AND and OR, tests turn round, numbers are compared with zero.
    fn not(&mut self, expr: &Expr) {
        use BinaryOp::*;
        let mut turned = expr.clone();
        match &mut turned {
            Expr::And(operands) => return self.not_junction(operands, " or "),
            Expr::Or(operands) => return self.not_junction(operands, " and "),
            Expr::Unary { op: UnaryOp::Not, expr } => return self.truth(expr),
            Expr::IsNull { negated, .. }
            | Expr::IsTruth { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::InSubquery { negated, .. }
            | Expr::Between { negated, .. }
            | Expr::Like { negated, .. }
            | Expr::Regexp { negated, .. } => {
                *negated = !*negated;
                return self.expr(&turned);
            }
            Expr::Binary { op: Xor, left, right } => {
                self.put("(");
                self.not(left);
                self.put(" xor ");
                self.truth(right);
                return self.put(")");
            }
            Expr::Exists(_) => {
                self.expr(expr);
                return self.put(" is false");
            }
            _ => {}
        }
        if let Expr::Binary { op, left, right } = expr {
            let turned = match op {
                Eq => Some(Ne),
                Ne => Some(Eq),
                Lt => Some(Ge),
                Ge => Some(Lt),
                Gt => Some(Le),
                Le => Some(Gt),
                _ => None,
            };
            if let Some(turned) = turned {
                return self.binary(turned, left, right);
            }
        }
        if is_truth(expr) {
            return self.call_in_parens("not", expr);
        }
        self.put("(0 = ");
        self.expr(expr);
        self.put(")");
    }

    fn not_junction(&mut self, operands: &[Expr], word: &str) {
        self.put("(");
        for (i, operand) in operands.iter().enumerate() {
            self.put(if i > 0 { word } else { "" });
            self.not(operand);
        }
        self.put(")");
    }

    fn call_in_parens(&mut self, name: &str, expr: &Expr) {
        self.put("(");
        self.call(name, &[expr]);
        self.put(")");
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        use BinaryOp::*;
        if op == Xor {
            self.put("(");
            self.truth(left);
            self.put(" xor ");
            self.truth(right);
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
        self.infix(left, &format!(" {} ", symbol(op)), right);
    }

    fn junction(&mut self, operands: &[Expr], word: &str) {
        self.put("(");
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.put(word);
            }
            self.truth(operand);
        }
        self.put(")");
    }

    /// An operand whose truth is asked for.
    fn truth(&mut self, expr: &Expr) {
        if is_truth(expr) {
            return self.expr(expr);
        }
        self.put("(0 <> ");
        self.expr(expr);
        self.put(")");
    }

    fn function(&mut self, call: &FunctionCall) {
        if let Some(db) = &call.db {
            let _ = write!(self.out, "{}.{}(", quote_name(db), quote_name(&call.name));
            self.list(&call.args, ",");
            return self.put(")");
        }
        let args: Vec<&Expr> = call.args.iter().collect();
        let cast = match (call.name.as_str(), args.as_slice()) {
            ("date", [_]) => Some(CastType::Date),
            ("time", [_]) => Some(CastType::Time(None)),
            ("timestamp", [_]) => Some(CastType::DateTime(None)),
            _ => None,
        };
        if let Some(ty) = cast {
            return self.cast(args[0], &ty, false);
        }
        match (call.name.as_str(), args.as_slice()) {
            ("isnull", [arg]) => {
                self.put("(");
                self.expr(arg);
                self.put(" is null)");
            }
            ("mod", [left, right]) => self.infix(left, " % ", right),
            ("round", [arg]) => self.call("round", &[arg, &Expr::int(0)]),
            ("week", [arg]) => self.call("week", &[arg, &Expr::int(0)]),
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
        self.cast_type(ty);
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
                let charset = charset.as_deref().unwrap_or("utf8mb4").to_ascii_lowercase();
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
        self.expr(against);
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
        for (response, word) in [(&value.on_empty, " on empty"), (&value.on_error, " on error")] {
            match response {
                None => continue,
                Some(JsonOnResponse::Null) => self.put(" null"),
                Some(JsonOnResponse::Error) => self.put(" error"),
                Some(JsonOnResponse::Default(literal)) => {
                    self.put(" default ");
                    self.literal(literal);
                }
            }
            self.put(word);
        }
        self.put(")");
    }
}

/// An operator's sign.
fn symbol(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        IntDiv => "DIV",
        Mod => "%",
        BitOr => "|",
        BitAnd => "&",
        BitXor => "^",
        ShiftLeft => "<<",
        ShiftRight => ">>",
        Eq => "=",
        NullSafeEq => "<=>",
        Ne => "<>",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        Xor => "xor",
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
            call.db.is_none() && truths.contains(&call.name.as_str())
        }
        _ => false,
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
        other => other,
    }
}

/// A unit in lower case.
fn unit_name(unit: IntervalUnit) -> &'static str {
    use IntervalUnit::*;
    match unit {
        Microsecond => "microsecond",
        Second => "second",
        Minute => "minute",
        Hour => "hour",
        Day => "day",
        Week => "week",
        Month => "month",
        Quarter => "quarter",
        Year => "year",
        SecondMicrosecond => "second_microsecond",
        MinuteMicrosecond => "minute_microsecond",
        MinuteSecond => "minute_second",
        HourMicrosecond => "hour_microsecond",
        HourSecond => "hour_second",
        HourMinute => "hour_minute",
        DayMicrosecond => "day_microsecond",
        DaySecond => "day_second",
        DayMinute => "day_minute",
        DayHour => "day_hour",
        YearMonth => "year_month",
    }
}

#[cfg(test)]
mod tests;
