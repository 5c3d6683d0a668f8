//! Stored encoding of axis maps. Each run is relative to the end of the previous run.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::{Axis, AxisMap, Run};
use cellar_base::limits::MAX_AXIS_RUNS;

/// Stored encoding of an axis map. It must never change, because existing data depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
#[cbor(transparent)]
pub struct StoredAxisMap(
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_AXIS_RUNS>")]
    #[n(0)]
    Vec<StoredRun>,
);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
#[cbor(array)]
struct StoredRun {
    /// Number of rows or columns deleted directly before the run.
    #[n(0)]
    src_gap: u32,
    /// Number of rows or columns inserted directly before the run.
    #[n(1)]
    dst_gap: u32,
    /// Length of the run, or [`EXTENDS_TO_END`].
    #[n(2)]
    len: u32,
}

/// Stored length of a run that extends to the end of the axis.
const EXTENDS_TO_END: u32 = 0;

/// Error for an invalid stored axis map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an axis map has too many runs or runs beyond the end of its axis")]
pub struct UnreadableAxisMap;

impl From<&AxisMap> for StoredAxisMap {
    fn from(map: &AxisMap) -> Self {
        let mut previous_run = Run { src: 0, dst: 0, len: 0 };
        let mut stored_runs = Vec::with_capacity(map.runs.len());
        for run in &map.runs {
            let extends_to_end = run.src_end().max(run.dst_end()) >= map.limit;
            stored_runs.push(StoredRun {
                src_gap: run.src.saturating_sub(previous_run.src_end()),
                dst_gap: run.dst.saturating_sub(previous_run.dst_end()),
                len: if extends_to_end { EXTENDS_TO_END } else { run.len },
            });
            previous_run = *run;
        }
        Self(stored_runs)
    }
}

impl StoredAxisMap {
    /// Decodes the map of an axis.
    ///
    /// # Errors
    /// Returns [`UnreadableAxisMap`] if the map has more than `MAX_AXIS_RUNS` runs, or if a run is
    /// empty or extends past the end of the axis.
    pub fn into_map(self, axis: Axis) -> Result<AxisMap, UnreadableAxisMap> {
        let limit = axis.limit();
        if self.0.len() > MAX_AXIS_RUNS {
            return Err(UnreadableAxisMap);
        }
        let mut map = AxisMap::empty(axis);
        let mut previous_run = Run { src: 0, dst: 0, len: 0 };
        for stored_run in self.0 {
            let run = stored_run.into_run_after(previous_run, limit).ok_or(UnreadableAxisMap)?;
            map.push(run);
            previous_run = run;
        }
        Ok(map)
    }
}

impl StoredRun {
    /// Decodes a run that is stored relative to `previous_run`. Returns `None` if the run is empty
    /// or extends past `limit`.
    fn into_run_after(self, previous_run: Run, limit: u32) -> Option<Run> {
        let src = previous_run.src_end().checked_add(self.src_gap)?;
        let dst = previous_run.dst_end().checked_add(self.dst_gap)?;
        let max_len = limit.checked_sub(src.max(dst))?;
        let len = if self.len == EXTENDS_TO_END { max_len } else { self.len };
        if (1..=max_len).contains(&len) { Some(Run { src, dst, len }) } else { None }
    }
}
