//! Tuples in the order in which they came: derived tables, common table expressions, rows that a
//! statement must have read before it changes any.

use super::{Purpose, Result, Stream, Workspace, damaged, held};
use crate::exec::Tuple;
use crate::exec::values::{decode_tuple, encode_tuple};
use inia_base::value::Value;

/// A list of tuples: the first ones in memory, the others in a file.
pub(crate) struct TupleList<'w> {
    workspace: Workspace<'w>,
    kept: Vec<Tuple>,
    used: usize,
    rest: Option<Stream<'w>>,
}

impl<'w> TupleList<'w> {
    /// An empty list.
    pub(crate) fn new(workspace: Workspace<'w>) -> TupleList<'w> {
        TupleList { workspace, kept: Vec::new(), used: 0, rest: None }
    }

    /// How many tuples there are.
    pub(crate) fn len(&self) -> u64 {
        self.kept.len() as u64 + self.rest.as_ref().map_or(0, Stream::records)
    }

    /// Appends a tuple.
    pub(crate) fn push(&mut self, tuple: &[Value]) -> Result<()> {
        if self.rest.is_none() && self.used < self.workspace.budget {
            let tuple = tuple.to_vec();
            self.used += held(&tuple) + size_of::<Tuple>();
            self.kept.push(tuple);
            return Ok(());
        }
        let workspace = self.workspace;
        let rest = self.rest.get_or_insert_with(|| Stream::new(workspace, Purpose::Table));
        rest.push(|out| encode_tuple(tuple, out)).map(drop)
    }

    /// Gives the tuples in order to `visit` until that wants no more.
    pub(crate) fn each(&self, mut visit: impl FnMut(&[Value]) -> Result<bool>) -> Result<()> {
        for tuple in &self.kept {
            if !visit(tuple)? {
                return Ok(());
            }
        }
        let Some(rest) = &self.rest else { return Ok(()) };
        let (mut reader, mut tuple) = (rest.reader(), Tuple::new());
        while let Some(record) = reader.next()? {
            decode_tuple(record, &mut tuple).ok_or_else(damaged)?;
            if !visit(&tuple)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
