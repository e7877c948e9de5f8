//! Records of a lab that never was: several targets and workloads, in round figures.

use crate::histogram::Histogram;
use crate::record::{
    Cpu, Extra, Latency, Machine, Method, Outcome, QUERIES, Record, SCHEMA, Second, TargetInfo,
    TransactionKind, UNANSWERED, WorkloadInfo,
};

/// A long value without a place to break it.
const MODES: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE";

/// A target: label, product, microseconds of a transaction alone, processor time of one.
type Peer = (&'static str, &'static str, f64, f64);

const PEERS: [Peer; 5] = [
    ("inia", "inia", 20.0, 12.0),
    ("mysql", "mysql", 45.0, 31.0),
    ("mariadb", "mariadb", 38.0, 27.0),
    ("postgres", "postgres", 40.0, 30.0),
    ("floor", "floor", 15.0, 8.0),
];

/// A lab's day: sysbench over clients and processors, single statements, an open loop, a failure.
pub(crate) fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for name in ["oltp_point_select", "oltp_read_write"] {
        for clients in [1, 8, 64, 256] {
            for round in 1..=2 {
                for peer in &PEERS {
                    records.push(record(name, peer, clients, round, &[]));
                }
            }
        }
    }
    for cpus in [1, 2, 4] {
        for peer in &PEERS {
            let bound: Vec<usize> = (0..cpus).collect();
            records.push(record("oltp_read_only", peer, 8, 1, &bound));
        }
    }
    for peer in &PEERS[..4] {
        let mut timed = record("innodb_update_all", peer, 1, 1, &[]);
        timed.workload.figure = "time".to_owned();
        timed.workload.family = "InnoDB's page".to_owned();
        records.push(timed);
    }
    for rate in [1000.0, 5000.0] {
        let mut open = record("smack_select", &PEERS[0], 64, 1, &[]);
        open.method.rate = Some(rate);
        open.workload.family = "Super Smack".to_owned();
        records.push(open);
    }
    let mut failed = record("smack_select", &PEERS[1], 64, 1, &[]);
    failed.method.rate = Some(5000.0);
    failed.outcome = None;
    failed.error = Some("<b>no</b> \"answer\" & no end".to_owned());
    records.push(failed);
    records
}

/// Two rounds of a set of five queries on two targets. The first target was stopped in the second
/// query, the other one failed in the third, and the fifth was not run.
pub(crate) fn questions() -> Vec<Record> {
    let mut records = Vec::new();
    for round in 1..=2 {
        for (peer, slower) in PEERS[..2].iter().zip([1.0, 10.0]) {
            let mut record = record("tpch", peer, 1, round, &[]);
            record.workload.unit = QUERIES.to_owned();
            let (unanswered, extra) = match peer.0 {
                "inia" => {
                    ("q02", Extra { name: "q02 stopped".into(), unit: "s".into(), value: 60.0 })
                }
                _ => ("q03", Extra { name: "q03 failed".into(), unit: String::new(), value: 1.0 }),
            };
            let kind = |number: u64| {
                let name = format!("q0{number}");
                let run = number < 5 && name != unanswered;
                // 10, 20, 30 and 40 ms in the first round, a tenth more in the second.
                let p50 = (9_000.0 + 1_000.0 * round as f64) * number as f64 * slower;
                let latency = Latency { p50, ..Latency::default() };
                TransactionKind { name, transactions: u64::from(run), latency }
            };
            let mut kinds: Vec<TransactionKind> = (1..=5).map(kind).collect();
            let name = UNANSWERED.to_owned();
            kinds.push(TransactionKind { name, transactions: 1, latency: Latency::default() });
            if let Some(outcome) = &mut record.outcome {
                (outcome.kinds, outcome.extras) = (kinds, vec![extra]);
            }
            records.push(record);
        }
    }
    records
}

