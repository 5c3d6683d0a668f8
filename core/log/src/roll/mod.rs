//! Roll: closes a log segment and opens the next one in a single transaction.
//!
//! [`Roll`] is a pure state machine like [`Append`](crate::append::Append): it returns the next
//! action and receives the result. A failed roll is harmless, because a later append starts another
//! roll.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::append::Inputs;
use crate::entry::{Content, Entry, Header};
use crate::segment::Segment;
use cellar_base::backoff::full_jitter_ms;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};
use cellar_base::position::Position;
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;

/// Transaction of a roll. Each of its three puts requires that the item's key does not exist yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// End Segment (the last entry of a closed segment), which directly follows the latest entry.
    pub end: Entry,
    /// Record of the next segment.
    pub segment: Segment,
    /// First entry of the next segment.
    pub first: Entry,
}

/// Next action for the driver to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum RollAction {
    /// Read the latest segment's record with strong consistency.
    ReadNewestSegment,
    /// Read one page forward from `from` (inclusive) with strong consistency.
    Read {
        /// First position to read.
        from: Position,
    },
    /// Write the transaction.
    Transact(Box<Transaction>),
    /// Wait for this delay, then report [`RollEvent::Waited`].
    Wait {
        /// Delay in milliseconds.
        delay_ms: u64,
    },
    /// Return this result to the caller of the roll.
    Finish(Result<Rolled, RollRefusal>),
}

/// Result of a [`RollAction`].
#[derive(Debug, Clone, PartialEq)]
pub enum RollEvent {
    /// The latest segment, or `None` if the log has no segments.
    NewestSegment(Option<Segment>),
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may contain more entries.
        has_more: bool,
    },
    /// A read failed.
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The transaction succeeded.
    Accepted,
    /// A key was taken, so nothing was written.
    Refused,
    /// The outcome of the transaction is unknown.
    Unknown,
    /// The transaction failed and will never take effect.
    Failed,
    /// The requested delay has elapsed.
    Waited,
}

variant_names!(RollEvent {
    NewestSegment,
    Page,
    ReadFailed,
    Accepted,
    Refused,
    Unknown,
    Failed,
    Waited,
});

/// Result of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rolled {
    /// The log continues in a new segment, which this roll or a concurrent roll opened.
    Into {
        /// Number of the new segment.
        segment: u32,
    },
    /// The segment stays open, because it has no finished snapshot yet. The spreadsheet can be
    /// loaded only if one of the two latest segments has a snapshot.
    NoSnapshotYet,
}

/// Reason why a roll failed. A failed roll never loses entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RollRefusal {
    /// The log does not exist, or no segment number is left.
    #[error("the log does not exist or is full")]
    NoSegment,
    /// The roll lost too many races against concurrent writers.
    #[error("too many concurrent writers; the next append starts another roll")]
    Contention,
    /// The store is unreachable or rejected a request.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// An entry is missing although a later entry exists. It may have been trimmed meanwhile.
    #[error("the entry at {at} is missing although a later one exists")]
    Missing {
        /// Position of the missing entry.
        at: Position,
    },
    /// The event does not match the last action.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedEvent),
}

/// A roll in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Roll {
    log: LogId,
    /// Newest known entry.
    tail: Arc<Entry>,
    phase: Phase,
    failed_transactions: u32,
    failed_reads: u32,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    ReadingSegment,
    Transacting,
    Reading,
    /// Waiting to read the entries after the latest known entry.
    WaitingToRead,
    /// Waiting to read the latest segment's record.
    WaitingToReadSegment,
    Finished,
}

variant_names!(Phase {
    ReadingSegment,
    Transacting,
    Reading,
    WaitingToRead,
    WaitingToReadSegment,
    Finished,
});

impl Roll {
    /// Starts a roll of the log whose latest known entry is `tail`.
    #[must_use]
    pub fn begin(tail: Arc<Entry>) -> (Self, RollAction) {
        let phase = Phase::ReadingSegment;
        let roll = Self { log: tail.log, tail, phase, failed_transactions: 0, failed_reads: 0 };
        (roll, RollAction::ReadNewestSegment)
    }

