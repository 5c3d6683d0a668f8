//! Safety rules of the indexer.

/// A rule that prevents lost and duplicate events. The model checker disables one rule at a time
/// and must then find a violation. Without the feature `model`, all rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// No item is put before the marks include the preceding item.
    SettleFirst,
    /// Events missing between a stream's mark and the announced events are read from the stream.
    FillGaps,
    /// Events below a stream's mark are not indexed again.
    TrimSeen,
    /// Reactions are performed before their events are indexed.
    ReactFirst,
    /// After a refused write, the end of the feed and the marks are read again.
    ForgetWhenRefused,
}

/// The enforced rules, of which the model checker disables one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
}

impl Rules {
    /// Returns all rules but one.
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
