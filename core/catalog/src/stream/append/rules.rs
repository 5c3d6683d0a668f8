//! The safety rules, by name.

/// What keeps a stream free of losses and doubles. The model checker switches one off at a time and must
/// then find what it prevents; without the feature `model` all of them hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome the writer looks for itself in the tip.
    LookInTip,
    /// It looks in the calves, too, back to the index at which it had decided.
    LookInCalves,
    /// Nothing is decided again while the tip still has the etag on which the write was sent.
    SameWrite,
}

/// The rules that hold: all of them, but for the model checker.
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

    /// Whether a rule holds.
    #[cfg(feature = "model")]
    pub(super) fn hold(self, rule: SafetyRule) -> bool {
        self.without != Some(rule)
    }

    /// Whether a rule holds.
    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    pub(super) fn hold(self, _: SafetyRule) -> bool {
        true
    }
}
