//! The `inia` program.

fn main() -> std::process::ExitCode {
    inia::cli::run(std::env::args_os())
}
