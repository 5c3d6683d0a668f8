//! Safety rules of the indexer.

/// Rules that prevent lost and duplicate events. The model checker disables one at a time and must
/// then find the violation; without the feature `model` all rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// Nothing is put after an item before the marks include it.
    SettleFirst,
    /// Events missing between a stream's mark and the announced ones are read from the stream.
    FillGaps,
    /// Events below a stream's mark are not indexed again.
    TrimSeen,
    /// Reactions are performed before their events are indexed.
    ReactFirst,
    /// After a refused write, the end of the feed and the marks are read again.
    ForgetWhenRefused,
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
