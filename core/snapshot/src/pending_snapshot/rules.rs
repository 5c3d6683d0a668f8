//! Safety rules of snapshot workers, which tests disable one at a time.

use cellar_base::safety_rules::SafetyRules;

/// A safety rule. Together, the rules guarantee that snapshots are built in order and that each
/// snapshot is finished. All rules are always enforced in production. The model checker (feature
/// `model`) disables one rule at a time and must then find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// Only a worker that has read the current version of a record replaces it.
    OwnIncrement,
    /// After claiming a record, a worker checks with a strongly consistent read whether the
    /// snapshot is already finished.
    CompletionIsChecked,
    /// A worker that loses a claim does not delete its message.
    LosersKeepTheirMessage,
    /// The segment's last finished snapshot is raised only after the Snapshot entry has its root.
    RootBeforeLast,
    /// A record is deleted only after the segment's last finished snapshot has been raised.
    LastBeforeDelete,
    /// A worker that waits for an abandoned record resends the message of that record.
    AbandonedIsWoken,
    /// A worker may take over a record if its current worker has not written to it for the duration
    /// of a lease.
    TakeOver,
}

/// The enforced safety rules, of which the model checker disables one at a time.
pub type Rules = SafetyRules<SafetyRule>;
