//! Transactions, settings, SHOW, accounts.

use super::*;

fn items(sql: &str) -> Vec<SetItem> {
    match tree(sql) {
        Statement::Set(items) => items,
        other => panic!("no settings: {other:?}"),
    }
}

#[test]
fn set_lists_mix_all_forms() {
    let items = items(
        "set @a := 1, names utf8mb4 collate utf8mb4_bin, global x = on, @@session.y = default, \
         z = ansi, character set latin1, persist c.d = 5",
    );
    assert_eq!(items[0], SetItem::UserVar { name: "a".to_string(), value: Expr::int(1) });
    assert!(matches!(&items[1], SetItem::Names { charset: Some(c), .. } if c == "utf8mb4"));
    let SetItem::SysVar { var, explicit, value } = &items[2] else { panic!("no variable") };
    assert_eq!((var.scope, *explicit), (Some(VarScope::Global), true));
    assert_eq!(*value, Some(Expr::string("on")));
    assert!(matches!(&items[3], SetItem::SysVar { value: None, .. }));
    let SetItem::SysVar { explicit, value, .. } = &items[4] else { panic!("no variable") };
    assert_eq!((*explicit, value), (false, &Some(Expr::string("ansi"))));
    assert_eq!(items[5], SetItem::Charset(Some("latin1".to_string())));
    assert!(matches!(&items[6], SetItem::SysVar { var, .. } if var.component.is_some()));
}

#[test]
fn version_comments_inside_set_lists() {
    assert_eq!(items("set a = 1/*!40101, b = 2*/").len(), 2);
    assert_eq!(items("set a = 1/*!99999, b = 2*/").len(), 1);
}

#[test]
fn transactions() {
    let begin = BeginTransaction { consistent_snapshot: true, read_only: Some(true) };
    let sql = "start transaction read only, with consistent snapshot";
    assert_eq!(tree(sql), Statement::Begin(begin));
    let chain = Completion { chain: Some(true), release: Some(false) };
    assert_eq!(tree("commit and chain no release"), Statement::Commit(chain));
    assert_eq!(tree("rollback work to savepoint s"), Statement::RollbackTo("s".to_string()));
    let set = SetTransaction {
        scope: Some(VarScope::Session),
        isolation: Some(IsolationLevel::ReadCommitted),
        read_only: None,
    };
    let sql = "set session transaction isolation level read committed";
    assert_eq!(tree(sql), Statement::SetTransaction(set));
    let Statement::LockTables(locks) = tree("lock tables a read local, b as c write") else {
        panic!("no locks")
    };
    assert!(locks[0].local && !locks[0].write && locks[1].write);
}

#[test]
fn shows() {
    let show = |sql: &str| match tree(sql) {
        Statement::Show(show) => *show,
        other => panic!("no show: {other:?}"),
    };
    let columns = show("show full fields from t from d like 'a%'");
    let table = ObjectName { db: Some("d".to_string()), name: "t".to_string() };
    assert_eq!(columns.kind, ShowKind::Columns { full: true, extended: false, table });
    assert_eq!(columns.filter, Some(ShowFilter::Like("a%".to_string())));
    assert_eq!(show("show global variables").kind, ShowKind::Variables { global: true });
    let status = show("show table status in d where name = 'x'");
    assert_eq!(status.kind, ShowKind::TableStatus(Some("d".to_string())));
    assert!(matches!(status.filter, Some(ShowFilter::Where(_))));
    let replica = ShowKind::ReplicaStatus { old: true, channel: None };
    assert_eq!(show("show slave status").kind, replica);
    assert_eq!(show("show master status").kind, ShowKind::BinaryLogStatus);
    assert_eq!(show("show count(*) errors").kind, ShowKind::Errors { count: true, limit: None });
}

#[test]
fn explain_and_describe() {
    let Statement::Explain(explain) = tree("explain format=tree select 1") else {
        panic!("no explain")
    };
    assert_eq!(explain.format, ExplainFormat::Tree);
    let Statement::Describe(describe) = tree("desc d.t 'x%'") else { panic!("no describe") };
    assert_eq!(describe.column.as_deref(), Some("x%"));
}

#[test]
fn accounts() {
    let sql = "create user if not exists 'a'@'%' identified with p by 'x', b@LocalHost \
               default role r require ssl with max_user_connections 3 \
               password expire interval 9 day account lock comment 'c'";
    let Statement::CreateUser(create) = tree(sql) else { panic!("no user") };
    let auth = AuthOption::Password { plugin: Some("p".to_string()), password: "x".to_string() };
    assert_eq!(create.users[0].auth, Some(auth));
    let host = Account::Name { user: "b".to_string(), host: Some("localhost".to_string()) };
    assert_eq!(create.users[1].account, host);
    assert_eq!(create.options.expire, Some(PasswordExpire::Days(9)));
    assert_eq!(create.options.lock, Some(true));
    assert_eq!(create.options.tls, Some(TlsRequirement::Ssl));
}

#[test]
fn grants() {
    let grant = |sql: &str| match tree(sql) {
        Statement::Grant(grant) => grant.what,
        other => panic!("no grant: {other:?}"),
    };
    let what = grant("grant select (a, b), create temporary tables, backup_admin on d.* to u");
    let GrantWhat::Privileges { privileges, level } = what else { panic!("no privileges") };
    let mut names: Vec<&str> = privileges.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["BACKUP_ADMIN", "CREATE TEMPORARY TABLES", "SELECT"]);
    assert_eq!(level, PrivilegeLevel::Database("d".to_string()));
    assert!(
        matches!(grant("grant r1, 'r2'@'h' to u"), GrantWhat::Roles(roles) if roles.len() == 2)
    );
    let all = grant("grant all privileges on *.* to u with grant option");
    let everything = GrantWhat::Privileges { privileges: vec![], level: PrivilegeLevel::Global };
    assert_eq!(all, everything);
    let Statement::Revoke(revoke) = tree("revoke all, grant option from u") else {
        panic!("no revoke")
    };
    assert_eq!(revoke.what, GrantWhat::Everything);
}

#[test]
fn prepared_statements() {
    let sql = "execute s using @a, @`b`";
    let using = vec!["a".to_string(), "b".to_string()];
    assert_eq!(tree(sql), Statement::Execute { name: "s".to_string(), using });
    let source = PrepareSource::UserVar("v".to_string());
    assert_eq!(tree("prepare s from @v"), Statement::Prepare { name: "s".to_string(), source });
}
