//! The character set that a client names at its login, by the id of a collation.
//!
//! An id that MySQL does not know either means the server's own character set. One whose set is not
//! there is refused: the client would send bytes of that set, and read answers as such.

use inia_base::collation::Collation;
use inia_wire::error::ServerError;

/// A character set, and the ids of its collations as ranges.
type Ids = (&'static str, &'static [(u16, u16)]);

/// Sets in which no statement can be written: an ASCII character takes more than one byte.
const WIDE: &[Ids] = &[
    ("ucs2", &[(35, 35), (90, 90), (128, 151), (159, 159)]),
    ("utf16", &[(54, 55), (101, 124)]),
    ("utf16le", &[(56, 56), (62, 62)]),
    ("utf32", &[(60, 61), (160, 183)]),
];

/// Other sets of MySQL 8.0.
const OTHERS: &[Ids] = &[
    ("armscii8", &[(32, 32), (64, 64)]),
    ("big5", &[(1, 1), (84, 84)]),
    ("cp1250", &[(26, 26), (34, 34), (44, 44), (66, 66), (99, 99)]),
    ("cp1251", &[(14, 14), (23, 23), (50, 52)]),
    ("cp1256", &[(57, 57), (67, 67)]),
    ("cp1257", &[(29, 29), (58, 59)]),
    ("cp850", &[(4, 4), (80, 80)]),
    ("cp852", &[(40, 40), (81, 81)]),
    ("cp866", &[(36, 36), (68, 68)]),
    ("cp932", &[(95, 96)]),
    ("dec8", &[(3, 3), (69, 69)]),
    ("eucjpms", &[(97, 98)]),
    ("euckr", &[(19, 19), (85, 85)]),
    ("gb18030", &[(248, 250)]),
    ("gb2312", &[(24, 24), (86, 86)]),
    ("gbk", &[(28, 28), (87, 87)]),
    ("geostd8", &[(92, 93)]),
    ("greek", &[(25, 25), (70, 70)]),
    ("hebrew", &[(16, 16), (71, 71)]),
    ("hp8", &[(6, 6), (72, 72)]),
    ("keybcs2", &[(37, 37), (73, 73)]),
    ("koi8r", &[(7, 7), (74, 74)]),
    ("koi8u", &[(22, 22), (75, 75)]),
    ("latin2", &[(2, 2), (9, 9), (21, 21), (27, 27), (77, 77)]),
    ("latin5", &[(30, 30), (78, 78)]),
    ("latin7", &[(20, 20), (41, 42), (79, 79)]),
    ("macce", &[(38, 38), (43, 43)]),
    ("macroman", &[(39, 39), (53, 53)]),
    ("sjis", &[(13, 13), (88, 88)]),
    ("swe7", &[(10, 10), (82, 82)]),
    ("tis620", &[(18, 18), (89, 89)]),
    ("ujis", &[(12, 12), (91, 91)]),
];

/// Errors 1231 and 1115 where a client cannot be served in its character set.
pub(crate) fn check(id: u16) -> Result<(), ServerError> {
    if let Some(name) = find(WIDE, id) {
        let text = format!("Variable 'character_set_client' can't be set to the value of '{name}'");
        return Err(ServerError::new(1231, "42000", text));
    }
    match find(OTHERS, id).filter(|_| Collation::from_id(id).is_none()) {
        Some(name) => {
            Err(ServerError::new(1115, "42000", format!("Unknown character set: '{name}'")))
        }
        None => Ok(()),
    }
}

fn find(sets: &[Ids], id: u16) -> Option<&'static str> {
    let has = |ids: &[(u16, u16)]| ids.iter().any(|&(first, last)| (first..=last).contains(&id));
    sets.iter().find(|(_, ids)| has(ids)).map(|&(name, _)| name)
}
