//! Which words a search looks for, by the settings of the session and of the index.

use crate::catalog::{Stopwords, Table, words_listed};
use crate::exec::{Result, Runner};
use crate::fulltext::{TextParser, WordRules, word_key};
use crate::plan::search::SearchPlan;
use crate::row::WordsCodec;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::{EvalContext, VarScope};
use std::collections::HashSet;
use std::sync::Arc;

/// The variables that name tables of stopwords, the one that counts first; a table is named as
/// `schema/table`.
const STOPWORD_TABLES: [&str; 2] =
    ["innodb_ft_user_stopword_table", "innodb_ft_server_stopword_table"];

impl Runner<'_> {
    /// What the settings say of words.
    pub(super) fn word_rules(&self, plan: &SearchPlan, ctx: &EvalContext<'_>) -> Result<WordRules> {
        let words = plan.index.and_then(|index| plan.table.indexes[index].words());
        let collation = match words {
            Some(words) => words.collation(),
            None => match &plan.table.def.columns[plan.columns[0]].data_type {
                DataType::Char { collation, .. }
                | DataType::VarChar { collation, .. }
                | DataType::Text { collation, .. } => *collation,
                _ => Collation::DEFAULT,
            },
        };
        let kept = plan.table.def.stopwords();
        let any_case = kept.as_ref().is_none_or(|kept| *kept == Stopwords::Default);
        let stopwords = match kept {
            Some(kept) => kept.into_words(),
            None if number(ctx, "innodb_ft_enable_stopword", 1) == 0 => Vec::new(),
            None => self.stopwords(ctx)?,
        };
        let keys = stopwords.iter().filter_map(|word| word_key(collation, word));
        Ok(WordRules {
            parser: words.map_or(TextParser::Words, WordsCodec::parser),
            collation,
            min_chars: number(ctx, "innodb_ft_min_token_size", 3),
            max_chars: number(ctx, "innodb_ft_max_token_size", 84),
            stopwords: Arc::new(keys.collect::<HashSet<Vec<u8>>>()),
            any_case,
        })
    }

    /// The words that are not searched for: those of a table that a variable names, or the default
    /// ones.
    fn stopwords(&self, ctx: &EvalContext<'_>) -> Result<Vec<String>> {
        for variable in STOPWORD_TABLES {
            if let Some(table) = self.stopword_table(ctx, variable) {
                return self.stopwords_of(&table);
            }
        }
        Ok(Stopwords::Default.into_words())
    }

    fn stopword_table(&self, ctx: &EvalContext<'_>, variable: &str) -> Option<Arc<Table>> {
        let Ok((Value::Text(name), _)) = ctx.host.sysvar(VarScope::Any, variable) else {
            return None;
        };
        let (schema, table) = name.split_once('/')?;
        let catalog = self.exec.information().catalog;
        catalog.schemas.get(schema)?.tables.get(table).cloned()
    }

    fn stopwords_of(&self, table: &Arc<Table>) -> Result<Vec<String>> {
        words_listed(table, &mut self.txn_of(table).borrow_mut())
    }
}

/// A variable's number.
pub(super) fn number(ctx: &EvalContext<'_>, variable: &str, default: usize) -> usize {
    match ctx.host.sysvar(VarScope::Any, variable) {
        Ok((Value::UInt(number), _)) => usize::try_from(number).unwrap_or(default),
        Ok((Value::Int(number), _)) => usize::try_from(number).unwrap_or(default),
        _ => default,
    }
}
