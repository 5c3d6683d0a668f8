//! Counters of rare events. If a rare event never happens in a simulation, the simulation does not
//! test it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

macro_rules! rare_events {
    ($($name:ident = $text:literal,)*) => {
        /// An event that happens rarely.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum RareEvent {
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }

        impl RareEvent {
            /// All rare events.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns a description of the event.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rare_events! {
    Outage = "all services were down for a while",
    Throttled = "a call was throttled",
    NeverArrived = "a call never arrived",
    SignatureExpired = "a request was refused because its signature had expired",
    ReplyLost = "a call was executed and its reply was lost",
    LateEffect = "a call was executed after its caller had given up",
    EffectAfterCrash = "a call was executed after its process had crashed",
    BucketFailed = "the bucket refused a call",
    StaleRead = "a read was stale",
    ReplicaHole = "a page had a hole",
    Crashed = "a process crashed",
    Froze = "a process froze",
    FrozePastLease = "a process froze for longer than a worker's lease",
    PutLost = "a put lost to another writer",
    OwnEntryWon = "a put lost to its own earlier attempt",
    AppendGaveUp = "an append ended with a temporary error",
    RequestRepeated = "a client repeated a request",
    DuplicateAnswered = "a repeated mutation was answered as a duplicate",
    SnapshotEntryPut = "a Snapshot entry was put",
    RollWon = "a segment was rolled",
    RollLost = "a roll lost to another writer",
    RollUnknown = "the outcome of a roll was unknown",
    FormulaChained = "a formula read the result of another one",
    FormulaStale = "a formula was marked as not calculated",
    FormulaCyclic = "formulas formed a cycle",
    FormulaSpilled = "the result of a formula filled other cells",
    FormulaBlocked = "the result of a formula did not fit",
    Transformed = "a mutation was transformed past other mutations",
    MessageDuplicated = "the queue duplicated a message",
    MessageToTwo = "a message was delivered to two functions concurrently",
    MessageDelayed = "a message arrived late",
    MessageLost = "a message was lost",
    MessageAfterDone = "a message arrived for a finished snapshot",
    MessageWaited = "a message had to wait for an earlier snapshot or a lease",
    MessageFailed = "a message was returned to the queue after a failure",
    MessageHandedOver = "a snapshot was handed over to the next invocation",
    FunctionTimedOut = "an invocation timed out",
    DeadLetter = "a message or record became a dead letter",
    BatchRepeated = "a batch of the stream was delivered again",
    BatchSplit = "a batch of the stream was split",
    RecordExpired = "a record of the stream expired unread",
    ClaimLost = "a worker lost its claim to another",
    ProgressStored = "progress of a snapshot was stored",
    RecordCameBack = "a record was written again after its snapshot was finished",
    TakenOver = "a worker resumed from another worker's progress",
    SnapshotMade = "a snapshot was finished",
    RootStood = "a root was set that was already set",
    LastNotLowered = "a raise of the last snapshot to a lower number was ignored",
    Offloaded = "a segment was offloaded",
    Trimmed = "a segment was trimmed",
    ReadOffloaded = "an offloaded segment was read",
    ZombieWoke = "a process resumed after a day, and a segment had been trimmed",
    AppendTooOld = "an append gave up because it was too old",
    Reprocessed = "a lost snapshot was found and its job sent again",
    Rebuilt = "all objects of snapshots were lost, and the snapshots were rebuilt",
    TakenBack = "an undo or a revert took effect",
    Uploaded = "a large edit became an entry",
    UploadAbandoned = "an upload was never completed",
    UploadAgain = "an upload was too old or deleted, and was repeated",
    ClientVanished = "a client disappeared before the answer to a completion",
    UploadExpired = "the bucket deleted an upload that was never completed",
    Offline = "a client was offline",
    ClientRestarted = "a client restarted from its saved state",
    GapRefused = "a gap in a client's mutation ids was refused",
    PulledAnew = "a client was reset to a root",
    Forked = "a log was forked",
    ForkRepeated = "a fork was found that an earlier attempt had created",
    Foreign = "a request for a log that does not exist was refused",
    GarbageRefused = "bytes that are no valid record or object were refused",
    Imported = "a member imported a sheet",
    HostileAccepted = "a valid request of a hostile member was accepted",
    HostileRefused = "a request of a hostile member was refused",
    TipChanged = "an append to a stream lost to another writer",
    SplitOff = "events of a stream were split off",
    CatalogChanged = "a change of the catalog was acknowledged",
    ChangeOvertaken = "a change of the catalog was refused because of a newer change",
    PlaceTaken = "an indexer lost a place of the feed to another",
    FeedRepaired = "an operator repaired the feed",
    FeedRebuildBegun = "an operator started to rebuild the feed",
    FeedRebuilt = "an operator rebuilt the feed",
    Delivered = "the webhook delivered items",
    DeliveredAgain = "the webhook delivered items again",
    WebhookOvertaken = "a delivery of the webhook was overtaken by another",
    Redeployed = "processes of a new version took over",
}

/// Number of occurrences per rare event.
#[derive(Debug, Default)]
pub struct RareCounts {
    counts: Mutex<BTreeMap<RareEvent, u64>>,
}

impl RareCounts {
    /// Counts an event.
    pub fn count(&self, rare: RareEvent) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(rare).or_default() += 1;
    }

    /// Returns whether the event has ever happened.
    #[must_use]
    pub fn has(&self, rare: RareEvent) -> bool {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&rare)
    }

    /// Returns the number of occurrences per event.
    #[must_use]
    pub fn all(&self) -> BTreeMap<RareEvent, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
