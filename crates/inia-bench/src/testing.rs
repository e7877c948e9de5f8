//! A target for tests whose answers are made up.

use crate::target::{
    Answer, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared, Product,
    Result, Target,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type Answers = dyn FnMut(&str) -> Result<Vec<Vec<String>>> + Send;

/// Answers each statement, parameters not seen, by a function; all connections share it.
#[derive(Clone)]
pub(crate) struct Scripted {
    answers: Arc<Mutex<Answers>>,
}

impl Scripted {
    pub(crate) fn new(
        answers: impl FnMut(&str) -> Result<Vec<Vec<String>>> + Send + 'static,
    ) -> Scripted {
        Scripted { answers: Arc::new(Mutex::new(answers)) }
    }
}

/// A server of MySQL's kind of which nothing else is known.
pub(crate) fn unknown_server() -> Facts {
    Facts {
        product: Product::MySql,
        version: String::new(),
        settings: BTreeMap::new(),
        durability: Durability::Unknown,
        max_clients: None,
        pid: None,
        data_dir: None,
    }
}

/// One row of one number.
pub(crate) fn cell(number: i64) -> Vec<Vec<String>> {
    vec![vec![number.to_string()]]
}

impl Target for Scripted {
    fn label(&self) -> &str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(ScriptedConnection { target: self.clone(), texts: Vec::new() }))
    }

    fn create_database(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> Result<Facts> {
        Ok(unknown_server())
    }
}

struct ScriptedConnection {
    target: Scripted,
    texts: Vec<String>,
}

impl Connection for ScriptedConnection {
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let rows = (self.target.answers.lock().expect("no test panics in here"))(sql)?;
        answer.set_columns(rows.first().map_or(0, Vec::len));
        rows.iter().flatten().for_each(|cell| answer.push_text(cell.as_bytes()));
        answer.set_affected(1, 0);
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.texts.push(sql.to_owned());
        Ok(Prepared(self.texts.len() as u32 - 1))
    }

    fn execute(&mut self, id: Prepared, _params: &[Param<'_>], answer: &mut Answer) -> Result<()> {
        let text = self.texts.get(id.0 as usize).cloned();
        let text = text.ok_or_else(|| Failure::new(Class::Usage, "not prepared"))?;
        self.query(&text, answer)
    }
}
