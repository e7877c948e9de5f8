//! Error 1235 of the statements that are parsed and not carried out: it says which one it is.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{RoutineDetail, Statement};

/// Error 1235, with the statement's name.
pub(super) fn unsupported(statement: &Statement) -> SqlError {
    match name(statement) {
        "" => SqlError::new(ErrorCode::NotSupportedYet, &[&kind(statement)]),
        name => SqlError::new(ErrorCode::NotSupportedYet, &[&name]),
    }
}

/// What a statement that is not carried out begins with.
fn name(statement: &Statement) -> &str {
    match statement {
        Statement::Unsupported(statement) => &statement.what,
        Statement::CreateRoutine(routine) => match routine.detail {
            RoutineDetail::Procedure { .. } => "CREATE PROCEDURE",
            RoutineDetail::Function { .. } => "CREATE FUNCTION",
            RoutineDetail::Trigger { .. } => "CREATE TRIGGER",
            RoutineDetail::Event { .. } => "CREATE EVENT",
        },
        Statement::Server(statement) => statement.words(),
        Statement::Shutdown => "SHUTDOWN",
        _ => "",
    }
}

/// What kind of statement it is, in words: of the name that the syntax tree gives it.
pub(super) fn kind(statement: &Statement) -> String {
    let tree = format!("{statement:?}");
    let mut words = String::new();
    for letter in tree.chars().take_while(char::is_ascii_alphanumeric) {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_uppercase());
    }
    words
}
