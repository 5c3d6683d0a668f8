//! Names of the safety rules, which tests disable one at a time.

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

/// Set of enforced rules. The model checker disables individual rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
}

impl Rules {
    /// Returns all rules except one.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn without(rule: SafetyRule) -> Self {
        Self { without: Some(rule) }
    }

    /// Returns whether a rule is enforced.
    #[cfg(feature = "model")]
    pub(super) fn is_enforced(self, rule: SafetyRule) -> bool {
        self.without != Some(rule)
    }

    /// Returns whether a rule is enforced.
    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    pub(super) fn is_enforced(self, _: SafetyRule) -> bool {
        true
    }
}