fn record(name: &str, peer: &Peer, clients: usize, round: usize, cpus: &[usize]) -> Record {
    let &(label, product, alone, server) = peer;
    let width = if cpus.is_empty() { 2.0 } else { cpus.len() as f64 };
    let slower = if name == "oltp_point_select" { 1.0 } else { 20.0 };
    let (alone, server) = (alone * slower, server * slower);
    let waiting = (clients as f64 / (1.5 * width)).max(1.0);
    let jitter = 1.0 + 0.03 * (round as f64 - 1.0);
    let series: Vec<Histogram> = (0..12)
        .map(|second| {
            let mut histogram = Histogram::default();
            let stall = if second == 7 && product != "inia" { 3.0 } else { 1.0 };
            for n in 0..400u64 {
                let tail = 1.0 + (n as f64 / 400.0).powi(12) * 30.0 + (n % 7) as f64 / 20.0;
                histogram.add((alone * waiting * jitter * stall * tail * 1000.0) as u64);
            }
            histogram
        })
        .collect();
    let mut record = Record {
        schema: SCHEMA,
        run: "00000000000000aa".to_owned(),
        at: format!("2026-11-21T14:{:02}:{:02}Z", clients % 60, round),
        command: ["inia", "bench", "compare", "--workload", "it's"].map(str::to_owned).to_vec(),
        machine: Machine {
            os: "linux 6.18".to_owned(),
            cpu: "Processor".to_owned(),
            cores: 4,
            memory: 16 << 30,
            lab: "0.1.0".to_owned(),
        },
        workload: WorkloadInfo {
            name: name.to_owned(),
            family: "sysbench OLTP".to_owned(),
            unit: "transactions".to_owned(),
            figure: "rate".to_owned(),
            rows: 1_000_000,
            scale: 1,
            distribution: "special".to_owned(),
            prepared: true,
            ..WorkloadInfo::default()
        },
        target: TargetInfo {
            label: label.to_owned(),
            product: product.to_owned(),
            version: "8.0.31-a-rather-long-version-string".to_owned(),
            durability: if product == "mariadb" { "relaxed" } else { "durable" }.to_owned(),
            settings: [("innodb_buffer_pool_size", "4294967296"), ("sql_mode", MODES)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        },
        method: Method {
            clients,
            seconds: 12.0,
            warm_up: 2.0,
            round,
            rounds: 2,
            rate: None,
            server_cpus: cpus.to_vec(),
            client_cpus: Vec::new(),
        },
        outcome: Some(outcome(&series, clients as f64 * 1e6 / (alone * waiting * jitter), server)),
        warnings: match clients {
            256 => vec![format!("the machine is busy: others used {} % of it", 10 + round)],
            _ => Vec::new(),
        },
        ..Record::default()
    };
    record.seal();
    record
}

fn outcome(series: &[Histogram], rate: f64, server: f64) -> Outcome {
    let mut all = Histogram::default();
    series.iter().for_each(|second| all.merge(second));
    let micros = |buckets: Vec<(u64, u32)>| {
        buckets.into_iter().map(|(nanos, n)| (nanos as f64 / 1000.0, n)).collect()
    };
    let second = |(number, histogram): (usize, &Histogram)| Second {
        second: number as u64,
        transactions: histogram.count(),
        p50: Latency::of(histogram).p50,
        p95: Latency::of(histogram).p95,
        p99: Latency::of(histogram).p99,
        max: Latency::of(histogram).max,
        histogram: micros(histogram.coarse_buckets()),
    };
    let kind = TransactionKind {
        name: "new order".to_owned(),
        transactions: all.count(),
        latency: Latency::of(&all),
    };
    Outcome {
        transactions: all.count(),
        seconds: 12.0,
        rate,
        requests: all.count(),
        retries: 3,
        unserved: 0,
        latency: Latency::of(&all),
        histogram: micros(all.buckets().collect()),
        kinds: vec![kind],
        series: series.iter().enumerate().map(second).collect(),
        cpu: Cpu { server: Some(server), client: Some(9.5), ..Cpu::default() },
        rss: Some(300 << 20),
        load_seconds: None,
        ..Outcome::default()
    }
}
