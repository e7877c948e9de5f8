//! Statements that are not carried out.

use super::TestDb;
use crate::session::unsupported::kind;
use inia_parser::ast::Statement;

#[test]
fn error_1235_names_the_statement() {
    let db = TestDb::new();
    let mut session = db.session();
    let answer = session.run("SHUTDOWN");
    assert!(answer.contains("doesn't yet support 'SHUTDOWN'"), "{answer}");
}

#[test]
fn a_statement_without_a_name_of_its_own_is_named_by_its_kind() {
    assert_eq!(kind(&Statement::UnlockTables), "UNLOCK TABLES");
    assert_eq!(kind(&Statement::Help(String::new())), "HELP");
}
