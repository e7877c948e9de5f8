//! As much of HTTP/1.1 as the shop and its visitors need: kept-alive connections, GET, lengths.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// No head line is longer.
const LONGEST_LINE: u64 = 8 * 1024;
/// No page is longer.
const LONGEST_PAGE: usize = 4 << 20;

/// The header that says how often a page's transaction was run again.
const RETRIES: &str = "X-Retries";

/// One end of a kept-alive connection.
pub(super) struct Wire {
    stream: BufReader<TcpStream>,
    out: Vec<u8>,
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl Wire {
    pub(super) fn new(stream: TcpStream) -> io::Result<Wire> {
        stream.set_nodelay(true)?;
        Ok(Wire { stream: BufReader::new(stream), out: Vec::new() })
    }

    /// First line, length of the body, and retries; None if the other end has hung up between
    /// messages.
    fn head(&mut self) -> io::Result<Option<(String, usize, u64)>> {
        let (mut first, mut length, mut retries) = (String::new(), 0, 0);
        loop {
            let mut line = String::new();
            if self.stream.by_ref().take(LONGEST_LINE).read_line(&mut line)? == 0 {
                return if first.is_empty() { Ok(None) } else { Err(broken("half a head")) };
            }
            let text = line.trim_end();
            if text.is_empty() {
                return Ok(Some((first, length, retries)));
            }
            if first.is_empty() {
                first = text.to_owned();
            } else if let Some((name, value)) = text.split_once(':') {
                let number = || value.trim().parse().map_err(|_| broken("not a number"));
                if name.eq_ignore_ascii_case("content-length") {
                    length = number()? as usize;
                } else if name.eq_ignore_ascii_case(RETRIES) {
                    retries = number()?;
                }
            }
        }
    }

    /// The server's side: the next path asked for.
    pub(super) fn request(&mut self) -> io::Result<Option<String>> {
        let Some((first, length, _)) = self.head()? else { return Ok(None) };
        if length != 0 {
            return Err(broken("a request with a body"));
        }
        match first.split(' ').collect::<Vec<_>>()[..] {
            ["GET", path, "HTTP/1.1"] => Ok(Some(path.to_owned())),
            _ => Err(broken("not a GET of HTTP/1.1")),
        }
    }

    /// The server's side: sends a page, and how often its transaction was run again.
    pub(super) fn reply(&mut self, status: &str, page: &str, retries: u64) -> io::Result<()> {
        self.out.clear();
        write!(
            self.out,
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
             {RETRIES}: {retries}\r\nContent-Length: {}\r\n\r\n{page}",
            page.len()
        )?;
        self.stream.get_mut().write_all(&self.out)
    }

    /// The visitor's side: a path's status, page and retries.
    pub(super) fn get(&mut self, path: &str) -> io::Result<(u16, String, u64)> {
        self.out.clear();
        write!(self.out, "GET {path} HTTP/1.1\r\nHost: nile\r\n\r\n")?;
        self.stream.get_mut().write_all(&self.out)?;
        let (first, length, retries) = self.head()?.ok_or_else(|| broken("the shop hung up"))?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| broken("no status"))?;
        if length > LONGEST_PAGE {
            return Err(broken("a page that is too long"));
        }
        let mut page = vec![0; length];
        self.stream.read_exact(&mut page)?;
        let page = String::from_utf8(page).map_err(|_| broken("not UTF-8"))?;
        Ok((status, page, retries))
    }
}
