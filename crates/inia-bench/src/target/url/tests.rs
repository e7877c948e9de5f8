//! Addresses as people write them.

use super::{Host, Url, split_label};

#[test]
fn addresses_are_read() {
    let Url::MySql(place) = Url::parse("mysql://me:a%40b@db.example:3307/shop").unwrap() else {
        panic!("not MySQL");
    };
    assert_eq!((place.user.as_str(), place.password.as_str()), ("me", "a@b"));
    assert_eq!(place.host, Host::Tcp("db.example".to_owned(), 3307));
    assert_eq!(place.database, "shop");
    let Url::MySql(place) = Url::parse("mysql://root@%2Ftmp%2Fm.sock").unwrap() else {
        panic!("not MySQL");
    };
    assert_eq!(place.host, Host::Unix("/tmp/m.sock".to_owned()));
    assert_eq!(place.database, "inia_lab");
    assert_eq!(Url::parse("inia:/var/lib/x").unwrap(), Url::Embedded("/var/lib/x".to_owned()));
    assert_eq!(Url::parse("sqlite:a.db").unwrap(), Url::Sqlite("a.db".to_owned()));
    assert_eq!(Url::parse("duckdb:a.db").unwrap(), Url::DuckDb("a.db".to_owned()));
}

#[test]
fn wrong_addresses_say_what_is_wrong() {
    for (text, says) in [
        ("nowhere", "not a target"),
        ("mysql://", "names no place"),
        ("oracle://x", "unknown kind of target 'oracle'"),
        ("mysql://h:port/", "'port' is not a port"),
    ] {
        let failure = Url::parse(text).unwrap_err();
        assert!(failure.message.contains(says), "{text}: {failure}");
    }
}

#[test]
fn labels_stand_before_the_address() {
    assert_eq!(split_label("old=mysql://h/"), (Some("old"), "mysql://h/"));
    assert_eq!(split_label("mysql://u:a=b@h/"), (None, "mysql://u:a=b@h/"));
}

#[test]
fn a_target_may_wait_as_mysqls_client_library_does() {
    let poll = |text: &str| match Url::parse(text) {
        Ok(Url::MySql(place)) => place.poll && place.database == "shop",
        other => panic!("{other:?}"),
    };
    assert!(poll("mysql://root@127.0.0.1:3306/shop?wait=poll"));
    assert!(!poll("mysql://root@127.0.0.1:3306/shop"));
    assert!(Url::parse("mysql://root@127.0.0.1:3306/shop?wait=never").is_err());
}
