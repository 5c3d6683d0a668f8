//! Retention: which old segments are archived and purged, and how (design `2-log.md` §6).
//!
//! By default everything is kept. A purged segment keeps its first entry, marked, and its End
//! Segment for ever: otherwise the conditional put of a stale writer would succeed in a dead
//! segment, and an acknowledged edit would be lost.
//!
//! What was deleted from the catalog goes as a whole once nobody can restore it ([`plan_deleted`]), and with it
//! the objects that only its snapshots had ([`GarbageSweep`]).

mod archive;
mod deleted;
mod garbage;
mod plan;
mod purge;
#[cfg(test)]
mod tests;

pub use archive::{ArchiveFault, archive_key, decode_archive, encode_archive};
pub use deleted::{DeletedPlan, Needed, Resident, needed, plan_deleted};
pub use garbage::{GarbageSweep, InUse, is_under_way_too_long};
pub use plan::{Keep, Plan, Policy, plan};
pub use purge::{Action, Event, Fences, Purge, PurgeRefusal, Purged};
