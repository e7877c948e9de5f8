//! SELECT … INTO OUTFILE and DUMPFILE.

use super::format::Format;
use super::{file_error, server_path};
use crate::exec::Runner;
use crate::expr::{EvalContext, ExprType, TypeClass, collate, convert};
use crate::plan::StatementPlan;
use crate::session::core::Core;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::SelectInto;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Runs a query into a new file; returns how many rows were written.
pub(crate) fn into_file(
    core: &mut Core,
    plan: &StatementPlan,
    into: &SelectInto,
    params: &[Value],
) -> Result<u64, SqlError> {
    let (path, format, charset) = match into {
        SelectInto::Outfile { path, charset, format } => {
            let charset = charset.as_deref().map(collate::charset_default).transpose()?;
            (path, Some(Format::new(format)?), charset)
        }
        SelectInto::Dumpfile(path) => (path, None, None),
        SelectInto::Vars(_) => return Ok(0),
    };
    let path = server_path(core, path)?;
    let file = File::options().write(true).create_new(true).open(&path);
    let file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            SqlError::new(ErrorCode::FileExistsError, &[&path.display()])
        }
        _ => file_error(ErrorCode::CantCreateFile, &path, &error),
    })?;
    let mut target = Target { file: BufWriter::new(file), path, format, charset, rows: 0 };
    let (result, warnings) = {
        let shared: &Core = core;
        let runner = Runner::new(plan, shared);
        let mut ctx = shared.context(params, &runner);
        let types: Vec<&ExprType> = plan.root.columns.iter().map(|column| &column.ty).collect();
        let result = runner.run(&mut ctx, &mut |ctx, tuple| {
            target.put(tuple, &types, ctx)?;
            Ok(true)
        });
        (result, std::mem::take(&mut ctx.warnings))
    };
    core.take_warnings(warnings);
    let result = result.and_then(|()| target.finish());
    if result.is_err() {
        // What there is of it is of no use.
        let _ = std::fs::remove_file(&target.path);
    }
    result.map(|()| target.rows)
}

struct Target {
    file: BufWriter<File>,
    path: PathBuf,
    /// `None` for DUMPFILE: bytes as they are.
    format: Option<Format>,
    charset: Option<Collation>,
    rows: u64,
}

impl Target {
    fn put(
        &mut self,
        tuple: &[Value],
        types: &[&ExprType],
        _: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        self.rows += 1;
        if self.format.is_none() && self.rows > 1 {
            return Err(SqlError::new(ErrorCode::TooManyRows, &[]));
        }
        let fields: Vec<Option<Vec<u8>>> =
            tuple.iter().zip(types).map(|(value, ty)| self.bytes(value, ty)).collect();
        let mut line = Vec::new();
        match &self.format {
            None => fields.into_iter().flatten().for_each(|bytes| line.extend(bytes)),
            Some(format) => {
                let texts = types.iter().map(|ty| {
                    !matches!(ty.class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real)
                });
                format.write(fields.iter().map(|field| field.as_deref()).zip(texts), &mut line);
            }
        }
        let written = self.file.write_all(&line);
        written.map_err(|error| file_error(ErrorCode::ErrorOnWrite, &self.path, &error))
    }

    fn bytes(&self, value: &Value, ty: &ExprType) -> Option<Vec<u8>> {
        match value {
            Value::Null => None,
            Value::Bytes(bytes) => Some(bytes.clone()),
            value => {
                let text = convert::to_text(value, ty);
                Some(match self.charset {
                    Some(collation) => collation.charset().encode(&text).into_owned(),
                    None => text.into_owned().into_bytes(),
                })
            }
        }
    }

    fn finish(&mut self) -> Result<(), SqlError> {
        let written = self.file.flush();
        written.map_err(|error| file_error(ErrorCode::ErrorOnWrite, &self.path, &error))
    }
}
