//! The arguments of the command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;

use crate::scenarios::Scenario;

/// Run the engine over simulated services with faults; a seed determines each run
#[derive(Debug, Clone, Parser)]
#[command(name = "sim", version)]
pub struct Arguments {
    /// Scenarios to run; all if none is given
    #[arg(value_name = "SCENARIO")]
    named: Vec<Scenario>,
    /// Number of seeds of each scenario
    #[arg(long, value_name = "N", default_value_t = 200)]
    seeds: u64,
    /// First seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    from: u64,
    /// Run only this seed
    #[arg(long, value_name = "SEED", conflicts_with_all = ["seeds", "from", "shard", "resume"])]
    pub seed: Option<u64>,
    /// Print the trace of the run
    #[arg(long, requires = "seed")]
    pub trace: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Run only part K of N of the seeds, for example 2/8
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Stop a scenario soon after one of its seeds has failed
    #[arg(long)]
    pub until_failure: bool,
    /// Save the progress to this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Number of concurrent runs; defaults to the number of processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Do not add failed seeds to failed-seeds.json
    #[arg(long)]
    pub forget: bool,
}

/// One of several equally large parts of the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    number: u64,
    count: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((number, count)) = text.split_once('/')
            && let (Ok(number), Ok(count)) = (number.parse(), count.parse())
            && (1..=count).contains(&number)
        {
            return Ok(Self { number, count });
        }
        Err("invalid part of the seeds; write K/N, with K from 1 to N".to_owned())
    }
}

impl Arguments {
    /// Returns the scenarios to run.
    pub fn scenarios(&self) -> Vec<Scenario> {
        if self.named.is_empty() { Scenario::ALL.to_vec() } else { self.named.clone() }
    }

    /// Returns the seeds to run, in ascending order.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        let shard = self.shard.unwrap_or(Shard { number: 1, count: 1 });
        let end = self.from.saturating_add(self.seeds);
        (self.from..end).filter(move |seed| seed % shard.count == shard.number - 1)
    }

    /// Returns the number of concurrent runs.
    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(all)
    }
}
