//! TPC-H's tables, with rows as dbgen makes them and the secondary keys that its users give them.

use crate::target::Dialect;
use crate::workload::{Rows, Table};
use std::sync::Arc;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

const REGION: &str = "\
r_regionkey INTEGER NOT NULL, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152),
PRIMARY KEY (r_regionkey)";

const NATION: &str = "\
n_nationkey INTEGER NOT NULL, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL,
n_comment VARCHAR(152), PRIMARY KEY (n_nationkey)";

const SUPPLIER: &str = "\
s_suppkey INTEGER NOT NULL, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL,
s_nationkey INTEGER NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL,
s_comment VARCHAR(101) NOT NULL, PRIMARY KEY (s_suppkey)";

const CUSTOMER: &str = "\
c_custkey INTEGER NOT NULL, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL,
c_nationkey INTEGER NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL,
c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL, PRIMARY KEY (c_custkey)";

const PART: &str = "\
p_partkey INTEGER NOT NULL, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL,
p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INTEGER NOT NULL,
p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL,
p_comment VARCHAR(23) NOT NULL, PRIMARY KEY (p_partkey)";

const PARTSUPP: &str = "\
ps_partkey INTEGER NOT NULL, ps_suppkey INTEGER NOT NULL, ps_availqty INTEGER NOT NULL,
ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL,
PRIMARY KEY (ps_partkey, ps_suppkey)";

const ORDERS: &str = "\
o_orderkey BIGINT NOT NULL, o_custkey INTEGER NOT NULL, o_orderstatus CHAR(1) NOT NULL,
o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,
o_clerk CHAR(15) NOT NULL, o_shippriority INTEGER NOT NULL, o_comment VARCHAR(79) NOT NULL,
PRIMARY KEY (o_orderkey)";

const LINEITEM: &str = "\
l_orderkey BIGINT NOT NULL, l_partkey INTEGER NOT NULL, l_suppkey INTEGER NOT NULL,
l_linenumber INTEGER NOT NULL, l_quantity DECIMAL(15,2) NOT NULL,
l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL,
l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL,
l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL,
l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL,
PRIMARY KEY (l_orderkey, l_linenumber)";

/// Foreign keys, and the dates that queries choose by.
const KEYS: [(&str, &str); 10] = [
    ("nation", "n_regionkey"),
    ("supplier", "s_nationkey"),
    ("customer", "c_nationkey"),
    ("partsupp", "ps_suppkey"),
    ("orders", "o_custkey"),
    ("orders", "o_orderdate"),
    ("lineitem", "l_partkey, l_suppkey"),
    ("lineitem", "l_suppkey"),
    ("lineitem", "l_shipdate"),
    ("lineitem", "l_receiptdate"),
];

/// Rows of one call of the generator; an order has four lines on average.
const PORTION: u64 = 250;
const LINES: u64 = 4;

/// Rows of the tables at scale factor 1; lines follow from the orders.
const SIZES: [(&str, f64); 4] =
    [("supplier", 10_000.0), ("customer", 150_000.0), ("part", 200_000.0), ("orders", 1_500_000.0)];

/// Counts that the loaded tables must have.
pub(super) fn counts(scale: f64) -> Vec<(&'static str, i64)> {
    let queries = [
        "SELECT COUNT(*) FROM supplier",
        "SELECT COUNT(*) FROM customer",
        "SELECT COUNT(*) FROM part",
        "SELECT COUNT(*) FROM orders",
    ];
    let counts = SIZES.iter().map(|(_, rows)| (rows * scale) as i64);
    queries.into_iter().zip(counts).collect()
}

/// What gives the optimizer its figures once all rows are there.
pub(super) fn statistics(dialect: Dialect) -> Vec<String> {
    dialect.analyze(&[
        "region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem",
    ])
}

/// All tables, in the order they are loaded.
pub(super) fn all(scale: f64, dialect: Dialect) -> Vec<Table> {
    let mut tables = vec![
        small("region", REGION, "r_regionkey, r_name, r_comment", regions),
        small("nation", NATION, "n_nationkey, n_name, n_regionkey, n_comment", nations),
        supplier(scale),
        customer(scale),
        part(scale),
        partsupp(scale),
        orders(scale),
        lineitem(scale),
    ];
    for table in &mut tables {
        table.create += dialect.table_options();
        let keys = KEYS.iter().filter(|(name, _)| *name == table.name);
        table.indexes = keys.map(|(name, columns)| index(name, columns)).collect();
    }
    tables
}

fn index(table: &str, columns: &str) -> String {
    let name = columns.replace(", ", "_");
    format!("CREATE INDEX {name} ON {table} ({columns})")
}

fn small(
    name: &str,
    columns: &str,
    given: &'static str,
    fill: impl Fn(&mut Rows) + Send + Sync + 'static,
) -> Table {
    Table {
        rows_per_call: 25,
        ..Table::filled(name, columns, given, 1, move |_, _, out| fill(out))
    }
}

