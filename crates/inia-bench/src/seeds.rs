//! The five reports whose judgement the lab repeats: which workloads at which scales make up
//! each of their tables, and the figures they published.
//!
//! Published figures are for reading beside one's own. They come from other machines, and from
//! servers of 2000 to 2007: nothing is computed from the two together.

mod needs;
mod table;

pub use needs::{Need, needs};
pub use table::{Results, render};

use crate::random::Distribution;
use crate::workload::{Parameters, Workload, find};

/// One report.
#[derive(Debug)]
pub struct Report {
    /// A short name for the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its tables.
    pub tables: &'static [Table],
}

/// One table of a report.
#[derive(Debug)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// How it is made from runs.
    pub shape: Shape,
    /// The workloads that are run for it.
    pub workloads: &'static [&'static str],
    /// How rows are chosen; each is a column of its own. Empty: as the workload has it.
    pub distributions: &'static [Distribution],
    /// Numbers of clients at full scale.
    pub clients: &'static [usize],
    /// Run on one of so many of the machine's processors; shapes that compare numbers of
    /// processors run on 1, 2, 4 … of them, on half and on all instead.
    pub share: usize,
    /// What the report printed, as tab-separated lines with a head line.
    pub published: &'static str,
}

/// How a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row for each number of clients, a column for each target.
    Clients,
    /// A row for each workload, a column for each target; the best over all numbers of clients.
    Workloads,
    /// A row for each workload, and for each target the seconds it took by the clock and of the
    /// server's processor time; what is counted rather than timed is shown for 10,000 times.
    Seconds,
    /// A row for each number of CPUs: the peak over all numbers of clients.
    Peaks,
    /// The peaks divided by the peak of one CPU.
    FactorToOne,
    /// The peaks divided by the peak of half as many CPUs.
    FactorToHalf,
    /// The peak, the rate at the most clients, and what is lost between them, in per cent.
    Sag,
    /// Price per operation and second, from the user's price.
    Price,
}

/// How much of a report is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Everything in seconds, to see that all of it works: hundreds of rows, 2 clients.
    Tiny,
    /// Everything in minutes on any machine: thousands of rows, up to 8 clients.
    Small,
    /// A hundredth of the report's rows or more, up to 64 clients.
    Medium,
    /// The report's own numbers.
    Full,
}

impl std::str::FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        match text {
            "tiny" => Ok(Scale::Tiny),
            "small" => Ok(Scale::Small),
            "medium" => Ok(Scale::Medium),
            "full" => Ok(Scale::Full),
            _ => Err(format!("unknown scale '{text}': choose tiny, small, medium or full")),
        }
    }
}

impl Scale {
    /// What a workload is run with at this scale.
    pub fn parameters(self, workload: &dyn Workload) -> Parameters {
        let mut parameters = workload.defaults();
        let (rows, scale) = match (self, workload.family()) {
            (Scale::Full, "Super Smack") => (10_000_000, 1),
            (Scale::Full, "Warehouse") => (1_500_000, 1),
            (Scale::Full, _) => (parameters.rows, parameters.scale),
            (Scale::Tiny, "sysbench OLTP") => (500, 1),
            (Scale::Tiny, "PHPTestSuite") => (6_000, 1),
            (Scale::Tiny, "InnoDB's page") => (1_000, 1),
            (Scale::Tiny, "TPC") => (40, 1),
            (Scale::Tiny, "Warehouse") => (1_500, 1),
            (Scale::Tiny, _) => (300, 1),
            (Scale::Small, "InnoDB's page" | "PHPTestSuite" | "sysbench OLTP") => (10_000, 1),
            (Scale::Small, "Super Smack") => (20_000, 1),
            (Scale::Small, "Warehouse") => (15_000, 1),
            (Scale::Small, "Nile bookstore") => (2_000, 1),
            (Scale::Small, "Order and inventory") => (500, 1),
            (Scale::Small, _) => (300, 1),
            (Scale::Medium, "Warehouse") => (150_000, 1),
            (Scale::Medium, "TPC") => (parameters.rows, 1),
            (Scale::Medium, "InnoDB's page") => (parameters.rows, 1),
            (Scale::Medium, "Nile bookstore" | "Order and inventory") => (5_000, 5),
            (Scale::Medium, _) => (100_000, 1),
        };
        (parameters.rows, parameters.scale) = (rows, scale);
        let items = match self {
            Scale::Tiny => "200",
            Scale::Small => "2000",
            _ => return parameters,
        };
        if workload.name() == "tpcc" {
            parameters.options.insert("items".to_owned(), items.to_owned());
        }
        parameters
    }

