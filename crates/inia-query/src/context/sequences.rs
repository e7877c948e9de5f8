//! NEXTVAL, LASTVAL and SETVAL.

use super::SessionContext;
use super::host::Host;
use crate::account::Privileges;
use crate::catalog::Sequence;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::sync::Arc;

/// Error 1146, or 4090 where a table or view has the name.
fn not_there(host: &Host, schema: &str, name: &str) -> SqlError {
    let code = match host.db.catalog().has(schema, name) {
        true => ErrorCode::NotSequence,
        false => ErrorCode::NoSuchTable,
    };
    SqlError::new(code, &[&schema, &name])
}

impl Host {
    /// A sequence by its database and name; errors 1146 and 4090.
    pub fn sequence(&self, schema: &str, name: &str) -> Result<Arc<Sequence>, SqlError> {
        let found = self.db.catalog().sequence(schema, name);
        found.ok_or_else(|| not_there(self, schema, name))
    }
}

/// A whole number that a function is given.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::UInt(value) => i64::try_from(*value).ok(),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Decimal(value) => value.to_string().parse().ok(),
        _ => None,
    }
}

impl SessionContext {
    /// Calls a function of a sequence; `args` begin with its database and name.
    pub(super) fn call_of_sequence(
        &self,
        function: &str,
        args: &[Value],
    ) -> Result<Value, SqlError> {
        let [Value::Text(schema), Value::Text(name), rest @ ..] = args else {
            return Ok(Value::Null);
        };
        let reads = function == "lastval";
        let wanted = if reads { Privileges::SELECT } else { Privileges::INSERT };
        let access = self.access();
        if !access.on_table(schema, name).has(wanted) {
            let command = if reads { "SELECT" } else { "INSERT" };
            return Err(access.no_table(command, name));
        }
        if !reads {
            self.check_writable()?;
        }
        // A sequence that was altered meanwhile is looked up again.
        loop {
            let sequence = self.host.sequence(schema, name)?;
            let given = match function {
                "lastval" => Some(self.host.last_numbers.borrow().get(&sequence.id).copied()),
                "nextval" => self.next_number(&sequence)?,
                _ => self.set_number(&sequence, rest)?,
            };
            if let Some(given) = given {
                return Ok(given.map_or(Value::Null, Value::Int));
            }
        }
    }

    fn next_number(&self, sequence: &Sequence) -> Result<Option<Option<i64>>, SqlError> {
        let Some(value) = sequence.take(self.db.catalog())? else { return Ok(None) };
        self.host.last_numbers.borrow_mut().insert(sequence.id, value);
        Ok(Some(Some(value)))
    }

    fn set_number(
        &self,
        sequence: &Sequence,
        args: &[Value],
    ) -> Result<Option<Option<i64>>, SqlError> {
        let Some(value) = args.first().and_then(number) else { return Ok(Some(None)) };
        let used = args.get(1).is_none_or(|used| number(used) != Some(0));
        let round = args.get(2).and_then(number).and_then(|round| u64::try_from(round).ok());
        sequence.set(self.db.catalog(), (value, used, round.unwrap_or(0)))
    }
}
