//! Compaction: each step builds the next root from an existing root and newer log entries. The end
//! of a step depends only on the entries, so that all workers that repeat the step build the same
//! root. Most steps rewrite only level 0, which is stored inside the root. When level 0 becomes too
//! large, a step merges it with the newest other levels into a level that is stored in chunks.

mod base;
mod counts;
mod entries;
mod inputs;
mod level_0;
mod merge_plan;
mod next_root;
mod plan;
#[cfg(test)]
mod tests;

pub use base::{CompactionBase, LevelZeroSheet};
pub use entries::{CompactionFold, FoldedEntries};
pub use merge_plan::MergePlan;
pub use next_root::NextRoot;
pub use plan::{CompactionPlan, plan_compaction};
