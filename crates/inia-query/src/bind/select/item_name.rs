//! Names of select items.

use inia_parser::ast;

/// The most bytes of a written alias, and of a name that an expression's text gives.
const MAX_ALIAS_BYTES: usize = 256;
const MAX_NAME_BYTES: usize = 255;

/// The name of a select item, cut to the longest one allowed.
pub(crate) fn item_name(expr: &ast::Expr, alias: Option<&String>, text: &str) -> String {
    let mut name = match (alias, expr) {
        (Some(alias), _) => alias.clone(),
        (None, ast::Expr::Column(column)) => column.name.clone(),
        (None, ast::Expr::Literal(ast::Literal::String { value, .. })) => literal_name(text, value),
        (None, expr) => own_name(text, expr).to_owned(),
    };
    let most = if alias.is_some() { MAX_ALIAS_BYTES } else { MAX_NAME_BYTES };
    name.truncate(name.floor_char_boundary(most));
    name
}

/// A column's name: the text, of a number or NULL without the parentheses and signs around it.
fn own_name<'t>(text: &'t str, expr: &'t ast::Expr) -> &'t str {
    let mut inner = expr;
    while let ast::Expr::Unary { op: ast::UnaryOp::Plus, expr } = inner {
        inner = expr;
    }
    match inner {
        ast::Expr::Column(column) => &column.name,
        ast::Expr::Function(call) if call.db.is_none() && call.name == "name_const" => {
            given_name(&call.args).unwrap_or(text)
        }
        ast::Expr::Literal(
            ast::Literal::Int(_)
            | ast::Literal::Decimal(_)
            | ast::Literal::Float(_)
            | ast::Literal::Null,
        ) => text.trim_matches(['(', ')', ' ', '+']),
        _ => text,
    }
}

/// The name that NAME_CONST gives its value.
fn given_name(args: &[ast::Expr]) -> Option<&str> {
    match args.first() {
        Some(ast::Expr::Literal(ast::Literal::String { value, .. })) => Some(value),
        _ => None,
    }
}

/// The name of a column that is a string: what it says, of adjacent strings the first.
fn literal_name(text: &str, value: &str) -> String {
    let Some(start) = text.find(['\'', '"']) else { return value.to_owned() };
    let quote = text.as_bytes()[start];
    let inner = &text.as_bytes()[start + 1..];
    let end = inner.iter().position(|byte| *byte == quote || *byte == b'\\');
    match end {
        Some(end) if end + 1 < inner.len() && inner[end] == quote && inner[end + 1] != quote => {
            String::from_utf8_lossy(&inner[..end]).into_owned()
        }
        _ => value.to_owned(),
    }
}
