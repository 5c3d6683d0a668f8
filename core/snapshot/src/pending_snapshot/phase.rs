//! Phases of a snapshot worker.

use std::collections::VecDeque;

use super::{PendingSnapshot, SnapshotOutcome};
use cellar_base::position::Position;
use cellar_base::variant_names;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    FindingFirstRecord,
    ReadingSegment,
    /// Writing the record, which claims the snapshot for this worker.
    Claiming(PendingSnapshot),
    CheckingCompletion(PendingSnapshot),
    Building(PendingSnapshot),
    StoringProgress(PendingSnapshot),
    HandingOver,
    ReplacingRoot {
        own_record: PendingSnapshot,
        new_root: String,
    },
    /// Updating the record, so that the rebuild replaces the entry's current root.
    RecordingCurrentRoot {
        own_record: PendingSnapshot,
        new_root: String,
    },
    /// Releasing the record after a failure, or because an earlier snapshot must be built first.
    Releasing(ReleaseReason),
    /// Resending the message of an earlier snapshot.
    WakingEarlier,
    Finishing(Finishing),
    Finished,
}

variant_names!(Phase {
    FindingFirstRecord,
    ReadingSegment,
    Claiming,
    CheckingCompletion,
    Building,
    StoringProgress,
    HandingOver,
    ReplacingRoot,
    RecordingCurrentRoot,
    Releasing,
    WakingEarlier,
    Finishing,
    Finished,
});

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReleaseReason {
    EarlierSnapshot(Position),
    Failure { wait_s: u32 },
}

/// Each step is idempotent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Finishing {
    pub(super) outcome: SnapshotOutcome,
    pub(super) current_step: LastStep,
    pub(super) remaining_steps: VecDeque<LastStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LastStep {
    SetRoot(String),
    RaiseLast,
    DeleteRecord { run: Option<u64> },
    FindNext,
    WakeNext(Position),
}

variant_names!(LastStep { SetRoot, RaiseLast, DeleteRecord, FindNext, WakeNext });
