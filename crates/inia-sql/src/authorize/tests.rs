//! Accounts: logins, account statements and privileges, with MySQL 8.0.31's texts and errors.

use super::*;
use crate::authorize;
use inia_base::io::MemDisk;
use inia_parser::ast::Statement;
use inia_query::account::user::Notes;
use inia_query::account::{Actor, grant, password, show, user};
use inia_query::database::{Database, DatabaseOptions};
use std::sync::Arc;

/// A database and one account's view of it.
struct Bench {
    disk: Arc<MemDisk>,
    db: Arc<Database>,
    me: AccountName,
}

fn open(disk: &Arc<MemDisk>) -> Arc<Database> {
    let options = DatabaseOptions { background: false, ..DatabaseOptions::default() };
    Database::open(disk.clone(), options).unwrap()
}

impl authorize::Surroundings for Bench {
    fn database(&self) -> Option<&str> {
        Some("d")
    }

    fn is_temporary(&self, _: &str, _: &str) -> bool {
        false
    }

    fn catalog(&self) -> Arc<CatalogVersion> {
        self.db.catalog().current()
    }
}

impl Bench {
    fn new() -> Bench {
        let disk = Arc::new(MemDisk::new());
        let db = open(&disk);
        Bench { disk, db, me: AccountName::new("root", "localhost") }
    }

    fn access(&self) -> Access {
        let accounts = self.db.accounts.current();
        let active = accounts.get(&self.me).map(|def| def.default_roles.clone());
        Access::new(&accounts, &self.me, &active.unwrap_or_default())
    }

    /// Runs an account statement or checks any other; "ok", notes or the error.
    fn run(&self, sql: &str) -> String {
        let statement = inia_parser::parse(sql, inia_parser::SqlMode::empty()).unwrap();
        let (access, catalog) = (self.access(), self.db.catalog().current());
        let actor = Actor {
            accounts: &self.db.accounts,
            access: &access,
            catalog: &catalog,
            database: Some("d"),
            now: 1,
            rules: password::PasswordRules::default(),
            expired: false,
        };
        let done: Result<Notes> = match &statement {
            Statement::CreateUser(create) => user::create_user(&actor, create),
            Statement::AlterUser(alter) => user::alter_user(&actor, alter),
            Statement::DropUser { users, if_exists } => {
                user::drop_user(&actor, users, *if_exists, false)
            }
            Statement::RenameUser(pairs) => user::rename_user(&actor, pairs),
            Statement::CreateRole { roles, if_not_exists } => {
                user::create_role(&actor, roles, *if_not_exists)
            }
            Statement::SetPassword(set) => user::set_password(&actor, set),
            Statement::SetDefaultRole { roles, users } => {
                user::set_default_role(&actor, roles, users)
            }
            Statement::Grant(statement) => grant::grant(&actor, statement),
            Statement::Revoke(statement) => grant::revoke(&actor, statement),
            Statement::Show(statement) => return self.show(&actor, &statement.kind),
            other => authorize::check(other, &access, self).map(|()| Notes::new()),
        };
        match done {
            Ok(notes) if notes.is_empty() => String::from("ok"),
            Ok(notes) => notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Err(error) => error.to_string(),
        }
    }

    fn show(&self, actor: &Actor<'_>, kind: &inia_parser::ast::ShowKind) -> String {
        use inia_parser::ast::ShowKind;
        let listing = match kind {
            ShowKind::Grants { account, using } => {
                show::show_grants(actor, account.as_ref(), using)
            }
            ShowKind::CreateUser(account) => show::show_create_user(actor, account),
            _ => unreachable!("no other SHOW here"),
        };
        listing.map_or_else(|error| error.to_string(), |(_, lines)| lines.join("\n"))
    }

    fn as_user(&self, user: &str, host: &str) -> Bench {
        let me = AccountName::new(user, host);
        Bench { disk: self.disk.clone(), db: self.db.clone(), me }
    }
}

#[test]
fn root_is_there_from_the_start_and_survives() {
    let bench = Bench::new();
    let root = bench.db.login_account("root", "localhost").unwrap();
    assert_eq!((root.auth_string.len(), root.locked), (0, false));
    assert_eq!(bench.db.login_account("root", "10.0.0.1"), None);
    assert_eq!(bench.run("CREATE USER a IDENTIFIED BY 'secret'"), "ok");
    assert_eq!(bench.run("DROP USER root@localhost"), "ok");
    bench.db.close().unwrap();
    let Bench { disk, db, .. } = bench;
    drop(db);
    let db = open(&disk);
    assert_eq!(db.login_account("root", "localhost"), None, "a dropped root stays dropped");
    assert_eq!(db.login_account("a", "anywhere").unwrap().auth_string.len(), 70);
}

