//! SELECT … INTO OUTFILE and DUMPFILE.

use super::format::Format;
use super::writer::{Column, Writer};
use super::{backslashes_escape, file_error, server_path, width};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::io::create_file;
use inia_base::value::Value;
use inia_expr::{EvalContext, TypeClass, collate, convert, store};
use inia_parser::ast::SelectInto;
use inia_query::context::SessionContext;
use inia_query::exec::Runner;
use inia_query::plan::{OutputColumn, StatementPlan};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Runs a query into a new file; returns how many rows were written.
pub(crate) fn into_file(
    session: &mut SessionContext,
    plan: &StatementPlan,
    into: &SelectInto,
    params: &[Value],
) -> Result<u64, SqlError> {
    let (path, writer, charset) = match into {
        SelectInto::Outfile { path, charset, format } => {
            let charset = charset.as_deref().map(collate::charset_default).transpose()?;
            let format = Format::new(format, backslashes_escape(session))?;
            let columns = plan.root.columns.iter().map(column).collect();
            (path, Some(Writer::new(format, columns)), charset)
        }
        SelectInto::Dumpfile(path) => (path, None, None),
        SelectInto::Vars(_) => return Ok(0),
    };
    let path = server_path(session, path)?;
    let file = create_file(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            SqlError::new(ErrorCode::FileExistsError, &[&path.display()])
        }
        _ => file_error(ErrorCode::CantWriteFile, &path, &error),
    })?;
    for code in writer.iter().flat_map(Writer::warnings) {
        session.warn(code, &[]);
    }
    let charset = charset.filter(|charset| *charset != Collation::BINARY);
    let file = BufWriter::new(file);
    let mut target = OutfileTarget { file, path, writer, charset, rows: 0, line: Vec::new() };
    let (result, warnings) = {
        let shared: &SessionContext = session;
        let runner = Runner::of_select(plan, shared.exec_context());
        let mut ctx = shared.context(params, &runner);
        let result = runner.run(&mut ctx, &mut |ctx, tuple| {
            target.put(tuple, &plan.root.columns, ctx)?;
            Ok(true)
        });
        (result, std::mem::take(&mut ctx.warnings))
    };
    session.take_warnings(warnings);
    let result = result.and_then(|()| target.finish());
    if result.is_err() {
        // What there is of it is of no use.
        let _ = std::fs::remove_file(&target.path);
    }
    result.map(|()| target.rows)
}

/// A column as its fields are written.
fn column(column: &OutputColumn) -> Column {
    let class = column.ty.class();
    let is_text = !matches!(class, TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
    Column { is_text, width: width(&column.ty) }
}

struct OutfileTarget {
    file: BufWriter<File>,
    path: PathBuf,
    /// `None` for DUMPFILE: bytes as they are.
    writer: Option<Writer>,
    /// CHARACTER SET; without one texts are written as their columns say.
    charset: Option<Collation>,
    rows: u64,
    line: Vec<u8>,
}

impl OutfileTarget {
    fn put(
        &mut self,
        tuple: &[Value],
        columns: &[OutputColumn],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        self.rows += 1;
        if self.writer.is_none() && self.rows > 1 {
            return Err(SqlError::new(ErrorCode::TooManyRows, &[]));
        }
        let fields =
            tuple.iter().zip(columns).map(|(value, column)| self.bytes(value, column, ctx));
        let fields = fields.collect::<Result<Vec<Option<Vec<u8>>>, SqlError>>()?;
        self.line.clear();
        match &self.writer {
            None => fields.into_iter().flatten().for_each(|bytes| self.line.extend(bytes)),
            Some(writer) => writer.write(&fields, &mut self.line),
        }
        let written = self.file.write_all(&self.line);
        written.map_err(|error| file_error(ErrorCode::ErrorOnWrite, &self.path, &error))
    }

    /// A value as it is written; warning 1366 for characters that the file's set does not have.
    fn bytes(
        &self,
        value: &Value,
        column: &OutputColumn,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Vec<u8>>, SqlError> {
        let ty = &column.ty;
        let own = matches!(value, Value::Bytes(_)) || matches!(ty.data_type, DataType::Bit(_));
        Ok(match value {
            Value::Null => None,
            value if own => Some(convert::to_bytes(value, ty).into_owned()),
            value => {
                let text = convert::to_text(value, ty);
                let missing = self.charset.and_then(|c| c.charset().first_missing(&text));
                if let Some(at) = missing {
                    let shown = store::bad_bytes(&text.as_bytes()[at..]);
                    let (name, row) = (&column.result.name, self.rows);
                    let args: [&dyn std::fmt::Display; 4] = [&"string", &shown, name, &row];
                    ctx.warn(ErrorCode::TruncatedWrongValueForField, &args)?;
                }
                Some(collate::encode(self.charset.unwrap_or(ty.collation()), &text))
            }
        })
    }

    fn finish(&mut self) -> Result<(), SqlError> {
        let written = self.file.flush();
        written.map_err(|error| file_error(ErrorCode::ErrorOnWrite, &self.path, &error))
    }
}
