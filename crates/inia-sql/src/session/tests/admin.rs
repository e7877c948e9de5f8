//! SHOW, computed tables, accounts and the other administrative statements.

use super::{TestDb, TestSession};
use inia_query::database::ClientInfo;

const TABLES: &[&str] = &[
    "use test",
    "create table p (id int unsigned not null auto_increment primary key, a varchar(20) default \
     'x' comment 'cc', b decimal(10,2) not null default 1.5, c datetime(3) default \
     current_timestamp(3) on update current_timestamp(3), d enum('a','b') default 'a', f text, \
     j tinyint(1) not null, l bit(5) default b'101', unique key ua (a), key kb (b, d desc), key \
     kf (f(10)), constraint ck check (b > 0)) comment 'tt'",
    "create table c (id int, pid int unsigned, primary key(id), foreign key (pid) references \
     p(id) on delete cascade)",
];

#[test]
fn tables_and_columns_are_shown_as_mysql_shows_them() {
    let db = TestDb::new();
    let mut s = db.session();
    TABLES.iter().for_each(|sql| drop(s.ok(sql)));
    s.check(&[
        ("show databases", "information_schema\nmysql\nperformance_schema\ntest"),
        ("show databases like 'te%'", "test"),
        ("show tables", "c\np"),
        ("show tables like 'p%'", "p"),
        (
            "show full tables where Table_type = 'BASE TABLE' and Tables_in_test = 'c'",
            "c|BASE TABLE",
        ),
        ("show tables from nosuch", "ERROR 1049: Unknown database 'nosuch'"),
        (
            "show columns from p",
            "id|int unsigned|NO|PRI|NULL|auto_increment\n\
             a|varchar(20)|YES|UNI|x|\n\
             b|decimal(10,2)|NO|MUL|1.50|\n\
             c|datetime(3)|YES||CURRENT_TIMESTAMP(3)|\
             DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)\n\
             d|enum('a','b')|YES||a|\n\
             f|text|YES|MUL|NULL|\n\
             j|tinyint(1)|NO||NULL|\n\
             l|bit(5)|YES||b'101'|",
        ),
        ("describe c pid", "pid|int unsigned|YES|MUL|NULL|"),
        ("describe nosuch", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
        (
            "show full columns from p where field = 'a'",
            "a|varchar(20)|utf8mb4_0900_ai_ci|YES|UNI|x||select,insert,update,references|cc",
        ),
        (
            "show index from p where Key_name <> 'PRIMARY'",
            "p|0|ua|1|a|A|0|NULL|NULL|YES|BTREE|||YES|NULL\n\
             p|1|kb|1|b|A|0|NULL|NULL||BTREE|||YES|NULL\n\
             p|1|kb|2|d|D|0|NULL|NULL|YES|BTREE|||YES|NULL\n\
             p|1|kf|1|f|A|0|10|NULL|YES|BTREE|||YES|NULL",
        ),
        (
            "select constraint_name, table_name, constraint_type from \
             information_schema.table_constraints where table_schema = 'test'",
            "PRIMARY|c|PRIMARY KEY\nc_ibfk_1|c|FOREIGN KEY\nPRIMARY|p|PRIMARY KEY\nua|p|UNIQUE\n\
             ck|p|CHECK",
        ),
        (
            "select kcu.column_name, kcu.referenced_table_name, rc.delete_rule from \
             information_schema.key_column_usage kcu join \
             information_schema.referential_constraints rc using (constraint_name) where \
             kcu.table_schema = database()",
            "pid|p|CASCADE",
        ),
        ("select check_clause from information_schema.check_constraints", "(`b` > 0)"),
        (
            "select * from information_schema.nosuch",
            "ERROR 1109: Unknown table 'NOSUCH' in information_schema",
        ),
        (
            "select table_name, engine, table_type, table_comment from information_schema.tables \
             where table_schema = 'test'",
            "c|InnoDB|BASE TABLE|\np|InnoDB|BASE TABLE|tt",
        ),
        ("show triggers", ""),
        ("show master status", ""),
        ("purge binary logs to 'x'", "0 affected"),
        ("show binary logs", "ERROR 1381: You are not using binary logging"),
        ("show collation like 'utf8mb4_bin'", "utf8mb4_bin|utf8mb4|46||Yes|1|PAD SPACE"),
        ("show character set like 'utf8mb4'", "utf8mb4|UTF-8 Unicode|utf8mb4_0900_ai_ci|4"),
        ("show engine foo status", "ERROR 1286: Unknown storage engine 'foo'"),
        ("show variables like 'lower\\_case\\_table\\_names'", "lower_case_table_names|0"),
        ("show variables where variable_name = 'autocommit'", "autocommit|ON"),
        ("show global status like 'Threads_connected'", "Threads_connected|1"),
        ("show status like 'Com_create_table'", "Com_create_table|2"),
        ("use information_schema", "0 affected"),
        ("select count(*) > 50 from tables where table_schema = 'information_schema'", "1"),
    ]);
}

#[test]
fn maintenance_answers_per_table() {
    let db = TestDb::new();
    let mut s = db.session();
    TABLES.iter().for_each(|sql| drop(s.ok(sql)));
    s.check(&[
        ("check table p", "test.p|check|status|OK"),
        (
            "analyze table p, nosuch",
            "test.p|analyze|status|OK\n\
             test.nosuch|analyze|Error|Table 'test.nosuch' doesn't exist\n\
             test.nosuch|analyze|status|Operation failed",
        ),
        (
            "repair table p",
            "test.p|repair|note|The storage engine for the table doesn't support repair",
        ),
        ("lock tables p write, c read", "0 affected"),
        ("alter table p add z int", "0 affected (Records: 0  Duplicates: 0  Warnings: 0)"),
        ("unlock tables", "0 affected"),
        ("flush tables", "0 affected"),
        ("kill 4711", "ERROR 1094: Unknown thread id: 4711"),
    ]);
}

#[test]
fn select_into_sets_user_variables() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("select 1, 'b' into @a, @b", "1 affected"),
        ("select @a, @b", "1|b"),
        (
            "select 1 into @a, @b",
            "ERROR 1222: The used SELECT statements have a different number of columns",
        ),
        ("select 1 union select 2 into @a", "ERROR 1172: Result consisted of more than one row"),
        ("select 1 from dual where false into @a", "0 affected"),
        ("show warnings", "Warning|1329|No data - zero rows fetched, selected, or processed"),
    ]);
}