    /// The numbers of clients of a table at this scale.
    pub fn clients(self, table: &Table) -> Vec<usize> {
        let most = match self {
            Scale::Tiny => 2,
            Scale::Small => 8,
            Scale::Medium => 64,
            Scale::Full => usize::MAX,
        };
        let mut all: Vec<usize> = table.clients.iter().map(|&n| n.min(most)).collect();
        if matches!(self, Scale::Tiny | Scale::Small) {
            all = vec![all.iter().copied().min().unwrap_or(1), most];
        }
        all.sort_unstable();
        all.dedup();
        if table.clients.iter().all(|&n| n == 1) { vec![1] } else { all }
    }

    /// Seconds of each run, and of the warm-up before.
    pub fn seconds(self) -> (f64, f64) {
        match self {
            Scale::Tiny => (0.1, 0.0),
            Scale::Small => (0.5, 0.1),
            Scale::Medium => (10.0, 2.0),
            Scale::Full => (60.0, 10.0),
        }
    }

    /// Rounds of each run.
    pub fn rounds(self) -> usize {
        if self == Scale::Full { 3 } else { 1 }
    }
}

impl Table {
    /// Its workloads.
    pub fn runs(&self) -> impl Iterator<Item = &'static dyn Workload> {
        self.workloads.iter().filter_map(|name| find(name))
    }

    /// The numbers of processors it is run on, of so many that there are.
    pub fn processors(&self, all: usize) -> Vec<usize> {
        match self.shape {
            Shape::Peaks | Shape::FactorToOne | Shape::FactorToHalf => {
                let mut counts: Vec<usize> =
                    (0..).map(|n| 1 << n).take_while(|&n| n < all).collect();
                counts.extend(all.is_multiple_of(2).then_some(all / 2));
                counts.push(all);
                counts.sort_unstable();
                counts.dedup();
                counts
            }
            _ if all < self.share => Vec::new(),
            _ => vec![all / self.share],
        }
    }

    /// How rows are chosen in the columns of a workload.
    pub fn distributions(&self, workload: &dyn Workload) -> Vec<Distribution> {
        if self.distributions.is_empty() {
            vec![workload.defaults().distribution]
        } else {
            self.distributions.to_vec()
        }
    }

    /// Head and lines of what the report printed.
    pub fn published_cells(&self) -> Vec<Vec<&'static str>> {
        self.published.lines().map(|line| line.split('\t').collect()).collect()
    }
}

/// The report of this name.
pub fn report(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

const BOTH: &[Distribution] = &[Distribution::SPECIAL, Distribution::Uniform];
const THREADS: &[usize] = &[1, 2, 4, 8, 16, 24, 32, 40, 64, 88];
const MORE_THREADS: &[usize] = &[1, 2, 4, 8, 16, 24, 32, 40, 64, 88, 128, 196, 256];
const SMACK: &[usize] = &[1, 5, 10, 20, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500];
const USERS: &[usize] = &[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];
const READ_ONLY: &[&str] = &["oltp_read_only"];

const fn rdbms(title: &'static str, shape: Shape, published: &'static str) -> Table {
    Table {
        title,
        shape,
        workloads: READ_ONLY,
        distributions: BOTH,
        clients: MORE_THREADS,
        share: 1,
        published,
    }
}

const fn plain(
    title: &'static str,
    shape: Shape,
    workloads: &'static [&'static str],
    clients: &'static [usize],
    published: &'static str,
) -> Table {
    Table { title, shape, workloads, distributions: &[], clients, share: 1, published }
}

