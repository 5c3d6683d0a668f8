//! The parameters of each scenario.

use cellar_log::upkeep::LogPolicy;

use super::{Scenario, Shape};
use crate::editor::Habits;
use crate::plan::FaultPlan;
use crate::random::Rate;
use crate::rare::RareEvent;

const HOUR_MS: u64 = 60 * 60 * 1_000;
/// Timeout that functions have in AWS, in milliseconds.
const FUNCTION_MS: u64 = 15 * 60 * 1_000;

/// The policy for logs without upkeep.
const NO_UPKEEP: LogPolicy = LogPolicy {
    snapshot_entries: u32::MAX,
    snapshot_bytes: u64::MAX,
    segment_entries: u32::MAX,
    segment_bytes: u64::MAX,
};

const HABITS: Habits =
    Habits { requests: 10, batch: 3, think_ms: 400, text_bytes: 0, large: Rate(0) };

fn calm() -> Shape {
    Shape {
        worst: FaultPlan::worst(),
        servers: 3,
        editors: 4,
        habits: HABITS,
        policy: NO_UPKEEP,
        workers: 0,
        function_ms: FUNCTION_MS,
        promised: &[],
    }
}

/// Returns the parameters of a scenario.
pub(super) fn of(scenario: Scenario) -> Shape {
    match scenario {
        Scenario::AppendContention => append_contention(),
        Scenario::RollRace => roll_race(),
        Scenario::SnapshotCrashes => snapshot_crashes(),
        Scenario::DuplicateStorm => duplicate_storm(),
        Scenario::SlowPredecessor => slow_predecessor(),
        Scenario::ZombieAfterTrim => zombie_after_trim(),
        Scenario::OutageAndReprocess => outage_and_reprocess(),
        Scenario::OfflineClients => offline_clients(),
        Scenario::ForkUnderLoad => fork_under_load(),
        Scenario::LargeEdits => large_edits(),
        Scenario::HostileTenant => hostile_tenant(),
        Scenario::HostileMember => hostile_member(),
        Scenario::NewVersion => new_version(),
        Scenario::CatalogFeed => catalog_feed(),
    }
}

fn append_contention() -> Shape {
    Shape {
        editors: 6,
        habits: Habits { think_ms: 100, ..HABITS },
        promised: &[
            RareEvent::Throttled,
            RareEvent::NeverArrived,
            RareEvent::ReplyLost,
            RareEvent::LateEffect,
            RareEvent::EffectAfterCrash,
            RareEvent::StaleRead,
            RareEvent::ReplicaHole,
            RareEvent::Crashed,
            RareEvent::Froze,
            RareEvent::PutLost,
            RareEvent::OwnEntryWon,
            RareEvent::AppendGaveUp,
            RareEvent::RequestRepeated,
            RareEvent::DuplicateAnswered,
            RareEvent::Transformed,
            RareEvent::TakenBack,
            RareEvent::FormulaChained,
            RareEvent::FormulaStale,
            RareEvent::FormulaCyclic,
            RareEvent::FormulaSpilled,
            RareEvent::FormulaBlocked,
        ],
        ..calm()
    }
}

fn roll_race() -> Shape {
    Shape {
        editors: 5,
        habits: Habits { requests: 10, think_ms: 1_500, ..HABITS },
        policy: LogPolicy { snapshot_entries: 8, segment_entries: 16, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::SnapshotEntryPut,
            RareEvent::SnapshotMade,
            RareEvent::RollWon,
            RareEvent::RollLost,
            RareEvent::RollUnknown,
            RareEvent::PutLost,
            RareEvent::OwnEntryWon,
            RareEvent::StaleRead,
            RareEvent::ReplicaHole,
        ],
        ..calm()
    }
}

fn snapshot_crashes() -> Shape {
    let worst = FaultPlan::worst();
    Shape {
        worst: FaultPlan { crash: Rate(400), freeze: Rate(200), latency_max_ms: 2_000, ..worst },
        habits: Habits { text_bytes: 6_000, think_ms: 5_000, ..HABITS },
        policy: LogPolicy { snapshot_entries: 6, ..NO_UPKEEP },
        workers: 2,
        function_ms: 40_000,
        promised: &[
            RareEvent::SnapshotMade,
            RareEvent::ProgressStored,
            RareEvent::TakenOver,
            RareEvent::ClaimLost,
            RareEvent::RootStood,
            RareEvent::FrozePastLease,
            RareEvent::MessageHandedOver,
            RareEvent::FunctionTimedOut,
            RareEvent::EffectAfterCrash,
            RareEvent::BucketFailed,
            RareEvent::FormulaChained,
            RareEvent::FormulaStale,
            RareEvent::FormulaCyclic,
            RareEvent::FormulaSpilled,
            RareEvent::FormulaBlocked,
        ],
        ..calm()
    }
}

fn duplicate_storm() -> Shape {
    Shape {
        worst: FaultPlan {
            duplicated: Rate(10_000),
            delayed: Rate(8_000),
            delay_max_ms: HOUR_MS,
            repeated: Rate(5_000),
            ..FaultPlan::worst()
        },
        policy: LogPolicy { snapshot_entries: 4, segment_entries: 16, ..NO_UPKEEP },
        workers: 4,
        promised: &[
            RareEvent::MessageDuplicated,
            RareEvent::MessageToTwo,
            RareEvent::MessageDelayed,
            RareEvent::BatchRepeated,
            RareEvent::BatchSplit,
            RareEvent::MessageAfterDone,
            RareEvent::MessageWaited,
            RareEvent::ClaimLost,
        ],
        ..calm()
    }
}