#[test]
fn the_most_specific_account_is_logged_in_to() {
    let bench = Bench::new();
    bench.run(
        "CREATE USER u@'%', u@'10.0.%', u@'10.0.0.7', ''@localhost, n@'192.168.1.0/255.255.255.0'",
    );
    let host = |user: &str, from: &str| {
        bench.db.login_account(user, from).map(|a| format!("{}@{}", a.user, a.host))
    };
    assert_eq!(host("u", "10.0.0.7").as_deref(), Some("u@10.0.0.7"));
    assert_eq!(host("u", "10.0.9.9").as_deref(), Some("u@10.0.%"));
    assert_eq!(host("u", "example.org").as_deref(), Some("u@%"));
    assert_eq!(host("u", "localhost").as_deref(), Some("@localhost"));
    assert_eq!(host("n", "192.168.1.77").as_deref(), Some("n@192.168.1.0/255.255.255.0"));
    assert_eq!(host("n", "192.168.2.77"), None);
}

#[test]
fn grants_are_shown_as_mysql_shows_them() {
    let bench = Bench::new();
    for sql in [
        "CREATE USER oa1, oa2@'10.0.%'",
        "CREATE ROLE oar",
        "GRANT SELECT, INSERT ON d.* TO oa1 WITH GRANT OPTION",
        "GRANT ALL ON d.* TO oa2@'10.0.%'",
        "GRANT SELECT, UPDATE ON mysql.user TO oa1",
        "GRANT FILE, BACKUP_ADMIN ON *.* TO oa1",
        "GRANT oar TO oa1",
    ] {
        assert_eq!(bench.run(sql), "ok", "{sql}");
    }
    assert_eq!(
        bench.run("SHOW GRANTS FOR oa1"),
        "GRANT FILE ON *.* TO `oa1`@`%`\n\
         GRANT BACKUP_ADMIN ON *.* TO `oa1`@`%`\n\
         GRANT SELECT, INSERT ON `d`.* TO `oa1`@`%` WITH GRANT OPTION\n\
         GRANT SELECT, UPDATE ON `mysql`.`user` TO `oa1`@`%`\n\
         GRANT `oar`@`%` TO `oa1`@`%`"
    );
    assert_eq!(
        bench.run("SHOW GRANTS FOR oa2@'10.0.%'"),
        "GRANT USAGE ON *.* TO `oa2`@`10.0.%`\n\
         GRANT ALL PRIVILEGES ON `d`.* TO `oa2`@`10.0.%`"
    );
    bench.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM oa1");
    assert_eq!(
        bench.run("SHOW GRANTS FOR oa1"),
        "GRANT USAGE ON *.* TO `oa1`@`%`\nGRANT `oar`@`%` TO `oa1`@`%`"
    );
    assert!(bench.run("SHOW GRANTS").contains("DROP ROLE ON *.* TO `root`@`localhost` WITH GRANT"));
}

#[test]
fn create_user_is_shown_as_mysql_shows_it() {
    let bench = Bench::new();
    bench.run(
        "CREATE USER oa3@localhost IDENTIFIED WITH mysql_native_password BY 'pw' REQUIRE SSL \
         WITH MAX_QUERIES_PER_HOUR 5 PASSWORD EXPIRE INTERVAL 3 DAY FAILED_LOGIN_ATTEMPTS 3 \
         PASSWORD_LOCK_TIME 2 COMMENT 'hi'",
    );
    assert_eq!(
        bench.run("SHOW CREATE USER oa3@localhost"),
        "CREATE USER `oa3`@`localhost` IDENTIFIED WITH 'mysql_native_password' AS \
         '*D821809F681A40A6E379B50D0463EFAE20BDD122' REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 5 \
         PASSWORD EXPIRE INTERVAL 3 DAY ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE \
         INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT FAILED_LOGIN_ATTEMPTS 3 \
         PASSWORD_LOCK_TIME 2 ATTRIBUTE '{\"comment\": \"hi\"}'"
    );
}

