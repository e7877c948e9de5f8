//! How far the optimizer's estimates are from what queries find: skewed values, keys that belong
//! together, and conditions of every kind. EXPLAIN ANALYZE prints both figures.

use super::{TestDb, TestSession};
use crate::session::Session;
use inia_base::io::{Disk, MemDisk};
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::SimDisk;
use std::sync::Arc;

/// `rows=` of the estimate and of the run, of each node that has both.
fn estimates(tree: &str) -> Vec<(f64, f64)> {
    let figure = |text: &str| {
        let digits = text.split_once("rows=")?.1;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<f64>().ok()
    };
    let both = |line: &str| {
        let (estimated, actual) = line.split_once("(actual ")?;
        Some((figure(estimated)?, figure(actual)?))
    };
    tree.lines().filter_map(both).collect()
}

/// The larger of estimate/real and real/estimate; less than a row counts as one.
fn q_error((estimated, actual): (f64, f64)) -> f64 {
    let (estimated, actual) = (estimated.max(1.0), actual.max(1.0));
    (estimated / actual).max(actual / estimated)
}

/// Orders with a skewed state and customer, dates that rise with the key, and lines of orders.
const TABLES: [&str; 8] = [
    "set cte_max_recursion_depth = 100000",
    "create table customers (id int primary key, nation int, segment varchar(12), key (nation))",
    "create table orders (id int primary key, customer int not null, day date not null, \
     state char(1) not null, total decimal(12,2) not null, note varchar(40), key (customer))",
    "create table items (order_id int, line int, part int, quantity int, shipped date, \
     primary key (order_id, line), key (part))",
    "insert into customers with recursive n (i) as (select 0 union all select i + 1 from n \
     where i < 1499) select i, i * 7 mod 25, elt(1 + i mod 5, 'AUTO', 'BUILDING', 'FURNITURE', \
     'MACHINERY', 'HOUSEHOLD') from n",
    "insert into orders with recursive n (i) as (select 0 union all select i + 1 from n \
     where i < 14999) select i, floor(1500 * pow(i * 7919 mod 15000 / 15000, 2)), \
     '1992-01-01' + interval (i * 2400 div 15000) day, \
     case when i mod 100 < 2 then 'P' when i mod 100 < 40 then 'F' else 'O' end, \
     100 + pow(i * 104729 mod 15000, 2) / 500, \
     concat(if(i mod 50 = 0, 'special ', ''), 'request ', i) from n",
    "insert into items select id, 1, id * 31 mod 2000, id mod 50 + 1, day + interval 10 day \
     from orders",
    "insert into items select id, 2, id * 17 mod 200, id mod 10 + 1, day + interval 60 day \
     from orders where id mod 3 <> 0",
];

const QUERIES: [&str; 30] = [
    "select * from orders where state = 'P'",
    "select * from orders where state = 'F'",
    "select * from orders where state <> 'O'",
    "select * from orders where state in ('P', 'F')",
    "select * from orders where day < '1992-07-01'",
    "select * from orders where day >= '1994-01-01' and day < '1995-01-01'",
    "select * from orders where day between '1996-01-01' and '1996-01-31'",
    "select * from orders where total > 100000",
    "select * from orders where total < 500.5",
    "select * from orders where note like '%special%'",
    "select * from orders where note like 'request%' and state = 'O'",
    "select * from orders where state = 'F' and day >= '1997-01-01'",
    "select * from orders where not (state = 'F')",
    "select * from orders where state = 'P' or day < '1992-02-01'",
    "select * from orders where note is null",
    "select * from orders where note is not null and total between 1000 and 2000",
    "select * from orders where customer = 3",
    "select * from orders where customer = 1400 and state = 'O'",
    "select * from customers where segment = 'BUILDING'",
    "select * from customers where nation = 7 and segment = 'AUTO'",
    "select * from customers where nation in (1, 2, 3)",
    "select * from items where quantity < 5",
    "select * from items where quantity = 50",
    "select * from items where shipped > '1998-01-01'",
    "select * from items where line = 2 and quantity > 8",
    "select * from items where part = 150",
    "select * from items where order_id between 100 and 120 and quantity > 25",
    "select * from items where order_id = 77",
    "select straight_join * from customers c, orders o where o.customer = c.id and c.nation = 3",
    "select straight_join * from orders o, items i where i.order_id = o.id and o.state = 'P'",
];

#[test]
fn estimates_are_near_what_queries_find() {
    let db = TestDb::new();
    let mut s = db.session();
    for sql in TABLES {
        s.ok(sql);
    }
    let mut errors = Vec::new();
    for query in QUERIES {
        let tree = s.ok(&format!("explain analyze {query}"));
        let found = estimates(&tree);
        assert!(!found.is_empty(), "no node has both figures: {tree}");
        errors.extend(found.into_iter().map(|pair| (q_error(pair), query, tree.clone())));
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, last) = (&errors[errors.len() / 2], &errors[errors.len() * 95 / 100]);
    assert!(median.0 < 2.0, "the median is {}: {}\n{}", median.0, median.1, median.2);
    assert!(last.0 < 30.0, "the 95th percentile is {}: {}\n{}", last.0, last.1, last.2);
}

#[test]
fn rows_of_a_table_that_outgrows_the_pool_are_looked_up_where_they_are_few() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
    let other: Arc<dyn Disk> = Arc::new(SimDisk::new());
    let memory: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let plans = [(disk, 1 << 20), (other, 64 << 20), (memory, 1 << 20)].map(|(disk, pool)| {
        let options = DatabaseOptions { buffer_pool_size: pool, background: false };
        let db = Database::open(disk, options).unwrap();
        let mut s = TestSession(Session::new(&db, ClientInfo::default()));
        s.ok("create database test");
        s.ok("use test");
        s.ok("create table t (id int primary key, k int, a int, b varchar(30), c varchar(30), \
              d varchar(30), e varchar(30), f varchar(30), key (k))");
        s.ok("set cte_max_recursion_depth = 100000");
        s.ok(
            "insert into t with recursive n (id) as (select 1 union all select id + 1 from n where \
              id < 20000) select id, id * 7 % 20000, id, 'b', 'c', 'd', 'e', 'f' from n",
        );
        s.ok("analyze table t");
        ["k between 100 and 500", "k = 7"]
            .map(|condition| s.tree(&format!("select sum(a) from t where {condition}")))
            .map(|tree| tree.contains("using k"))
    });
    // Nobody waits for a disk in memory.
    assert_eq!(plans, [[false, true], [true, true], [true, true]]);
}
