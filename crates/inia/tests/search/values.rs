//! Types of columns, and the few values that tables and statements draw from.

use inia_testkit::Random;

/// What an expression is about; operands are chosen by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Number,
    Text,
    Date,
    Clock,
    Doc,
}

impl Kind {
    /// Kinds that columns of results have, by how often.
    const USUAL: [Kind; 9] = [
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Number,
        Kind::Number,
        Kind::Date,
        Kind::Clock,
    ];

    pub(super) fn any(random: &mut Random) -> Kind {
        *random.pick(&Kind::USUAL)
    }

    /// A kind to compare with this one: texts that are no dates are not compared with dates, since
    /// MySQL's functions differ in what comes of it.
    pub(super) fn near(self, random: &mut Random) -> Kind {
        match self {
            Kind::Date | Kind::Clock | Kind::Doc => self,
            _ => *random.pick(&[Kind::Int, Kind::Number, Kind::Text]),
        }
    }

    /// The letter that stands for the kind in shapes and begins its columns' names.
    pub(super) fn letter(self) -> char {
        match self {
            Kind::Int => 'i',
            Kind::Number => 'n',
            Kind::Text => 's',
            Kind::Date => 'd',
            Kind::Clock => 't',
            Kind::Doc => 'j',
        }
    }

    pub(super) fn of(letter: char) -> Option<Kind> {
        let all = [Kind::Int, Kind::Number, Kind::Text, Kind::Date, Kind::Clock, Kind::Doc];
        all.into_iter().find(|kind| kind.letter() == letter)
    }

    /// Literals that statements compare with.
    pub(super) fn literals(self) -> &'static [&'static str] {
        match self {
            Kind::Int => &["0", "1", "2", "3", "5", "10", "-1", "4294967295", "TRUE"],
            Kind::Number => &["1.5", "-2.25", "0.0", "2", "10.00", "1e0", "0.1"],
            Kind::Text => {
                &["'a'", "'A'", "'b'", "''", "'ab'", "'x '", "'x'", "'é'", "'10'", "'1x'", "'c'"]
            }
            Kind::Date => &[
                "'2020-01-01'",
                "'2020-01-31'",
                "DATE'2020-02-29'",
                "'2020-01-01 00:00:00'",
                "TIMESTAMP'2020-01-31 23:59:59'",
                "'1999-12-31 10:11:12'",
            ],
            Kind::Clock => &["'10:00:00'", "'00:00:01'", "'-01:30:00'", "'838:59:59'", "'0'"],
            Kind::Doc => &[
                "CAST('1' AS JSON)",
                "JSON_ARRAY(1, 2)",
                "JSON_OBJECT('a', 1)",
                "CAST('null' AS JSON)",
            ],
        }
    }
}

/// A type that columns may have.
pub(super) struct ColumnType {
    pub(super) sql: &'static str,
    /// What follows where NULL is allowed.
    pub(super) null: &'static str,
    pub(super) kind: Kind,
    /// The length that keys need, or 0 for a type that no key of several columns begins with.
    pub(super) key: Option<u32>,
    /// Keys may hold the beginning only.
    pub(super) shortens: bool,
    pub(super) values: &'static [&'static str],
}

const fn plain(sql: &'static str, kind: Kind, values: &'static [&'static str]) -> ColumnType {
    ColumnType { sql, null: "", kind, key: None, shortens: false, values }
}

const fn text(sql: &'static str, key: Option<u32>) -> ColumnType {
    ColumnType { sql, null: "", kind: Kind::Text, key, shortens: true, values: TEXTS }
}

const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'A'",
    "'b'",
    "'B '",
    "'ab'",
    "'abc'",
    "'x'",
    "'x '",
    "'é'",
    "'e'",
    "'10'",
    "'2'",
    "'2020-01-01'",
    "'c'",
];

const DATES: &[&str] = &[
    "'2020-01-01'",
    "'2020-01-31'",
    "'2020-02-29'",
    "'2020-01-01 00:00:00'",
    "'2020-01-31 23:59:59'",
    "'1999-12-31 10:11:12.5'",
    "'2021-12-31 12:00:00.25'",
];

const CLOCKS: &[&str] =
    &["'10:00:00'", "'00:00:01'", "'-01:30:00'", "'838:59:59'", "'0'", "'10:00:00.5'"];

pub(super) const TYPES: &[ColumnType] = &[
    plain("INT", Kind::Int, &["-1", "0", "1", "2", "3", "5", "10", "2147483647"]),
    plain("INT", Kind::Int, &["0", "1", "2", "3"]),
    plain("TINYINT", Kind::Int, &["-128", "-1", "0", "1", "2", "3", "127"]),
    plain("INT UNSIGNED", Kind::Int, &["0", "1", "2", "3", "5", "4294967295"]),
    plain(
        "BIGINT",
        Kind::Int,
        &["-9007199254740993", "-1", "0", "1", "2", "10", "9007199254740993"],
    ),
    plain("BIGINT UNSIGNED", Kind::Int, &["0", "1", "2", "3", "9223372036854775808"]),
    plain("SMALLINT UNSIGNED", Kind::Int, &["0", "1", "2", "65535"]),
    plain("YEAR", Kind::Int, &["2000", "2020", "1999", "2021"]),
    plain("BIT(4)", Kind::Int, &["b'0'", "b'1'", "b'10'", "b'1111'"]),
    plain("DECIMAL(8,2)", Kind::Number, &["0", "1.5", "-2.25", "2", "10", "99999.99"]),
    plain("DECIMAL(12,4)", Kind::Number, &["0", "1.5", "-2.25", "0.0625", "10"]),
    plain("DOUBLE", Kind::Number, &["0", "1.5", "-2.25", "2", "10", "1e10", "-0.0"]),
    plain("FLOAT", Kind::Number, &["0", "1.5", "-2.25", "2"]),
    text("VARCHAR(12){c}", None),
    text("VARCHAR(12){c}", None),
    text("CHAR(5){c}", None),
    text("VARCHAR(200){c}", None),
    text("TEXT{c}", Some(3)),
    ColumnType { null: "", ..plain("VARBINARY(8)", Kind::Text, TEXTS) },
    plain("ENUM('b','a','x',''){c}", Kind::Text, &["'a'", "'b'", "'x'", "''"]),
    plain("SET('x','y','a'){c}", Kind::Text, &["''", "'x'", "'x,y'", "'a'"]),
    plain("DATE", Kind::Date, DATES),
    plain("DATETIME", Kind::Date, DATES),
    plain("DATETIME(3)", Kind::Date, DATES),
    ColumnType { null: " NULL", ..plain("TIMESTAMP", Kind::Date, DATES) },
    plain("TIME", Kind::Clock, CLOCKS),
    plain("TIME(2)", Kind::Clock, CLOCKS),
    ColumnType {
        key: Some(0),
        ..plain(
            "JSON",
            Kind::Doc,
            &["'1'", "'\"a\"'", "'null'", "'[1, 2]'", "'{\"a\": 1}'", "'{\"a\": \"x\"}'", "'1.5'"],
        )
    },
];

/// The collations of one table's columns: mostly one, since columns of different ones cannot be
/// compared.
pub(super) fn collations(random: &mut Random) -> Vec<&'static str> {
    let other = *random.pick(&[
        " COLLATE utf8mb4_general_ci",
        " COLLATE utf8mb4_bin",
        " COLLATE utf8mb4_0900_bin",
        " CHARACTER SET latin1",
    ]);
    match random.index(10) {
        0..=5 => vec![""],
        6 => vec![other],
        _ => vec!["", "", " COLLATE utf8mb4_bin"],
    }
}
