//! The scenarios: who does what, which faults there are, and what must have happened.

mod shapes;

use std::fmt;
use std::str::FromStr;

use cellar_log::upkeep::LogPolicy;

use crate::editor::Habits;
use crate::plan::FaultPlan;
use crate::rare::Rare;

/// A scenario by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scenario {
    /// Many clients append to one log.
    AppendContention,
    /// Short segments: every few entries somebody rolls.
    RollRace,
    /// Workers on snapshots die and freeze everywhere.
    SnapshotCrashes,
    /// Each message comes many times.
    DuplicateStorm,
    /// Snapshots are due faster than they are made.
    SlowPredecessor,
    /// Processes wake up after what they knew was trimmed.
    ZombieAfterTrim,
    /// Functions cannot be called for longer than the stream remembers.
    OutageAndReprocess,
    /// Machines of a sync group are offline and restart.
    OfflineClients,
    /// Logs are forked, and forks of them, while others write.
    ForkUnderLoad,
    /// Edits that are uploaded as objects, completed late, twice or never.
    LargeEdits,
    /// A tenant asks for what is not his and stores garbage.
    HostileTenant,
    /// Members import, and two of them do their worst.
    HostileMember,
    /// Processes of another version, with other limits, take over.
    NewVersion,
    /// The catalog is changed by many, and the feed of its changes followed.
    CatalogFeed,
}

/// A name that no scenario has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no scenario `{name}`: there are {}", names())]
pub struct NoSuchScenario {
    /// As given.
    pub name: String,
}

fn names() -> String {
    Scenario::ALL.map(|scenario| scenario.to_string()).join(", ")
}

/// What a scenario is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// No run's faults are worse.
    pub worst: FaultPlan,
    /// Processes of the API.
    pub servers: u32,
    /// Clients of one log.
    pub editors: u8,
    /// What each of them does.
    pub habits: Habits,
    /// When logs are kept up, at the latest.
    pub policy: LogPolicy,
    /// Workers on snapshots at once; if 0, nothing follows an entry.
    pub workers: usize,
    /// How long a worker may run, milliseconds.
    pub function_ms: u64,
    /// What must have happened after some hundred seeds.
    pub promised: &'static [Rare],
}

impl Scenario {
    /// All of them.
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

    /// Its name.
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

    /// What it is made of.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_found_by_their_names() {
        for scenario in Scenario::ALL {
            assert_eq!(scenario.name().parse(), Ok(scenario));
        }
        let error = "x".parse::<Scenario>().unwrap_err().to_string();
        assert!(error.contains("append-contention, roll-race"), "{error}");
    }
}
