//! CAST(document AS type ARRAY): the key part of a multi-valued index.
//!
//! The call's arguments are the document, a NULL of the elements' type, and the index's name.

use crate::eval::{Args, FnResult};
use crate::json::{self, ElementType};
use crate::tree::{Call, Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

const NAME: &str = "cast_as_array";

/// What error 1235 says where the cast is no key part.
pub(crate) const NOT_HERE: &str = "Use of CAST( .. AS .. ARRAY) outside of functional index in \
     CREATE(non-SELECT)/ALTER TABLE or in general expressions";

/// The call, for elements of this type in the index of this name.
pub(crate) fn cast_as_array(document: Expr, element: DataType, index: String) -> Expr {
    let element = Expr::literal(Value::Null, ExprType::computed(element, true));
    let length = index.len() as u64;
    let name = ExprType::text(length, Collation::DEFAULT, false);
    let args = vec![document, element, Expr::literal(Value::Text(index), name)];
    let call = Call { name: NAME, eval, args, tag: 0, deterministic: true };
    Expr { kind: ExprKind::Call(Box::new(call)), ty: ExprType::json(true) }
}

fn eval(a: &mut Args<'_, '_>) -> FnResult {
    // Of a column that is no document NULL is wrong, too.
    if !matches!(a.arg_type(0).class(), TypeClass::String | TypeClass::Json | TypeClass::Null) {
        return Err(SqlError::new(ErrorCode::InvalidTypeForJson, &[&1, &NAME]).into());
    }
    let document = a.json(0)?;
    let index = a.text(2)?;
    let element = ElementType { data_type: &a.arg_type(1).data_type, index: &index };
    Ok(json::value(element.array(document, a.ctx)?.carried())?)
}

impl Expr {
    /// The document of CAST(document AS type ARRAY) and the type of its elements.
    pub fn as_array_cast(&self) -> Option<(&Expr, &DataType)> {
        let ExprKind::Call(call) = &self.kind else { return None };
        match (call.name == NAME, call.args.as_slice()) {
            (true, [document, element, _]) => Some((document, &element.ty.data_type)),
            _ => None,
        }
    }
}
