//! Lines of options files.

use super::*;

struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let name = format!("inia-options-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).unwrap();
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn values(text: &str, name: &str) -> Vec<(String, String, Option<String>)> {
    let file = File::new(name, text);
    let options = read(&file.0).unwrap();
    options.into_iter().map(|one| (one.group, one.name, one.value)).collect()
}

#[test]
fn groups_names_and_values() {
    let text = "early=1\n# no\n; no\n[Client]\nPort = 3307\nno_auto_rehash\n\
                password=\"a # b\\\"\" # a comment\nprompt='\\u@\\h\\s> '\npager=less -S # why\n\
                url=a#b\n[mysqld]\nsql_mode=\n";
    let own = |group: &str, name: &str, value: &str| {
        (group.to_owned(), name.to_owned(), Some(value.to_owned()))
    };
    let expected = vec![
        own("", "early", "1"),
        own("client", "port", "3307"),
        ("client".to_owned(), "no-auto-rehash".to_owned(), None),
        own("client", "password", "a # b\""),
        own("client", "prompt", "\\u@\\h > "),
        own("client", "pager", "less -S"),
        own("client", "url", "a#b"),
        own("mysqld", "sql-mode", ""),
    ];
    assert_eq!(values(text, "groups"), expected);
}

#[test]
fn files_include_others_and_refuse_nonsense() {
    let inner = File::new("inner", "[client]\nuser = ada\n");
    let text = format!("!include {}\n[client]\nuser=bob\n", inner.0.display());
    let users: Vec<_> = values(&text, "outer").into_iter().filter_map(|one| one.2).collect();
    assert_eq!(users, ["ada", "bob"]);
    for wrong in ["[client\n", "a = \"b\n", "a = \"b\" c\n"] {
        let file = File::new("wrong", wrong);
        let error = read(&file.0).unwrap_err();
        assert!(error.contains("line 1"), "{wrong}: {error}");
    }
    let open = File::new("open", "[client]\n");
    fs::set_permissions(&open.0, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(read(&open.0).unwrap_err().contains("every user may write to it"));
}
