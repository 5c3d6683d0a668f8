//! The newest of many lines.

use std::collections::BTreeMap;

/// Keeps the newest, up to a number, whatever order they come in.
#[derive(Debug)]
pub(crate) struct Newest<T> {
    max: usize,
    /// By time, and then as they came.
    kept: BTreeMap<(u64, u64), T>,
    count: u64,
}

impl<T> Newest<T> {
    /// At most so many.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, kept: BTreeMap::new(), count: 0 }
    }

    /// One more, of that time.
    pub(crate) fn push(&mut self, at_ms: u64, value: T) {
        self.kept.insert((at_ms, self.count), value);
        self.count += 1;
        if self.kept.len() > self.max {
            self.kept.pop_first();
        }
    }

    /// How many were too many.
    pub(crate) fn left_out(&self) -> u64 {
        self.count.saturating_sub(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }

    /// Those that were kept, oldest first.
    pub(crate) fn into_sorted(self) -> impl Iterator<Item = T> {
        self.kept.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_in_order() {
        let mut newest = Newest::new(3);
        for (at_ms, value) in [(5, 'e'), (1, 'a'), (5, 'f')] {
            newest.push(at_ms, value);
        }
        assert_eq!(newest.left_out(), 0);
        newest.push(3, 'c');
        newest.push(0, 'z');
        assert_eq!(newest.left_out(), 2);
        assert_eq!(newest.into_sorted().collect::<String>(), "cef");
    }
}
