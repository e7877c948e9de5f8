//! This process and this machine, seen from outside.

use super::{
    bind, eldest, family, listening_process, own_cpu, parse_cpus, processors, server_cpu,
    server_rss,
};
use crate::target::url::Host;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A shell that ends with its standard input, and has run some statements before.
struct Shell {
    child: Child,
    input: Option<ChildStdin>,
}

impl Shell {
    /// Returns when the statements have been run.
    fn after(statements: &str) -> Shell {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{statements}; echo done; cat > /dev/null")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
        let input = child.stdin.take();
        Shell { child, input }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().unwrap();
    }
}

/// A loop that takes some hundredths of a second of processor time.
const WORK: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

#[test]
fn the_time_of_children_that_have_ended_stays_the_servers() {
    let idle = Shell::after(":");
    // A child, and a child's child.
    let done = Shell::after(&format!("sh -c '{WORK}'; sh -c '({WORK}); :'"));
    let (little, much) =
        (server_cpu(idle.child.id()).unwrap(), server_cpu(done.child.id()).unwrap());
    assert!(much > little + 20_000_000, "{much} of a server whose children worked, {little} else");
}

/// Whatever their numbers are: the test and a child of it, with a child of its own.
#[test]
fn a_servers_process_is_the_one_that_the_others_come_from() {
    let shell = Shell::after(":");
    let (own, child) = (std::process::id(), shell.child.id());
    let grandchild = *family(child).last().unwrap();
    assert_eq!(eldest(vec![child, own]), Some(own));
    assert_eq!(eldest(vec![grandchild, own, child]), Some(own));
    assert_eq!(eldest(vec![grandchild, child]), Some(child));
    assert_eq!(eldest(vec![u32::MAX / 2]), None);
}

#[test]
fn the_time_of_a_server_does_not_run_backwards_while_its_children_end() {
    let server = Shell::after(&format!("for n in 1 2 3 4 5; do sh -c '{WORK}' & done"));
    let pid = server.child.id();
    // Ended children count in hundredths of a second, rounded down for each of two clocks.
    let rounded = 20_000_000;
    let mut last = 0;
    // At the end there are the shell and the program that waits for its input.
    while family(pid).len() > 2 {
        let now = server_cpu(pid).unwrap();
        assert!(now + rounded >= last, "{last} and then {now}");
        last = now;
    }
    assert!(server_cpu(pid).unwrap() + rounded >= last);
}

#[test]
fn a_bound_process_has_its_processors_back_afterwards() {
    let shell = Shell::after(":");
    let allowed = || {
        let text = std::fs::read_to_string(format!("/proc/{}/status", shell.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
        line.trim().to_owned()
    };
    let (before, last) = (allowed(), *processors().last().unwrap());
    let bound = bind(shell.child.id(), &[last]).unwrap();
    assert_eq!(allowed(), last.to_string());
    drop(bound);
    assert_eq!(allowed(), before);
    let refused = bind(shell.child.id(), &[1_000]).unwrap_err();
    assert_eq!(refused, "processors [1000]: this machine has none of them");
}

#[test]
fn a_listening_process_is_found_by_its_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = listening_process(&Host::Tcp("127.0.0.1".to_owned(), port));
    assert_eq!(found, Some(std::process::id()));
    drop(listener);
    assert_eq!(listening_process(&Host::Tcp("127.0.0.1".to_owned(), port)), None);
}

#[test]
fn this_process_has_time_and_memory() {
    let pid = std::process::id();
    assert!(family(pid).contains(&pid));
    assert!(own_cpu() > 0);
    assert!(server_cpu(pid).unwrap() > 0);
    assert!(server_rss(pid).unwrap() > 1 << 20);
    assert_eq!(server_cpu(u32::MAX / 2), None);
}

#[test]
fn lists_of_processors_are_read() {
    assert_eq!(parse_cpus("0-2,5"), Ok(vec![0, 1, 2, 5]));
    for wrong in ["", "a", "3-1", "0-99999999"] {
        assert!(parse_cpus(wrong).is_err(), "{wrong}");
    }
}
