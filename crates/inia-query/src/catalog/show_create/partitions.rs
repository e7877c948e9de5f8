//! PARTITION BY as SHOW CREATE TABLE prints it.

use crate::catalog::{Division, DivisionMethod, LeafDef, PartitionBounds, Partitioning};
use inia_expr::print::text_literal;
use inia_parser::quote_name;
use std::fmt::Write;

/// Appends the comment that hides PARTITION BY from servers that do not know it.
pub(super) fn put(out: &mut String, by: &Partitioning) {
    let columns =
        matches!(by.by.method, DivisionMethod::RangeColumns | DivisionMethod::ListColumns);
    out.push_str(if columns { "\n/*!50500 PARTITION BY " } else { "\n/*!50100 PARTITION BY " });
    put_division(out, &by.by);
    if by.counted && by.says_count {
        let _ = write!(out, "\nPARTITIONS {}", by.partitions.len());
    }
    if let Some(sub) = &by.sub {
        out.push_str("\nSUBPARTITION BY ");
        put_division(out, sub);
        if by.sub_counted && by.says_sub_count {
            let _ = write!(out, "\nSUBPARTITIONS {}", by.per_partition());
        }
    }
    if !by.counted {
        put_list(out, by);
    }
    out.push_str(" */");
}

fn put_division(out: &mut String, division: &Division) {
    let names = || {
        let names: Vec<String> = division.columns.iter().map(|name| plain_name(name)).collect();
        if division.implied { String::new() } else { names.join(",") }
    };
    let _ = match division.method {
        DivisionMethod::Range => write!(out, "RANGE ({})", division.expression),
        DivisionMethod::List => write!(out, "LIST ({})", division.expression),
        DivisionMethod::RangeColumns => write!(out, "RANGE  COLUMNS({})", names()),
        DivisionMethod::ListColumns => write!(out, "LIST  COLUMNS({})", names()),
        DivisionMethod::Hash { linear } => {
            let word = if linear { "LINEAR " } else { "" };
            write!(out, "{word}HASH ({})", division.expression)
        }
        DivisionMethod::Key { linear, old } => {
            let word = if linear { "LINEAR " } else { "" };
            let form = if old { "*/ /*!50611 ALGORITHM = 1 */ /*!50100 " } else { "" };
            write!(out, "{word}KEY {form}({})", names())
        }
    };
}

/// A name, in backquotes where it needs them. All keywords have them, those that are names, too.
fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let digits = name.chars().all(|c| c.is_ascii_digit());
    match !name.is_empty() && !digits && name.chars().all(plain) && !inia_parser::is_keyword(name) {
        true => name.to_owned(),
        false => quote_name(name),
    }
}

fn put_list(out: &mut String, by: &Partitioning) {
    let single_columns = by.by.method.has_columns();
    for (at, partition) in by.partitions.iter().enumerate() {
        out.push_str(if at == 0 { "\n(" } else { ",\n " });
        let _ = write!(out, "PARTITION {}", plain_name(&partition.name));
        let text = &partition.description;
        let _ = match &partition.values {
            PartitionBounds::Hash => Ok(()),
            PartitionBounds::LessThan(limits) if limits == &[None] && !single_columns => {
                write!(out, " VALUES LESS THAN MAXVALUE")
            }
            PartitionBounds::LessThan(_) => write!(out, " VALUES LESS THAN ({text})"),
            PartitionBounds::In(_) => write!(out, " VALUES IN ({text})"),
        };
        if by.sub.is_none() || by.sub_counted {
            put_options(out, &partition.leaves[0]);
            continue;
        }
        for (at, leaf) in partition.leaves.iter().enumerate() {
            out.push_str(if at == 0 { "\n (" } else { ",\n  " });
            let _ = write!(out, "SUBPARTITION {}", plain_name(&leaf.name));
            put_options(out, leaf);
        }
        out.push(')');
    }
    out.push(')');
}

fn put_options(out: &mut String, leaf: &LeafDef) {
    if let Some(group) = leaf.node_group {
        let _ = write!(out, " NODEGROUP = {group}");
    }
    if leaf.max_rows > 0 {
        let _ = write!(out, " MAX_ROWS = {}", leaf.max_rows);
    }
    if leaf.min_rows > 0 {
        let _ = write!(out, " MIN_ROWS = {}", leaf.min_rows);
    }
    if !leaf.comment.is_empty() {
        let _ = write!(out, " COMMENT = {}", text_literal(&leaf.comment, "\\'"));
    }
    out.push_str(" ENGINE = InnoDB");
}
