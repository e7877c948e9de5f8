//! Statistics of tables where MySQL shows them: the script beside this file has its answers.

use super::TestDb;
use std::path::Path;

#[test]
fn statistics_are_where_mysql_shows_them() {
    let db = TestDb::new();
    let mut s = db.session();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests");
    inia_testkit::golden::check(&here.join("statistics.answers"), |query| s.ok(query));
}
