//! Bound expressions as text, the way MySQL prints them in error messages.

use crate::func;
use crate::tree::{CastKind, Compare, Expr, ExprKind};
use crate::ty::ExprType;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::value::Value;

/// The printed form: `(1 + 2)`, `exp(1000)`, `cast(1 as unsigned)`.
pub fn print(expr: &Expr) -> String {
    let mut out = String::new();
    write(expr, &mut out);
    out
}

fn write(expr: &Expr, out: &mut String) {
    match &expr.kind {
        ExprKind::Literal(value) => literal(value, &expr.ty, out),
        ExprKind::HexLiteral(bytes) => {
            out.push_str("0x");
            bytes.iter().for_each(|b| out.push_str(&format!("{b:02x}")));
        }
        ExprKind::Column { name, .. } | ExprKind::OuterColumn { name, .. } => out.push_str(name),
        ExprKind::Param(_) => out.push('?'),
        ExprKind::UserVar(name) => out.push_str(&format!("(@`{name}`)")),
        ExprKind::AssignUserVar(name, value) => {
            out.push_str(&format!("(@{name}:="));
            write(value, out);
            out.push(')');
        }
        ExprKind::SysVar(_, name) => out.push_str(&format!("@@{name}")),
        ExprKind::Compare(c) => binary(&c.left, c.op.symbol(), &c.right, out),
        ExprKind::Arith(a) => binary(&a.left, a.op.symbol(), &a.right, out),
        ExprKind::CompareRows(op, parts) => {
            let side = |pick: fn(&crate::tree::Compare) -> &Expr| {
                let items: Vec<String> = parts.iter().map(|p| print(pick(p))).collect();
                items.join(",")
            };
            let (left, right) = (side(|p| &p.left), side(|p| &p.right));
            out.push_str(&format!("(({left}) {} ({right}))", op.symbol()));
        }
        ExprKind::And(items) => list(items, " and ", out),
        ExprKind::Or(items) => list(items, " or ", out),
        ExprKind::Row(items) => list(items, ",", out),
        ExprKind::Xor(a, b) => binary(a, "xor", b, out),
        ExprKind::Not(a) => wrap("(not(", a, "))", out),
        ExprKind::IsNull(a, false) => wrap("(", a, " is null)", out),
        ExprKind::IsNull(a, true) => wrap("(", a, " is not null)", out),
        ExprKind::IsTruth(a, truth, negated) => {
            let not = if *negated { "not " } else { "" };
            let word = if *truth { "true" } else { "false" };
            wrap("(", a, &format!(" is {not}{word})"), out);
        }
        ExprKind::Neg(a, _) => wrap("-(", a, ")", out),
        // Conversions that binding adds are not part of the statement's text.
        ExprKind::Cast(a, CastKind::Implicit | CastKind::Year) => write(a, out),
        ExprKind::Cast(a, kind) => {
            wrap("cast(", a, &format!(" as {})", target(&expr.ty, kind)), out);
        }
        ExprKind::Collate(a) => write(a, out),
        _ => write_compound(expr, out),
    }
}

/// A call for a sequence, whose database and name are the first arguments.
fn write_sequence_call(function: &str, args: &[Expr], out: &mut String) {
    let name = |arg: Option<&Expr>| match arg.and_then(Expr::as_literal) {
        Some(Value::Text(text)) => inia_parser::quote_name(text),
        _ => String::new(),
    };
    out.push_str(&format!("{function}({}.{}", name(args.first()), name(args.get(1))));
    for arg in args.iter().skip(2) {
        wrap(",", arg, "", out);
    }
    out.push(')');
}

fn write_compound(expr: &Expr, out: &mut String) {
    match &expr.kind {
        ExprKind::Call(call) if call.name == func::FULL_LENGTH => write(&call.args[0], out),
        ExprKind::Call(call) => {
            out.push_str(call.name);
            list(&call.args, ",", out);
        }
        ExprKind::Stored(call) => {
            if call.schema.is_empty() {
                return write_sequence_call(&call.name, &call.args, out);
            }
            out.push_str(&format!("`{}`.`{}`", call.schema, call.name));
            list(&call.args, ",", out);
        }
        ExprKind::Case(case) => {
            out.push_str("(case");
            for (condition, result) in &case.whens {
                wrap(" when ", condition, " then ", out);
                write(result, out);
            }
            if let Some(otherwise) = &case.otherwise {
                wrap(" else ", otherwise, "", out);
            }
            out.push_str(" end)");
        }
        ExprKind::In(list_node) => {
            out.push('(');
            write(&list_node.value, out);
            out.push_str(if list_node.negated { " not in (" } else { " in (" });
            let item = |(_, item): &(_, Expr)| match &item.kind {
                ExprKind::CompareRows(_, parts) => listed(&list_node.value, &mut parts.iter()),
                _ => print(item),
            };
            let items: Vec<String> = list_node.items.iter().map(item).collect();
            out.push_str(&items.join(","));
            out.push_str("))");
        }
        ExprKind::Between(b) => {
            out.push('(');
            write(&b.value, out);
            out.push_str(if b.negated { " not between " } else { " between " });
            write(&b.low, out);
            wrap(" and ", &b.high, ")", out);
        }
        ExprKind::Like(l) => {
            let op = if l.negated { "not like" } else { "like" };
            binary(&l.value, op, &l.pattern, out);
        }
        ExprKind::DateArith(d) => {
            out.push('(');
            write(&d.date, out);
            out.push_str(if d.subtract { " - interval " } else { " + interval " });
            wrap("", &d.amount, &format!(" {})", d.unit.name().to_lowercase()), out);
        }
        ExprKind::InsertValue(index) => out.push_str(&format!("values({index})")),
        ExprKind::Aggregate(index) => out.push_str(&format!("<aggregate {index}>")),
        ExprKind::Window(index) => out.push_str(&format!("<window {index}>")),
        // Query block 1 is the outermost one, and subqueries are numbered from 0.
        ExprKind::Subquery(sub) => out.push_str(&format!("(select #{})", sub.id + 2)),
        ExprKind::Match(search) => {
            out.push_str("(match ");
            let columns: Vec<String> = search.columns.iter().map(print).collect();
            wrap(&format!("{} against (", columns.join(",")), &search.against, "))", out);
        }
        _ => {}
    }
}

