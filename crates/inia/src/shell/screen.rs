//! Where output goes: standard output, or a program that pages; and a file that takes it, too.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Where the shell writes.
#[derive(Default)]
pub(super) struct Screen {
    pager: Option<String>,
    /// The pager that was set last.
    last_pager: Option<String>,
    tee: Option<(String, File)>,
}

impl Screen {
    /// Results go through this program; an empty name means the last one, or $PAGER.
    pub(super) fn set_pager(&mut self, name: &str) -> Option<&str> {
        let usual = || std::env::var("PAGER").ok();
        let name = match name {
            "stdout" => None,
            "" => self.last_pager.clone().or_else(usual),
            name => Some(name.to_owned()),
        };
        self.pager = name.filter(|name| !name.is_empty());
        self.last_pager.clone_from(&self.pager);
        self.pager()
    }

    pub(super) fn clear_pager(&mut self) {
        self.pager = None;
    }

    pub(super) fn pager(&self) -> Option<&str> {
        self.pager.as_deref()
    }

    /// Appends what is printed to this file, too.
    pub(super) fn set_tee(&mut self, path: &str) -> Result<(), String> {
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|error| format!("cannot write {path}: {error}"))?;
        self.tee = Some((path.to_owned(), file));
        Ok(())
    }

    pub(super) fn clear_tee(&mut self) {
        self.tee = None;
    }

    pub(super) fn tee(&self) -> Option<&str> {
        self.tee.as_ref().map(|(path, _)| path.as_str())
    }

    /// Begins a result.
    pub(super) fn open(&self, paged: bool) -> io::Result<Page> {
        let tee = self.tee.as_ref().map(|(_, file)| file.try_clone()).transpose()?;
        let output = match &self.pager {
            Some(program) if paged => {
                let mut child =
                    Command::new("sh").args(["-c", program]).stdin(Stdio::piped()).spawn()?;
                let input = child.stdin.take();
                Output::Pager(child, input)
            }
            _ => Output::Standard(io::stdout()),
        };
        Ok(Page { inner: BufWriter::new(Copied { output, tee }) })
    }
}

/// One result on its way out.
pub(super) struct Page {
    inner: BufWriter<Copied>,
}

struct Copied {
    output: Output,
    tee: Option<File>,
}

enum Output {
    Standard(io::Stdout),
    Pager(Child, Option<ChildStdin>),
}

impl Write for Copied {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.output {
            Output::Standard(out) => out.write(bytes)?,
            Output::Pager(_, Some(input)) => input.write(bytes)?,
            Output::Pager(_, None) => bytes.len(),
        };
        if let Some(tee) = &mut self.tee {
            tee.write_all(&bytes[..written])?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::Standard(out) => out.flush(),
            Output::Pager(_, Some(input)) => input.flush(),
            Output::Pager(_, None) => Ok(()),
        }
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Page {
    /// Ends the result and waits for the pager.
    pub(super) fn close(mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        // What cannot be written any more is dropped with the buffer.
        let (copied, _) = self.inner.into_parts();
        if let Output::Pager(mut child, input) = copied.output {
            drop(input);
            child.wait()?;
            // A pager that its reader has left is no error.
            return flushed.or_else(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            });
        }
        flushed
    }

    /// Whether a program takes the output.
    pub(super) fn is_paged(&self) -> bool {
        matches!(self.inner.get_ref().output, Output::Pager(..))
    }
}

/// Columns of the terminal that standard output is.
pub(super) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
}

/// Reads a password from the terminal, which does not show it.
pub(super) fn ask_password(prompt: &str) -> Result<String, String> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let fail = |error: io::Error| format!("cannot ask for a password: {error}");
    let mut terminal = File::options().read(true).write(true).open("/dev/tty").map_err(fail)?;
    terminal.write_all(prompt.as_bytes()).map_err(fail)?;
    let shown = tcgetattr(&terminal).map_err(|error| fail(error.into()))?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &hidden).map_err(|error| fail(error.into()))?;
    let mut line = String::new();
    let read = io::BufRead::read_line(&mut io::BufReader::new(&terminal), &mut line);
    // The terminal is as it was before, whatever happened.
    let _ = tcsetattr(&terminal, OptionalActions::Now, &shown);
    let _ = terminal.write_all(b"\n");
    read.map_err(fail)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
