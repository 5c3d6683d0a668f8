//! Composition of axis maps in linear time.

use super::{AxisMap, Run};

impl AxisMap {
    /// Returns the composition of `self` followed by `next`. Runs in ascending order are merged in
    /// linear time.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut composed = Self {
            limit: self.limit,
            runs: Vec::new(),
            reordered_runs: self.composed_reordered_runs(next),
        };
        let mut own_runs = self.runs.iter().peekable();
        let mut next_runs = next.runs.iter().peekable();
        while let (Some(own_run), Some(next_run)) = (own_runs.peek(), next_runs.peek()) {
            if let Some(composed_run) = compose_runs(**own_run, **next_run) {
                composed.push(composed_run);
            }
            // The run that ends first cannot overlap any later run.
            if own_run.dst_end() <= next_run.src_end() {
                own_runs.next();
            } else {
                next_runs.next();
            }
        }
        composed
    }

    /// Composes all pairs of runs that include at least one reordered run.
    fn composed_reordered_runs(&self, next: &Self) -> Vec<Run> {
        let mut composed_runs = Vec::new();
        for own_run in &self.reordered_runs {
            let next_runs = next.runs_ending_after_src(own_run.dst).iter();
            composed_runs.extend(next_runs.map_while(|next_run| compose_runs(*own_run, *next_run)));
            for next_run in &next.reordered_runs {
                composed_runs.extend(compose_runs(*own_run, *next_run));
            }
        }
        for next_run in &next.reordered_runs {
            let own_runs = self.runs_ending_after_dst(next_run.src).iter();
            composed_runs.extend(own_runs.map_while(|own_run| compose_runs(*own_run, *next_run)));
        }
        composed_runs
    }
}

/// Composes the common rows of two runs. Returns `None` if they have no common rows.
fn compose_runs(first: Run, second: Run) -> Option<Run> {
    let start = first.dst.max(second.src);
    let len = first.dst_end().min(second.src_end()).checked_sub(start).filter(|len| *len > 0)?;
    Some(Run {
        src: first.src.saturating_add(start.saturating_sub(first.dst)),
        dst: second.dst.saturating_add(start.saturating_sub(second.src)),
        len,
    })
}
