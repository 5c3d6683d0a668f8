//! Stored encoding of axis maps. Runs are delta-encoded: each run is relative to the end of the
//! previous one.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::{Axis, AxisMap, Run};
use cellar_base::limits::MAX_AXIS_RUNS;

/// Stored encoding of an axis map. Existing data depends on this encoding, so it must never change.
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
    /// Number of rows deleted before the run.
    #[n(0)]
    src_gap: u32,
    /// Number of rows inserted before the run.
    #[n(1)]
    dst_gap: u32,
    /// Length of the run; 0 if the run extends to the end of the axis.
    #[n(2)]
    len: u32,
}

/// An invalid stored axis map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an axis map has too many runs or runs beyond the end of its axis")]
pub struct UnreadableAxisMap;

impl From<&AxisMap> for StoredAxisMap {
    fn from(map: &AxisMap) -> Self {
        let (mut src_end, mut dst_end) = (0, 0);
        let stored_runs = map.runs.iter().map(|run| {
            let extends_to_end = run.src_end().max(run.dst_end()) >= map.limit;
            let stored_run = StoredRun {
                src_gap: run.src.saturating_sub(src_end),
                dst_gap: run.dst.saturating_sub(dst_end),
                len: if extends_to_end { 0 } else { run.len },
            };
            (src_end, dst_end) = (run.src_end(), run.dst_end());
            stored_run
        });
        Self(stored_runs.collect())
    }
}

impl StoredAxisMap {
    /// Decodes the axis map of `axis`.
    ///
    /// # Errors
    /// Returns [`UnreadableAxisMap`] for more than `MAX_AXIS_RUNS` runs, or a run past the end of
    /// the axis.
    pub fn into_map(self, axis: Axis) -> Result<AxisMap, UnreadableAxisMap> {
        let limit = axis.limit();
        if self.0.len() > MAX_AXIS_RUNS {
            return Err(UnreadableAxisMap);
        }
        let mut map = AxisMap { limit, runs: Vec::new(), strays: Vec::new() };
        let (mut src_end, mut dst_end) = (0_u32, 0_u32);
        for stored in self.0 {
            let src = src_end.checked_add(stored.src_gap).ok_or(UnreadableAxisMap)?;
            let dst = dst_end.checked_add(stored.dst_gap).ok_or(UnreadableAxisMap)?;
            let max_len = limit.checked_sub(src.max(dst)).ok_or(UnreadableAxisMap)?;
            let len = if stored.len == 0 { max_len } else { stored.len };
            if len == 0 || len > max_len {
                return Err(UnreadableAxisMap);
            }
            map.push(Run { src, dst, len });
            (src_end, dst_end) = (src.saturating_add(len), dst.saturating_add(len));
        }
        Ok(map)
    }
}
