//! Plans a compaction step, which either rewrites level 0 (the newest level) or merges it with
//! other levels.

use super::base::CompactionBase;
use super::entries::FoldedEntries;
use super::level_0::build_level_0;
use super::merge_plan::MergePlan;
use super::next_root::{NextRoot, build_next_root};
use crate::error::SnapshotError;

/// Plan of a compaction step.
#[derive(Debug, Clone)]
pub enum CompactionPlan {
    /// Level 0 fits into this root, so the step needs no merge.
    LevelZero(Box<NextRoot>),
    /// Level 0 is too large for the root and must be merged with other levels.
    Merge(Box<MergePlan>),
}

/// Plans a compaction step.
///
/// # Errors
/// Returns a [`SnapshotError`] if the next root would exceed a limit.
pub fn plan_compaction(
    base: &CompactionBase,
    folded: &FoldedEntries,
) -> Result<CompactionPlan, SnapshotError> {
    let Some(level_0) = build_level_0(base, folded) else {
        let merge_plan = MergePlan::choose_levels(base, folded);
        return Ok(CompactionPlan::Merge(Box::new(merge_plan)));
    };
    let next_root = build_next_root(base, folded, base.levels.clone(), Some(&level_0))?;
    Ok(CompactionPlan::LevelZero(Box::new(next_root)))
}
