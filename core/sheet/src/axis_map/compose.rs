//! Composes axis maps in linear time.

use super::{AxisMap, Run};

impl AxisMap {
    /// Returns the map that first applies `self` and then `next`. Runs are merged in linear time.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let strays = self.compose_strays(next);
        let mut composed = Self { limit: self.limit, runs: Vec::new(), strays };
        let mut own_runs = self.runs.iter().peekable();
        let mut next_runs = next.runs.iter().peekable();
        while let (Some(own_run), Some(next_run)) = (own_runs.peek(), next_runs.peek()) {
            if let Some(composed_run) = compose_runs(**own_run, **next_run) {
                composed.push(composed_run);
            }
            // Continue after the run that ends first, because it cannot overlap any later run.
            if own_run.dst_end() <= next_run.src_end() {
                own_runs.next();
            } else {
                next_runs.next();
            }
        }
        composed
    }

    /// Composes each pair of overlapping runs of the two maps if at least one of the two runs is a
    /// stray (out of order).
    fn compose_strays(&self, next: &Self) -> Vec<Run> {
        let mut composed_strays = Vec::new();
        for own_stray in &self.strays {
            let first_overlapping = next.runs.partition_point(|run| run.src_end() <= own_stray.dst);
            let next_runs = next.runs.iter().skip(first_overlapping);
            composed_strays.extend(next_runs.map_while(|run| compose_runs(*own_stray, *run)));
            let next_strays = next.strays.iter();
            composed_strays
                .extend(next_strays.filter_map(|next_stray| compose_runs(*own_stray, *next_stray)));
        }
        for next_stray in &next.strays {
            let first_overlapping =
                self.runs.partition_point(|run| run.dst_end() <= next_stray.src);
            let own_runs = self.runs.iter().skip(first_overlapping);
            composed_strays.extend(own_runs.map_while(|run| compose_runs(*run, *next_stray)));
        }
        composed_strays
    }
}

/// Composes the rows that both runs contain. Returns `None` if there are no such rows.
fn compose_runs(first: Run, second: Run) -> Option<Run> {
    let start = first.dst.max(second.src);
    let len = first.dst_end().min(second.src_end()).checked_sub(start).filter(|len| *len > 0)?;
    Some(Run {
        src: first.src.saturating_add(start.saturating_sub(first.dst)),
        dst: second.dst.saturating_add(start.saturating_sub(second.src)),
        len,
    })
}