/// Who asks for a random password sees it once; the account has no other.
#[test]
fn random_passwords_are_shown_and_kept_as_any_other() {
    let db = TestDb::new();
    let mut root = db.session();
    let native = "identified with mysql_native_password by random password";
    let mut passwords = Vec::new();
    for sql in [
        format!("create user r {native}"),
        String::from("alter user r identified by random password"),
        String::from("set password for r to random"),
    ] {
        let shown = root.ok(&sql);
        let cells: Vec<&str> = shown.trim_end().split('|').collect();
        assert_eq!((cells[0], cells[1], cells[3]), ("r", "%", "1"), "{sql}");
        assert_eq!(cells[2].len(), 20, "{sql}");
        let is_own = format!(
            "select authentication_string = concat('*', upper(sha1(unhex(sha1('{}'))))) \
             from mysql.user where user = 'r'",
            cells[2]
        );
        assert_eq!(root.ok(&is_own).trim_end(), "1", "{sql}");
        passwords.push(cells[2].to_owned());
    }
    passwords.dedup();
    assert_eq!(passwords.len(), 3, "no password comes twice");
    root.ok("set generated_random_password_length = 7");
    let shown = root.ok(&format!("create user a {native}, b identified by 'b', c {native}"));
    let lengths = shown.lines().map(|line| line.split('|').nth(2).map(str::len));
    assert_eq!(lengths.collect::<Vec<_>>(), [Some(7), Some(7)]);
}

