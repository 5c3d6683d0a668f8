//! What is done to the cloud: how many clients, in which rhythm, for how long.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;

/// Clients without `--clients`.
pub const CLIENTS: u32 = 100;
/// Edits between two snapshots, of the command: few, so that some are made in each run.
pub const SNAPSHOT_ENTRIES: u32 = 50;
/// Entries of a segment, of the command: few, so that logs go on in new segments.
pub const SEGMENT_ENTRIES: u32 = 500;
/// Clients that share a spreadsheet where it is neither one for all nor one for each.
const CLIENTS_OF_ONE: u32 = 10;
/// Requests a second of all clients together where a rate is kept.
pub const RATE: u32 = 20;
/// From one burst to the next.
const BURST_EVERY: Duration = Duration::from_secs(30);
/// Requests of each client in a burst.
const BURST_REQUESTS: u64 = 3;
/// How often `kill` kills.
const KILLS: u32 = 4;

/// A way to load the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// A fixed rate; latency from when a request was due
    Sustained,
    /// Nothing, then all clients at once, again and again
    Burst,
    /// All clients in one spreadsheet, each as fast as it is answered
    OneSheet,
    /// As many spreadsheets as clients, each as fast as it is answered
    ManySheets,
    /// As sustained, for half an hour, with the rule on memory
    Soak,
    /// As fast as it is answered, and the cloud is killed at the peak, several times
    Kill,
}

/// When the requests of a client are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rhythm {
    /// So many a second of all clients together, evenly, answered or not: an open loop.
    Rate(u32),
    /// So many of each client at once, again after a time, answered or not.
    Burst {
        /// Requests of each client.
        requests: u64,
        /// From one burst to the next.
        every: Duration,
    },
    /// The next as soon as the one before is answered: a closed loop.
    Closed,
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// For a time.
    Time(Duration),
    /// Until each client has made so many requests.
    Requests(u64),
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it is called.
    pub scenario: Scenario,
    /// Clients, each with connections of its own.
    pub clients: u32,
    /// Spreadsheets; client n works on the one with the number n modulo this.
    pub spreadsheets: u32,
    /// When requests are due.
    pub rhythm: Rhythm,
    /// How long it goes on.
    pub length: Length,
    /// How often the cloud is killed, evenly over the run.
    pub kills: u32,
    /// Edits between two snapshots.
    pub snapshot_entries: u32,
    /// Entries of a segment.
    pub segment_entries: u32,
    /// Whether memory is judged for growth, not only for its bound.
    pub judges_growth: bool,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Sustained, Self::Burst, Self::OneSheet, Self::ManySheets, Self::Soak, Self::Kill];

    /// Seconds without `--seconds`.
    #[must_use]
    pub fn seconds(self) -> u64 {
        match self {
            Self::Soak => 30 * 60,
            _ => 60,
        }
    }

    /// The scenario as it is run: with so many clients, for a time, and another rate than its own.
    #[must_use]
    pub fn plan(self, clients: u32, time: Duration, rate: Option<u32>) -> Plan {
        let rate = Rhythm::Rate(rate.unwrap_or(RATE));
        let (rhythm, spreadsheets) = match self {
            Self::Sustained | Self::Soak => (rate, clients.div_ceil(CLIENTS_OF_ONE)),
            Self::Burst => {
                let burst = Rhythm::Burst { requests: BURST_REQUESTS, every: BURST_EVERY };
                (burst, clients.div_ceil(CLIENTS_OF_ONE))
            }
            Self::OneSheet => (Rhythm::Closed, 1),
            Self::ManySheets => (Rhythm::Closed, clients),
            Self::Kill => (Rhythm::Closed, clients.div_ceil(CLIENTS_OF_ONE)),
        };
        Plan {
            scenario: self,
            clients,
            spreadsheets,
            rhythm,
            length: Length::Time(time),
            kills: if self == Self::Kill { KILLS } else { 0 },
            snapshot_entries: SNAPSHOT_ENTRIES,
            segment_entries: SEGMENT_ENTRIES,
            judges_growth: self == Self::Soak,
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Sustained => "sustained",
            Self::Burst => "burst",
            Self::OneSheet => "one-sheet",
            Self::ManySheets => "many-sheets",
            Self::Soak => "soak",
            Self::Kill => "kill",
        })
    }
}

impl fmt::Display for Rhythm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(formatter, "{rate} requests/s, open loop"),
            Self::Burst { requests, every } => {
                write!(formatter, "{requests} requests of each every {} s", every.as_secs())
            }
            Self::Closed => formatter.write_str("each as fast as it is answered"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_named_as_it_is_asked_for() {
        for scenario in Scenario::ALL {
            let named = Scenario::from_str(&scenario.to_string(), false);
            assert_eq!(named, Ok(scenario));
        }
        let plan = |scenario: Scenario| scenario.plan(100, Duration::from_secs(1), None);
        assert_eq!(plan(Scenario::OneSheet).spreadsheets, 1);
        assert_eq!(plan(Scenario::ManySheets).spreadsheets, 100);
        assert_eq!(plan(Scenario::Sustained).spreadsheets, 10);
        assert!(plan(Scenario::Kill).kills > 1 && plan(Scenario::Soak).kills == 0);
    }
}
