//! Safety rules of the feed indexer.

use cellar_base::safety_rules::SafetyRules;

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

/// The enforced rules. The model checker disables one of them.
pub type Rules = SafetyRules<SafetyRule>;
