//! The names of the safety rules, so that tests can disable one at a time.

/// A rule that keeps snapshots in order and ensures that each is finished. The model checker
/// disables one rule at a time and must then find a violation. Without the feature `model`, all
/// rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// A record is only replaced by a worker that has read its last state.
    OwnIncrement,
    /// A worker that claims a record checks with a consistent read whether the snapshot is
    /// finished.
    CompletionIsChecked,
    /// A worker that loses a claim keeps its message.
    LosersKeepTheirMessage,
    /// The segment's last snapshot is raised only after the root is set in the Snapshot entry.
    RootBeforeLast,
    /// A record is deleted only after the segment's last snapshot was raised.
    LastBeforeDelete,
    /// A worker that waits for an abandoned record resends that record's message.
    AbandonedIsWoken,
    /// A worker may claim a record whose worker has not written for a lease.
    TakeOver,
}

/// The enforced rules. The model checker disables some.
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
