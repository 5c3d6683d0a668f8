//! Safety rules of an append to an event stream.

/// Rules that prevent lost and duplicate events. The model checker disables one at a time and must
/// then find the violation; without the feature `model` all rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome, the writer searches the tip for its own events.
    SearchTip,
    /// It also searches the event batches, back to the index of its decision.
    SearchBatches,
    /// Nothing is decided again while the tip still has the etag on which the write depends.
    SameWrite,
}

/// The rules that apply: all of them, except in the model checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
}

impl Rules {
    /// All rules except one.
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
