//! Addresses that people write.

use super::*;

#[test]
fn urls() {
    let target = |place, user: &str, password: &str, database: Option<&str>| LoginUrl {
        place,
        user: user.to_owned(),
        password: password.to_owned(),
        database: database.map(str::to_owned),
    };
    let tcp = |host: &str, port| ServerAddress::Tcp(host.to_owned(), port);
    let cases = [
        (
            "mysql://root@127.0.0.1:3307/test",
            target(tcp("127.0.0.1", 3307), "root", "", Some("test")),
        ),
        ("mysql://a:p%40ss@db", target(tcp("db", 3306), "a", "p@ss", None)),
        ("localhost:4000", target(tcp("localhost", 4000), "root", "", None)),
        ("mysql://u@[::1]:9/", target(tcp("::1", 9), "u", "", None)),
        (
            "mysql://u@%2Ftmp%2Fs/d",
            target(ServerAddress::Unix("/tmp/s".to_owned()), "u", "", Some("d")),
        ),
    ];
    for (url, expected) in cases {
        assert_eq!(LoginUrl::parse(url), Ok(expected), "{url}");
    }
    assert!(LoginUrl::parse("postgres://x").is_err());
    assert!(LoginUrl::parse("mysql://h:port").is_err());
}
