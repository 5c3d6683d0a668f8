//! The safety rules, by name.

/// What keeps snapshots in order and lets each be finished. The model checker switches one off at a
/// time and must then find what it prevents; without the feature `model` all of them are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// A record is only replaced by who has seen its last state.
    OwnIncrement,
    /// Whoever gets a record reads consistently whether its snapshot is finished.
    DoneIsLookedUp,
    /// Who loses a claim keeps its message.
    LosersKeepTheirMessage,
    /// `L` is raised after the root stands in its entry.
    RootBeforeLast,
    /// The record is deleted after `L` was raised.
    LastBeforeDelete,
    /// Who waits for a record that nobody touches sends its message again.
    AbandonedIsWoken,
    /// A record whose worker shows no life for a lease is claimed.
    TakeOver,
}

/// The enforced rules. The model checker disables some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
}

impl Rules {
    /// All but one.
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
