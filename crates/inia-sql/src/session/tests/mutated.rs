//! Damaged documents, paths, patterns, dates and numbers as arguments of functions: an answer or
//! an error, never a panic, and the session goes on.

use super::TestDb;
use inia_base::value::Value;
use inia_testkit::{Random, mutate};

/// Executes each statement with damaged texts for its parameters.
fn each(seed: u64, rounds: u64, statements: &[&str], texts: &[&str]) {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("SET sql_mode = ''");
    let prepared: Vec<(u32, usize)> =
        statements.iter().map(|sql| (session.prepare(sql), sql.matches('?').count())).collect();
    let mut random = Random::new(seed);
    let mut answered = 0;
    for _ in 0..mutate::rounds(rounds) {
        for (id, count) in &prepared {
            let params: Vec<Value> = (0..*count)
                .map(|_| {
                    let (text, other) = (*random.pick(texts), *random.pick(texts));
                    match random.below(4) {
                        0 => Value::Text(text.to_owned()),
                        _ => Value::Text(mutate::text(&mut random, text, other)),
                    }
                })
                .collect();
            let answer = session.execute(*id, &params);
            answered += u64::from(!answer.starts_with("ERROR"));
        }
    }
    assert!(answered > rounds, "damage must not all be refused");
    assert_eq!(session.ok("SELECT 1"), "1\n");
}

#[test]
fn documents_and_paths() {
    each(
        31,
        300,
        &[
            "SELECT JSON_VALID(?)",
            "SELECT CAST(? AS JSON)",
            "SELECT JSON_EXTRACT('{\"a\": [1, {\"b\": null}], \"c\": \"x\"}', ?)",
            "SELECT JSON_EXTRACT(?, ?, ?)",
            "SELECT JSON_SET('[1, {\"a\": 2}]', ?, ?)",
            "SELECT JSON_REMOVE('[1, {\"a\": 2}]', ?)",
            "SELECT JSON_MERGE_PATCH(?, ?)",
            "SELECT JSON_PRETTY(?)",
            "SELECT JSON_CONTAINS(?, ?)",
            "SELECT JSON_SEARCH('[\"abc\", {\"x\": \"def\"}]', 'all', ?)",
            "SELECT JSON_UNQUOTE(?)",
            "SELECT JSON_KEYS(?), JSON_LENGTH(?), JSON_DEPTH(?)",
        ],
        &[
            "{\"a\": [1, 2.5e3, {\"b\": null, \"c\": true}], \"é\": \"\\u00e9\\n\\ud83d\\ude00\"}",
            "[]",
            "\"text\"",
            "[-0.0, 18446744073709551615, -9223372036854775808, 1e308]",
            "$",
            "$.a[1].b",
            "$**.b",
            "$.\"quoted key\"[last-1]",
            "$[0 to last]",
            "$.*",
        ],
    );
}

#[test]
fn patterns() {
    each(
        32,
        300,
        &[
            "SELECT ? LIKE ?",
            "SELECT ? LIKE ? ESCAPE '|'",
            "SELECT ? COLLATE utf8mb4_bin LIKE ?",
            "SELECT CAST(? AS BINARY) LIKE CAST(? AS BINARY)",
            "SELECT ? REGEXP ?",
            "SELECT REGEXP_REPLACE(?, ?, ?)",
            "SELECT REGEXP_SUBSTR(?, ?, 1, 1, ?)",
            "SELECT REGEXP_INSTR(?, ?)",
            "SELECT ? BETWEEN ? AND ?, STRCMP(?, ?)",
        ],
        &[
            "a%b_c\\%",
            "%é__漢%",
            "ABC abc ÄÖÜ ß",
            "^(a|b)*[[:alpha:]]{1,3}\\d+$",
            "(?i)x(y)?z$1",
            "[^a-z\\]]+.*?",
            "\\p{L}\\b",
            "ci",
        ],
    );
}

#[test]
fn dates_and_numbers() {
    each(
        33,
        200,
        &[
            "SELECT DATE(?), TIME(?), YEAR(?), TO_DAYS(?), LAST_DAY(?)",
            "SELECT CAST(? AS DATETIME(6)), CAST(? AS TIME(3)), CAST(? AS DATE), CAST(? AS YEAR)",
            "SELECT ? + INTERVAL ? DAY_MICROSECOND, ? - INTERVAL ? YEAR_MONTH",
            "SELECT ADDTIME(?, ?), TIMEDIFF(?, ?), DATEDIFF(?, ?)",
            "SELECT STR_TO_DATE(?, ?), DATE_FORMAT(?, ?), TIME_FORMAT(?, ?)",
            "SELECT TIMESTAMPDIFF(MONTH, ?, ?), PERIOD_ADD(?, ?), MAKETIME(?, ?, ?)",
            "SELECT CONVERT_TZ(?, ?, ?), UNIX_TIMESTAMP(?), FROM_UNIXTIME(?), SEC_TO_TIME(?)",
            "SELECT CAST(? AS DECIMAL(65,30)), CAST(? AS SIGNED), CAST(? AS UNSIGNED), ? + 0.0",
            "SELECT ? * ?, ? / ?, ? DIV ?, ? % ?, -?, ? << ?",
            "SELECT ROUND(?, ?), TRUNCATE(?, ?), FORMAT(?, ?), CONV(?, ?, ?), POW(?, ?)",
            "SELECT LEFT(?, ?), SUBSTRING(?, ?, ?), LPAD(?, 9, ?), INSERT(?, ?, ?, ?), HEX(?)",
            "SELECT UNHEX(?), FROM_BASE64(?), INET_ATON(?), INET6_ATON(?), UUID_TO_BIN(?), CHAR(?)",
        ],
        &[
            "2024-02-29 23:59:59.999999",
            "0000-00-00",
            "9999-12-31",
            "-838:59:59",
            "1 02:03:04.5",
            "%Y-%m-%d %H:%i:%s.%f",
            "%W %M %e %X %V %j %r %p",
            "12345678901234567890.123456789",
            "-1e-30",
            "9223372036854775807",
            "3",
            "-2",
            "+05:30",
            "Europe/Berlin",
            "ff",
            "::ffff:1.2.3.4",
        ],
    );
}
