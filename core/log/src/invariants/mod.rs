//! Log invariants for tests, the model checker, the simulator and the checks of stored logs. Each
//! check is a pure function of entries and segments that returns the first [`Violation`]. The
//! entries must be sorted by position.

mod effect;
mod history;
mod mutations;
mod structure;
#[cfg(test)]
mod tests;

pub use effect::{ReportedEffect, check_effects};
pub use history::{check_prefix, complete_history, readable_entries};
pub use mutations::{MutationId, check_acknowledged, check_once, check_order};
pub use structure::{check_links, check_no_gap};

use crate::append::AppendEvent;
use cellar_base::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};
use cellar_base::position::Position;

/// A violated log invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Violation {
    /// I1: an entry is missing, although a later entry exists and the segment was not trimmed.
    #[error("the entry at {at} is missing, although a later entry exists")]
    Gap {
        /// Position of the missing entry.
        at: Position,
    },
    /// I2: an entry that was read earlier has disappeared or changed, or a new entry has appeared
    /// before it.
    #[error("the entry at {at} changed after it was read")]
    PrefixChanged {
        /// First differing position.
        at: Position,
    },
    /// I3: a mutation took effect twice.
    #[error("mutation {} took effect twice: at {first} and at {again}", .mutation.id)]
    Twice {
        /// The duplicated mutation.
        mutation: MutationId,
        /// Position of the first entry that contains the mutation.
        first: Position,
        /// Position of the second entry that contains the mutation.
        again: Position,
    },
    /// I3: a mutation took effect before the client's preceding mutation.
    #[error("mutation {} at {at} does not follow its client's preceding mutation", .mutation.id)]
    OutOfOrder {
        /// The out-of-order mutation.
        mutation: MutationId,
        /// Position of its entry.
        at: Position,
    },
    /// I4: an acknowledged mutation was lost from the log.
    #[error("mutation {} was acknowledged but is not in the log", .mutation.id)]
    Lost {
        /// Lost mutation.
        mutation: MutationId,
    },
    /// I5: a segment has no record, does not start with a Snapshot entry, or follows a segment
    /// without an End Segment (the last entry of a closed segment).
    #[error("segment {segment} is not linked to the preceding segment")]
    NotLinked {
        /// Number of the segment.
        segment: u32,
    },
    /// I5: an entry follows the End Segment of its segment.
    #[error("the entry at {at} follows an End Segment")]
    AfterEnd {
        /// Position of the entry.
        at: Position,
    },
    /// I23: a mutation that was reported as appended has no effect.
    #[error("mutation {} was reported as appended but has no effect", .mutation.id)]
    WithoutEffect {
        /// The mutation without an effect.
        mutation: MutationId,
    },
    /// I23: a mutation that was reported as without effect changed the state.
    #[error("mutation {} was reported as without effect but changed the state", .mutation.id)]
    Effect {
        /// Mutation with an effect.
        mutation: MutationId,
    },
    /// I6: an append made too many attempts.
    #[error("{tried} attempts were made; at most {limit} are allowed")]
    TooManyAttempts {
        /// Number of attempts.
        tried: u32,
        /// Attempt limit.
        limit: u32,
    },
}

/// Counts the failed puts and reads of an append, which invariant I6 limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attempts {
    failed_puts: u32,
    failed_reads: u32,
}

impl Attempts {
    /// Counts the result of one append action.
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

    /// Checks I6: an append has at most `MAX_PUT_ATTEMPTS` consecutive failed puts and at most
    /// `MAX_READ_ATTEMPTS` failed reads.
    ///
    /// # Errors
    /// Returns [`Violation::TooManyAttempts`] if a limit is exceeded.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_within(MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS)
    }

    /// Like [`Attempts::check`], but with custom limits.
    ///
    /// # Errors
    /// Returns [`Violation::TooManyAttempts`] if a limit is exceeded.
    pub fn check_within(&self, max_puts: u32, max_reads: u32) -> Result<(), Violation> {
        for (tried, limit) in [(self.failed_puts, max_puts), (self.failed_reads, max_reads)] {
            if tried > limit {
                return Err(Violation::TooManyAttempts { tried, limit });
            }
        }
        Ok(())
    }
}
