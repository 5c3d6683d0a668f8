//! Which lines were told: a log that is followed is read with an overlap, since lines come late.

use std::collections::BTreeSet;

/// Lines that are remembered, at most.
const SEEN_MAX: usize = 200_000;

/// The lines of the last while.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    lines: BTreeSet<(u64, String)>,
    newest_ms: Option<u64>,
}

impl Seen {
    /// Notes a line by its time and its id. True if it was not there before.
    pub(crate) fn is_new(&mut self, at_ms: u64, id: String) -> bool {
        self.newest_ms = self.newest_ms.max(Some(at_ms));
        let is_new = self.lines.insert((at_ms, id));
        if self.lines.len() > SEEN_MAX {
            self.lines.pop_first();
        }
        is_new
    }

    /// From when on is to be read again, if that is at least `from_ms`; what is older is forgotten.
    pub(crate) fn go_on(&mut self, from_ms: u64, overlap_ms: u64) -> u64 {
        let newest_ms = self.newest_ms.unwrap_or_default();
        let from_ms = newest_ms.saturating_sub(overlap_ms).max(from_ms);
        self.lines = self.lines.split_off(&(from_ms, String::new()));
        from_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_new_once_also_if_it_comes_late() {
        let mut seen = Seen::default();
        assert_eq!(seen.go_on(40, 10), 40);
        assert!(seen.is_new(100, "a".to_owned()) && !seen.is_new(100, "a".to_owned()));
        assert!(seen.is_new(100, "b".to_owned()));
        assert_eq!(seen.go_on(40, 10), 90);
        assert!(seen.is_new(95, "late".to_owned()));
        assert!(!seen.is_new(100, "b".to_owned()));
        assert!(seen.is_new(120, "c".to_owned()));
        assert_eq!(seen.go_on(90, 10), 110);
        assert_eq!(seen.lines.len(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut seen = Seen::default();
        for at_ms in 0..u64::try_from(SEEN_MAX).unwrap() {
            assert!(seen.is_new(at_ms, String::new()));
        }
        assert!(!seen.is_new(0, String::new()), "as many as there may be");
        assert!(seen.is_new(u64::MAX, String::new()));
        assert!(seen.is_new(0, String::new()), "the oldest was one too many");
        assert_eq!(seen.lines.len(), SEEN_MAX);
    }
}
