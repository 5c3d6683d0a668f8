//! Composition: one pass over the runs of both maps.

use super::{AxisMap, Run};

impl AxisMap {
    /// This map, then `next`: `O(|self| + |next|)`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut composed = Self { limit: self.limit, runs: Vec::new() };
        let (mut firsts, mut seconds) = (self.runs.iter(), next.runs.iter());
        let (mut first, mut second) = (firsts.next(), seconds.next());
        while let (Some(one), Some(two)) = (first, second) {
            if let Some(run) = overlap(*one, *two) {
                composed.push(run);
            }
            // Whichever ends first in the space between has no more overlaps.
            if one.dst_end() <= two.src_end() {
                first = firsts.next();
            } else {
                second = seconds.next();
            }
        }
        composed
    }
}

/// What the second run keeps of the first, if they meet in the space between.
fn overlap(first: Run, second: Run) -> Option<Run> {
    let start = first.dst.max(second.src);
    let len = first.dst_end().min(second.src_end()).checked_sub(start).filter(|len| *len > 0)?;
    Some(Run {
        src: first.src.saturating_add(start.saturating_sub(first.dst)),
        dst: second.dst.saturating_add(start.saturating_sub(second.src)),
        len,
    })
}
