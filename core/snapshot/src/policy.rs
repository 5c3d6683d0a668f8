//! Merge policy: selects the levels that are merged when level 0 is written to chunks.

/// Returns how many of the newest levels are merged with level 0. `level_bytes` contains the level
/// sizes, oldest first.
///
/// Levels are merged from newest to oldest while each level has less than twice the total bytes of
/// all newer levels. A level is thus rewritten only together with newer levels that total more than
/// half its size. Unlike size classes, this rule handles large imports and shrinking merges well.
#[must_use]
pub fn count_levels_to_merge(level_bytes: &[u64], level_0_bytes: u64) -> usize {
    let mut newer_bytes = level_0_bytes;
    let mut merged_level_count = 0;
    for &bytes in level_bytes.iter().rev() {
        let has_few_newer_bytes = bytes >= newer_bytes.saturating_mul(2);
        if has_few_newer_bytes {
            break;
        }
        newer_bytes = newer_bytes.saturating_add(bytes);
        merged_level_count += 1;
    }
    merged_level_count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_merged_with_at_least_half_as_many_newer_bytes() {
        assert_eq!(count_levels_to_merge(&[], 64), 0);
        assert_eq!(count_levels_to_merge(&[127], 64), 1);
        assert_eq!(count_levels_to_merge(&[128], 64), 0);
        assert_eq!(count_levels_to_merge(&[10_000, 300, 127], 64), 2);
        // An import is not merged until newer edits reach a comparable size.
        assert_eq!(count_levels_to_merge(&[1_000_000, 64], 64), 1);
        assert_eq!(count_levels_to_merge(&[500, 1_000_000, 64], 64), 1);
    }

    #[test]
    fn many_flushes_write_each_byte_a_few_times_and_leave_few_levels() {
        let (mut levels, mut written, flushes) = (Vec::<u64>::new(), 0, 10_000_u64);
        for _ in 0..flushes {
            let merged = count_levels_to_merge(&levels, 64);
            let kept = levels.len() - merged;
            let total = 64 + levels.drain(kept..).sum::<u64>();
            written += total;
            levels.push(total);
        }
        assert!(levels.len() <= 10, "{}", levels.len());
        assert!(written <= 10 * 64 * flushes, "{} times", written / (64 * flushes));
    }
}
