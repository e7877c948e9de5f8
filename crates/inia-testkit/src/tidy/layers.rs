//! The order of a crate's modules: nobody imports from a layer above its own.
//!
//! A crate with a file `layers.txt` beside its manifest has its modules in layers. Each line of the
//! file is a layer, the lowest first; a layer holds one or more modules, which may import one
//! another. A module's children belong to its layer unless a line names them:
//!
//! ```text
//! # comments and empty lines are free
//! error sync        both at the bottom
//! page
//! tree::codec       a part of `tree` that `wal` needs
//! wal
//! tree
//! ```
//!
//! (Only names stand in the file itself.) Looked at are paths that begin with `crate`, `super` or
//! `self`, in imports and elsewhere, tests aside. The crate's root is above all layers, and a name
//! that it re-exports belongs to the module that it comes from.

use super::{Violation, is_test, mask, tests_start};
use std::collections::BTreeMap;
use std::path::Path;

const RULE: &str = "layer";

/// Every import against the order of some crate, and every hole in an order.
pub(super) fn check(root: &Path, files: &[std::path::PathBuf], broken: &mut Vec<Violation>) {
    let Ok(crates) = std::fs::read_dir(root.join("crates")) else { return };
    for folder in crates.flatten().map(|entry| entry.path()) {
        let Ok(list) = std::fs::read_to_string(folder.join("layers.txt")) else { continue };
        let place = |path: &Path| {
            path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
        };
        let facade = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
        let layers = Layers::parse(&list, &facade);
        let mut met = vec![false; layers.entries.len()];
        for path in files {
            let Ok(inner) = path.strip_prefix(folder.join("src")) else { continue };
            let Some(module) = module_of(inner) else { continue };
            let file = place(path);
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            if !is_test(&file) {
                layers.note_met(&module, &mut met);
                broken.extend(layers.check_file(&file, &module, &text));
            }
        }
        let absent = layers.entries.iter().zip(met).filter(|(_, met)| !met);
        let list = place(&folder.join("layers.txt"));
        broken.extend(absent.map(|(entry, _)| violation(&list, entry.line)));
    }
}

fn violation(place: &str, line: usize) -> Violation {
    Violation { rule: RULE, place: place.into(), line, found: 1 }
}

/// The path of a Rust file's module below its crate's root; `None` for the root and other files.
fn module_of(inner: &Path) -> Option<Vec<String>> {
    let text = inner.to_string_lossy().replace('\\', "/");
    let text = text.strip_suffix(".rs")?;
    let text = text.strip_suffix("/mod").unwrap_or(text);
    (text != "lib" && text != "main").then(|| text.split('/').map(String::from).collect())
}

struct Entry {
    module: Vec<String>,
    layer: usize,
    line: usize,
}

/// The order of one crate.
pub(super) struct Layers {
    entries: Vec<Entry>,
    /// Names that the crate's root re-exports, with the paths they come from.
    exports: BTreeMap<String, Vec<String>>,
}

impl Layers {
    /// Reads the list, and what the crate's root re-exports.
    pub(super) fn parse(list: &str, facade: &str) -> Layers {
        let mut entries = Vec::new();
        for (index, line) in list.lines().enumerate() {
            let names = line.split('#').next().unwrap_or_default().split_whitespace();
            entries.extend(names.map(|name| Entry {
                module: name.split("::").map(String::from).collect(),
                layer: index,
                line: index + 1,
            }));
        }
        let mut exports = BTreeMap::new();
        for (_, mut path) in paths(&mask::code_only(facade), Start::Use) {
            if path.first().is_some_and(|first| first == "crate" || first == "self") {
                path.remove(0);
            }
            if let Some(name) = path.last() {
                exports.insert(name.clone(), path);
            }
        }
        Layers { entries, exports }
    }

    /// The entry that a path belongs to: the longest one that it begins with.
    fn entry_of(&self, path: &[String]) -> Option<&Entry> {
        let belongs = self.entries.iter().filter(|entry| path.starts_with(&entry.module));
        belongs.max_by_key(|entry| entry.module.len())
    }

