//! The safety rules, by name.

/// What keeps the index free of losses and doubles. The model checker switches one off at a time and must
/// then find what it prevents; without the feature `model` all of them hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// Nothing is put behind an item before the marks say what it says.
    SettleFirst,
    /// What is missing between a stream's mark and what was appended is read from the stream.
    FillGaps,
    /// What is below a stream's mark is not indexed again.
    TrimSeen,
    /// What follows from events is done before they are indexed.
    ReactFirst,
    /// After a refusal the index is read again, marks included.
    ForgetWhenRefused,
}

/// The rules that hold: all of them, but for the model checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
}

impl Rules {
    /// All but one.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn without(rule: SafetyRule) -> Self {
        Self { without: Some(rule) }
    }

    /// Whether a rule holds.
    #[cfg(feature = "model")]
    pub(super) fn hold(self, rule: SafetyRule) -> bool {
        self.without != Some(rule)
    }

    /// Whether a rule holds.
    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    pub(super) fn hold(self, _: SafetyRule) -> bool {
        true
    }
}
