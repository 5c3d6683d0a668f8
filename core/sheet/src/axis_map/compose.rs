//! Linear-time composition of axis maps.

use super::{AxisMap, Run};

impl AxisMap {
    /// Composes two maps: the result maps from the source space of `self` to the destination space
    /// of `next`. Takes time linear in the number of runs.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let strays = self.compose_strays(next);
        let mut composed = Self { limit: self.limit, runs: Vec::new(), strays };
        let (mut own_runs, mut next_runs) = (self.runs.iter(), next.runs.iter());
        let (mut own_run, mut next_run) = (own_runs.next(), next_runs.next());
        while let (Some(first), Some(second)) = (own_run, next_run) {
            if let Some(run) = compose_runs(*first, *second) {
                composed.push(run);
            }
            // The run that ends first in the intermediate space cannot overlap any later run.
            if first.dst_end() <= second.src_end() {
                own_run = own_runs.next();
            } else {
                next_run = next_runs.next();
            }
        }
        composed
    }

    /// Composes each overlapping pair of runs that includes a stray (out-of-order run).
    fn compose_strays(&self, next: &Self) -> Vec<Run> {
        let mut strays = Vec::new();
        for stray in &self.strays {
            let start = next.runs.partition_point(|run| run.src_end() <= stray.dst);
            let kept = next.runs.iter().skip(start).map_while(|run| compose_runs(*stray, *run));
            strays.extend(kept);
            strays.extend(next.strays.iter().filter_map(|run| compose_runs(*stray, *run)));
        }
        for stray in &next.strays {
            let start = self.runs.partition_point(|run| run.dst_end() <= stray.src);
            let kept = self.runs.iter().skip(start).map_while(|run| compose_runs(*run, *stray));
            strays.extend(kept);
        }
        strays
    }
}

/// Composes two runs. Returns `None` if they do not overlap in the intermediate space.
fn compose_runs(first: Run, second: Run) -> Option<Run> {
    let start = first.dst.max(second.src);
    let len = first.dst_end().min(second.src_end()).checked_sub(start).filter(|len| *len > 0)?;
    Some(Run {
        src: first.src.saturating_add(start.saturating_sub(first.dst)),
        dst: second.dst.saturating_add(start.saturating_sub(second.src)),
        len,
    })
}
