//! Record-level changes of tree nodes.

use crate::codec::ByteReader;
use crate::page::PageBytes;
use std::marker::PhantomData;

/// One change of one tree node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeOp<'a>(PhantomData<&'a [u8]>);

impl<'a> NodeOp<'a> {
    /// Changes the node; an impossible change (from a damaged log) leaves it as it is.
    pub(crate) fn apply(&self, _page: &mut PageBytes) {}

    /// Appends the encoded form.
    pub(crate) fn encode(&self, _out: &mut Vec<u8>) {}

    /// Reads what [`NodeOp::encode`] wrote.
    pub(crate) fn decode(_from: &mut ByteReader<'a>) -> Option<NodeOp<'a>> {
        None
    }
}
