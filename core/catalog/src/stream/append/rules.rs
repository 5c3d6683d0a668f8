//! Safety rules of an event stream append.

use cellar_base::safety_rules::SafetyRules;

/// Safety rule that prevents lost and duplicate events. All rules are enforced, except in the model
/// checker (feature `model`), which disables one rule at a time and must find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome, the writer searches the tip (the item with the latest events) for
    /// its events.
    SearchTip,
    /// After an unknown outcome, the writer also searches the event batches, back to the index at
    /// which its events were to be appended.
    SearchBatches,
    /// As long as the tip (the item with the latest events) has the etag that a write expects, only
    /// the identical write is sent.
    SameWrite,
}

/// The set of enforced rules. The model checker disables one rule at a time.
pub type Rules = SafetyRules<SafetyRule>;
