//! SELECT and the statements that change rows.

use super::*;

#[test]
fn select_items_keep_their_text() {
    let select = select("select a . b , 1+ 1, 'x' y, t.*, max( c ) from t");
    let texts: Vec<&str> = select
        .items
        .iter()
        .map(|item| match item {
            SelectItem::Expr { text, alias: None, .. } => text.as_str(),
            SelectItem::Expr { alias: Some(alias), .. } => alias.as_str(),
            _ => "*",
        })
        .collect();
    assert_eq!(texts, ["a . b", "1+ 1", "y", "*", "max( c )"]);
}

#[test]
fn all_clauses_of_a_query() {
    let query = query(
        "with c as (select 1) select sql_no_cache distinct a from t where b = 1 \
         group by a with rollup having a > 1 window w as (order by a) order by a desc \
         limit 5, 10 for update of t skip locked",
    );
    assert_eq!(query.with.expect("with").ctes[0].name, "c");
    assert!(query.order_by[0].desc);
    assert_eq!(query.limit.expect("limit").offset, Some(Expr::int(5)));
    assert_eq!(query.locking[0].wait, LockWait::SkipLocked);
    let QueryBody::Select(select) = query.body else { panic!("no select") };
    assert!(select.options.distinct && select.options.no_cache && select.rollup);
    assert!(select.where_.is_some() && select.having.is_some());
    assert_eq!(select.windows[0].0, "w");
}

#[test]
fn intersect_binds_tighter_than_union() {
    let query = query("select 1 union all select 2 intersect select 3 except select 4");
    let QueryBody::SetOperation { rest, .. } = query.body else { panic!("no set operation") };
    assert_eq!(rest.len(), 2);
    assert!((rest[0].op, rest[0].all) == (SetOp::Union, true));
    assert!(matches!(rest[0].body, QueryBody::SetOperation { .. }));
    assert_eq!(rest[1].op, SetOp::Except);
}

#[test]
fn parentheses_around_queries() {
    assert_eq!(query("((select 1))"), query("select 1"));
    let outer = query("(select 1 limit 1) limit 2");
    assert!(matches!(outer.body, QueryBody::Nested(ref inner) if inner.limit.is_some()));
}

#[test]
fn joins_lean_to_the_left() {
    let select = select("select 1 from a join b on x left join (c, d) using (y), e natural join f");
    assert_eq!(select.from.len(), 2);
    let TableRef::Join(join) = &select.from[0] else { panic!("no join") };
    assert_eq!(join.kind, JoinKind::Left);
    assert!(matches!(&join.left, TableRef::Join(_)));
    assert!(matches!(&join.right, TableRef::List(list) if list.len() == 2));
    assert_eq!(join.constraint, JoinConstraint::Using(vec!["y".to_string()]));
}

#[test]
fn late_conditions_close_inner_joins_first() {
    for kind in ["join", "left join"] {
        let select = select(&format!("select 1 from a {kind} b join c on x on y"));
        let TableRef::Join(join) = &select.from[0] else { panic!("no join") };
        assert_eq!(join.constraint, JoinConstraint::On(Expr::column("y")));
        let TableRef::Join(inner) = &join.right else { panic!("no inner join") };
        assert_eq!(inner.constraint, JoinConstraint::On(Expr::column("x")));
    }
}

#[test]
fn tables_with_everything() {
    let select = select("select 1 from d.t partition (p) as x use index for join (i, primary)");
    let TableRef::Table(table) = &select.from[0] else { panic!("no table") };
    assert_eq!(table.name, ObjectName { db: Some("d".to_string()), name: "t".to_string() });
    assert_eq!(
        (table.alias.as_deref(), &table.partitions[..]),
        (Some("x"), &["p".to_string()][..])
    );
    assert_eq!(table.hints[0].indexes, ["i", "PRIMARY"]);
}

#[test]
fn derived_tables_need_names() {
    assert_eq!(refusal("select 1 from (select 1)"), "Every derived table must have its own alias");
    let select = select("select 1 from t, lateral (select 1) as d (a, b)");
    let TableRef::Derived(derived) = &select.from[1] else { panic!("no derived table") };
    assert!(derived.lateral);
    assert_eq!(derived.columns, ["a", "b"]);
}

