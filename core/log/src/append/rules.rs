//! Safety rules of a log append.

use cellar_base::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};
use cellar_base::safety_rules::SafetyRules;

/// Safety rule that prevents gaps and lost or duplicate mutations. All rules are always enforced in
/// production. The model checker (feature `model`) disables one rule at a time and must then find a
/// violation.
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
    /// A stale read never causes a refusal.
    ConsistentRefusal,
    /// No entry is put if entries may have been trimmed since the log was read.
    BoundedAge,
}

/// The set of enforced rules, of which the model checker disables one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    enforced: SafetyRules<SafetyRule>,
    /// Custom limits for the number of puts and the number of failed reads.
    #[cfg(feature = "model")]
    attempts: Option<(u32, u32)>,
}

impl Rules {
    /// Returns all rules except one.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn without(rule: SafetyRule) -> Self {
        Self { enforced: SafetyRules::without(rule), ..Self::default() }
    }

    /// Returns all rules with custom limits, which replace `MAX_PUT_ATTEMPTS` and
    /// `MAX_READ_ATTEMPTS`.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn with_attempts(puts: u32, reads: u32) -> Self {
        Self { attempts: Some((puts, reads)), ..Self::default() }
    }

    /// Returns the maximum number of conditional puts per entry.
    pub(super) fn max_puts(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((puts, _)) = self.attempts {
            return puts;
        }
        MAX_PUT_ATTEMPTS
    }

    /// Returns the maximum number of failed reads per append.
    pub(super) fn max_reads(self) -> u32 {
        #[cfg(feature = "model")]
        if let Some((_, reads)) = self.attempts {
            return reads;
        }
        MAX_READ_ATTEMPTS
    }

    pub(super) fn is_enforced(self, rule: SafetyRule) -> bool {
        self.enforced.is_enforced(rule)
    }
}
