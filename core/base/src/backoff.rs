//! Exponential backoff with full jitter. The caller supplies the random number.

use crate::limits::{BACKOFF_BASE_MS, BACKOFF_MAX_MS};

/// Maximum number of times that the backoff is doubled. The limit prevents an overflow of the bit
/// shift.
const DOUBLINGS_MAX: u32 = 16;

/// The bounds of a backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Maximum backoff before the first retry, in milliseconds.
    pub base_ms: u64,
    /// Maximum backoff before any retry, in milliseconds.
    pub max_ms: u64,
}

const DEFAULT: Backoff = Backoff { base_ms: BACKOFF_BASE_MS, max_ms: BACKOFF_MAX_MS };

impl Backoff {
    /// Returns the delay before retry number `attempt`, in milliseconds. Attempts are counted from
    /// 1. The delay is uniformly distributed between 0 and [`Backoff::longest_ms`].
    #[must_use]
    pub fn full_jitter_ms(self, attempt: u32, random: u64) -> u64 {
        random % self.longest_ms(attempt).saturating_add(1)
    }

    /// Returns the maximum delay before retry number `attempt`, in milliseconds. Attempts are
    /// counted from 1. The delay is `base_ms · 2^(attempt−1)`, limited to `max_ms`.
    #[must_use]
    pub fn longest_ms(self, attempt: u32) -> u64 {
        let doublings = attempt.saturating_sub(1).min(DOUBLINGS_MAX);
        self.base_ms.saturating_mul(1 << doublings).min(self.max_ms)
    }
}

/// Like [`Backoff::full_jitter_ms`], with the default bounds `BACKOFF_BASE_MS` and
/// `BACKOFF_MAX_MS`.
#[must_use]
pub fn full_jitter_ms(attempt: u32, random: u64) -> u64 {
    DEFAULT.full_jitter_ms(attempt, random)
}

/// Like [`Backoff::longest_ms`], with the default bounds `BACKOFF_BASE_MS` and `BACKOFF_MAX_MS`.
#[must_use]
pub fn longest_ms(attempt: u32) -> u64 {
    DEFAULT.longest_ms(attempt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_bound_doubles_up_to_the_maximum() {
        assert_eq!(full_jitter_ms(1, 10), 10);
        assert_eq!(full_jitter_ms(1, 11), 0);
        assert_eq!(full_jitter_ms(2, 20), 20);
        assert_eq!(full_jitter_ms(2, 21), 0);
        assert_eq!(full_jitter_ms(u32::MAX, BACKOFF_MAX_MS), BACKOFF_MAX_MS);
        assert_eq!(full_jitter_ms(u32::MAX, BACKOFF_MAX_MS + 1), 0);
    }

    #[test]
    fn longest_wait_doubles_up_to_the_maximum() {
        assert_eq!(longest_ms(1), BACKOFF_BASE_MS);
        assert_eq!(longest_ms(2), 2 * BACKOFF_BASE_MS);
        assert_eq!(longest_ms(u32::MAX), BACKOFF_MAX_MS);
    }
}
