//! Scripts are split, compared and rewritten as the head says.

use super::execute;

const SCRIPT: &str = "# numbers\n> double 4\n8\n\n> double\n> 5\n10\n> nothing\n# end\n";

fn run(command: &str) -> String {
    match command.split_whitespace().collect::<Vec<_>>()[..] {
        ["double", number] => format!("{}", number.parse::<i32>().unwrap() * 2),
        ["gap"] => "a\n\nb\n".to_string(),
        _ => String::new(),
    }
}

#[test]
fn a_script_that_holds_is_left_as_it_is() {
    assert_eq!(execute(SCRIPT, run), (SCRIPT.to_string(), None));
    let gap = "> gap\na\n\\\nb\n";
    assert_eq!(execute(gap, run), (gap.to_string(), None));
}

#[test]
fn a_difference_shows_the_command_and_both_outputs() {
    let (actual, difference) = execute(&SCRIPT.replace("10", "11"), run);
    assert_eq!(actual, SCRIPT);
    assert_eq!(difference.unwrap(), "> double\n5\nexpected:\n11\ngot:\n10\n");
}
