//! The arguments of the command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;

use crate::scenarios::Scenario;

/// Run the engine over simulated services with faults; a seed determines each run
#[derive(Debug, Clone, Parser)]
#[command(name = "sim", version)]
pub(super) struct Arguments {
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
    pub(super) seed: Option<u64>,
    /// Print the trace of the run
    #[arg(long, requires = "seed")]
    pub(super) trace: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Run only part K of N of the seeds, for example 2/8
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Stop a scenario soon after one of its seeds has failed
    #[arg(long)]
    pub(super) until_failure: bool,
    /// Save the progress to this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Number of concurrent runs; defaults to the number of processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Do not add failed seeds to failed-seeds.json
    #[arg(long)]
    pub(super) forget: bool,
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
    pub(super) fn scenarios(&self) -> Vec<Scenario> {
        if self.named.is_empty() { Scenario::ALL.to_vec() } else { self.named.clone() }
    }

    /// Returns the seeds to run, in ascending order.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        let shard = self.shard.unwrap_or(Shard { number: 1, count: 1 });
        let end = self.from.saturating_add(self.seeds);
        (self.from..end).filter(move |seed| seed % shard.count == shard.number - 1)
    }

    /// Returns the number of concurrent runs.
    pub(super) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Arguments {
        Arguments::try_parse_from([&["sim"], arguments].concat()).unwrap()
    }

    #[test]
    fn shards_share_the_seeds() {
        let seeds = |shard| {
            let arguments = parsed(&["--seeds", "10", "--from", "5", "--shard", shard]);
            arguments.seeds().collect::<Vec<_>>()
        };
        assert_eq!(seeds("1/3"), [6, 9, 12]);
        let mut all = [seeds("1/3"), seeds("2/3"), seeds("3/3")].concat();
        all.sort_unstable();
        assert_eq!(all, (5..15).collect::<Vec<_>>());
    }

    #[test]
    fn invalid_arguments_are_refused() {
        let wrong = [
            vec!["nowhere"],
            vec!["--shard", "0/3"],
            vec!["--shard", "4/3"],
            vec!["--shard", "x"],
            vec!["--trace"],
            vec!["--seed", "1", "--seeds", "2"],
        ];
        for arguments in wrong {
            let refused = Arguments::try_parse_from([vec!["sim"], arguments.clone()].concat());
            assert!(refused.is_err(), "{arguments:?}");
        }
        assert_eq!(parsed(&["roll-race"]).scenarios(), [Scenario::RollRace]);
        assert_eq!(parsed(&[]).scenarios(), Scenario::ALL);
    }
}
