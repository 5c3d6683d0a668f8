//! Safety rules of an event stream append.

/// A rule that prevents lost and duplicate events. The model checker disables one rule at a time
/// and must then find a violation. All rules are enforced unless the feature `model` is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome, the writer searches the tip for its events.
    SearchTip,
    /// After an unknown outcome, the writer also searches the event batches, back to the index of
    /// its decision.
    SearchBatches,
    /// As long as the tip has the etag expected by a write, the writer sends only the identical
    /// write.
    SameWrite,
}

/// The set of enforced rules. The model checker disables one of them.
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

    #[cfg(feature = "model")]
    pub(super) fn is_enforced(self, rule: SafetyRule) -> bool {
        self.without != Some(rule)
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    pub(super) fn is_enforced(self, _: SafetyRule) -> bool {
        true
    }
}