#[test]
fn accounts_see_and_do_what_they_were_granted() {
    let db = TestDb::new();
    let mut root = db.session();
    TABLES.iter().for_each(|sql| drop(root.ok(sql)));
    root.ok("create user u identified by 'secret'");
    root.ok("grant select on test.p to u");
    let client = ClientInfo {
        user: String::from("u"),
        account_user: String::from("u"),
        account_host: String::from("%"),
        ..ClientInfo::default()
    };
    let mut u = db.session_of(client);
    u.check(&[
        ("select current_user()", "u@%"),
        ("show databases", "information_schema\nperformance_schema\ntest"),
        ("use test", "0 affected"),
        ("show tables", "p"),
        ("select count(*) from p", "0"),
        (
            "select * from c",
            "ERROR 1142: SELECT command denied to user 'u'@'localhost' for table 'c'",
        ),
        (
            "insert into p (j) values (1)",
            "ERROR 1142: INSERT command denied to user 'u'@'localhost' for table 'p'",
        ),
        ("use mysql", "ERROR 1044: Access denied for user 'u'@'%' to database 'mysql'"),
        ("show grants", "GRANT USAGE ON *.* TO `u`@`%`\nGRANT SELECT ON `test`.`p` TO `u`@`%`"),
        (
            "show columns from c",
            "ERROR 1142: SELECT command denied to user 'u'@'localhost' for table 'c'",
        ),
        (
            "set global max_connections = 5",
            "ERROR 1227: Access denied; you need (at least one of) the SUPER or \
             SYSTEM_VARIABLES_ADMIN privilege(s) for this operation",
        ),
    ]);
    root.ok("grant insert on test.p to u");
    u.check(&[("insert into p (j) values (1)", "1 affected")]);
    root.check(&[(
        "select user, host, plugin, length(authentication_string), Select_priv from mysql.user \
         order by user",
        "root|localhost|caching_sha2_password|0|Y\nu|%|caching_sha2_password|70|N",
    )]);
}

#[test]
fn global_settings_are_for_the_sessions_that_begin_after_them() {
    let db = TestDb::new();
    let mut before = db.session();
    before.ok("set global sql_mode = ''");
    before.ok("set global transaction isolation level read committed");
    before.ok("set global div_precision_increment = 8");
    let shown = "select @@sql_mode = '', @@transaction_isolation, 1/3";
    before.check(&[
        (shown, "0|REPEATABLE-READ|0.3333"),
        ("select @@global.sql_mode, @@global.transaction_isolation", "|READ-COMMITTED"),
        ("show variables like 'div_prec%'", "div_precision_increment|4"),
        ("select /*+ set_var(div_precision_increment = 2) */ 1/3", "0.33"),
        (shown, "0|REPEATABLE-READ|0.3333"),
        ("set sql_mode = default", "0 affected"),
        (shown, "1|REPEATABLE-READ|0.3333"),
    ]);
    db.session().check(&[(shown, "1|READ-COMMITTED|0.33333333")]);
    before.0.reset().unwrap();
    before.check(&[(shown, "1|READ-COMMITTED|0.33333333")]);
}

