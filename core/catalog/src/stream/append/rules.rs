//! Safety rules of an event stream append.

use cellar_base::safety_rules::SafetyRules;

/// A rule that prevents lost and duplicate events. The model checker disables one rule at a time
/// and must then find a violation. All rules are enforced unless the feature `model` is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After an unknown outcome, the writer searches the tip for its events.
    SearchTip,
    /// After an unknown outcome, the writer also searches the event batches, back to the index of
    /// its decision.
    SearchBatches,
    /// As long as the tip has the etag expected by a write, the writer sends only the identical
    /// write.
    SameWrite,
}

/// The enforced rules. The model checker disables one of them.
pub type Rules = SafetyRules<SafetyRule>;