fn wrap(before: &str, expr: &Expr, after: &str, out: &mut String) {
    out.push_str(before);
    write(expr, out);
    out.push_str(after);
}

/// A row of a list, in the shape of the row that is sought.
fn listed<'e>(sought: &Expr, parts: &mut impl Iterator<Item = &'e Compare>) -> String {
    match &sought.kind {
        ExprKind::Row(columns) => {
            let columns: Vec<String> = columns.iter().map(|column| listed(column, parts)).collect();
            format!("({})", columns.join(","))
        }
        _ => parts.next().map(|part| print(&part.right)).unwrap_or_default(),
    }
}

fn binary(left: &Expr, op: &str, right: &Expr, out: &mut String) {
    out.push('(');
    write(left, out);
    out.push_str(&format!(" {op} "));
    write(right, out);
    out.push(')');
}

fn list(items: &[Expr], separator: &str, out: &mut String) {
    let items: Vec<String> = items.iter().map(print).collect();
    out.push_str(&format!("({})", items.join(separator)));
}

fn literal(value: &Value, ty: &ExprType, out: &mut String) {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Int(v) if *v < 0 => out.push_str(&format!("-({})", v.unsigned_abs())),
        Value::Double(v) if *v < 0.0 => {
            out.push_str(&format!("-({})", crate::number::double_text(-*v)));
        }
        Value::Decimal(v) if v.is_negative() => out.push_str(&format!("-({})", v.abs())),
        Value::Text(text) => out.push_str(&text_literal(text, "\\'")),
        Value::Bytes(bytes) => {
            out.push_str("0x");
            bytes.iter().for_each(|b| out.push_str(&format!("{b:02x}")));
        }
        Value::Date(_) => out.push_str(&format!("DATE'{}'", crate::convert::to_text(value, ty))),
        Value::Time(_) => out.push_str(&format!("TIME'{}'", crate::convert::to_text(value, ty))),
        Value::DateTime(_) => {
            out.push_str(&format!("TIMESTAMP'{}'", crate::convert::to_text(value, ty)));
        }
        _ => out.push_str(&crate::convert::to_text(value, ty)),
    }
}

/// A text as a literal. `quote` stands for a quote in the text: MySQL doubles it in definitions and
/// escapes it in expressions.
pub fn text_literal(text: &str, quote: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str(quote),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// A cast's target as MySQL prints it.
fn target(ty: &ExprType, kind: &CastKind) -> String {
    let length = match kind {
        CastKind::Limited(length) => format!("({length})"),
        CastKind::Explicit | CastKind::Item(_) | CastKind::Implicit | CastKind::Year => {
            String::new()
        }
    };
    let fsp =
        |name: &str, fsp: u8| if fsp > 0 { format!("{name}({fsp})") } else { name.to_owned() };
    match &ty.data_type {
        DataType::Int { unsigned: true, width: IntWidth::Big } => "unsigned".to_owned(),
        DataType::Int { .. } => "signed".to_owned(),
        DataType::Decimal { precision, scale, .. } => format!("decimal({precision},{scale})"),
        DataType::Double { .. } => "double".to_owned(),
        DataType::Float { .. } => "float".to_owned(),
        DataType::Date => "date".to_owned(),
        DataType::Time { fsp: digits } => fsp("time", *digits),
        DataType::DateTime { fsp: digits } | DataType::Timestamp { fsp: digits } => {
            fsp("datetime", *digits)
        }
        DataType::Year => "year".to_owned(),
        DataType::Json => "json".to_owned(),
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => {
            format!("char{length} charset binary")
        }
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => {
            format!("char{length} charset {}", collation.charset().name())
        }
        _ => "char".to_owned(),
    }
}
