//! The options file.

use super::*;

fn read(text: &str) -> Result<Config, String> {
    let mut config = Config::default();
    config.read_text(text)?;
    Ok(config)
}

#[test]
fn an_options_file() {
    let config = read(
        "# comment\n\n data = \"/var/lib/my data\" # here\nport=0\nbuffer-pool-size = 4G\n\
         max-allowed-packet = 512k # small\n",
    )
    .unwrap();
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
        ("\nbuffer_pool_size = 1", "unknown option 'buffer_pool_size'; did you mean 'buffer-pool"),
        ("innodb_flush_method = x", "line 1: unknown option 'innodb_flush_method'"),
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
