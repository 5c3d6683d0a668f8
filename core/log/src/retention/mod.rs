//! Retention: when and how old segments are offloaded to S3 and trimmed (deleted from the table).
//!
//! By default, all entries are retained. A trimmed segment permanently retains its first entry,
//! which is marked as trimmed, and its End Segment (last entry). If these were deleted, a stale
//! writer's conditional put could succeed in the trimmed segment, and an acknowledged edit would be
//! lost.

mod offloaded;
mod rules;
#[cfg(test)]
mod tests;
mod trim;

pub use offloaded::{OffloadedFault, decode_offloaded, encode_offloaded, offloaded_key};
pub use rules::{Keep, Plan, Policy, plan_retention};
pub use trim::{Fences, Trim, TrimAction, TrimEvent, TrimRefusal, Trimmed};
