//! Safety rules of the feed indexer.

use cellar_base::safety_rules::SafetyRules;

/// A rule that prevents lost and duplicate events. All rules are enforced. Only the model checker
/// (feature `model`) disables one rule at a time, and must then find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// An item is written only after the stored high-water marks include the events of the
    /// preceding item.
    SettleFirst,
    /// If the first reported event of a stream does not directly follow the last event in the feed,
    /// the events in between are read from the stream.
    FillGaps,
    /// Events that are already in the feed are not added again.
    TrimSeen,
    /// The reactions to events are performed before the events are added to the feed.
    ReactFirst,
    /// After a write has failed, the end of the feed and the high-water marks are read again.
    ForgetWhenRefused,
}

/// The enforced safety rules. The model checker disables one rule at a time.
pub type Rules = SafetyRules<SafetyRule>;
