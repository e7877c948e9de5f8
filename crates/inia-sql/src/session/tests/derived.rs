//! The types that PREPARE derives for parameters.

use super::TestDb;
use inia_base::datatype::DataType;
use inia_base::value::Value;

fn name(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Int { unsigned: true, .. } => "uint",
        DataType::Int { .. } => "int",
        DataType::Decimal { .. } => "decimal",
        DataType::Double { .. } => "double",
        DataType::Date => "date",
        DataType::DateTime { .. } => "datetime",
        DataType::Time { .. } => "time",
        DataType::Json => "json",
        DataType::VarBinary(_) | DataType::Blob(_) => "bytes",
        _ => "text",
    }
}

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, u BIGINT UNSIGNED, d DECIMAL(9,2), \
                     f DOUBLE, v VARCHAR(9), da DATE, dt DATETIME, tm TIME, j JSON)";

#[test]
fn parameters_are_described_by_the_types_of_their_places() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(TABLE);
    let cases = [
        ("SELECT ?", "text"),
        ("SELECT ? * 2, 2.5 * ?, ? * 2e0", "int decimal double"),
        ("SELECT ? + ?, -?, ABS(?)", "double double double double"),
        ("SELECT ? + ? + 1", "int int"),
        ("SELECT id = IFNULL(?, ?) FROM t", "int int"),
        ("SELECT ? DIV ?, ? % 3, MOD(?, ?)", "int int int double double"),
        ("SELECT ? | ?, ~?, ? & 1, 1 << ?", "bytes bytes bytes int int"),
        ("SELECT ? = 1, ? = ?, ? < 1.5", "int text text decimal"),
        ("SELECT ? IN (1, 'a'), 1 IN (?, ?), ? BETWEEN 1 AND 2", "int int int int"),
        ("SELECT NOT ?, ? AND 1, ? IS TRUE, ? IS NULL", "int int int text"),
        ("SELECT IFNULL(?, 1), COALESCE(?, ?), GREATEST(1.5, ?)", "int text text decimal"),
        ("SELECT CASE ? WHEN 1 THEN ? ELSE 'a' END, IF(?, ?, 2)", "int text int int"),
        ("SELECT CONCAT(?, 1), SUBSTRING(?, ?), LPAD(?, ?, ?)", "text text int text int text"),
        ("SELECT ROUND(?, ?), SQRT(?), FORMAT(?, ?)", "decimal int double decimal int"),
        ("SELECT YEAR(?), DATE(?), ADDTIME(?, ?)", "datetime date time time"),
        ("SELECT ? + INTERVAL ? DAY, ? - INTERVAL ? SECOND", "date int datetime decimal"),
        ("SELECT CAST(? AS SIGNED), CAST(? AS DATE), CAST(? AS JSON)", "int date json"),
        ("SELECT SUM(?), MIN(?), STD(?)", "double text decimal"),
        ("SELECT JSON_EXTRACT(?, ?), JSON_SET(j, ?, ?) FROM t", "json text text json"),
        ("SELECT id FROM t WHERE id = ? AND ? > u AND d < ?", "int uint decimal"),
        ("SELECT id FROM t WHERE f = ? AND v = ? AND j = ?", "double text json"),
        ("SELECT id FROM t WHERE da = ? AND dt > ? AND tm < ?", "date datetime time"),
        ("SELECT id FROM t WHERE (id, v) IN ((?, ?), (?, ?))", "int text int text"),
        ("SELECT id FROM t WHERE v LIKE ? LIMIT ?, ?", "text uint uint"),
        ("SELECT LAG(v, ?, ?) OVER (ORDER BY id) FROM t", "int text"),
        ("INSERT INTO t (id, d, da, v) VALUES (?, ?, ?, ?)", "int decimal date text"),
        ("UPDATE t SET d = ?, tm = ? WHERE id = ? LIMIT ?", "decimal time int uint"),
        ("DELETE FROM t WHERE da < ? LIMIT ?", "date uint"),
    ];
    for (sql, expected) in cases {
        let params = s.0.prepare(sql).unwrap().params;
        let names: Vec<&str> = params.iter().map(|param| name(&param.data_type)).collect();
        assert_eq!(names.join(" "), expected, "{sql}");
    }
}

#[test]
fn columns_follow_the_types_of_parameters() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(TABLE);
    let prepared = s.0.prepare("SELECT ? * 2, IFNULL(?, 1.5), CONCAT(?), DATE(?), ? = 1").unwrap();
    let names: Vec<&str> = prepared.columns.iter().map(|column| name(&column.data_type)).collect();
    assert_eq!(names, ["int", "decimal", "text", "date", "int"]);
}

#[test]
fn a_plan_for_a_derived_type_serves_strings_and_numbers() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(TABLE);
    s.ok("INSERT INTO t (id, u) VALUES (1, 9007199254740992), (2, 9007199254740993)");
    let by_number = s.prepare("SELECT id FROM t WHERE u = ?");
    let text = |text: &str| Value::Text(text.into());
    // As doubles both rows would be equal.
    assert_eq!(s.execute(by_number, &[text("9007199254740993")]), "2");
    assert_eq!(s.execute(by_number, &[Value::UInt(9_007_199_254_740_992)]), "1");
    assert_eq!(s.execute(by_number, &[Value::Int(9_007_199_254_740_993)]), "2");
    let limited = s.prepare("SELECT id FROM t ORDER BY id LIMIT ?");
    assert_eq!(s.execute(limited, &[Value::Int(1)]), "1");
    assert_eq!(s.execute(limited, &[text("1")]), "1");
    assert_eq!(s.execute(limited, &[Value::Null]), "");
}

#[test]
fn statements_that_fail_or_are_prepared_again_have_numbers() {
    let db = TestDb::new();
    let mut s = db.session();
    let first = s.prepare("SELECT ? * 2");
    assert_eq!(s.execute(first, &[Value::Int(5)]), "10");
    assert_eq!(s.prepare("SELECT ?"), first + 1);
    // A number takes the place of a text.
    assert_eq!(s.execute(first + 1, &[Value::Int(5)]), "5");
    assert_eq!(s.execute(first + 1, &[Value::Int(6)]), "6");
    assert_eq!(s.prepare("SELECT 1"), first + 3);
    assert!(s.0.prepare("SELECT nowhere").is_err());
    assert_eq!(s.prepare("SELECT 1"), first + 5);
}
