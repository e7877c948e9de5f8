//! CREATE, ALTER and DROP.

use super::*;

fn table(sql: &str) -> CreateTable {
    match tree(sql) {
        Statement::CreateTable(table) => *table,
        other => panic!("no table: {other:?}"),
    }
}

fn column(definition: &str) -> ColumnDef {
    match table(&format!("create table t ({definition})")).elements.remove(0) {
        TableElement::Column(column) => *column,
        other => panic!("no column: {other:?}"),
    }
}

#[test]
fn types() {
    let ty = |text: &str| column(&format!("c {text}")).ty;
    let int = ty("int(11) unsigned zerofill");
    assert_eq!(
        (int.kind, int.length, int.unsigned, int.zerofill),
        (TypeKind::Int, Some(11), true, true)
    );
    let filled = ty("int zerofill");
    assert!(filled.zerofill && !filled.unsigned, "UNSIGNED is what is written");
    let decimal = ty("decimal(10,2)");
    assert_eq!((decimal.length, decimal.decimals), (Some(10), Some(2)));
    let text = ty("varchar(20) character set latin1 collate latin1_bin");
    assert_eq!(text.charset.as_deref(), Some("latin1"));
    assert_eq!(text.collation.as_deref(), Some("latin1_bin"));
    assert_eq!(ty("enum('a', 'b''c')").values, ["a", "b'c"]);
    assert_eq!(ty("datetime(3)").length, Some(3));
    assert_eq!(ty("national varchar(3)").charset.as_deref(), Some("utf8mb3"));
    assert_eq!(ty("double precision").kind, TypeKind::Double);
    assert_eq!(ty("long varchar").kind, TypeKind::MediumText);
    assert_eq!(ty("char(3) byte").charset.as_deref(), Some("binary"));
}

#[test]
fn column_attributes() {
    let id = column("id bigint not null auto_increment primary key comment 'it''s'");
    assert!(id.nullable == Some(false) && id.auto_increment && id.primary_key);
    assert_eq!(id.comment.as_deref(), Some("it's"));
    let ts = column("ts timestamp(2) default current_timestamp(2) on update now(2)");
    assert_eq!((ts.default, ts.on_update_now), (Some(ColumnDefault::Now(2)), Some(2)));
    let negative = column("a int default -1").default;
    assert!(matches!(negative, Some(ColumnDefault::Literal(Expr::Unary { .. }))));
    assert!(matches!(column("a int default (1 + 1)").default, Some(ColumnDefault::Expr(_))));
    let generated = column("a int generated always as (b + 1) stored not null").generated;
    assert!(generated.expect("generated").stored);
    let check = column("a int constraint c check (a > 0) not enforced").checks.remove(0);
    assert_eq!((check.name.as_deref(), check.enforced), (Some("c"), false));
    assert!(column("a int invisible").invisible);
}

#[test]
fn keys_and_constraints() {
    let table = table(
        "create table t (a int, primary key (a), unique u (a desc, b(10)), \
         key ((a + 1)) using btree comment 'x' invisible, \
         constraint fk foreign key ix (a) references d.p (b) on delete set null on update cascade, \
         constraint ck check (a > 0))",
    );
    assert_eq!(table.elements.len(), 6);
    let TableElement::Index(unique) = &table.elements[2] else { panic!("no index") };
    assert_eq!((unique.kind, unique.name.as_deref()), (IndexKind::Unique, Some("u")));
    assert!(unique.parts[0].desc);
    let prefix = KeyPartKey::Column { name: "b".to_string(), prefix: Some(10) };
    assert_eq!(unique.parts[1].key, prefix);
    let TableElement::Index(plain) = &table.elements[3] else { panic!("no index") };
    assert!(matches!(plain.parts[0].key, KeyPartKey::Expr(_)) && plain.options.invisible);
    let TableElement::ForeignKey(fk) = &table.elements[4] else { panic!("no foreign key") };
    assert_eq!(fk.references.on_delete, Some(ReferenceAction::SetNull));
    assert_eq!((fk.constraint.as_deref(), fk.index_name.as_deref()), (Some("fk"), Some("ix")));
}

