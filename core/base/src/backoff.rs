//! Exponential backoff with full jitter, from a random number that is passed in.

use crate::limits::{BACKOFF_BASE_MS, BACKOFF_MAX_MS};

/// Doublings after which any bound has long been reached.
const DOUBLINGS_MAX: u32 = 16;

/// Between what bounds somebody waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait before the first retry, milliseconds.
    pub base_ms: u64,
    /// The longest wait of all, milliseconds.
    pub max_ms: u64,
}

/// How Cellar's own requests wait (design `2-log.md` §2 step 4).
const OWN: Backoff = Backoff { base_ms: BACKOFF_BASE_MS, max_ms: BACKOFF_MAX_MS };

impl Backoff {
    /// Milliseconds to wait before attempt `attempt` (the first retry is 1): uniform between 0 and the
    /// bound `base_ms · 2^(attempt−1)`, at most `max_ms`.
    #[must_use]
    pub fn full_jitter_ms(self, attempt: u32, random: u64) -> u64 {
        random % self.longest_ms(attempt).saturating_add(1)
    }

    /// The longest of those waits: for who is alone and has nobody to make room for.
    #[must_use]
    pub fn longest_ms(self, attempt: u32) -> u64 {
        let doublings = attempt.saturating_sub(1).min(DOUBLINGS_MAX);
        self.base_ms.saturating_mul(1 << doublings).min(self.max_ms)
    }
}

/// [`Backoff::full_jitter_ms`] between `BACKOFF_BASE_MS` and `BACKOFF_MAX_MS`.
#[must_use]
pub fn full_jitter_ms(attempt: u32, random: u64) -> u64 {
    OWN.full_jitter_ms(attempt, random)
}

/// [`Backoff::longest_ms`] between `BACKOFF_BASE_MS` and `BACKOFF_MAX_MS`.
#[must_use]
pub fn longest_ms(attempt: u32) -> u64 {
    OWN.longest_ms(attempt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_doubles_and_is_capped() {
        assert_eq!(full_jitter_ms(1, 10), 10);
        assert_eq!(full_jitter_ms(1, 11), 0);
        assert_eq!(full_jitter_ms(2, 20), 20);
        assert_eq!(full_jitter_ms(2, 21), 0);
        assert_eq!(full_jitter_ms(u32::MAX, BACKOFF_MAX_MS), BACKOFF_MAX_MS);
        assert_eq!(full_jitter_ms(u32::MAX, BACKOFF_MAX_MS + 1), 0);
    }

    #[test]
    fn who_is_alone_waits_the_whole_bound() {
        assert_eq!(longest_ms(1), BACKOFF_BASE_MS);
        assert_eq!(longest_ms(2), 2 * BACKOFF_BASE_MS);
        assert_eq!(longest_ms(u32::MAX), BACKOFF_MAX_MS);
    }
}
