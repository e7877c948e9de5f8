//! Results as HTML and XML, as `mysql -H` and `mysql -X` write them, and as Markdown.

use inia_base::value::Value;
use inia_wire::column::ColumnDef;
use std::io::{self, Write};

/// A language of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Html,
    Xml,
    Markdown,
}

/// Writes one result.
pub(super) struct Markup<'a> {
    out: &'a mut dyn Write,
    language: Language,
    columns: &'a [ColumnDef],
    names: bool,
    rows: u64,
}

impl<'a> Markup<'a> {
    /// Begins a result of a statement.
    pub(super) fn new(
        out: &'a mut dyn Write,
        language: Language,
        columns: &'a [ColumnDef],
        (statement, names): (&[u8], bool),
    ) -> io::Result<Markup<'a>> {
        if language == Language::Xml {
            out.write_all(b"<?xml version=\"1.0\"?>\n\n<resultset statement=\"")?;
            put_escaped(out, statement)?;
            out.write_all(b"\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">")?;
        }
        let mut markup = Markup { out, language, columns, names, rows: 0 };
        if language == Language::Markdown {
            markup.markdown_head()?;
        }
        Ok(markup)
    }

    /// Writes a row.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        self.rows += 1;
        match self.language {
            Language::Html => self.html(row),
            Language::Xml => self.xml(row),
            Language::Markdown => {
                let cells = row.iter().map(|value| value.as_bytes().unwrap_or(b"NULL"));
                put_markdown(self.out, cells)
            }
        }
    }

    /// Ends the result.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.language {
            Language::Html if self.rows > 0 => self.out.write_all(b"</TABLE>"),
            Language::Xml if self.rows > 0 => self.out.write_all(b"\n</resultset>\n"),
            Language::Xml => self.out.write_all(b"</resultset>\n"),
            _ => Ok(()),
        }
    }

    fn html(&mut self, row: &[Value]) -> io::Result<()> {
        if self.rows == 1 {
            self.out.write_all(b"<TABLE BORDER=1>")?;
            if self.names {
                let names = self.columns.iter().map(|column| column.name.as_bytes());
                put_html_row(self.out, "TH", names)?;
            }
        }
        put_html_row(self.out, "TD", row.iter().map(|value| value.as_bytes().unwrap_or(b"NULL")))
    }

    fn xml(&mut self, row: &[Value]) -> io::Result<()> {
        self.out.write_all(if self.rows == 1 { b"\n  <row>\n" } else { b"\n\n  <row>\n" })?;
        for (column, value) in self.columns.iter().zip(row) {
            self.out.write_all(b"\t<field name=\"")?;
            put_escaped(self.out, column.name.as_bytes())?;
            match value.as_bytes() {
                None => self.out.write_all(b"\" xsi:nil=\"true\" />\n")?,
                Some(text) => {
                    self.out.write_all(b"\">")?;
                    put_escaped(self.out, text)?;
                    self.out.write_all(b"</field>\n")?;
                }
            }
        }
        self.out.write_all(b"  </row>")
    }

    /// The names, and which columns stand on the right.
    fn markdown_head(&mut self) -> io::Result<()> {
        put_markdown(self.out, self.columns.iter().map(|column| column.name.as_bytes()))?;
        let is_number = |column: &ColumnDef| matches!(column.type_code, 0..=5 | 8 | 9 | 13 | 246);
        let rules = self.columns.iter().map(|column| match is_number(column) {
            true => " ---: |",
            false => " --- |",
        });
        writeln!(self.out, "|{}", rules.collect::<String>())
    }
}

fn put_html_row<'a>(
    out: &mut dyn Write,
    tag: &str,
    cells: impl Iterator<Item = &'a [u8]>,
) -> io::Result<()> {
    out.write_all(b"<TR>")?;
    for cell in cells {
        write!(out, "<{tag}>")?;
        put_escaped(out, cell)?;
        write!(out, "</{tag}>")?;
    }
    out.write_all(b"</TR>")
}

fn put_markdown<'a>(out: &mut dyn Write, cells: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    out.write_all(b"|")?;
    for cell in cells {
        out.write_all(b" ")?;
        for byte in cell {
            match byte {
                b'|' => out.write_all(b"\\|")?,
                b'\n' => out.write_all(b"<br>")?,
                b'\r' => {}
                byte => out.write_all(&[*byte])?,
            }
        }
        out.write_all(b" |")?;
    }
    out.write_all(b"\n")
}

fn put_escaped(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    for byte in text {
        match byte {
            b'&' => out.write_all(b"&amp;")?,
            b'<' => out.write_all(b"&lt;")?,
            b'>' => out.write_all(b"&gt;")?,
            b'"' => out.write_all(b"&quot;")?,
            byte => out.write_all(&[*byte])?,
        }
    }
    Ok(())
}
