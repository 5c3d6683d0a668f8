//! The safety rules, by name.

/// What keeps the log free of gaps, losses and doubles. The model checker switches one off at a
/// time and must then find what it prevents; without the feature `model` all of them hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// Entry n+1 is only put if entry n is known to exist.
    KnownExists,
    /// After an unknown outcome only the same entry under the same key is put again.
    SameKeyRetry,
    /// Every entry between the base and the put was scanned for mutations of the client.
    NoSkippedEntry,
    /// Nothing is put behind an End Segment.
    EndSegmentCheck,
    /// Nothing is refused on the evidence of a read that may be stale.
    ConsistentRefusal,
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
