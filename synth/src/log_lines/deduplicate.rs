//! Removes duplicate log lines. With `--follow`, the log is read in overlapping periods so that
//! late lines are not missed. Lines in the overlaps are therefore read more than once.

use std::collections::BTreeSet;

const LINES_MAX: usize = 200_000;

#[derive(Debug, Default)]
pub(crate) struct SeenLines {
    /// Time and id of each remembered line. Times are in milliseconds since the Unix epoch.
    lines: BTreeSet<(u64, String)>,
    /// 0 before the first line.
    newest_ms: u64,
}

impl SeenLines {
    /// Returns whether the line is new.
    pub(crate) fn insert(&mut self, at_ms: u64, id: String) -> bool {
        self.newest_ms = self.newest_ms.max(at_ms);
        let is_new = self.lines.insert((at_ms, id));
        if self.lines.len() > LINES_MAX {
            self.lines.pop_first();
        }
        is_new
    }

    /// Returns the start of the next period to read, and forgets all lines that are older. The
    /// period starts `overlap_ms` before the newest line, but never before `start_ms`.
    pub(crate) fn next_start_ms(&mut self, start_ms: u64, overlap_ms: u64) -> u64 {
        let next_start_ms = self.newest_ms.saturating_sub(overlap_ms).max(start_ms);
        self.lines = self.lines.split_off(&(next_start_ms, String::new()));
        next_start_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_new_once_even_if_it_arrives_late() {
        let mut seen = SeenLines::default();
        assert_eq!(seen.next_start_ms(40, 10), 40);
        assert!(seen.insert(100, "a".to_owned()) && !seen.insert(100, "a".to_owned()));
        assert!(seen.insert(100, "b".to_owned()));
        assert_eq!(seen.next_start_ms(40, 10), 90);
        assert!(seen.insert(95, "late".to_owned()));
        assert!(!seen.insert(100, "b".to_owned()));
        assert!(seen.insert(120, "c".to_owned()));
        assert_eq!(seen.next_start_ms(90, 10), 110);
        assert_eq!(seen.lines.len(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut seen = SeenLines::default();
        for at_ms in 0..u64::try_from(LINES_MAX).unwrap() {
            assert!(seen.insert(at_ms, String::new()));
        }
        assert!(!seen.insert(0, String::new()), "the limit is not exceeded yet");
        assert!(seen.insert(u64::MAX, String::new()));
        assert!(seen.insert(0, String::new()), "the oldest line was forgotten");
        assert_eq!(seen.lines.len(), LINES_MAX);
    }
}
