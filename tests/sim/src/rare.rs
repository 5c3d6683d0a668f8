//! What seldom happens is counted: a simulation in which it never does shows nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

macro_rules! rare_events {
    ($($name:ident = $text:literal,)*) => {
        /// Something that seldom happens.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum Rare {
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }

        impl Rare {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// In words.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rare_events! {
    Outage = "no service answered anybody for a while",
    Throttled = "a call was throttled",
    NeverArrived = "a call never arrived",
    SignatureExpired = "a request was sent so late that its signature had expired",
    ReplyLost = "a call was done and its reply was lost",
    LateEffect = "a call was done after its caller had given up",
    EffectAfterCrash = "a call was done after its process had died",
    BucketFailed = "the bucket refused a call",
    StaleRead = "a read showed less than there was",
    ReplicaHole = "a page had a hole",
    Crashed = "a process died",
    Froze = "a process stood still",
    FrozePastLease = "a process stood still for longer than a worker's lease",
    PutLost = "a put came second",
    OwnEntryWon = "the winner of a put was its own earlier try",
    AppendGaveUp = "an append ended with a typed error that passes",
    RequestRepeated = "a client repeated a request",
    DuplicateAnswered = "a mutation that was in the log already was answered as such",
    SnapshotEntryPut = "a Snapshot entry was put",
    RollWon = "a segment was rolled",
    RollLost = "a roll came second",
    RollUnknown = "a roll's outcome was not known",
    Transformed = "a mutation was moved past those of others",
    MessageDuplicated = "a message was sent twice by the queue",
    MessageToTwo = "one message was given to two functions at once",
    MessageDelayed = "a message arrived late",
    MessageLost = "a message was lost",
    MessageAfterDone = "a message came for a snapshot that was made",
    MessageWaited = "a message had to wait",
    MessageFailed = "a message came back after a failure",
    MessageHandedOver = "a snapshot was handed over to the next function",
    FunctionTimedOut = "a function was ended at its deadline",
    DeadLetter = "something became a dead letter",
    BatchRepeated = "a batch of the stream was given again",
    BatchSplit = "a batch of the stream was split",
    RecordExpired = "a record of the stream was dropped at its age",
    ClaimLost = "a worker lost its claim to another",
    ProgressStored = "progress was written",
    RecordCameBack = "a record came back after its snapshot was made",
    TakenOver = "a worker went on from another's progress",
    SnapshotMade = "a snapshot was made",
    RootStood = "a root was set that stood there already",
    LastNotLowered = "L was to be raised to less than it was",
    Offloaded = "a segment was offloaded",
    Trimmed = "a segment was trimmed",
    ReadOffloaded = "an offloaded segment was read",
    ZombieWoke = "a process woke up a day later, and a segment had been trimmed",
    AppendTooOld = "an append gave up as it was too old",
    Reprocessed = "a lost snapshot was found and its job sent again",
    Rebuilt = "all objects of snapshots were lost, and snapshots were made anew",
    TakenBack = "an undo or a revert took effect",
    Uploaded = "a large edit became an entry",
    UploadAbandoned = "an upload was never completed",
    UploadAgain = "an upload was too old or gone, and another was made",
    ClientVanished = "a client never came back for the answer to a completion",
    UploadExpired = "the bucket deleted an upload that nobody had completed",
    Offline = "a client was offline",
    ClientRestarted = "a client restarted with what it had kept",
    GapRefused = "a gap in a client's numbering was refused",
    PulledAnew = "a client began anew from a root",
    Forked = "a log was forked",
    ForkRepeated = "a fork was found that an earlier try had made",
    Foreign = "a request for a log that does not exist was refused",
    GarbageRefused = "bytes that are no record or object were refused",
    Imported = "a member imported a sheet",
    HostileAccepted = "a hostile member had something appended that everybody can read",
    HostileRefused = "a hostile member was refused",
    TipChanged = "an append came second at the tip of its stream",
    SplitOff = "events of a stream were split off",
    CatalogChanged = "a change of the catalog was acknowledged",
    ChangeOvertaken = "a change of the catalog was refused as there were others",
    PlaceTaken = "an indexer came second at a place of the feed",
    FeedRepaired = "an operator indexed what was missing",
    FeedRebuildBegun = "an operator began to build the feed anew",
    FeedRebuilt = "an operator built the feed anew",
    Delivered = "the webhook has delivered something",
    DeliveredAgain = "the webhook has delivered something again",
    WebhookOvertaken = "a delivery was overtaken by another",
    Redeployed = "processes of another version took over",
}

/// How often each happened.
#[derive(Debug, Default)]
pub struct RareCounts {
    counts: Mutex<BTreeMap<Rare, u64>>,
}

impl RareCounts {
    /// It happened.
    pub fn count(&self, rare: Rare) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(rare).or_default() += 1;
    }

    /// Whether it ever happened.
    #[must_use]
    pub fn has(&self, rare: Rare) -> bool {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&rare)
    }

    /// What happened, and how often.
    #[must_use]
    pub fn all(&self) -> BTreeMap<Rare, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