    fn note_met(&self, module: &[String], met: &mut [bool]) {
        for (entry, met) in self.entries.iter().zip(met) {
            *met |= module.starts_with(&entry.module);
        }
    }

    /// The imports of one module that go against the order.
    pub(super) fn check_file(&self, file: &str, module: &[String], text: &str) -> Vec<Violation> {
        let Some(own) = self.entry_of(module) else { return vec![violation(file, 0)] };
        let code = without_tests(file, &mask::code_only(text));
        let mut broken = Vec::new();
        for (line, path) in paths(&code, Start::Keyword) {
            let target = self.resolve(module, path);
            if self.entry_of(&target).is_some_and(|entry| entry.layer > own.layer) {
                broken.push(violation(file, line));
            }
        }
        broken.dedup();
        broken
    }

    /// The path from the crate's root that a path in `module` means.
    fn resolve(&self, module: &[String], path: Vec<String>) -> Vec<String> {
        let mut whole: Vec<String> = module.to_vec();
        for (at, name) in path.into_iter().enumerate() {
            match name.as_str() {
                "crate" => whole.clear(),
                "super" => {
                    whole.pop();
                }
                "self" => {}
                _ if at == 1 && whole.is_empty() => match self.exports.get(&name) {
                    Some(source) => whole.clone_from(source),
                    None => whole.push(name),
                },
                _ => whole.push(name),
            }
        }
        whole
    }
}

/// The code without its tests: the module at the file's end, and imports that only tests have.
fn without_tests(file: &str, code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let end = tests_start(file, &lines);
    let mut out = String::new();
    let mut for_tests = false;
    for line in &lines[..end] {
        if !(for_tests && line.trim_start().starts_with("use ")) {
            out.push_str(line);
        }
        out.push('\n');
        for_tests = line.trim() == "#[cfg(test)]";
    }
    out
}

/// What the paths begin with that are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// `crate`, `super` or `self`, anywhere.
    Keyword,
    /// Whatever follows `use`.
    Use,
}

/// The paths in masked code, each with its line; what stands in braces is spread out.
fn paths(code: &str, start: Start) -> Vec<(usize, Vec<String>)> {
    let mut reader = Reader { code: code.as_bytes(), at: 0, line: 1, found: Vec::new() };
    let mut before = String::new();
    while reader.at < reader.code.len() {
        let word = reader.word();
        if word.is_empty() {
            reader.skip();
            continue;
        }
        match start {
            Start::Use if word == "use" => reader.tree(&[]),
            Start::Keyword
                if ["crate", "super", "self"].contains(&word.as_str())
                    && before != "in"
                    && reader.takes("::") =>
            {
                reader.tree(std::slice::from_ref(&word));
            }
            _ => {}
        }
        before = word;
    }
    reader.found
}

struct Reader<'c> {
    code: &'c [u8],
    at: usize,
    line: usize,
    found: Vec<(usize, Vec<String>)>,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.line += usize::from(self.code[self.at] == b'\n');
        self.at += 1;
    }

    fn space(&mut self) {
        while self.code.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.skip();
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.code[self.at..];
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = rest.iter().take_while(is_part).count();
        self.at += length;
        String::from_utf8_lossy(&rest[..length]).into_owned()
    }

    fn takes(&mut self, text: &str) -> bool {
        self.space();
        let takes = self.code[self.at..].starts_with(text.as_bytes());
        self.at += if takes { text.len() } else { 0 };
        takes
    }

    /// Reads what follows `prefix`: a name and its own continuation, or several in braces.
    fn tree(&mut self, prefix: &[String]) {
        if self.takes("{") {
            while !self.takes("}") && self.at < self.code.len() {
                let before = self.at;
                self.tree(prefix);
                if self.takes("as ") {
                    self.space();
                    self.word();
                }
                self.takes(",");
                if self.at == before {
                    self.skip();
                }
            }
            return;
        }
        let line = self.line;
        let word = self.word();
        let mut path = prefix.to_vec();
        if word.is_empty() {
            // A glob, or the start of generic arguments.
            self.takes("*");
            self.found.push((line, path));
            return;
        }
        path.push(word);
        if self.takes("::") {
            self.tree(&path);
        } else {
            self.found.push((line, path));
        }
    }
}
