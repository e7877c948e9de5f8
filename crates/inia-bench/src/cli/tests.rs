//! Wrong use gets one line of error that names what was wrong.

use super::choice::{distance, fits};
use super::{command, plan, without_password};
use crate::random::Distribution;
use crate::target::{Class, Failure};

fn refused(arguments: &[&str]) -> String {
    let line = ["bench", "run"].iter().chain(arguments);
    let matches = match command().try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => return error.to_string(),
    };
    let (_, matches) = matches.subcommand().expect("a sub-command");
    let embedded =
        |_: &str, _: &str, _: Option<&str>| Err(Failure::new(Class::Unsupported, "no engine"));
    match plan(matches, embedded, &mut None) {
        Ok(_) => panic!("{arguments:?} is not refused"),
        Err(error) => error,
    }
}

#[test]
fn wrong_use_is_refused() {
    let known = ["oltp_point_select", "--target", "mysql://h/"];
    for (extra, says) in [
        (&["--clients", "0"][..], "--clients must be from 1 to 10000"),
        (&["--clients", "1,60000"], "--clients must be from 1 to 10000"),
        (&["--rounds", "0"], "must be more than 0"),
        (&["--clients", "many"], "--clients: 'many' is not a number"),
        (&["--rate", "-1"], "--rate"),
        (&["--rows", "0"], "--rows must be from 1 to 1000000000000"),
        (&["--rows", "18446744073709551615"], "--rows must be from 1"),
        (&["--scale", "18446744073709551615"], "--scale must be from 1 to 100000"),
        (&["--seconds", "-1"], "--seconds: not a time"),
        (&["--seconds", "1e18"], "--seconds: not a time"),
        (&["--warm-up", "NaN"], "--warm-up: not a time"),
        (&["--distribution", "normal"], "unknown distribution 'normal'"),
        (&["--option", "colour=red"], "has no option 'colour'"),
        (&["--server-cpus", "x"], "--server-cpus: 'x' is not a list of processors"),
    ] {
        let error = refused(&[&known[..], extra].concat());
        assert!(error.contains(says), "{extra:?}: {error}");
    }
    let error = refused(&["oltp_pint_select", "--target", "mysql://h/"]);
    assert_eq!(error, "unknown workload 'oltp_pint_select'; did you mean oltp_point_select?");
    let error =
        refused(&["oltp_point_select", "--target", "a=mysql://h/,b=mysql://h/,a=mysql://i/"]);
    assert_eq!(error, "two targets are called 'a': give labels, LABEL=URL");
    let error = refused(&["oltp_point_select", "--target", "ftp://h/"]);
    assert!(error.contains("unknown kind of target 'ftp'"), "{error}");
}

/// The workloads of a command, with what each is run with.
fn chosen(arguments: &[&str]) -> Vec<(&'static str, crate::workload::Parameters)> {
    let line = ["bench", "compare", "--target", "mysql://h/"].iter().chain(arguments);
    let matches = command().try_get_matches_from(line).expect("a command");
    let (_, matches) = matches.subcommand().expect("a sub-command");
    let found = super::choice::workloads(matches).expect("workloads");
    found.into_iter().map(|(workload, parameters)| (workload.name(), parameters)).collect()
}

#[test]
fn workloads_are_chosen_by_name_by_pattern_or_all_of_them_each_once() {
    let names = |list: &str| -> Vec<&str> {
        chosen(&["--workload", list]).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names("tpcc,tpc*,tpcb"), ["tpcc", "tpcb", "tpch"]);
    assert_eq!(names("READ_PK*INDEX"), ["READ_PK_POINT_INDEX", "READ_PK_RANGE_INDEX"]);
    let all: Vec<&str> = crate::workload::all().map(|workload| workload.name()).collect();
    assert_eq!((names("all"), names("*")), (all.clone(), all));
    assert!(fits("a*b*", "aXbb") && fits("*", "") && !fits("a*b", "abc") && !fits("a", "ab"));
}

#[test]
fn of_several_workloads_each_takes_what_is_for_it() {
    let all = chosen(&["--workload", "all", "--option", "items=200", "--distribution", "zipfian"]);
    for (name, parameters) in &all {
        assert_eq!(parameters.options.contains_key("items"), *name == "tpcc", "{name}");
    }
    let of = |name: &str| all.iter().find(|(one, _)| *one == name).map(|(_, p)| p.distribution);
    assert_eq!(of("oltp_insert"), Some(Distribution::ZIPFIAN));
    assert_eq!(of("tpcc"), Some(Distribution::Uniform), "by the standard's own rule");
    let alone = refused(&["tpcc", "--target", "mysql://h/", "--distribution", "zipfian"]);
    assert_eq!(alone, "tpcc takes rows by its own rule: no --distribution");
    for workload in chosen(&["--workload", "all", "--prepared"]) {
        assert!(workload.1.prepared, "{}", workload.0);
    }
    for workload in chosen(&["--workload", "all", "--text"]) {
        assert!(!workload.1.prepared, "{}", workload.0);
    }
}

#[test]
fn passwords_do_not_reach_results() {
    let argument = "a=mysql://me:secret@h/,sqlite:x";
    assert_eq!(without_password(argument), "a=mysql://me:***@h/,sqlite:x");
}

#[test]
fn distances_between_words() {
    assert_eq!(
        (distance("same", "same"), distance("pint", "point"), distance("", "ab")),
        (0, 1, 2)
    );
}