fn slow_predecessor() -> Shape {
    Shape {
        worst: FaultPlan { latency_max_ms: 4_000, freeze: Rate(300), ..FaultPlan::worst() },
        habits: Habits { requests: 6, text_bytes: 8_000, think_ms: 2_000, ..HABITS },
        policy: LogPolicy { snapshot_entries: 3, ..NO_UPKEEP },
        workers: 3,
        function_ms: 40_000,
        promised: &[
            RareEvent::MessageWaited,
            RareEvent::MessageHandedOver,
            RareEvent::ProgressStored,
            RareEvent::SnapshotMade,
        ],
        ..calm()
    }
}

fn zombie_after_trim() -> Shape {
    Shape {
        habits: Habits { requests: 20, think_ms: 30 * HOUR_MS, ..HABITS },
        editors: 3,
        policy: LogPolicy { snapshot_entries: 5, segment_entries: 16, ..NO_UPKEEP },
        worst: FaultPlan { freeze: Rate(150), freeze_max_ms: 60 * HOUR_MS, ..FaultPlan::worst() },
        workers: 2,
        promised: &[
            RareEvent::RollWon,
            RareEvent::Offloaded,
            RareEvent::Trimmed,
            RareEvent::ReadOffloaded,
            RareEvent::ZombieWoke,
            RareEvent::AppendTooOld,
        ],
        ..calm()
    }
}

fn outage_and_reprocess() -> Shape {
    Shape {
        habits: Habits { requests: 12, think_ms: 8 * HOUR_MS, ..HABITS },
        policy: LogPolicy { snapshot_entries: 6, segment_entries: 32, ..NO_UPKEEP },
        worst: FaultPlan { lost: Rate(6_000), ..FaultPlan::worst() },
        workers: 2,
        promised: &[
            RareEvent::RecordExpired,
            RareEvent::MessageLost,
            RareEvent::Reprocessed,
            RareEvent::SnapshotMade,
            RareEvent::Rebuilt,
        ],
        ..calm()
    }
}

fn offline_clients() -> Shape {
    Shape {
        editors: 1,
        habits: Habits { requests: 14, think_ms: 60_000, ..HABITS },
        policy: LogPolicy { snapshot_entries: 10, segment_entries: 16, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::Offline,
            RareEvent::ClientRestarted,
            RareEvent::GapRefused,
            RareEvent::PulledAnew,
            RareEvent::SnapshotMade,
            RareEvent::RollWon,
        ],
        ..calm()
    }
}

fn fork_under_load() -> Shape {
    Shape {
        editors: 3,
        habits: Habits { requests: 10, think_ms: 2_000, ..HABITS },
        policy: LogPolicy { snapshot_entries: 6, segment_entries: 16, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::Forked,
            RareEvent::ForkRepeated,
            RareEvent::FormulaChained,
            RareEvent::SnapshotMade,
            RareEvent::RollWon,
        ],
        ..calm()
    }
}

fn large_edits() -> Shape {
    Shape {
        worst: FaultPlan { crash: Rate(400), ..FaultPlan::worst() },
        editors: 3,
        habits: Habits { requests: 8, think_ms: 60_000, large: Rate(5_000), ..HABITS },
        policy: LogPolicy { snapshot_entries: 6, segment_entries: 32, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::Uploaded,
            RareEvent::UploadAbandoned,
            RareEvent::FormulaChained,
            RareEvent::UploadAgain,
            RareEvent::UploadExpired,
            RareEvent::ClientVanished,
            RareEvent::SnapshotMade,
        ],
        ..calm()
    }
}

fn hostile_tenant() -> Shape {
    Shape {
        editors: 2,
        policy: LogPolicy { snapshot_entries: 6, segment_entries: 32, ..NO_UPKEEP },
        workers: 2,
        promised: &[RareEvent::Foreign, RareEvent::GarbageRefused, RareEvent::SnapshotMade],
        ..calm()
    }
}

fn hostile_member() -> Shape {
    Shape {
        editors: 1,
        habits: Habits { requests: 6, ..HABITS },
        policy: LogPolicy { snapshot_entries: 6, segment_entries: 32, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::Imported,
            RareEvent::HostileAccepted,
            RareEvent::HostileRefused,
            RareEvent::SnapshotMade,
            RareEvent::UploadExpired,
            RareEvent::RequestRepeated,
        ],
        ..calm()
    }
}

fn new_version() -> Shape {
    Shape {
        habits: Habits { requests: 10, think_ms: 1_000, ..HABITS },
        policy: LogPolicy { snapshot_entries: 8, segment_entries: 16, ..NO_UPKEEP },
        workers: 2,
        promised: &[
            RareEvent::Redeployed,
            RareEvent::SnapshotMade,
            RareEvent::RollWon,
            RareEvent::RollLost,
        ],
        ..calm()
    }
}

fn catalog_feed() -> Shape {
    Shape {
        worst: FaultPlan { crash: Rate(200), repeated: Rate(5_000), ..FaultPlan::worst() },
        habits: Habits { requests: 1, think_ms: 12 * HOUR_MS, ..HABITS },
        editors: 1,
        promised: &[
            RareEvent::CatalogChanged,
            RareEvent::ChangeOvertaken,
            RareEvent::TipChanged,
            RareEvent::SplitOff,
            RareEvent::BatchRepeated,
            RareEvent::BatchSplit,
            RareEvent::RecordExpired,
            RareEvent::PlaceTaken,
            RareEvent::FeedRepaired,
            RareEvent::FeedRebuildBegun,
            RareEvent::FeedRebuilt,
            RareEvent::Delivered,
            RareEvent::DeliveredAgain,
            RareEvent::WebhookOvertaken,
        ],
        ..calm()
    }
}
