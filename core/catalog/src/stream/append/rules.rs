//! Safety rules of an event stream append.

use cellar_base::safety_rules::SafetyRules;

/// A rule that prevents lost and duplicate events. All rules are enforced. Only the model checker
/// (feature `model`) disables one rule at a time, and must then find a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// After a write with an unknown outcome, the writer searches the newest item of the stream for
    /// its events.
    SearchTip,
    /// After a write with an unknown outcome, the writer also searches the older items of the
    /// stream for its events.
    SearchBatches,
    /// As long as the newest item has the etag that a write expects, only the identical write is
    /// sent.
    SameWrite,
}

/// The enforced safety rules. The model checker disables one rule at a time.
pub type Rules = SafetyRules<SafetyRule>;
