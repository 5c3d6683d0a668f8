//! Compaction steps. Each step builds the next root from an existing root and newer entries.
//!
//! The entries alone determine where a compaction step ends, so that every worker that repeats the
//! step builds the same root. Most steps only rewrite level 0, which is stored inside the root.
//! Once level 0 is too large, a step merges it with the newest levels into a level that is stored
//! in chunks.

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