#[test]
fn wrong_account_statements_give_mysql_s_errors() {
    let bench = Bench::new();
    bench.run("CREATE USER oa1");
    let cases = [
        ("CREATE USER oa1, oaz", "ERROR 1396 (HY000): Operation CREATE USER failed for 'oa1'@'%'"),
        (
            "DROP USER nosuch, nos2",
            "ERROR 1396 (HY000): Operation DROP USER failed for 'nosuch'@'%','nos2'@'%'",
        ),
        (
            "GRANT SELECT ON *.* TO nosuch",
            "ERROR 1410 (42000): You are not allowed to create a user with GRANT",
        ),
        (
            "REVOKE SELECT ON nosuch.* FROM oa1",
            "ERROR 1141 (42000): There is no such grant defined for user 'oa1' on host '%'",
        ),
        (
            "REVOKE SELECT ON d.c FROM oa1",
            "ERROR 1147 (42000): There is no such grant defined for user 'oa1' on \
                 host '%' on table 'c'",
        ),
        ("GRANT SELECT ON d.nosuch TO oa1", "ERROR 1146 (42S02): Table 'd.nosuch' doesn't exist"),
        (
            "GRANT SHUTDOWN ON d.* TO oa1",
            "ERROR 1221 (HY000): Incorrect usage of DB GRANT and GLOBAL PRIVILEGES",
        ),
        ("GRANT oar2 TO oa1", "ERROR 3523 (HY000): Unknown authorization ID `oar2`@`%`"),
        (
            "SET PASSWORD FOR nosuch='x'",
            "ERROR 1133 (42000): Can't find any matching row in the user table",
        ),
        (
            "CREATE USER IF NOT EXISTS oa1",
            "ERROR 3163 (HY000): Authorization ID 'oa1'@'%' already exists.",
        ),
        (
            "GRANT BACKUP_ADMIN ON d.* TO oa1",
            "ERROR 3619 (HY000): Illegal privilege level specified for BACKUP_ADMIN",
        ),
        (
            "ALTER USER oa1 IDENTIFIED WITH nosuchplugin",
            "ERROR 1524 (HY000): Plugin 'nosuchplugin' is not loaded",
        ),
        (
            "SHOW GRANTS FOR nosuch",
            "ERROR 1141 (42000): There is no such grant defined for user 'nosuch' on host '%'",
        ),
        (
            "CREATE USER aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "ERROR 1470 (HY000): String 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is too \
             long for user name (should be no longer than 32)",
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(bench.run(sql), expected, "{sql}");
    }
}

#[test]
fn an_account_may_do_only_what_it_was_granted() {
    let root = Bench::new();
    root.run("CREATE USER u");
    root.run("CREATE ROLE r");
    root.run("GRANT SELECT ON d.* TO u");
    root.run("GRANT INSERT, CREATE ON d.t TO u");
    let u = root.as_user("u", "%");
    let denied = |command: &str, table: &str| {
        format!("ERROR 1142 (42000): {command} command denied to user 'u'@'%' for table '{table}'")
    };
    assert_eq!(u.run("SELECT * FROM t WHERE a IN (SELECT a FROM d.x)"), "ok");
    assert_eq!(u.run("SELECT (SELECT 1 FROM e.x)"), denied("SELECT", "x"));
    assert_eq!(u.run("WITH x AS (SELECT * FROM d.t) SELECT * FROM x"), "ok");
    assert_eq!(u.run("INSERT INTO t VALUES (1)"), "ok");
    assert_eq!(u.run("REPLACE INTO t VALUES (1)"), denied("DELETE", "t"));
    assert_eq!(u.run("UPDATE t SET a = 1"), denied("UPDATE", "t"));
    assert_eq!(u.run("DELETE FROM t"), denied("DELETE", "t"));
    assert_eq!(u.run("DROP TABLE t"), denied("DROP", "t"));
    assert_eq!(u.run("CREATE TABLE t (a INT)"), "ok");
    assert_eq!(u.run("CREATE TABLE y (a INT)"), denied("CREATE", "y"));
    assert_eq!(
        u.run("CREATE DATABASE e"),
        "ERROR 1044 (42000): Access denied for user 'u'@'%' to database 'e'"
    );
    assert_eq!(
        u.run("USE e"),
        "ERROR 1044 (42000): Access denied for user 'u'@'%' to database 'e'"
    );
    assert_eq!(
        u.run("FLUSH PRIVILEGES"),
        "ERROR 1227 (42000): Access denied; you need (at least one of) the RELOAD privilege(s) \
         for this operation"
    );
    assert_eq!(u.run("CREATE USER x").split(' ').nth(1), Some("1227"));
    assert_eq!(u.run("GRANT SELECT ON d.* TO u").split(' ').nth(1), Some("1044"));
    root.run("GRANT CREATE, UPDATE ON d.t TO r");
    root.run("GRANT r TO u");
    root.run("SET DEFAULT ROLE r TO u");
    assert_eq!(u.run("UPDATE t SET a = 1"), "ok", "through the role");
}

#[test]
fn nobody_changes_computed_tables() {
    let root = Bench::new();
    let denied = "ERROR 1044 (42000): Access denied for user 'root'@'localhost' to database \
                  'information_schema'";
    assert_eq!(root.run("DELETE FROM information_schema.tables"), denied);
    assert_eq!(root.run("CREATE TABLE information_schema.t (a INT)"), denied);
    assert_eq!(
        root.run("INSERT INTO performance_schema.threads VALUES (1)"),
        "ERROR 1142 (42000): INSERT command denied to user 'root'@'localhost' for table 'threads'"
    );
}