#[test]
fn system_variables_are_read_and_set_in_all_forms() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        (
            "select @@session.auto_increment_increment, @@character_set_client, @@license, \
             @@max_allowed_packet, @@performance_schema, @@transaction_isolation, @@wait_timeout",
            "1|utf8mb4|MIT OR Apache-2.0|67108864|1|REPEATABLE-READ|28800",
        ),
        ("set @a = 1, sql_mode = concat(@@sql_mode, ',ANSI_QUOTES'), names latin1", "0 affected"),
        ("select @@character_set_results, @@collation_connection", "latin1|latin1_swedish_ci"),
        (
            "set names utf8mb4 collate utf8mb4_unicode_ci, @@session.sql_mode = default",
            "0 affected",
        ),
        ("show variables like 'collation_connection'", "collation_connection|utf8mb4_unicode_ci"),
        ("set session net_read_timeout = 86400, autocommit = on", "0 affected"),
        ("select @@net_read_timeout", "86400"),
        ("set global max_connections = 200", "0 affected"),
        ("select @@max_connections, @@global.max_connections", "200|200"),
        (
            "set max_connections = 5",
            "ERROR 1229: Variable 'max_connections' is a GLOBAL variable and should be \
             set with SET GLOBAL",
        ),
        (
            "set global timestamp = 5",
            "ERROR 1228: Variable 'timestamp' is a SESSION variable and can't be used \
             with SET GLOBAL",
        ),
        ("set version = 'x'", "ERROR 1238: Variable 'version' is a read only variable"),
        ("set nosuch = 1", "ERROR 1193: Unknown system variable 'nosuch'"),
        ("select @@tokudb_version", "ERROR 1193: Unknown system variable 'tokudb_version'"),
        (
            "set sql_mode = 'nosuch'",
            "ERROR 1231: Variable 'sql_mode' can't be set to the value of 'nosuch'",
        ),
        (
            "set autocommit = 'x'",
            "ERROR 1231: Variable 'autocommit' can't be set to the value of 'x'",
        ),
        (
            "set wait_timeout = 'x'",
            "ERROR 1232: Incorrect argument type to variable 'wait_timeout'",
        ),
        ("set wait_timeout = 0", "0 affected"),
        ("show warnings", "Warning|1292|Truncated incorrect wait_timeout value: '0'"),
        ("set character_set_client = 'nosuch'", "ERROR 1115: Unknown character set: 'nosuch'"),
        ("set collation_connection = 'nosuch'", "ERROR 1273: Unknown collation: 'nosuch'"),
        ("set default_storage_engine = 'nosuch'", "ERROR 1286: Unknown storage engine 'nosuch'"),
        ("set time_zone = 'nosuch'", "ERROR 1298: Unknown or incorrect time zone: 'nosuch'"),
        ("select count(*) > 600 from performance_schema.global_variables", "1"),
        ("show global variables like 'gtid_mode'", "gtid_mode|OFF"),
    ]);
}

#[test]
fn explain_analyze_runs_the_query_and_counts_what_each_node_gave() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, v int)");
    s.ok("insert into t values (1, 1), (2, 1), (3, 2), (4, 9)");
    let shape = |s: &mut TestSession, sql: &str| {
        let text = s.ok(sql);
        let lines = text.lines().filter(|line| line.contains("-> "));
        let cut = |line: &str| match line.split_once("(actual time=") {
            Some((node, seen)) => {
                let (times, rows) = seen.split_once(' ').unwrap();
                assert!(times.split("..").all(|time| time.parse::<f64>().is_ok()), "{line}");
                let node = node.split("  (").next().unwrap().trim();
                format!("{node} {rows}")
            }
            None => line.trim().to_owned(),
        };
        lines.map(cut).collect::<Vec<_>>()
    };
    assert_eq!(
        shape(&mut s, "explain analyze select * from t where v < 3"),
        [
            "-> Filter stored cells: (test.t.v < 3) rows=3 loops=1)",
            "-> Table scan on t rows=4 loops=1)"
        ]
    );
    assert_eq!(
        shape(&mut s, "explain analyze select * from t a join t b on b.id = a.v limit 2"),
        [
            "-> Limit: 2 row(s) rows=2 loops=1)",
            "-> Nested loop inner join rows=2 loops=1)",
            "-> Table scan on a rows=2 loops=1)",
            "-> Single-row index lookup on b using PRIMARY rows=1 loops=2)",
        ]
    );
    s.ok("begin");
    s.ok("explain analyze select * from t for update");
    s.ok("rollback");
}
