//! Work runs on other stacks as it would on the thread's own.

use super::*;
use std::sync::mpsc::channel;
use std::thread;

/// Where the present stack is, to the kilobyte.
fn place() -> usize {
    psm::stack_pointer() as usize >> 10
}

fn depth(levels: usize) -> usize {
    let filler = std::hint::black_box([levels; 128]);
    if levels == 0 { filler[0] } else { depth(levels - 1) + filler.len() / 128 }
}

#[test]
fn work_gives_back_its_result_and_may_change_what_it_borrows() {
    let mut seen = Vec::new();
    let sum = on_warm_stack(|| {
        seen.push(1);
        on_new_stack(1 << 20, || seen.push(2));
        seen.iter().sum::<i32>()
    });
    assert_eq!((sum, seen), (3, vec![1, 2]));
}

#[test]
fn a_panic_goes_on_above_and_the_stack_serves_again() {
    let caught = catch_unwind(|| on_warm_stack(|| -> usize { panic!("within") }));
    let message =
        caught.expect_err("it panics").downcast_ref::<&str>().map(|text| text.to_string());
    assert_eq!(message.as_deref(), Some("within"));
    assert_eq!(on_warm_stack(|| depth(100)), 100);
    assert_eq!(stack_left(), None, "the thread's own stack is the present one again");
}

#[test]
fn room_is_known_on_stacks_from_here_and_unknown_on_a_threads_own() {
    assert_eq!(stack_left(), None);
    on_new_stack(1 << 20, || {
        let left = || stack_left().expect("this stack is from here");
        let outer = left();
        assert!(outer > (1 << 20) - 4096);
        on_warm_stack(|| assert!(left() <= WARM));
        assert_eq!(left() / 1024, outer / 1024);
    });
    assert_eq!(stack_left(), None);
}

#[test]
fn a_large_stack_has_the_room_that_was_asked_for() {
    assert_eq!(on_new_stack(256 << 20, || depth(50_000)), 50_000);
}

#[test]
fn statements_at_one_time_have_different_stacks() {
    let (sender, receiver) = channel();
    let holders: Vec<_> = (0..8)
        .map(|_| {
            let sender = sender.clone();
            let (go, gone) = channel::<()>();
            let holder = thread::spawn(move || {
                on_warm_stack(|| {
                    sender.send(place()).expect("the test listens");
                    gone.recv().expect("the test lets it go on");
                });
            });
            (go, holder)
        })
        .collect();
    let mut places: Vec<usize> =
        (0..8).map(|_| receiver.recv().expect("each sends its place")).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 8);
    for (go, holder) in holders {
        go.send(()).expect("it waits");
        holder.join().expect("it ends well");
    }
}
