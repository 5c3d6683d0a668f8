//! The plan of a run: the number of clients, the rhythm of their requests, and the duration.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;

/// Default number of clients.
pub const CLIENTS: u32 = 100;
/// Edits between two snapshots. The number is small, so that each run has some snapshots.
pub const SNAPSHOT_ENTRIES: u32 = 50;
/// Entries of a segment. The number is small, so that logs are rolled.
pub const SEGMENT_ENTRIES: u32 = 500;
/// Clients per spreadsheet, in scenarios without another rule.
const CLIENTS_OF_ONE: u32 = 10;
/// Requests per second of all clients together, in scenarios with a rate.
pub const RATE: u32 = 20;
/// Time from one burst to the next.
const BURST_EVERY: Duration = Duration::from_secs(30);
/// Requests of each client in a burst.
const BURST_REQUESTS: u64 = 3;
/// Number of kills in the scenario `kill`.
const KILLS: u32 = 4;

/// A scenario of the load test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// Requests at a fixed rate; latency is measured from the due time
    Sustained,
    /// Bursts of requests of all clients, with pauses
    Burst,
    /// All clients in one spreadsheet, each sending as soon as it is answered
    OneSheet,
    /// A spreadsheet for each client, each sending as soon as it is answered
    ManySheets,
    /// Like sustained, for half an hour, with a check of memory growth
    Soak,
    /// Clients send as soon as they are answered, while the cloud is killed several times
    Kill,
}

/// The rhythm of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rhythm {
    /// Evenly spaced requests per second of all clients together, regardless of answers: an open
    /// loop.
    Rate(u32),
    /// A burst of requests of each client, repeated regardless of answers.
    Burst {
        /// Requests of each client in a burst.
        requests: u64,
        /// Time from one burst to the next.
        every: Duration,
    },
    /// Each request as soon as the previous one is answered: a closed loop.
    Closed,
}

/// The length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A duration.
    Time(Duration),
    /// A number of requests of each client.
    Requests(u64),
}

/// The plan of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The scenario, for the report.
    pub scenario: Scenario,
    /// Number of clients, each with its own connections.
    pub clients: u32,
    /// Number of spreadsheets, over which clients are divided evenly.
    pub spreadsheets: u32,
    /// When requests are due.
    pub rhythm: Rhythm,
    /// Length of the run.
    pub length: Length,
    /// Number of kills of the cloud, evenly over the run.
    pub kills: u32,
    /// Edits between two snapshots.
    pub snapshot_entries: u32,
    /// Entries of a segment.
    pub segment_entries: u32,
    /// Whether the growth of memory is checked, in addition to its maximum.
    pub checks_growth: bool,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 6] =
        [Self::Sustained, Self::Burst, Self::OneSheet, Self::ManySheets, Self::Soak, Self::Kill];

    /// Returns the default duration in seconds.
    #[must_use]
    pub fn seconds(self) -> u64 {
        match self {
            Self::Soak => 30 * 60,
            _ => 60,
        }
    }

    /// Returns the plan of this scenario; `rate` overrides the default rate.
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
            checks_growth: self == Self::Soak,
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
    fn the_name_of_a_scenario_parses_as_the_scenario() {
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
