//! The resident memory of the local stack during a run, and its limits.

use serde::Serialize;

/// Maximum resident memory of the local stack, in bytes. The limit covers 70 MB after the start,
/// full caches (`MAX_CACHED_TAILS` tails of `MAX_CACHED_TAIL_BYTES`, `MAX_CACHED_OBJECT_BYTES`, a
/// snapshot's `FOLD_BYTES` and `MAX_WRITER_BYTES`, SQLite's pages), and the requests of a thousand
/// clients.
pub const MAX_RESIDENT_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum increase of the median from the middle third to the last third of a soak run, in
/// percent.
pub const MAX_GROWTH_PERCENT: u64 = 10;
/// Increase in bytes that is always allowed, because a percentage is too strict for a small
/// process.
pub const MIN_GROWTH_BYTES: u64 = 16 * 1024 * 1024;
/// Minimum duration of a run in which the increase is checked, in milliseconds. In shorter runs,
/// the caches may still be filling.
pub const GROWTH_JUDGED_MS: u64 = 10 * 60 * 1_000;

/// A sample of the resident memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Milliseconds since the start of the run.
    pub at_ms: u64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
}

/// Returns the violated limits. Without samples, there are none.
#[must_use]
pub fn violations(samples: &[Sample], checks_growth: bool) -> Vec<String> {
    let mut violations = Vec::new();
    let peak = samples.iter().map(|sample| sample.resident_bytes).max().unwrap_or(0);
    if peak > MAX_RESIDENT_BYTES {
        violations.push(format!(
            "memory: {peak} bytes resident, at most {MAX_RESIDENT_BYTES} are allowed"
        ));
    }
    if let Some((middle, last)) = growth_medians(samples, checks_growth) {
        let growth_percent_bytes = middle.saturating_mul(MAX_GROWTH_PERCENT) / 100;
        let max_growth_bytes = growth_percent_bytes.max(MIN_GROWTH_BYTES);
        if last > middle.saturating_add(max_growth_bytes) {
            violations.push(format!(
                "memory grows: {middle} bytes in the middle third, {last} in the last (medians), \
                 {max_growth_bytes} more are allowed"
            ));
        }
    }
    violations
}

/// Returns the medians of the middle third and the last third, if the increase is checked.
#[must_use]
pub fn growth_medians(samples: &[Sample], checks_growth: bool) -> Option<(u64, u64)> {
    let end_ms = samples.last()?.at_ms;
    if !checks_growth || end_ms < GROWTH_JUDGED_MS {
        return None;
    }
    let third_ms = end_ms / 3;
    let middle = median_between(samples, third_ms, third_ms * 2)?;
    let last = median_between(samples, third_ms * 2, third_ms * 3)?;
    Some((middle, last))
}

fn median_between(samples: &[Sample], first_ms: u64, last_ms: u64) -> Option<u64> {
    let mut resident_bytes = Vec::new();
    for sample in samples {
        if (first_ms..=last_ms).contains(&sample.at_ms) {
            resident_bytes.push(sample.resident_bytes);
        }
    }
    median(resident_bytes)
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    /// Creates one sample per second, with the given memory in each third of the run.
    fn soak(seconds: u64, thirds: [u64; 3]) -> Vec<Sample> {
        let at = |second: u64| {
            let third = usize::try_from(second * 3 / (seconds + 1)).unwrap();
            Sample { at_ms: second * 1_000, resident_bytes: thirds[third] }
        };
        (0..=seconds).map(at).collect()
    }

    #[test]
    fn the_bound_holds_at_its_value_and_not_one_byte_above() {
        let flat = |bytes| soak(60, [bytes; 3]);
        assert_eq!(violations(&flat(MAX_RESIDENT_BYTES), false), [""; 0]);
        let above = violations(&flat(MAX_RESIDENT_BYTES + 1), false);
        assert!(above.len() == 1 && above[0].contains("resident"), "{above:?}");
        assert_eq!(violations(&[], true), [""; 0]);
    }

    #[test]
    fn growth_is_judged_from_the_middle_third_on() {
        let seconds = 1_800;
        let rule = |middle, last| violations(&soak(seconds, [MB, middle, last]), true);
        // The initial growth of caches does not count.
        assert_eq!(rule(100 * MB, 100 * MB), [""; 0]);
        assert_eq!(rule(100 * MB, 100 * MB + MIN_GROWTH_BYTES), [""; 0]);
        assert_eq!(rule(100 * MB, 100 * MB + MIN_GROWTH_BYTES + 1).len(), 1);
        assert_eq!(rule(200 * MB, 220 * MB), [""; 0]);
        assert_eq!(rule(200 * MB, 220 * MB + 1).len(), 1);
        assert_eq!(rule(200 * MB, 90 * MB), [""; 0]);
    }

    #[test]
    fn a_leak_is_found_and_a_short_run_is_not_judged() {
        let leak = |seconds: u64| -> Vec<Sample> {
            let at = |s| Sample { at_ms: s * 1_000, resident_bytes: 60 * MB + s * 40 * 1_024 };
            (0..=seconds).map(at).collect()
        };
        // At 40 KB per second, the last ten minutes have 23 MB more than the ten minutes before
        // them.
        assert_eq!(violations(&leak(1_800), true).len(), 1);
        assert_eq!(violations(&leak(1_800), false), [""; 0]);
        assert_eq!(growth_medians(&leak(GROWTH_JUDGED_MS / 1_000 - 1), true), None);
        assert!(growth_medians(&leak(GROWTH_JUDGED_MS / 1_000), true).is_some());
    }
}