    /// Processes the result of the last action and returns the next action. Ends the roll with
    /// [`RollRefusal::Unexpected`] if the event does not match the last action.
    #[must_use]
    pub fn step(mut self, event: RollEvent, inputs: Inputs) -> (Self, RollAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::ReadingSegment, RollEvent::NewestSegment(newest)) => {
                self.close_segment_unless_rolled(newest.as_ref(), inputs)
            }
            (Phase::ReadingSegment, RollEvent::ReadFailed { temporary }) => {
                self.retry_failed_read(Phase::WaitingToReadSegment, temporary, inputs)
            }
            (Phase::Reading, RollEvent::ReadFailed { temporary }) => {
                self.retry_failed_read(Phase::WaitingToRead, temporary, inputs)
            }
            (Phase::Reading, RollEvent::Page { entries, has_more }) => {
                self.advance_tail(&entries, has_more, inputs)
            }
            (Phase::Transacting, RollEvent::Accepted) => self.finish_rolled(),
            (Phase::Transacting, RollEvent::Refused | RollEvent::Unknown) => {
                self.read_after_lost_race(inputs)
            }
            (Phase::WaitingToRead, RollEvent::Waited) => self.read_after_tail(),
            (Phase::WaitingToReadSegment, RollEvent::Waited) => {
                self.phase = Phase::ReadingSegment;
                RollAction::ReadNewestSegment
            }
            (Phase::Transacting, RollEvent::Failed) => RollAction::Finish(Err(RollRefusal::Store)),
            (phase, event) => {
                let (phase, event) = (phase.name(), event.name());
                let fault = UnexpectedEvent { machine: "roll of a segment", phase, event };
                RollAction::Finish(Err(fault.into()))
            }
        };
        (self, action)
    }

    fn close_segment_unless_rolled(
        &mut self,
        newest_segment: Option<&Segment>,
        inputs: Inputs,
    ) -> RollAction {
        let Some(newest_segment) = newest_segment else {
            return RollAction::Finish(Err(RollRefusal::NoSegment));
        };
        if newest_segment.num > self.tail.position.segment() {
            return RollAction::Finish(Ok(Rolled::Into { segment: newest_segment.num }));
        }
        if newest_segment.last_snapshot.is_none() {
            return RollAction::Finish(Ok(Rolled::NoSnapshotYet));
        }
        self.close_segment(inputs)
    }

    /// Closes the segment by putting an End Segment after the latest known entry. If the latest
    /// known entry is itself an End Segment, the segment is already closed.
    fn close_segment(&mut self, inputs: Inputs) -> RollAction {
        if matches!(self.tail.content, Content::EndSegment) {
            return self.finish_rolled();
        }
        let end_segment_position = self.tail.position.next_in_segment();
        let next_segment_start = self.tail.position.next_segment();
        let (Some(end_segment_position), Some(next_segment_start)) =
            (end_segment_position, next_segment_start)
        else {
            return RollAction::Finish(Err(RollRefusal::NoSegment));
        };
        let transaction =
            self.build_transaction(end_segment_position, next_segment_start, inputs.now_s);
        self.phase = Phase::Transacting;
        RollAction::Transact(Box::new(transaction))
    }

    fn build_transaction(
        &self,
        end_segment_position: Position,
        next_segment_start: Position,
        created_s: u64,
    ) -> Transaction {
        let new_entry = |position, header, content| Entry {
            log: self.log,
            position,
            created_s,
            author: None,
            header,
            content,
        };
        let end_segment =
            new_entry(end_segment_position, self.tail.header.clone(), Content::EndSegment);
        let Header { incarnation, summary, .. } = self.tail.header.clone();
        let first_header = Header::of_segment(incarnation, summary);
        let snapshot_content = Content::Snapshot { root: None, trimmed_s: None };
        Transaction {
            end: end_segment,
            segment: Segment {
                log: self.log,
                num: next_segment_start.segment(),
                created_s,
                last_snapshot: None,
                offloaded: None,
                lineage: None,
            },
            first: new_entry(next_segment_start, first_header, snapshot_content),
        }
    }

    /// Reads the entries after the latest known entry, because the transaction lost a race or its
    /// outcome is unknown.
    fn read_after_lost_race(&mut self, inputs: Inputs) -> RollAction {
        self.failed_transactions += 1;
        if self.failed_transactions >= MAX_PUT_ATTEMPTS {
            return RollAction::Finish(Err(RollRefusal::Contention));
        }
        self.phase = Phase::WaitingToRead;
        RollAction::Wait { delay_ms: full_jitter_ms(self.failed_transactions, inputs.random) }
    }

    fn read_after_tail(&mut self) -> RollAction {
        match self.tail.next_position() {
            Some(from) => {
                self.phase = Phase::Reading;
                RollAction::Read { from }
            }
            None => RollAction::Finish(Err(RollRefusal::NoSegment)),
        }
    }

    fn advance_tail(
        &mut self,
        entries: &[Arc<Entry>],
        has_more: bool,
        inputs: Inputs,
    ) -> RollAction {
        for entry in entries {
            let Some(next_position) = self.tail.next_position() else {
                return RollAction::Finish(Err(RollRefusal::NoSegment));
            };
            if entry.position != next_position {
                return RollAction::Finish(Err(RollRefusal::Missing { at: next_position }));
            }
            self.tail = Arc::clone(entry);
            if matches!(entry.content, Content::EndSegment) {
                return self.finish_rolled();
            }
        }
        if has_more && !entries.is_empty() {
            self.read_after_tail()
        } else {
            self.close_segment(inputs)
        }
    }

    /// Finishes the roll. The log continues in the segment after the one that contains the latest
    /// known entry.
    fn finish_rolled(&self) -> RollAction {
        let segment = self.tail.position.segment().saturating_add(1);
        RollAction::Finish(Ok(Rolled::Into { segment }))
    }

    /// Waits and then retries a failed read, after which the roll continues in `retry_phase`. Gives
    /// up after a permanent error or too many failed reads.
    fn retry_failed_read(
        &mut self,
        retry_phase: Phase,
        temporary: bool,
        inputs: Inputs,
    ) -> RollAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= MAX_READ_ATTEMPTS {
            return RollAction::Finish(Err(RollRefusal::Store));
        }
        self.phase = retry_phase;
        RollAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }
}