#[test]
fn version_comments_stand_anywhere() {
    let plain = select("select 1 + 2 from t");
    assert_eq!(select("select /*!80000 1 + */ 2 /*!99999 foo */ from t").items.len(), 1);
    let commented = select("select /*+ hint */ 1 /* x */ + /*!50000 2*/ from /*M! u, */ t");
    let (SelectItem::Expr { expr: a, .. }, SelectItem::Expr { expr: b, .. }) =
        (&plain.items[0], &commented.items[0])
    else {
        panic!("no expressions")
    };
    assert_eq!((a, &plain.from), (b, &commented.from));
}

#[test]
fn inserts() {
    let sql = "insert ignore into d.t (a, b) values (1, default), (?, 2) as n (x, y) \
               on duplicate key update a = n.x, b = values(b)";
    let Statement::Insert(insert) = tree(sql) else { panic!("no insert") };
    assert!(insert.ignore && !insert.replace);
    assert_eq!(insert.columns, [ColumnName::bare("a"), ColumnName::bare("b")]);
    let InsertSource::Rows(rows) = &insert.source else { panic!("no values") };
    assert_eq!(rows.to_exprs()[0], [Expr::int(1), Expr::Default]);
    assert_eq!(insert.row_alias.as_ref().expect("an alias").columns, ["x", "y"]);
    assert_eq!(insert.on_duplicate[1].value, Expr::InsertValue(ColumnName::bare("b")));
    let Statement::Insert(set) = tree("replace t set a = 1, b = 2") else { panic!("no replace") };
    assert!(set.replace && set.columns.len() == 2);
    let Statement::Insert(select) = tree("insert into t (select 1)") else { panic!("no insert") };
    assert!(matches!(select.source, InsertSource::Query(_)));
}

#[test]
fn returning_ends_a_change_and_is_a_name_elsewhere() {
    let returned = |sql: &str| match tree(sql) {
        Statement::Insert(insert) => insert.returning.len(),
        Statement::Update(update) => update.returning.len(),
        Statement::Delete(delete) => delete.returning.len(),
        _ => panic!("{sql}"),
    };
    for change in [
        "delete from t where a = 1",
        "delete from t",
        "delete from t returning",
        "insert into t values (1)",
        "insert into t select 1",
        "insert into t select 1 returning from t returning",
        "replace into t set a = 1",
        "update t set a = 1",
    ] {
        assert_eq!(returned(change), 0, "{change}");
        for items in ["a, b + 1", "-a, left(b, 1)", "(a), t.*"] {
            assert_eq!(returned(&format!("{change} returning {items}")), 2, "{change}: {items}");
        }
    }
    for refused in ["delete t from t returning a", "insert into t values (1) returning"] {
        assert!(crate::parse(refused, crate::SqlMode::empty()).is_err(), "{refused}");
    }
    assert!(crate::parse("select 1 returning a", crate::SqlMode::empty()).is_err());
    assert_eq!(select("select 1 returning").items.len(), 1);
}

#[test]
fn updates_and_deletes_of_several_tables() {
    let Statement::Update(update) = tree("update a join b on a.i = b.i set a.x = b.y") else {
        panic!("no update")
    };
    assert!(matches!(update.tables[..], [TableRef::Join(_)]));
    for sql in ["delete a, b.* from a join b", "delete from a, b.* using a join b"] {
        let Statement::Delete(delete) = tree(sql) else { panic!("no delete") };
        let DeleteTarget::Multi { targets, .. } = &delete.target else { panic!("one table") };
        assert_eq!(targets.len(), 2, "{sql}");
    }
}

#[test]
fn load_data() {
    let sql = r"load data local infile 'f' replace into table t character set utf8mb4
        fields terminated by ',' optionally enclosed by '''' escaped by '\\'
        lines terminated by '\n' ignore 1 lines (a, @b) set c = @b + 1";
    let Statement::LoadData(load) = tree(sql) else { panic!("no load") };
    assert!(load.local && load.format.optionally_enclosed);
    assert_eq!(load.format.fields_escaped.as_deref(), Some("\\"));
    assert_eq!((load.ignore_lines, load.targets.len(), load.assignments.len()), (1, 2, 1));
}
