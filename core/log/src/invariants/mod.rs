//! The invariants of the log, as predicates for tests.
//!
//! Each predicate is a pure function of entries and segments that returns the first [`Violation`].
//! The model checker, the simulator and checks of stored logs share them. Lists of entries are in
//! ascending order of position.

mod effect;
mod history;
mod mutations;
mod structure;
#[cfg(test)]
mod tests;

pub use effect::check_effects;
pub use history::{check_prefix, history, readable};
pub use mutations::{MutationId, check_acknowledged, check_once, check_order};
pub use structure::{check_links, check_no_gap};

use crate::append::AppendEvent;
use cellar_base::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};
use cellar_base::position::Position;

/// A violated invariant of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Violation {
    /// I1: an entry is missing although a later entry exists and the segment was not trimmed.
    #[error("the entry at {at} is missing, although a later entry exists")]
    Gap {
        /// Position of the missing entry.
        at: Position,
    },
    /// I2: an entry that was read has disappeared or changed, or another entry has appeared before
    /// it.
    #[error("the entry at {at} changed after it was read")]
    PrefixChanged {
        /// First position that differs.
        at: Position,
    },
    /// I3: a mutation took effect twice.
    #[error("mutation {} took effect twice: at {first} and at {again}", .mutation.id)]
    Twice {
        /// Mutation that took effect twice.
        mutation: MutationId,
        /// Position of the first entry with the mutation.
        first: Position,
        /// Position of the second entry with the mutation.
        again: Position,
    },
    /// I3: a mutation took effect before the client's preceding mutation.
    #[error("mutation {} at {at} does not follow its client's preceding mutation", .mutation.id)]
    OutOfOrder {
        /// Mutation that is out of order.
        mutation: MutationId,
        /// Position of its entry.
        at: Position,
    },
    /// I4: an acknowledged mutation is not in the log.
    #[error("mutation {} was acknowledged and is not in the log", .mutation.id)]
    Lost {
        /// Lost mutation.
        mutation: MutationId,
    },
    /// I5: a segment does not start with a Snapshot entry, has no record, or the preceding segment
    /// does not end with an End Segment.
    #[error("segment {segment} is not linked to the preceding segment")]
    NotLinked {
        /// Number of the segment.
        segment: u32,
    },
    /// I5: an entry follows an End Segment in the same segment.
    #[error("the entry at {at} follows an End Segment")]
    AfterEnd {
        /// Position of the entry.
        at: Position,
    },
    /// I23: a mutation was reported as appended and changed nothing.
    #[error("mutation {} was reported as appended and has no effect", .mutation.id)]
    WithoutEffect {
        /// Mutation without an effect.
        mutation: MutationId,
    },
    /// I23: a mutation was reported as without effect and changed the state.
    #[error("mutation {} was reported as without effect and changes the state", .mutation.id)]
    Effect {
        /// Mutation with an effect.
        mutation: MutationId,
    },
    /// I6: an append made too many attempts.
    #[error("{tried} attempts were made, at most {limit} are allowed")]
    TooManyAttempts {
        /// Number of attempts.
        tried: u32,
        /// Allowed number of attempts.
        limit: u32,
    },
}

/// Counts the failed attempts of one append from its events (I6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attempts {
    failed_puts: u32,
    failed_reads: u32,
}

impl Attempts {
    /// Counts the result of one action.
    pub fn record(&mut self, event: &AppendEvent) {
        match event {
            AppendEvent::PutAccepted => self.failed_puts = 0,
            AppendEvent::PutRefused { .. } | AppendEvent::PutUnknown | AppendEvent::PutFailed => {
                self.failed_puts = self.failed_puts.saturating_add(1);
            }
            AppendEvent::ReadFailed { .. } => {
                self.failed_reads = self.failed_reads.saturating_add(1);
            }
            AppendEvent::Page { .. }
            | AppendEvent::NewestSegment(_)
            | AppendEvent::State(_)
            | AppendEvent::Waited => {}
        }
    }

    /// Checks I6: at most `MAX_PUT_ATTEMPTS` consecutive puts and `MAX_READ_ATTEMPTS` reads of an
    /// append fail.
    ///
    /// # Errors
    /// [`Violation::TooManyAttempts`].
    pub fn check(&self) -> Result<(), Violation> {
        self.check_within(MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS)
    }

    /// Like [`Attempts::check`], but with other limits.
    ///
    /// # Errors
    /// [`Violation::TooManyAttempts`].
    pub fn check_within(&self, max_puts: u32, max_reads: u32) -> Result<(), Violation> {
        let counts = [(self.failed_puts, max_puts), (self.failed_reads, max_reads)];
        match counts.into_iter().find(|(tried, limit)| tried > limit) {
            Some((tried, limit)) => Err(Violation::TooManyAttempts { tried, limit }),
            None => Ok(()),
        }
    }
}
