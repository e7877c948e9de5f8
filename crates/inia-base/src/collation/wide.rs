//! Unicode in numbers of two or four bytes: ucs2, utf16, utf16le, utf32.

/// One of these sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// The first plane, two bytes each.
    Ucs2,
    /// One or two numbers of two bytes, the higher byte first.
    Utf16,
    /// The same with the lower byte first.
    Utf16le,
    /// Four bytes each, the highest first.
    Utf32,
}

impl Wide {
    /// Appends a character's bytes, a question mark where there are none.
    pub(super) fn encode(self, char: char, out: &mut Vec<u8>) {
        let mut units = [0; 2];
        match self {
            Wide::Utf32 => out.extend_from_slice(&u32::from(char).to_be_bytes()),
            Wide::Ucs2 => {
                let unit = u16::try_from(u32::from(char)).unwrap_or(u16::from(b'?'));
                out.extend_from_slice(&unit.to_be_bytes());
            }
            Wide::Utf16 => {
                let units = char.encode_utf16(&mut units);
                out.extend(units.iter().flat_map(|unit| unit.to_be_bytes()));
            }
            Wide::Utf16le => {
                let units = char.encode_utf16(&mut units);
                out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            }
        }
    }

    /// Reads bytes; the error is the position of the first that are no character.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<String, usize> {
        let size = if self == Wide::Utf32 { 4 } else { 2 };
        let unit = |own: &[u8]| match self {
            Wide::Utf16le => own.iter().rev().fold(0, |unit, &byte| unit << 8 | u32::from(byte)),
            _ => own.iter().fold(0, |unit, &byte| unit << 8 | u32::from(byte)),
        };
        let mut text = String::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let first = unit(bytes.get(at..at + size).ok_or(at)?);
            let mut end = at + size;
            let mut code = first;
            if (0xD800..0xDC00).contains(&first) && matches!(self, Wide::Utf16 | Wide::Utf16le) {
                let second = unit(bytes.get(end..end + size).ok_or(at)?);
                let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400).ok_or(at)?;
                code = 0x1_0000 + ((first - 0xD800) << 10) + low;
                end += size;
            }
            text.push(char::from_u32(code).ok_or(at)?);
            at = end;
        }
        Ok(text)
    }
}
