//! Axis maps as stored: each run by its distance from the end of the preceding run.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::{Axis, AxisMap, Run};
use cellar_base::limits::MAX_AXIS_RUNS;

/// The stored layout of an axis map. The layout is released: never change it.
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
    /// Deleted before the run.
    #[n(0)]
    src_gap: u32,
    /// Inserted before the run.
    #[n(1)]
    dst_gap: u32,
    /// Length; 0 extends the run to the end of the axis.
    #[n(2)]
    len: u32,
}

/// A stored axis map is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an axis map has too many runs or runs beyond the end of its axis")]
pub struct UnreadableAxisMap;

impl From<&AxisMap> for StoredAxisMap {
    fn from(map: &AxisMap) -> Self {
        let (mut src, mut dst) = (0, 0);
        let stored = map.runs.iter().map(|run| {
            let to_end = run.src_end().max(run.dst_end()) >= map.limit;
            let stored = StoredRun {
                src_gap: run.src.saturating_sub(src),
                dst_gap: run.dst.saturating_sub(dst),
                len: if to_end { 0 } else { run.len },
            };
            (src, dst) = (run.src_end(), run.dst_end());
            stored
        });
        Self(stored.collect())
    }
}

impl StoredAxisMap {
    /// Decodes the map of an axis; total.
    ///
    /// # Errors
    /// [`UnreadableAxisMap`] for more than `MAX_AXIS_RUNS` runs, or a run past the end.
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
            let room = limit.checked_sub(src.max(dst)).ok_or(UnreadableAxisMap)?;
            let len = if stored.len == 0 { room } else { stored.len };
            if len == 0 || len > room {
                return Err(UnreadableAxisMap);
            }
            map.push(Run { src, dst, len });
            (src_end, dst_end) = (src.saturating_add(len), dst.saturating_add(len));
        }
        Ok(map)
    }
}
