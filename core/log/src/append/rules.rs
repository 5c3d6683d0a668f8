//! Safety rules of an append.

use cellar_base::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};

/// A rule that prevents gaps, lost mutations or duplicates. The model checker disables one rule at
/// a time and must then find a violation. If the feature `model` is off, all rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SafetyRule {
    /// Entry n+1 is put only if entry n is known to exist.
    KnownExists,
    /// After an unknown outcome, only the same entry is put under the same key.
    SameKeyRetry,
    /// Every entry between the base and the put is scanned for mutations of the client.
    NoSkippedEntry,
    /// No entry is put after an End Segment.
    EndSegmentCheck,
    /// No request is refused because of a read that may be stale.
    ConsistentRefusal,
    /// No entry is put on the basis of reads that may be older than a trim.
    BoundedAge,
}

/// The enforced rules. The model checker disables one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    #[cfg(feature = "model")]
    without: Option<SafetyRule>,
    /// Maximum numbers of puts and of failed reads, which replace the constants if they are set.
    #[cfg(feature = "model")]
    attempts: Option<(u32, u32)>,
}

impl Rules {
    /// Returns all rules except one.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn without(rule: SafetyRule) -> Self {
        Self { without: Some(rule), ..Self::default() }
    }

    /// Returns all rules, with limits that replace `MAX_PUT_ATTEMPTS` and `MAX_READ_ATTEMPTS`.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn with_attempts(puts: u32, reads: u32) -> Self {
        Self { attempts: Some((puts, reads)), ..Self::default() }
    }

    /// Returns the maximum number of conditional puts of one entry.
    pub(super) fn max_puts(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((puts, _)) = self.attempts {
            return puts;
        }
        MAX_PUT_ATTEMPTS
    }

    /// Returns the maximum number of failed reads during one append.
    pub(super) fn max_reads(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((_, reads)) = self.attempts {
            return reads;
        }
        MAX_READ_ATTEMPTS
    }

    /// Returns whether a rule is enforced.
    #[cfg(feature = "model")]
    pub(super) fn is_enforced(self, rule: SafetyRule) -> bool {
        self.without != Some(rule)
    }

    /// Returns whether a rule is enforced.
    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    pub(super) fn is_enforced(self, _: SafetyRule) -> bool {
        true
    }
}
