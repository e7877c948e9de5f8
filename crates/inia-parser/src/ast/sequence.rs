//! Sequences, as MariaDB has them.

use super::ObjectName;

/// CREATE, ALTER and DROP SEQUENCE.
#[derive(Debug, Clone, PartialEq)]
pub enum SequenceStatement {
    /// CREATE SEQUENCE.
    Create {
        /// The sequence.
        name: ObjectName,
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// What it is to count.
        options: SequenceOptions,
    },
    /// ALTER SEQUENCE.
    Alter {
        /// The sequence.
        name: ObjectName,
        /// IF EXISTS.
        if_exists: bool,
        /// What changes.
        options: SequenceOptions,
    },
    /// DROP SEQUENCE.
    Drop {
        /// The sequences.
        names: Vec<ObjectName>,
        /// IF EXISTS.
        if_exists: bool,
    },
}

impl SequenceStatement {
    /// The sequences that it names.
    pub fn names(&self) -> &[ObjectName] {
        match self {
            SequenceStatement::Create { name, .. } | SequenceStatement::Alter { name, .. } => {
                std::slice::from_ref(name)
            }
            SequenceStatement::Drop { names, .. } => names,
        }
    }
}

/// The options that were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// START WITH.
    pub start: Option<i64>,
    /// INCREMENT BY.
    pub increment: Option<i64>,
    /// MINVALUE; the inner `None` is NOMINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; the inner `None` is NOMAXVALUE.
    pub max: Option<Option<i64>>,
    /// CACHE; 0 is NOCACHE.
    pub cache: Option<i64>,
    /// CYCLE and NOCYCLE.
    pub cycle: Option<bool>,
    /// RESTART; the inner `None` is at the start value.
    pub restart: Option<Option<i64>>,
    /// COMMENT.
    pub comment: Option<String>,
}
