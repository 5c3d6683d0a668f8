//! The ports, as a process has them: each call may be late, lost, done twice or answered by a replica.

mod blobs;
mod clock;
mod entries;
mod index;
mod pending_snapshots;
mod queue;
mod retention;
mod segments;
mod streams;
#[cfg(test)]
mod tests;
mod webhook;

pub(crate) use entries::counting_attempts;

use crate::process::Process;
use crate::rare::Rare;

impl Process {
    /// Whether a read is answered by a replica now.
    fn is_stale(&self, consistent: bool) -> bool {
        !consistent && self.random().happens(self.world().plan().stale)
    }

    /// Hands on what a replica shows, and counts it if the leader has another answer.
    fn shown<T: PartialEq>(&self, shown: T, leader: &T) -> T {
        if shown != *leader {
            self.event(format_args!("a stale read"));
            self.world().count(Rare::StaleRead);
        }
        shown
    }
}
