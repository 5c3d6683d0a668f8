//! Which levels are merged when level 0 is flushed.

/// How many of the newest levels are merged with level 0: the longest suffix in which each
/// older level is less than twice all that is newer. `levels` are bytes, oldest first.
///
/// Robust against imports and shrinking merges, which classes of sizes are not: a level is rewritten
/// only with at least half as many bytes of newer ones.
#[must_use]
pub fn levels_to_merge(levels: &[u64], level_0: u64) -> usize {
    let mut total = level_0;
    let merged = levels.iter().rev().take_while(|level| {
        let merge = **level < total.saturating_mul(2);
        total = total.saturating_add(**level);
        merge
    });
    merged.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_merged_with_at_least_half_as_many_newer_bytes() {
        assert_eq!(levels_to_merge(&[], 64), 0);
        assert_eq!(levels_to_merge(&[127], 64), 1);
        assert_eq!(levels_to_merge(&[128], 64), 0);
        assert_eq!(levels_to_merge(&[10_000, 300, 127], 64), 2);
        // An import stays below until as much was edited.
        assert_eq!(levels_to_merge(&[1_000_000, 64], 64), 1);
        assert_eq!(levels_to_merge(&[500, 1_000_000, 64], 64), 1);
    }

    #[test]
    fn many_flushes_write_each_byte_a_few_times_and_leave_few_levels() {
        let (mut levels, mut written, flushes) = (Vec::<u64>::new(), 0, 10_000_u64);
        for _ in 0..flushes {
            let merged = levels_to_merge(&levels, 64);
            let kept = levels.len() - merged;
            let total = 64 + levels.drain(kept..).sum::<u64>();
            written += total;
            levels.push(total);
        }
        assert!(levels.len() <= 10, "{}", levels.len());
        assert!(written <= 10 * 64 * flushes, "{} times", written / (64 * flushes));
    }
}
