//! Safety rules of an event stream append.

use cellar_base::safety_rules::SafetyRules;

/// A rule that prevents lost and duplicate events. The model checker disables one rule at a time
/// and must find a violation. Without the feature `model`, all rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome, the writer searches the tip for its events.
    SearchTip,
    /// After an unknown outcome, the writer also searches the event batches, back to the index at
    /// which its events were to be appended.
    SearchBatches,
    /// As long as the tip has the etag that a write expects, the writer sends only the identical
    /// write.
    SameWrite,
}

/// The set of enforced rules. The model checker disables one rule at a time.
pub type Rules = SafetyRules<SafetyRule>;
