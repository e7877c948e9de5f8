//! C programs that use the library, compiled by `cc` and run: as they are, and with the address
//! sanitizer. `build-essential` has the compiler and the sanitizer.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

const SANITIZED: &[&str] = &["-fsanitize=address", "-fno-omit-frame-pointer", "-g"];

/// A directory with the library as it is installed.
struct Installed(PathBuf);

impl Installed {
    fn new(name: &str) -> Installed {
        let id = std::process::id();
        let dir = std::env::temp_dir().join(format!("inia-c-{name}-{id}"));
        std::fs::create_dir_all(&dir).unwrap();
        let tests = std::env::current_exe().unwrap();
        let library = tests.parent().unwrap().join("libinia_c.so");
        for name in ["libinia.so.1", "libinia.so"] {
            std::os::unix::fs::symlink(&library, dir.join(name)).unwrap();
        }
        Installed(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles and runs a program of `tests/c`, plain and sanitized.
fn passes(name: &str) {
    program_passes(name, &here(&format!("tests/c/{name}.c")));
}

fn program_passes(name: &str, source: &Path) {
    for (kind, flags) in [("plain", &[][..]), ("sanitized", SANITIZED)] {
        let dir = Installed::new(&format!("{name}-{kind}"));
        let program = dir.at(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]);
        compiler.args(["-D_POSIX_C_SOURCE=200809L", "-pthread"]).args(flags);
        compiler.arg("-I").arg(here("include")).arg("-I").arg(here("tests/c")).arg(source);
        compiler.arg("-o").arg(&program).arg("-L").arg(&dir.0).arg("-linia");
        compiler.arg(format!("-Wl,-rpath,{}", dir.0.display()));
        run(&mut compiler, "cc");
        run(Command::new(&program).arg(dir.at("data")), &format!("{name}, {kind}"));
    }
}

fn run(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let (out, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}\n{out}{errors}", output.status);
}

#[test]
fn a_program_from_the_first_call_to_the_last() {
    passes("basics");
}

#[test]
fn errors_have_mysqls_numbers() {
    passes("errors");
}

#[test]
fn misuse_is_an_error_and_no_crash() {
    passes("misuse");
}

#[test]
fn threads_share_databases_and_connections() {
    passes("threads");
}

/// The lines of C in the README, as a part of a program.
#[test]
fn the_readmes_example_works() {
    let readme = std::fs::read_to_string(here("../../README.md")).unwrap();
    let (_, block) = readme.split_once("```c\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let program = format!(
        "#include \"check.h\"\n\
         int main(void)\n{{\n\
         inia_database *database = memory();\n\
         inia_connection *connection = shop(database);\n\
         inia_statement *statement;\n\
         DO(connection, inia_execute(connection, \"CREATE TABLE goods (id INT, name TEXT)\"));\n\
         DO(connection, inia_execute(connection, \"INSERT INTO goods VALUES (7, 'tea')\"));\n\
         {block}\
         DO(NULL, inia_disconnect(connection));\n\
         DO(NULL, inia_close(database));\n\
         return 0;\n}}\n"
    );
    let dir = Installed::new("readme");
    std::fs::write(dir.at("readme.c"), program).unwrap();
    program_passes("readme", &dir.at("readme.c"));
}

/// Every function of the header is in the library, and nothing else of its symbols.
#[test]
fn the_header_and_the_library_have_the_same_functions() {
    let header = std::fs::read_to_string(here("include/inia.h")).unwrap();
    let code = header.split("*/").map(|part| part.split("/*").next().unwrap_or(""));
    let code: String = code.collect();
    let names = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut declared: Vec<&str> =
        names.filter(|it| it.starts_with("inia_") && code.contains(&format!("{it}("))).collect();
    declared.sort_unstable();
    declared.dedup();

    let tests = std::env::current_exe().unwrap();
    let library = tests.parent().unwrap().join("libinia_c.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let mut defined: Vec<&str> =
        symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    defined.sort_unstable();
    assert_eq!(defined, declared);
}

/// The header compiles as C++, too.
#[test]
fn the_header_is_cpp() {
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]);
    run(compiler.args(["-x", "c++"]).arg(here("include/inia.h")), "c++");
}
