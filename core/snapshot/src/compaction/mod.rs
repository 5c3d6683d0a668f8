//! Compaction steps: each builds the next root from a root and newer entries.
//!
//! The end of a compaction step depends only on the entries, so that every worker that repeats the
//! step builds the same root. Most steps rewrite level 0, which is stored inside the root. When
//! level 0 has grown too large, it is merged with the newest levels into a level stored in chunks.

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
