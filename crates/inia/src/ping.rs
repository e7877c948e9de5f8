//! `inia ping [URL]`: whether a server answers. It needs no account: the server greets before a
//! login.

use crate::login_url::LoginUrl;
use clap::{Arg, ArgMatches, Command};
use std::io::Read;
use std::time::Duration;

/// So long a server may take to greet.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest greeting: a version and some random bytes.
const MAX_GREETING: usize = 4 << 10;
/// The first byte of a greeting, and of an error.
const GREETING: u8 = 10;
const ERROR: u8 = 0xff;

/// The command's arguments.
pub(crate) fn command() -> Command {
    Command::new("ping")
        .about("Ask whether a server answers; exit code 1 if it does not. No account is needed")
        .arg(
            Arg::new("url")
                .value_name("URL")
                .default_value("mysql://127.0.0.1:3306/")
                .help("mysql://host:port/, or mysql://%2Fpath%2Fof%2Fsocket/"),
        )
}

/// Prints the version of the server.
pub(crate) fn run(matches: &ArgMatches) -> Result<(), String> {
    let url = matches.get_one::<String>("url").map_or("", String::as_str);
    let mut stream = LoginUrl::parse(url)?.place.open(Some(PATIENCE))?;
    let version = greeting(&mut stream)?;
    println!("{version} is alive");
    Ok(())
}

/// The version in a server's first packet.
fn greeting(stream: &mut impl Read) -> Result<String, String> {
    let silent = |error: std::io::Error| format!("the server does not greet: {error}");
    let mut head = [0; 4];
    stream.read_exact(&mut head).map_err(silent)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    if length > MAX_GREETING {
        return Err("what answers is no MySQL server".to_owned());
    }
    let mut packet = vec![0; length];
    stream.read_exact(&mut packet).map_err(silent)?;
    match packet.split_first() {
        Some((&GREETING, rest)) => {
            let version = rest.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(String::from_utf8_lossy(version).into_owned())
        }
        Some((&ERROR, rest)) => {
            let text = rest.get(2..).unwrap_or_default();
            Err(format!("the server refuses: {}", String::from_utf8_lossy(text)))
        }
        _ => Err("what answers is no MySQL server".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: &[u8]) -> Vec<u8> {
        [&[payload.len() as u8, 0, 0, 0], payload].concat()
    }

    #[test]
    fn only_a_greeting_is_an_answer() {
        let greets = packet(b"\x0a8.0.31-inia\0\x01\0\0\0");
        assert_eq!(greeting(&mut greets.as_slice()).unwrap(), "8.0.31-inia");
        let refuses = packet(b"\xff\x10\x04Too many connections");
        assert!(greeting(&mut refuses.as_slice()).unwrap_err().ends_with("Too many connections"));
        for noise in [&b""[..], b"HTTP/1.1 400 Bad Request", &packet(b""), &packet(b"\x09x")] {
            assert!(greeting(&mut { noise }).is_err());
        }
    }
}
