//! Runs a target on mutated seeds for some seconds: `inia-fuzz TARGET SECONDS [SEED]`, or writes
//! the seeds where cargo-fuzz looks for them: `inia-fuzz seeds`.

use inia_fuzz::{TARGETS, Target};
use inia_testkit::{Random, mutate};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// An input that takes longer is reported.
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| TARGETS.iter().find(|target| target.name == name);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seeds"] => write_seeds(),
        [name, seconds, ref seed @ ..] if named(name).is_some() => {
            let seed = seed.first().and_then(|seed| seed.parse().ok()).unwrap_or(1);
            let target = named(name).expect("just found");
            fuzz(target, Duration::from_secs(seconds.parse().unwrap_or(60)), seed)
        }
        _ => {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("inia-fuzz TARGET SECONDS [SEED] | seeds; targets: {}", names.join(", "));
            ExitCode::FAILURE
        }
    }
}

fn write_seeds() -> ExitCode {
    for target in &TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        std::fs::create_dir_all(&folder).expect("the corpus can be written");
        for (at, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at:05}")), seed).expect("room for a seed");
        }
    }
    ExitCode::SUCCESS
}

/// Mutates seeds until the time is over. A panic ends the program, after the input was written.
fn fuzz(target: &Target, time: Duration, seed: u64) -> ExitCode {
    let seeds = (target.seeds)();
    let mut random = Random::new(seed);
    let (begin, mut runs, mut slowest) = (Instant::now(), 0_u64, Duration::ZERO);
    let last = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    std::fs::create_dir_all(&last).expect("artifacts can be written");
    let last = last.join(format!("{}-last", target.name));
    while begin.elapsed() < time {
        let (input, other) = (random.pick(&seeds).clone(), random.pick(&seeds).clone());
        let input = match std::str::from_utf8(&input).ok().zip(std::str::from_utf8(&other).ok()) {
            Some((text, other)) if random.chance(9, 10) => {
                mutate::text(&mut random, text, other).into_bytes()
            }
            _ => {
                let mut input = input;
                mutate::bytes(&mut random, &mut input, &other);
                input
            }
        };
        let started = Instant::now();
        let run = std::panic::AssertUnwindSafe(|| (target.run)(&input));
        if std::panic::catch_unwind(run).is_err() {
            std::fs::write(&last, &input).expect("room for the input");
            eprintln!("{}: panic after {runs} runs; input in {}", target.name, last.display());
            return ExitCode::FAILURE;
        }
        let took = started.elapsed();
        if took > SLOW {
            std::fs::write(last.with_extension("slow"), &input).expect("room for the input");
        }
        (runs, slowest) = (runs + 1, slowest.max(took));
    }
    println!("{}: {runs} runs in {time:?}, the slowest {slowest:?}", target.name);
    ExitCode::SUCCESS
}
