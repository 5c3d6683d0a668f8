//! Exponential backoff with full jitter, from a random number that is passed in.

use crate::limits::{BACKOFF_BASE_MS, BACKOFF_MAX_MS};

/// Milliseconds to wait before attempt `attempt` (the first retry is 1): uniform between 0 and the
/// bound `BACKOFF_BASE_MS · 2^(attempt−1)`, at most `BACKOFF_MAX_MS` (design `2-log.md` §2 step 4).
#[must_use]
pub fn full_jitter_ms(attempt: u32, random: u64) -> u64 {
    random % longest_ms(attempt).saturating_add(1)
}

/// The longest of those waits: for who is alone and has nobody to make room for.
#[must_use]
pub fn longest_ms(attempt: u32) -> u64 {
    let doublings = attempt.saturating_sub(1).min(16);
    BACKOFF_BASE_MS.saturating_mul(1 << doublings).min(BACKOFF_MAX_MS)
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
}
