//! NEXTVAL, LASTVAL and SETVAL of sequences.
//!
//! A call is bound as one of a stored function without a database. Its first two arguments are the
//! sequence's database and name: `NEXTVAL(s)` is `nextval('d', 's')`. A stored function of such a
//! name comes first, as in MySQL, which has no sequences.

use super::Binder;
use crate::tree::{Expr, ExprKind, StoredCall};
use crate::ty::ExprType;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast;

/// The sequence that a call names, and its other arguments.
pub fn sequence_of(call: &ast::FunctionCall) -> Option<(&ast::ColumnName, &[ast::Expr])> {
    let counts = match call.name.to_ascii_lowercase().as_str() {
        "nextval" | "lastval" => 1..=1,
        "setval" => 2..=4,
        _ => return None,
    };
    match call.args.split_first() {
        Some((ast::Expr::Column(name), rest))
            if call.db.is_none() && name.db.is_none() && counts.contains(&call.args.len()) =>
        {
            Some((name, rest))
        }
        _ => None,
    }
}

impl Binder<'_> {
    /// A call for a sequence: errors 1046, 1146 and 4090.
    pub(super) fn sequence_call(
        &mut self,
        call: &ast::FunctionCall,
        sequence: &ast::ColumnName,
        args: &[ast::Expr],
    ) -> Result<Expr, SqlError> {
        let schema = sequence.table.as_deref().or(self.env.database.as_deref());
        let Some(schema) = schema else {
            return Err(SqlError::new(ErrorCode::NoDatabaseSelected, &[]));
        };
        let (schema, name) = self.host.find_sequence(schema, &sequence.name)?;
        let text = |text: String| {
            let ty = ExprType::text(text.chars().count() as u64, Collation::DEFAULT, false);
            Expr::literal(Value::Text(text), ty)
        };
        let mut all = vec![text(schema), text(name)];
        all.extend(self.scalars(args)?);
        let name = call.name.to_ascii_lowercase();
        let node = StoredCall { schema: String::new(), name, args: all };
        Ok(Expr { kind: ExprKind::Stored(Box::new(node)), ty: ExprType::int(20, true) })
    }
}
