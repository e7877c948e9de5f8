//! Answers that come, that do not, and that are wrong.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::target::Target;
use crate::testing::{Scripted, unknown_server};

fn round(target: &Arc<dyn Target>, known: &Arc<Agreement>) -> Round {
    let setting = Setting {
        target: target.clone(),
        facts: unknown_server(),
        parameters: Parameters { prepared: false, ..Parameters::default() },
        clients: 1,
        values: 1,
        answers: known.clone(),
    };
    let query = |name, text: &str, order| SetQuery { name, text: text.to_owned(), order };
    let queries = vec![
        query("rising", "SELECT 1", &[(0usize, false)] as &[_]),
        query("broken", "SELECT 2", &[]),
    ];
    Round::new(&setting, "set".to_owned(), queries, Box::new(|_, _| None)).unwrap()
}

/// Runs both queries on a server that answers the first so, and the second with an error.
fn run(answer: &'static [&'static str], known: &Arc<Agreement>) -> (Vec<usize>, Result<()>, Round) {
    let answers = move |sql: &str| match sql {
        "SELECT 1" => Ok(answer.iter().map(|cell| vec![(*cell).to_owned()]).collect()),
        _ => Err(Failure::new(Class::Statement, "no such table")),
    };
    let target: Arc<dyn Target> = Arc::new(Scripted::new(answers));
    let round = round(&target, known);
    let mut session = Session::new(target, false);
    let mut script = round.script(0);
    script.start(&mut session).unwrap();
    let mut rng = Rng::stream(1, 1);
    let kinds = (0..2).map(|_| script.transaction(&mut session, &mut rng).unwrap()).collect();
    let checked = round.check(&mut session, &Tally::new());
    (kinds, checked, round)
}

#[test]
fn a_query_that_fails_has_no_answer_and_the_others_go_on() {
    let (kinds, checked, round) = run(&["1", "2"], &Arc::default());
    assert_eq!((kinds, checked), (vec![0, 2], Ok(())));
    assert_eq!(round.notes(), ["broken failed: no such table"]);
    assert_eq!(round.extras(&Outcome::default()), [("broken failed".to_owned(), "", 1.0)]);
}

#[test]
fn an_answer_out_of_order_is_wrong() {
    let (_, checked, _) = run(&["2", "1"], &Arc::default());
    assert_eq!(checked.unwrap_err().message, "rising: row 2 is out of order");
}

#[test]
fn an_answer_that_another_target_contradicts_is_wrong() {
    let known = Arc::default();
    assert_eq!(run(&["1", "2"], &known).1, Ok(()));
    let (_, checked, _) = run(&["1", "3"], &known);
    assert_eq!(checked.unwrap_err().message, "rising: a row (3), not (2) before");
}
