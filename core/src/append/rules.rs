//! The safety rules, by name.

use crate::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};

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
    /// Nothing is put on knowledge that may be older than a purge.
    BoundedAge,
}

/// The rules that hold: all of them, but for the model checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
    /// Puts and failed reads before an append gives up, if not so many as otherwise.
    #[cfg(feature = "model")]
    attempts: Option<(u32, u32)>,
}

impl Rules {
    /// All but one.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn without(rule: SafetyRule) -> Self {
        Self { without: Some(rule), ..Self::default() }
    }

    /// All, with other limits than `MAX_PUT_ATTEMPTS` and `MAX_READ_ATTEMPTS`.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn with_attempts(puts: u32, reads: u32) -> Self {
        Self { attempts: Some((puts, reads)), ..Self::default() }
    }

    /// Conditional puts of one entry before its append gives up.
    pub(super) fn max_puts(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((puts, _)) = self.attempts {
            return puts;
        }
        MAX_PUT_ATTEMPTS
    }

    /// Failed reads of one append before it gives up.
    pub(super) fn max_reads(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((_, reads)) = self.attempts {
            return reads;
        }
        MAX_READ_ATTEMPTS
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
