//! The scenarios, with their actors, their faults, and the rare events that must happen.

mod shapes;

use std::fmt;
use std::str::FromStr;

use cellar_log::upkeep::LogPolicy;

use crate::editor::Habits;
use crate::plan::FaultPlan;
use crate::rare::RareEvent;

/// A scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scenario {
    /// Many clients append to one log.
    AppendContention,
    /// Short segments, so that clients roll every few entries.
    RollRace,
    /// Snapshot workers crash and freeze at any step.
    SnapshotCrashes,
    /// Each message is delivered repeatedly.
    DuplicateStorm,
    /// Snapshots become due faster than they are built.
    SlowPredecessor,
    /// Processes resume after the segments that they have cached were trimmed.
    ZombieAfterTrim,
    /// Functions cannot be called for longer than the stream's retention.
    OutageAndReprocess,
    /// Machines of a sync group go offline and restart.
    OfflineClients,
    /// Logs and their forks are forked during writes.
    ForkUnderLoad,
    /// Large edits are uploaded as objects, and completed late, twice or never.
    LargeEdits,
    /// A tenant requests logs of others and stores garbage.
    HostileTenant,
    /// Members import sheets while two hostile members attack.
    HostileMember,
    /// Processes of a new version, with other limits, take over.
    NewVersion,
    /// Many people change the catalog while the indexer and the webhook follow its feed.
    CatalogFeed,
}

/// No scenario has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scenario `{name}`; choose one of: {}", names())]
pub struct NoSuchScenario {
    /// The given name.
    pub name: String,
}

fn names() -> String {
    Scenario::ALL.map(|scenario| scenario.to_string()).join(", ")
}

/// The parameters of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Maximum rates of faults.
    pub worst: FaultPlan,
    /// Maximum number of API processes.
    pub servers: u32,
    /// Number of clients that edit the log.
    pub editors: u8,
    /// The behavior of each client.
    pub habits: Habits,
    /// Upper limits for the upkeep policy.
    pub policy: LogPolicy,
    /// Maximum number of concurrent snapshot workers. If 0, the run has neither a relay nor
    /// workers.
    pub workers: usize,
    /// Timeout of a worker invocation, in milliseconds.
    pub function_ms: u64,
    /// Rare events that must happen at least once within a few hundred seeds.
    pub promised: &'static [RareEvent],
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 14] = [
        Self::AppendContention,
        Self::RollRace,
        Self::SnapshotCrashes,
        Self::DuplicateStorm,
        Self::SlowPredecessor,
        Self::ZombieAfterTrim,
        Self::OutageAndReprocess,
        Self::OfflineClients,
        Self::ForkUnderLoad,
        Self::LargeEdits,
        Self::HostileTenant,
        Self::HostileMember,
        Self::NewVersion,
        Self::CatalogFeed,
    ];

    /// Returns the scenario's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AppendContention => "append-contention",
            Self::RollRace => "roll-race",
            Self::SnapshotCrashes => "snapshot-crashes",
            Self::DuplicateStorm => "duplicate-storm",
            Self::SlowPredecessor => "slow-predecessor",
            Self::ZombieAfterTrim => "zombie-after-trim",
            Self::OutageAndReprocess => "outage-and-reprocess",
            Self::OfflineClients => "offline-clients",
            Self::ForkUnderLoad => "fork-under-load",
            Self::LargeEdits => "large-edits",
            Self::HostileTenant => "hostile-tenant",
            Self::HostileMember => "hostile-member",
            Self::NewVersion => "new-version",
            Self::CatalogFeed => "catalog-feed",
        }
    }

    /// Returns the scenario's parameters.
    #[must_use]
    pub fn shape(self) -> Shape {
        shapes::of(self)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Scenario {
    type Err = NoSuchScenario;

    fn from_str(name: &str) -> Result<Self, NoSuchScenario> {
        let found = Self::ALL.into_iter().find(|scenario| scenario.name() == name);
        found.ok_or_else(|| NoSuchScenario { name: name.to_owned() })
    }
}
