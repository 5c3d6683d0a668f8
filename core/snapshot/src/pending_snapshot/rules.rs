//! Names of the safety rules, which tests disable one at a time.

use cellar_base::safety_rules::SafetyRules;

/// A safety rule. Together, the rules guarantee that snapshots are built in order and that each one
/// is finished. The model checker disables one rule at a time and must then find a violation.
/// Without the feature `model`, all rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// A record is replaced only by a worker that has read its current version.
    OwnIncrement,
    /// A worker that claims a record checks with a strongly consistent read whether the snapshot is
    /// already finished.
    CompletionIsChecked,
    /// A worker that loses a claim does not delete its message.
    LosersKeepTheirMessage,
    /// The segment's last snapshot is raised only after the Snapshot entry has its root.
    RootBeforeLast,
    /// A record is deleted only after the segment's last snapshot has been raised.
    LastBeforeDelete,
    /// If a worker waits for an abandoned record, it resends that record's message.
    AbandonedIsWoken,
    /// A worker may take over a record that its current worker has not written for the duration of
    /// a lease.
    TakeOver,
}

/// The enforced rules. The model checker disables one of them.
pub type Rules = SafetyRules<SafetyRule>;
