//! Safety rules of the feed indexer.

use cellar_base::safety_rules::SafetyRules;

/// Safety rule that prevents lost and duplicate events. All rules are enforced, except in the model
/// checker (feature `model`), which disables one rule at a time and must find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// An item is put only after the high-water marks include the preceding item.
    SettleFirst,
    /// If there is a gap between a stream's high-water mark and the first announced event, the
    /// missing events are read from the stream.
    FillGaps,
    /// Events before a stream's high-water mark are not indexed again.
    TrimSeen,
    /// The reactions to events are performed before the events are indexed.
    ReactFirst,
    /// After a refused write, the end of the feed and the high-water marks are read again.
    ForgetWhenRefused,
}

/// The set of enforced rules. The model checker disables one rule at a time.
pub type Rules = SafetyRules<SafetyRule>;
