//! The plan of a run: the number of clients, the timing of their requests, and the duration.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;

/// Default number of clients.
pub const CLIENTS: u32 = 100;
/// Number of edits between two snapshots. The number is small, so that each run builds some
/// snapshots.
pub const SNAPSHOT_ENTRIES: u32 = 50;
/// Number of entries per segment. The number is small, so that logs get several segments.
pub const SEGMENT_ENTRIES: u32 = 500;
/// Number of clients per spreadsheet, unless the scenario determines it.
const CLIENTS_OF_ONE: u32 = 10;
/// Default number of requests per second from all clients together, in scenarios with a rate.
pub const RATE: u32 = 20;
/// Time from the start of one burst to the start of the next.
const BURST_EVERY: Duration = Duration::from_secs(30);
/// Number of requests per client in a burst.
const BURST_REQUESTS: u64 = 3;
/// Number of kills in the `kill` scenario.
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
    /// Evenly spaced requests, given as the rate per second for all clients together. Requests do
    /// not wait for responses (open loop).
    Rate(u32),
    /// Periodic bursts of requests from each client. Bursts do not wait for responses.
    Burst {
        /// Number of requests per client in a burst.
        requests: u64,
        /// Time from the start of one burst to the start of the next.
        every: Duration,
    },
    /// Each request is sent as soon as the response to the previous one arrives (closed loop).
    Closed,
}

/// The length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A duration.
    Time(Duration),
    /// A fixed number of requests per client.
    Requests(u64),
}

/// The plan of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The scenario, as named in the report.
    pub scenario: Scenario,
    /// Number of clients, each with separate connections.
    pub clients: u32,
    /// Number of spreadsheets. Clients are divided evenly among them.
    pub spreadsheets: u32,
    /// When requests are due.
    pub rhythm: Rhythm,
    /// Length of the run.
    pub length: Length,
    /// Number of times that the stack is killed, evenly spread over the run.
    pub kills: u32,
    /// Number of edits between two snapshots.
    pub snapshot_entries: u32,
    /// Entries of a segment.
    pub segment_entries: u32,
    /// Whether to check the increase of memory in addition to its maximum.
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

    /// Returns the plan of this scenario. `rate` overrides the default rate.
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
