use super::*;

const fn header(txn: u64, undo: u64) -> RecordHeader {
    RecordHeader { txn, undo }
}

/// Three deletions, an insert and two updates, each undo record behind the one before it.
fn steps<'a>(first: u64, keys: &[&'a [u8]; 6]) -> Vec<UndoStep<'a>> {
    let old = header(5, 0);
    let befores = [
        Before::Marked(old),
        Before::Marked(old),
        Before::Marked(header(RecordHeader::DELETED | 6, 900)),
        Before::Nothing,
        Before::Version(header(6, 880), b"what was there"),
        Before::Version(header(u64::MAX, u64::MAX), b""),
    ];
    let mut at = UndoRef(first);
    let mut steps = Vec::new();
    for (key, before) in keys.iter().zip(befores) {
        let step = UndoStep { txn: TxnId(31), at, tree: TreeId(4), key, before };
        at = step.end();
        steps.push(step);
    }
    steps
}

const KEYS: [&[u8]; 6] = [b"row17", b"row18", b"row20", b"", b"row", &[7; 300]];

fn run_of(steps: &[UndoStep<'_>]) -> UndoRun {
    let mut run = UndoRun::default();
    assert!(steps.iter().all(|step| run.push(step)));
    run
}

#[test]
fn steps_come_back_as_they_went_in() {
    let steps = steps(100, &KEYS);
    let run = run_of(&steps);
    let Some(LogRecord::Other { tag, body }) = run.record() else { panic!("there are steps") };
    assert_eq!(tag, UNDO_RUN);
    let mut number = 0;
    let outcome = each_step(body, |step| {
        assert_eq!(*step, steps[number]);
        number += 1;
        Ok::<(), ()>(())
    });
    assert_eq!((outcome, number), (Some(Ok(())), 6));
}

#[test]
fn a_step_elsewhere_needs_a_record_of_its_own() {
    let steps = steps(100, &KEYS);
    let mut run = run_of(&steps[..1]);
    assert!(!run.push(&steps[2]), "its undo record does not follow");
    assert!(!run.push(&UndoStep { tree: TreeId(5), ..steps[1] }));
    assert!(!run.push(&UndoStep { txn: TxnId(32), ..steps[1] }));
    assert!(run.push(&steps[1]));
    run.clear();
    assert_eq!(run.record(), None);
    assert!(run.push(&steps[2]), "it is the first now");
}

#[test]
fn like_steps_take_few_bytes() {
    let keys: Vec<[u8; 4]> = (1000_u32..1500).map(u32::to_be_bytes).collect();
    let mut run = UndoRun::default();
    let mut at = UndoRef(1);
    for key in &keys {
        let before = Before::Marked(header(5, 0));
        let step = UndoStep { txn: TxnId(31), at, tree: TreeId(4), key, before };
        at = step.end();
        assert!(run.push(&step));
    }
    assert!(run.body.len() < 5 * keys.len() + 40, "{} bytes", run.body.len());
}

/// A body that was cut off or changed is refused or gives other steps, and never a panic.
#[test]
fn damaged_bodies_are_harmless() {
    let steps = steps(u64::MAX - 40, &KEYS);
    let run = run_of(&steps);
    for len in 0..run.body.len() {
        each_step(&run.body[..len], |_| Ok::<(), ()>(()));
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut body = run.body.clone();
            body[len] = value;
            each_step(&body, |_| Ok::<(), ()>(()));
        }
    }
}
