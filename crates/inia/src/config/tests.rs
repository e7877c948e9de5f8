//! The options file.

use super::*;

fn read(text: &str) -> Result<(Config, Vec<String>), String> {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let n = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("inia-config-{}-{n}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let mut config = Config::default();
    let unknown = config.read_file(&path);
    std::fs::remove_file(&path).unwrap();
    unknown.map(|unknown| (config, unknown))
}

#[test]
fn an_options_file() {
    let (config, unknown) = read(
        "# comment\n\n data = \"/var/lib/my data\" # here\nport=0\nbuffer-pool-size = 4G\n\
         max-allowed-packet = 512k # small\n",
    )
    .unwrap();
    assert!(unknown.is_empty());
    assert_eq!(config.data, PathBuf::from("/var/lib/my data"));
    assert_eq!((config.port, config.buffer_pool_size), (0, Some(4 << 30)));
    assert_eq!(config.max_allowed_packet, 512 << 10);
}

#[test]
fn every_listed_option_can_be_set() {
    for option in OPTIONS {
        Config::default().set(option.name, "1").unwrap();
    }
}

#[test]
fn mistakes_are_named() {
    let errors = [
        ("prot = 1", "line 1: unknown option 'prot'; did you mean 'port'?"),
        ("\nbuffer_pol_size = 1", "unknown option 'buffer-pol-size'; did you mean 'buffer-pool"),
        ("innodb_no_such = x", "line 1: unknown option 'innodb-no-such'"),
        ("[inia]\ndatadirs = x", "line 2: unknown option 'datadirs'"),
        ("[mysqld]\nport = x", "line 2: 'x' is not a number"),
        ("port = 70000", "'70000' is not a number from 0 to 65535 for option 'port'"),
        ("buffer-pool-size = much", "'much' is not a size such as 512M"),
        ("data = \"x", "the quotes of \"x do not match"),
        ("port", "'port' is not of the form name = value"),
    ];
    for (text, expected) in errors {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn mysqls_groups_count_and_their_unknown_options_are_named() {
    let text = "[client]\nport=1\n[mysqld]\ndatadir=/d\nbind-address=::1\nport=3307\n\
                innodb_buffer_pool_size=64M\nuser = mysql\nloose-no-such\nskip-name-resolve\n\
                innodb_io_capacity = 7\n[inia]\nwork_memory=1G\nport=3308\nsql_mode = ANSI\n";
    let (config, unknown) = read(text).unwrap();
    assert_eq!(unknown, ["user", "loose-no-such"]);
    let variables: Vec<_> =
        config.variables.iter().map(|own| (own.name.as_str(), own.value.as_deref())).collect();
    let expected = [
        ("skip-name-resolve", None),
        ("innodb-io-capacity", Some("7")),
        ("sql-mode", Some("ANSI")),
    ];
    assert_eq!(variables, expected);
    assert!(config.variables[2].place.ends_with(": line 15"), "{}", config.variables[2].place);
    assert_eq!((config.data, config.host.as_str()), (PathBuf::from("/d"), "::1"));
    assert_eq!((config.port, config.buffer_pool_size), (3308, Some(64 << 20)));
    assert_eq!(config.work_memory, Some(1 << 30));
}