#[test]
fn table_options_partitions_and_queries() {
    let table = table(
        "create table if not exists t (a int) engine=InnoDB, default charset utf8mb4, \
         row_format = dynamic max_rows 5, union (u, d.v) partition by hash (a) partitions 4 \
         ignore as select 1",
    );
    assert!(table.if_not_exists);
    assert_eq!(table.options[0], TableOption::Engine("InnoDB".to_string()));
    assert_eq!(table.options[1], TableOption::Charset(Some("utf8mb4".to_string())));
    let other = TableOption::Other { name: "MAX_ROWS".to_string(), value: "5".to_string() };
    assert_eq!(table.options[3], other);
    assert!(matches!(&table.options[4], TableOption::Union(names) if names.len() == 2));
    let by = table.partition.as_ref().unwrap();
    assert_eq!((by.count, by.partitions.len()), (Some(4), 0));
    assert_eq!(table.select.expect("a query").on_duplicate, LoadDuplicate::Ignore);
}

#[test]
fn names_longer_than_64_characters_are_refused() {
    let long = "n".repeat(65);
    for sql in [
        format!("create table {long} (a int)"),
        format!("create table t ({long} int)"),
        format!("create database {long}"),
        format!("create view {long} as select 1"),
    ] {
        assert_eq!(refusal(&sql), format!("Identifier name '{long}' is too long"));
    }
    tree(&format!("create table {} (a int)", "é".repeat(64)));
}

#[test]
fn alter_table_actions_come_in_order() {
    let sql = "alter table t add column (a int, b int), add c int after a, drop primary key, \
               change x y int first, alter z set default 5, rename index i to j, rename to u, \
               convert to character set utf8mb4, algorithm=inplace, lock none, force, \
               auto_increment 7 comment 'x', order by a desc";
    let Statement::AlterTable(alter) = tree(sql) else { panic!("no alter") };
    let actions = &alter.actions;
    assert_eq!(actions.len(), 15);
    assert!(matches!(&actions[2], AlterAction::AddColumn { position: Some(_), .. }));
    assert_eq!(actions[3], AlterAction::DropPrimaryKey);
    assert!(matches!(&actions[4], AlterAction::ChangeColumn { old, .. } if old == "x"));
    assert_eq!(actions[7], AlterAction::RenameTo(ObjectName::bare("u")));
    assert_eq!(actions[9], AlterAction::Algorithm("inplace".to_string()));
    assert_eq!(actions[12], AlterAction::Option(TableOption::AutoIncrement(7)));
}

#[test]
fn views_keep_the_text_of_their_query() {
    let sql = "create or replace algorithm=merge definer='a'@'B' sql security invoker view v (x) \
               as select  1 from t with local check option";
    let Statement::CreateView(view) = tree(sql) else { panic!("no view") };
    assert_eq!(view.text, "select  1 from t");
    assert!(view.or_replace && view.security_invoker == Some(true));
    assert_eq!(view.check_option, Some(CheckOption::Local));
    let definer = Account::Name { user: "a".to_string(), host: Some("b".to_string()) };
    assert_eq!(view.definer, Some(definer));
}

#[test]
fn bodies_of_routines_end_where_their_block_ends() {
    let bodies = [
        "begin if a > 1 then select 1; end if; end",
        "begin case a when 1 then begin end; else set b = 2; end case; end",
        "begin l: loop leave l; end loop; while i < 3 do set i = i + 1; end while; end",
        "begin repeat set i = i + 1; until i > 3 end repeat; select if(a, 1, 2); end",
        "begin select case when 1 then 2 end; end",
        "begin declare exit handler for sqlexception begin rollback; end; select 1; end",
        "select 1",
        "lbl: begin select 1; end lbl",
    ];
    for body in bodies {
        let sql = format!("create procedure p(in a int) deterministic {body}; select 5");
        let mut parser = Parser::new(&sql, SqlMode::empty());
        let Ok(Some((Statement::CreateRoutine(routine), _))) = parser.next_statement() else {
            panic!("no routine: {body}")
        };
        assert_eq!(routine.body, body);
        let next = parser.next_statement();
        assert!(matches!(next, Ok(Some((Statement::Select(_), _)))), "after {body}");
    }
}

#[test]
fn triggers_and_events() {
    let Statement::CreateRoutine(trigger) =
        tree("create trigger r before insert on t for each row follows q set new.a = 1")
    else {
        panic!("no trigger")
    };
    let RoutineDetail::Trigger { before, event, order, .. } = trigger.detail else {
        panic!("no trigger")
    };
    assert_eq!((before, event), (true, TriggerEvent::Insert));
    assert_eq!(order, Some((true, "q".to_string())));
    let Statement::CreateRoutine(event) =
        tree("create event e on schedule every 1 day starts now() disable do delete from t")
    else {
        panic!("no event")
    };
    assert_eq!(event.body, "delete from t");
}
