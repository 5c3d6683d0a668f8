//! Selects the newest log lines.

use std::collections::BTreeMap;

/// Values can be added in any order.
#[derive(Debug)]
pub(crate) struct Newest<T> {
    max: usize,
    /// Values, sorted by time and then by insertion order.
    values: BTreeMap<(u64, u64), T>,
    added_count: u64,
}

impl<T> Newest<T> {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, values: BTreeMap::new(), added_count: 0 }
    }

    pub(crate) fn push(&mut self, at_ms: u64, value: T) {
        self.values.insert((at_ms, self.added_count), value);
        self.added_count += 1;
        if self.values.len() > self.max {
            self.values.pop_first();
        }
    }

    /// Returns the number of values that were removed because the collection was full.
    pub(crate) fn evicted_count(&self) -> u64 {
        self.added_count.saturating_sub(u64::try_from(self.values.len()).unwrap_or(u64::MAX))
    }

    /// Returns the values, oldest first.
    pub(crate) fn into_sorted(self) -> impl Iterator<Item = T> {
        self.values.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_values_are_kept_in_order() {
        let mut newest = Newest::new(3);
        for (at_ms, value) in [(5, 'e'), (1, 'a'), (5, 'f')] {
            newest.push(at_ms, value);
        }
        assert_eq!(newest.evicted_count(), 0);
        newest.push(3, 'c');
        newest.push(0, 'z');
        assert_eq!(newest.evicted_count(), 2);
        assert_eq!(newest.into_sorted().collect::<String>(), "cef");
    }
}
