//! Types of columns, and the few values that tables and statements draw from.

use inia_testkit::Random;

/// What an expression is about; operands are chosen by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    Int,
    Number,
    Text,
    Date,
    Clock,
    Doc,
}

impl ValueClass {
    /// Kinds that columns of results have, by how often.
    const USUAL: [ValueClass; 9] = [
        ValueClass::Int,
        ValueClass::Int,
        ValueClass::Int,
        ValueClass::Text,
        ValueClass::Text,
        ValueClass::Number,
        ValueClass::Number,
        ValueClass::Date,
        ValueClass::Clock,
    ];

    pub(super) fn any(random: &mut Random) -> ValueClass {
        *random.pick(&ValueClass::USUAL)
    }

    /// A kind to compare with this one: texts that are no dates are not compared with dates, since
    /// MySQL's functions differ in what comes of it.
    pub(super) fn near(self, random: &mut Random) -> ValueClass {
        match self {
            ValueClass::Date | ValueClass::Clock | ValueClass::Doc => self,
            _ => *random.pick(&[ValueClass::Int, ValueClass::Number, ValueClass::Text]),
        }
    }

    /// The letter that stands for the kind in shapes and begins its columns' names.
    pub(super) fn letter(self) -> char {
        match self {
            ValueClass::Int => 'i',
            ValueClass::Number => 'n',
            ValueClass::Text => 's',
            ValueClass::Date => 'd',
            ValueClass::Clock => 't',
            ValueClass::Doc => 'j',
        }
    }

    pub(super) fn of(letter: char) -> Option<ValueClass> {
        let all = [
            ValueClass::Int,
            ValueClass::Number,
            ValueClass::Text,
            ValueClass::Date,
            ValueClass::Clock,
            ValueClass::Doc,
        ];
        all.into_iter().find(|kind| kind.letter() == letter)
    }

    /// Literals that statements compare with.
    pub(super) fn literals(self) -> &'static [&'static str] {
        match self {
            ValueClass::Int => &["0", "1", "2", "3", "5", "10", "-1", "4294967295", "TRUE"],
            ValueClass::Number => &["1.5", "-2.25", "0.0", "2", "10.00", "1e0", "0.1"],
            ValueClass::Text => {
                &["'a'", "'A'", "'b'", "''", "'ab'", "'x '", "'x'", "'é'", "'10'", "'1x'", "'c'"]
            }
            ValueClass::Date => &[
                "'2020-01-01'",
                "'2020-01-31'",
                "DATE'2020-02-29'",
                "'2020-01-01 00:00:00'",
                "TIMESTAMP'2020-01-31 23:59:59'",
                "'1999-12-31 10:11:12'",
            ],
            ValueClass::Clock => &["'10:00:00'", "'00:00:01'", "'-01:30:00'", "'838:59:59'", "'0'"],
            ValueClass::Doc => &[
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
    pub(super) kind: ValueClass,
    /// The length that keys need, or 0 for a type that no key of several columns begins with.
    pub(super) key: Option<u32>,
    /// Keys may hold the beginning only.
    pub(super) shortens: bool,
    pub(super) values: &'static [&'static str],
}

const fn plain(sql: &'static str, kind: ValueClass, values: &'static [&'static str]) -> ColumnType {
    ColumnType { sql, null: "", kind, key: None, shortens: false, values }
}

const fn text(sql: &'static str, key: Option<u32>) -> ColumnType {
    ColumnType { sql, null: "", kind: ValueClass::Text, key, shortens: true, values: TEXTS }
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
    plain("INT", ValueClass::Int, &["-1", "0", "1", "2", "3", "5", "10", "2147483647"]),
    plain("INT", ValueClass::Int, &["0", "1", "2", "3"]),
    plain("TINYINT", ValueClass::Int, &["-128", "-1", "0", "1", "2", "3", "127"]),
    plain("INT UNSIGNED", ValueClass::Int, &["0", "1", "2", "3", "5", "4294967295"]),
    plain(
        "BIGINT",
        ValueClass::Int,
        &["-9007199254740993", "-1", "0", "1", "2", "10", "9007199254740993"],
    ),
    plain("BIGINT UNSIGNED", ValueClass::Int, &["0", "1", "2", "3", "9223372036854775808"]),
    plain("SMALLINT UNSIGNED", ValueClass::Int, &["0", "1", "2", "65535"]),
    plain("YEAR", ValueClass::Int, &["2000", "2020", "1999", "2021"]),
    plain("BIT(4)", ValueClass::Int, &["b'0'", "b'1'", "b'10'", "b'1111'"]),
    plain("DECIMAL(8,2)", ValueClass::Number, &["0", "1.5", "-2.25", "2", "10", "99999.99"]),
    plain("DECIMAL(12,4)", ValueClass::Number, &["0", "1.5", "-2.25", "0.0625", "10"]),
    plain("DOUBLE", ValueClass::Number, &["0", "1.5", "-2.25", "2", "10", "1e10", "-0.0"]),
    plain("FLOAT", ValueClass::Number, &["0", "1.5", "-2.25", "2"]),
    text("VARCHAR(12){c}", None),
    text("VARCHAR(12){c}", None),
    text("CHAR(5){c}", None),
    text("VARCHAR(200){c}", None),
    text("TEXT{c}", Some(3)),
    ColumnType { null: "", ..plain("VARBINARY(8)", ValueClass::Text, TEXTS) },
    plain("ENUM('b','a','x',''){c}", ValueClass::Text, &["'a'", "'b'", "'x'", "''"]),
    plain("SET('x','y','a'){c}", ValueClass::Text, &["''", "'x'", "'x,y'", "'a'"]),
    plain("DATE", ValueClass::Date, DATES),
    plain("DATETIME", ValueClass::Date, DATES),
    plain("DATETIME(3)", ValueClass::Date, DATES),
    ColumnType { null: " NULL", ..plain("TIMESTAMP", ValueClass::Date, DATES) },
    plain("TIME", ValueClass::Clock, CLOCKS),
    plain("TIME(2)", ValueClass::Clock, CLOCKS),
    ColumnType {
        key: Some(0),
        ..plain(
            "JSON",
            ValueClass::Doc,
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