fn regions(out: &mut Rows) {
    for row in RegionGenerator::default() {
        out.put(row.r_regionkey).put(row.r_name).put(row.r_comment).end();
    }
}

fn nations(out: &mut Rows) {
    for row in NationGenerator::default() {
        out.put(row.n_nationkey).put(row.n_name).put(row.n_regionkey).put(row.n_comment).end();
    }
}

/// A table whose rows come in portions: `fill` gets its number and how many there are.
fn portions(
    (name, columns): (&str, &str),
    given: &'static str,
    rows: f64,
    fill: impl Fn(i32, i32, &mut Rows) + Send + Sync + 'static,
) -> Table {
    // The generator counts portions in 32 bits.
    let portions = (rows as u64).div_ceil(PORTION).clamp(1, i32::MAX as u64);
    Table {
        name: name.to_owned(),
        create: format!("CREATE TABLE {name} ({columns})"),
        columns: given,
        rows: portions,
        rows_per_call: rows as u64 / portions,
        fill: Arc::new(move |call, _, out| fill(call as i32 + 1, portions as i32, out)),
        indexes: Vec::new(),
    }
}

fn supplier(scale: f64) -> Table {
    let given = "s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment";
    portions(("supplier", SUPPLIER), given, scale * 10_000.0, move |portion, of, out| {
        for row in SupplierGenerator::new(scale, portion, of) {
            out.put(row.s_suppkey).show(row.s_name).show(row.s_address).put(row.s_nationkey);
            out.show(row.s_phone).show(row.s_acctbal).put(&row.s_comment).end();
        }
    })
}

fn customer(scale: f64) -> Table {
    let given =
        "c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment";
    portions(("customer", CUSTOMER), given, scale * 150_000.0, move |portion, of, out| {
        for row in CustomerGenerator::new(scale, portion, of) {
            out.put(row.c_custkey).show(row.c_name).show(row.c_address).put(row.c_nationkey);
            out.show(row.c_phone).show(row.c_acctbal).put(row.c_mktsegment).put(row.c_comment);
            out.end();
        }
    })
}

fn part(scale: f64) -> Table {
    let given = "p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, \
                 p_comment";
    portions(("part", PART), given, scale * 200_000.0, move |portion, of, out| {
        for row in PartGenerator::new(scale, portion, of) {
            out.put(row.p_partkey).show(&row.p_name).show(row.p_mfgr).show(row.p_brand);
            out.put(row.p_type).put(row.p_size).put(row.p_container).show(row.p_retailprice);
            out.put(row.p_comment).end();
        }
    })
}

/// Each part has four suppliers. With fewer than 80 suppliers the generator's rule gives some parts
/// one of them twice; the second is left out.
fn partsupp(scale: f64) -> Table {
    let given = "ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment";
    portions(("partsupp", PARTSUPP), given, scale * 200_000.0, move |portion, of, out| {
        let (mut part, mut suppliers) = (0, Vec::new());
        for row in PartSuppGenerator::new(scale, portion, of) {
            if std::mem::replace(&mut part, row.ps_partkey) != row.ps_partkey {
                suppliers.clear();
            }
            if suppliers.contains(&row.ps_suppkey) {
                continue;
            }
            suppliers.push(row.ps_suppkey);
            out.put(row.ps_partkey).put(row.ps_suppkey).put(row.ps_availqty);
            out.show(row.ps_supplycost).put(row.ps_comment).end();
        }
    })
}

fn orders(scale: f64) -> Table {
    let given = "o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, \
                 o_orderpriority, o_clerk, o_shippriority, o_comment";
    portions(("orders", ORDERS), given, scale * 1_500_000.0, move |portion, of, out| {
        for row in OrderGenerator::new(scale, portion, of) {
            out.put(row.o_orderkey).put(row.o_custkey).put(row.o_orderstatus.as_str());
            out.show(row.o_totalprice).show(row.o_orderdate).put(row.o_orderpriority);
            out.show(row.o_clerk).put(row.o_shippriority).put(row.o_comment).end();
        }
    })
}

fn lineitem(scale: f64) -> Table {
    let given = "l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, \
                 l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, \
                 l_receiptdate, l_shipinstruct, l_shipmode, l_comment";
    let fill = move |portion, of, out: &mut Rows| {
        for row in LineItemGenerator::new(scale, portion, of) {
            out.put(row.l_orderkey).put(row.l_partkey).put(row.l_suppkey).put(row.l_linenumber);
            out.put(row.l_quantity).show(row.l_extendedprice).show(row.l_discount);
            out.show(row.l_tax).put(row.l_returnflag).put(row.l_linestatus);
            out.show(row.l_shipdate).show(row.l_commitdate).show(row.l_receiptdate);
            out.put(row.l_shipinstruct).put(row.l_shipmode).put(row.l_comment).end();
        }
    };
    let table = portions(("lineitem", LINEITEM), given, scale * 1_500_000.0, fill);
    Table { rows_per_call: table.rows_per_call * LINES, ..table }
}
