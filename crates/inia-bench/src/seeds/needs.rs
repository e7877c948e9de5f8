//! What must be run for some reports: every run once, however many tables show it, and in an
//! order in which a loaded data set is used by all runs on it.

use super::{Report, Scale};
use crate::random::Distribution;
use crate::target::Dialect;
use crate::workload::{Parameters, Workload};

/// Runs of one workload.
#[derive(Clone)]
pub struct Need {
    /// What is run.
    pub workload: &'static dyn Workload,
    /// With what.
    pub parameters: Parameters,
    /// Numbers of clients, from the least.
    pub clients: Vec<usize>,
    /// On how many processors.
    pub processors: usize,
}

impl Need {
    /// Runs that find the data of others before them have the same key.
    fn data(&self) -> (&'static str, u64, u64, u64) {
        let Parameters { rows, scale, seed, .. } = self.parameters;
        let data = self.workload.data(&self.parameters, Dialect::MySql);
        // Without data the run fails later, with a message.
        (data.map_or("", |data| data.name), rows, scale, seed)
    }

    fn same(&self, name: &str, distribution: Distribution, processors: usize) -> bool {
        self.workload.name() == name
            && self.parameters.distribution == distribution
            && self.processors == processors
    }
}

/// Everything that the tables of these reports need, on a machine of so many processors.
pub fn needs(reports: &[&Report], scale: Scale, processors: usize) -> Vec<Need> {
    let mut all: Vec<Need> = Vec::new();
    for table in reports.iter().flat_map(|report| report.tables) {
        for (workload, count) in table
            .runs()
            .flat_map(|run| table.processors(processors).into_iter().map(move |n| (run, n)))
        {
            for distribution in table.distributions(workload) {
                let clients = scale.clients(table);
                let mut known = all.iter_mut();
                match known.find(|need| need.same(workload.name(), distribution, count)) {
                    Some(need) => need.clients.extend(clients),
                    None => {
                        let parameters = Parameters { distribution, ..scale.parameters(workload) };
                        all.push(Need { workload, parameters, clients, processors: count });
                    }
                }
            }
        }
    }
    for need in &mut all {
        need.clients.sort_unstable();
        need.clients.dedup();
    }
    let mut order = Vec::new();
    for need in &all {
        if !order.contains(&need.data()) {
            order.push(need.data());
        }
    }
    all.sort_by_key(|need| {
        let first = order.iter().position(|data| *data == need.data());
        (first, !need.workload.keeps_data())
    });
    all
}
