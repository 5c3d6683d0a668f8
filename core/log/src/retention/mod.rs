//! Retention: which old segments are offloaded to S3 and trimmed, and how.
//!
//! By default, all entries are kept. A trimmed segment permanently keeps its first entry, which is
//! marked as trimmed, and its End Segment. If these were deleted, the conditional put of a stale
//! writer could succeed in the trimmed segment, and an acknowledged edit would be lost.

mod offloaded;
mod plan;
#[cfg(test)]
mod tests;
mod trim;

pub use offloaded::{OffloadedFault, decode_offloaded, encode_offloaded, offloaded_key};
pub use plan::{Keep, Plan, Policy, plan};
pub use trim::{Fences, Trim, TrimAction, TrimEvent, TrimRefusal, Trimmed};
