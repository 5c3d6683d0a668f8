//! Retention: which old segments are offloaded and trimmed, and how.
//!
//! By default, all entries are kept. A trimmed segment keeps its first entry, which is marked as
//! trimmed, and its End Segment for ever. Without them, the conditional put of a stale writer would
//! succeed in a trimmed segment, and an acknowledged edit would be lost.

mod offloaded;
mod plan;
#[cfg(test)]
mod tests;
mod trim;

pub use offloaded::{OffloadedFault, decode_offloaded, encode_offloaded, offloaded_key};
pub use plan::{Keep, Plan, Policy, plan};
pub use trim::{Fences, Trim, TrimAction, TrimEvent, TrimRefusal, Trimmed};
