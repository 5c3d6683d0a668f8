//! The invariants of the log, as predicates.
//!
//! Pure functions over entries and segments that return the first [`Violation`]: the model checker,
//! the simulation and checks of stored logs all call the same ones. Lists of entries are in
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

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Violation {
    /// I1: an entry is missing where a later one stands, and its segment was not trimmed.
    #[error("there is no entry at {at}, but a later one")]
    Gap {
        /// Where an entry is missing.
        at: Position,
    },
    /// I2: an entry that was read is gone, is another one, or one appeared before it.
    #[error("what was read at {at} is not what stands there now")]
    PrefixChanged {
        /// The first position that differs.
        at: Position,
    },
    /// I3: a mutation took effect twice.
    #[error("mutation {} took effect twice: at {first} and at {again}", .mutation.id)]
    Twice {
        /// The mutation.
        mutation: MutationId,
        /// Where it took effect first.
        first: Position,
        /// Where it did again.
        again: Position,
    },
    /// I3: a mutation took effect before the one that its client made before it.
    #[error("mutation {} at {at} does not follow its client's mutation before it", .mutation.id)]
    OutOfOrder {
        /// The mutation.
        mutation: MutationId,
        /// Where it stands.
        at: Position,
    },
    /// I4: a mutation that was acknowledged is not in the log.
    #[error("mutation {} was acknowledged and is not in the log", .mutation.id)]
    Lost {
        /// The mutation.
        mutation: MutationId,
    },
    /// I5: a segment does not begin with a Snapshot entry, or the one before it does not end with
    /// an End Segment, or there is no record of it.
    #[error("segment {segment} is not linked to the one before it")]
    NotLinked {
        /// The number of the segment.
        segment: u32,
    },
    /// I5: an entry stands behind an End Segment in the same segment.
    #[error("an entry stands behind an End Segment, at {at}")]
    BehindEnd {
        /// Where it stands.
        at: Position,
    },
    /// I23: a mutation was answered as appended and changed nothing.
    #[error("mutation {} was answered as appended and has no effect", .mutation.id)]
    WithoutEffect {
        /// The mutation.
        mutation: MutationId,
    },
    /// I23: a mutation was answered as without effect and changed something.
    #[error("mutation {} was answered as without effect and changes something", .mutation.id)]
    Effect {
        /// The mutation.
        mutation: MutationId,
    },
    /// I6: more was tried than is allowed.
    #[error("{tried} attempts were made, at most {limit} are allowed")]
    TooManyAttempts {
        /// How many there were.
        tried: u32,
        /// How many are allowed.
        limit: u32,
    },
}

/// The attempts of one append, counted from what it is told (I6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attempts {
    failed_puts: u32,
    failed_reads: u32,
}

impl Attempts {
    /// Counts what came of one action.
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

    /// I6: at most `MAX_PUT_ATTEMPTS` puts fail in a row and `MAX_READ_ATTEMPTS` reads in all.
    ///
    /// # Errors
    /// [`Violation::TooManyAttempts`].
    pub fn check(&self) -> Result<(), Violation> {
        self.check_within(MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS)
    }

    /// As [`Attempts::check`], with other limits.
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
