//! Composition of axis maps, in one pass over the runs of both.

use super::{AxisMap, Run};

impl AxisMap {
    /// Returns this map followed by `next`, in `O(|self| + |next|)`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut composed = Self { limit: self.limit, runs: Vec::new(), strays: Vec::new() };
        let (mut firsts, mut seconds) = (self.runs.iter(), next.runs.iter());
        let (mut first, mut second) = (firsts.next(), seconds.next());
        while let (Some(one), Some(two)) = (first, second) {
            if let Some(run) = overlap(*one, *two) {
                composed.push(run);
            }
            // The run that ends first in the intermediate space has no further overlaps.
            if one.dst_end() <= two.src_end() {
                first = firsts.next();
            } else {
                second = seconds.next();
            }
        }
        composed.strays = self.strays_then(next);
        composed
    }

    fn strays_then(&self, next: &Self) -> Vec<Run> {
        let mut strays = Vec::new();
        for stray in &self.strays {
            let start = next.runs.partition_point(|run| run.src_end() <= stray.dst);
            let kept = next.runs.iter().skip(start).map_while(|run| overlap(*stray, *run));
            strays.extend(kept);
            strays.extend(next.strays.iter().filter_map(|run| overlap(*stray, *run)));
        }
        for stray in &next.strays {
            let start = self.runs.partition_point(|run| run.dst_end() <= stray.src);
            let kept = self.runs.iter().skip(start).map_while(|run| overlap(*run, *stray));
            strays.extend(kept);
        }
        strays
    }
}

/// Returns the part of the first run that the second keeps, if they intersect in the intermediate
/// space.
fn overlap(first: Run, second: Run) -> Option<Run> {
    let start = first.dst.max(second.src);
    let len = first.dst_end().min(second.src_end()).checked_sub(start).filter(|len| *len > 0)?;
    Some(Run {
        src: first.src.saturating_add(start.saturating_sub(first.dst)),
        dst: second.dst.saturating_add(start.saturating_sub(second.src)),
        len,
    })
}
