//! The ports of a simulated process. A call may be delayed, lost, executed twice, or answered by a
//! replica.

mod blobs;
mod clock;
mod entries;
mod index;
mod pending_snapshots;
mod queue;
mod retention;
mod segments;
mod streams;
mod webhook;

pub(crate) use entries::counting_attempts;

use crate::process::Process;
use crate::rare::RareEvent;
use cellar_base::consistency::ReadConsistency;

impl Process {
    /// Draws whether a replica responds to a read.
    fn is_stale(&self, consistency: ReadConsistency) -> bool {
        !consistency.is_strong() && self.random().happens(self.world().plan().stale)
    }

    /// Returns a replica's response. If the leader's response differs, counts the read as stale.
    fn count_if_stale<T: PartialEq>(&self, shown: T, leader: &T) -> T {
        if shown != *leader {
            self.event(format_args!("a stale read"));
            self.world().count(RareEvent::StaleRead);
        }
        shown
    }
}
