//! Retention: which old segments are offloaded and trimmed, and how (design `2-log.md` §6).
//!
//! By default everything is kept. A trimmed segment keeps its first entry, marked, and its End
//! Segment for ever: otherwise the conditional put of a stale writer would succeed in a dead
//! segment, and an acknowledged edit would be lost.
//!
//! What was deleted from the catalog goes as a whole once nobody can restore it ([`plan_deleted`]), and with it
//! the objects that only its snapshots had ([`GarbageSweep`]).

mod deleted;
mod garbage;
mod offloaded;
mod plan;
#[cfg(test)]
mod tests;
mod trim;

pub use deleted::{DeletedPlan, Needed, Resident, needed, plan_deleted};
pub use garbage::{GarbageSweep, InUse, is_under_way_too_long};
pub use offloaded::{OffloadedFault, decode_offloaded, encode_offloaded, offloaded_key};
pub use plan::{Keep, Plan, Policy, plan};
pub use trim::{Action, Event, Fences, Trim, TrimRefusal, Trimmed};