/// All five.
pub const REPORTS: &[Report] = &[
    Report {
        name: "rdbms",
        title: "RDBMS comparison, read-only benchmark",
        tables: &[
            rdbms(
                "MySQL 4.1 and 5.0, transactions per second by threads",
                Shape::Clients,
                include_str!("seeds/rdbms-mysql-versions.tsv"),
            ),
            Table {
                clients: THREADS,
                share: 1,
                ..rdbms(
                    "All processors (in the report 4 CPUs with hyper-threading)",
                    Shape::Clients,
                    include_str!("seeds/rdbms-4cpu-ht.tsv"),
                )
            },
            Table {
                clients: THREADS,
                share: 2,
                ..rdbms(
                    "Half the processors (2 CPUs with hyper-threading)",
                    Shape::Clients,
                    include_str!("seeds/rdbms-2cpu-ht.tsv"),
                )
            },
            Table {
                clients: THREADS,
                share: 4,
                ..rdbms(
                    "A quarter of the processors (1 CPU with hyper-threading)",
                    Shape::Clients,
                    include_str!("seeds/rdbms-1cpu-ht.tsv"),
                )
            },
            Table {
                clients: THREADS,
                share: 8,
                ..rdbms(
                    "An eighth of the processors (1 CPU)",
                    Shape::Clients,
                    include_str!("seeds/rdbms-1cpu.tsv"),
                )
            },
            rdbms("Peaks by CPUs", Shape::Peaks, include_str!("seeds/rdbms-peaks.tsv")),
            rdbms(
                "Peak against half the CPUs",
                Shape::FactorToHalf,
                include_str!("seeds/rdbms-scaling-half.tsv"),
            ),
            rdbms(
                "Peak against one CPU",
                Shape::FactorToOne,
                include_str!("seeds/rdbms-scaling-one.tsv"),
            ),
            rdbms("Sag from the peak", Shape::Sag, include_str!("seeds/rdbms-sag.tsv")),
        ],
    },
    Report {
        name: "smack",
        title: "MySQL on FreeBSD and Linux",
        tables: &[
            plain(
                "SELECT, queries per second",
                Shape::Clients,
                &["smack_select"],
                SMACK,
                include_str!("seeds/smack-select.tsv"),
            ),
            plain(
                "UPDATE, queries per second",
                Shape::Clients,
                &["smack_update"],
                SMACK,
                include_str!("seeds/smack-update.tsv"),
            ),
            plain(
                "OLTP, transactions per second",
                Shape::Clients,
                &["smack_oltp"],
                SMACK,
                include_str!("seeds/smack-oltp.tsv"),
            ),
        ],
    },
    Report {
        name: "engines",
        title: "InnoDB, MyISAM and Falcon: PHPTestSuite's reads",
        tables: &[plain(
            "Queries per second",
            Shape::Workloads,
            &[
                "READ_PK_POINT",
                "READ_KEY_POINT",
                "READ_KEY_POINT_LIMIT",
                "READ_KEY_POINT_NO_DATA",
                "READ_KEY_POINT_NO_DATA_LIMIT",
                "READ_PK_POINT_INDEX",
                "READ_PK_RANGE",
                "READ_PK_RANGE_INDEX",
                "READ_KEY_RANGE",
                "READ_KEY_RANGE_LIMIT",
                "READ_KEY_RANGE_NO_DATA",
                "READ_KEY_RANGE_NO_DATA_LIMIT",
                "READ_FTS",
            ],
            &[1, 4, 16, 64, 128, 256],
            include_str!("seeds/php-remarks.tsv"),
        )],
    },
    Report {
        name: "whitepaper",
        title: "MySQL performance benchmarks: scalability and throughput",
        tables: &[
            plain(
                "Nile: pages per second by users",
                Shape::Clients,
                &["nile"],
                USERS,
                include_str!("seeds/nile-pages.tsv"),
            ),
            plain(
                "sysbench by CPUs",
                Shape::Peaks,
                &["oltp_read_only", "oltp_read_write"],
                &[1, 2, 4, 8, 16, 32],
                include_str!("seeds/sysbench-white-paper.tsv"),
            ),
            plain(
                "Order and inventory: operations per second",
                Shape::Workloads,
                &["order_inventory"],
                &[1, 8, 32],
                include_str!("seeds/order-tops.tsv"),
            ),
            plain(
                "Order and inventory: price per operation and second",
                Shape::Price,
                &["order_inventory"],
                &[1, 8, 32],
                include_str!("seeds/order-price.tsv"),
            ),
            plain(
                "sysbench's other scripts: transactions per second",
                Shape::Workloads,
                &[
                    "oltp_point_select",
                    "oltp_write_only",
                    "oltp_update_index",
                    "oltp_update_non_index",
                    "oltp_insert",
                    "oltp_delete",
                ],
                &[1, 8, 64],
                "",
            ),
            plain(
                "BenchW and DBT, which the appendix names: a warehouse's queries per second",
                Shape::Workloads,
                &["benchw", "tpch"],
                &[1],
                "",
            ),
            plain(
                "Lookups and sales, beside reports and without",
                Shape::Workloads,
                &["htap", "htap_points"],
                &[2, 8, 32],
                "",
            ),
            plain(
                "OSDB, which the appendix names: single-user queries per second",
                Shape::Workloads,
                &["osdb"],
                &[1],
                "",
            ),
            plain(
                "OSDB: multi-user mixes",
                Shape::Workloads,
                &["osdb_ir", "osdb_oltp", "osdb_mixed_ir", "osdb_mixed_oltp"],
                &[2, 8, 32],
                "",
            ),
            plain(
                "BenchW's load and keys",
                Shape::Seconds,
                &["benchw_load", "benchw_index"],
                &[1],
                "",
            ),
            plain(
                "MySQL Benchmark Suite, connections and tables per second",
                Shape::Workloads,
                &["sqlbench_connect", "sqlbench_create"],
                &[1, 8, 32],
                "",
            ),
            plain(
                "MySQL Benchmark Suite: changes of a table's definition",
                Shape::Seconds,
                &["sqlbench_alter"],
                &[1],
                "",
            ),
            plain(
                "TPC: transactions per second",
                Shape::Workloads,
                &["tpcb", "tpcc"],
                &[1, 8, 32],
                "",
            ),
        ],
    },
    Report {
        name: "innodb",
        title: "InnoDB: mass inserts, joins and whole tables",
        tables: &[
            plain(
                "Copy and join",
                Shape::Seconds,
                &["innodb_insert_copy", "innodb_join_sum"],
                &[1],
                include_str!("seeds/innodb-postgres.tsv"),
            ),
            plain(
                "Programs of single statements",
                Shape::Seconds,
                &["innodb_perl_insert", "innodb_perl_primary", "innodb_perl_secondary"],
                &[1],
                include_str!("seeds/innodb-perl.tsv"),
            ),
            plain(
                "Mass operations",
                Shape::Seconds,
                &[
                    "innodb_mass_insert",
                    "innodb_insert_copy",
                    "innodb_star_count",
                    "innodb_star_data",
                    "innodb_tpca_commits",
                    "innodb_tpca_no_commits",
                    "innodb_update_all",
                    "innodb_delete_all",
                ],
                &[1],
                include_str!("seeds/innodb-standalone.tsv"),
            ),
            plain(
                "Copy with a second index, and grouping",
                Shape::Seconds,
                &["innodb_insert_index", "innodb_group"],
                &[1],
                "",
            ),
            plain(
                "Inserts and selects on one table",
                Shape::Clients,
                &["innodb_concurrent"],
                &[1, 2, 4, 8, 16, 32, 64],
                "",
            ),
        ],
    },
];

#[cfg(test)]
mod tests;
