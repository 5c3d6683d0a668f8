//! Changes to the text of a formula.

use std::ops::Range;

/// Replacements of parts of a text. Ranges must not overlap.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, &'static str)>);

impl Edits {
    pub(super) fn replace(&mut self, range: Range<usize>, replacement: &'static str) {
        self.0.push((range, replacement));
    }

    pub(super) fn insert(&mut self, position: usize, inserted: &'static str) {
        self.replace(position..position, inserted);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Edits at one position are applied in the order in which they were added, insertions first.
    pub(super) fn apply_to(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut changed = String::with_capacity(text.len() + self.0.len());
        let mut copied = 0;
        for (range, replacement) in self.0 {
            changed.push_str(text.get(copied..range.start).unwrap_or_default());
            changed.push_str(replacement);
            copied = copied.max(range.end);
        }
        changed.push_str(text.get(copied..).unwrap_or_default());
        changed
    }
}
