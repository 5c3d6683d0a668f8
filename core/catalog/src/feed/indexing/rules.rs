//! Safety rules of the feed indexer.

/// A rule that prevents lost and duplicate events. The model checker disables one rule at a time
/// and must then find a violation. All rules are enforced unless the feature `model` is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// An item is put only after the streams' high-water marks include the preceding item.
    SettleFirst,
    /// If announced events start after a stream's high-water mark, the events in between are read
    /// from the stream.
    FillGaps,
    /// Events before a stream's high-water mark are not indexed again.
    TrimSeen,
    /// Reactions to events are performed before the events are indexed.
    ReactFirst,
    /// After a refused write, the end of the feed and the high-water marks are reread.
    ForgetWhenRefused,
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
