//! EXTRACTVALUE and UPDATEXML.

use super::types::string_like_first;
use super::{Function, v};
use crate::collate;
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::Expr;
use crate::ty::ExprType;
use crate::xml::evaluate::Evaluation;
use crate::xml::path::{self, PathError};
use crate::xml::{self, Document, Kind};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] =
    &[v("extractvalue", 2, 2, checked, extract), v("updatexml", 3, 3, checked, update)];

/// The type of the result. The path must be the same for all rows, and a literal one be right.
fn checked(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    if !args[1].is_same_for_all_rows() {
        return Err(other("Only constant XPATH queries are supported"));
    }
    if let Some(Value::Text(text)) = args[1].as_literal() {
        path::parse(text).map_err(path_error)?;
    }
    string_like_first(args, 1 << 24, env)
}

fn other(text: &str) -> SqlError {
    SqlError::new(ErrorCode::UnknownError, &[&text])
}

fn path_error(error: PathError) -> SqlError {
    let head = |text: &str, bytes: usize| text[..text.floor_char_boundary(bytes)].to_owned();
    other(&match error {
        PathError::Syntax(near) => format!("XPATH syntax error: '{}'", head(&near, 128)),
        PathError::TwoNodeSets(near) => {
            let near = head(&near, 32);
            format!("XPATH error: comparison of two nodesets is not supported: '{near}'")
        }
        PathError::UnknownVariable(near) => {
            format!("Unknown XPATH variable at: '{}'", head(&near, 128))
        }
        PathError::TooDeep => String::from("XPATH expression is too long"),
    })
}

/// The text of a result, `None` for NULL.
type Found = Result<Option<String>, SqlError>;

/// Reads the document and the path, and gives them to `use_them`. A wrong document is NULL with a
/// warning.
fn with_path(
    a: &mut Args<'_, '_>,
    use_them: impl FnOnce(&mut Evaluation<'_, '_, '_>, &path::Expr) -> Found,
) -> FnResult {
    let text = a.text(0)?;
    let path = path::parse(&a.text(1)?).map_err(path_error)?;
    let document: Document<'_> = match xml::parse(&text) {
        Ok(document) => document,
        Err(error) => {
            a.warn(ErrorCode::WrongValue, &[&"XML", &error])?;
            return Err(Stop::Null);
        }
    };
    let collation = collate::aggregate_with(&[a.arg_type(0)], "", a.ctx.env.collation)?.0;
    let mut evaluation = Evaluation { document: &document, ctx: a.ctx, collation };
    let found = use_them(&mut evaluation, &path)?;
    Ok(Value::Text(found.ok_or(Stop::Null)?))
}

fn extract(a: &mut Args<'_, '_>) -> FnResult {
    with_path(a, |evaluation, path| evaluation.text(path))
}

fn update(a: &mut Args<'_, '_>) -> FnResult {
    let new = a.text(2)?;
    with_path(a, |evaluation, path| {
        if !path.is_nodes() {
            return Ok(None);
        }
        let text = evaluation.document.text;
        let Some(node) = evaluation.only_node(path)? else { return Ok(Some(text.to_owned())) };
        if node == 0 {
            return Ok(Some(new.into_owned()));
        }
        let node = &evaluation.document.nodes[node];
        let start = match node.kind {
            // The name stands behind `<`, and perhaps spaces or a mark.
            Kind::Element => text[..node.start].rfind('<').unwrap_or(node.start),
            _ => node.start,
        };
        Ok(Some([&text[..start], &new, &text[node.whole_end..]].concat()))
    })
}
