//! Roll: closes a log segment and opens the next, in one transaction.
//!
//! A state machine like an append: it returns the next action and takes its result. A lost race, a
//! lost reply or a lost roll is harmless: the next append rolls again.

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

/// Transaction of a roll: three conditional puts, all or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// End Segment after the last entry.
    pub end: Entry,
    /// Record of the next segment.
    pub segment: Segment,
    /// First entry of the next segment.
    pub first: Entry,
}

/// Next action of the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum RollAction {
    /// Read the record of the newest segment with strong consistency.
    ReadNewestSegment,
    /// Read one page forward from `from`, inclusive, with strong consistency.
    Read {
        /// First position.
        from: Position,
    },
    /// Write the transaction.
    Transact(Box<Transaction>),
    /// Wait, then report [`RollEvent::Waited`].
    Wait {
        /// Milliseconds.
        delay_ms: u64,
    },
    /// The result.
    Finish(Result<Rolled, RollRefusal>),
}

/// Result of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum RollEvent {
    /// Newest segment; `None` if the log has none.
    NewestSegment(Option<Segment>),
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Set if the segment may have further entries.
        more: bool,
    },
    /// A read failed.
    ReadFailed {
        /// Set if a retry may succeed.
        temporary: bool,
    },
    /// The transaction succeeded.
    Accepted,
    /// A key exists; nothing was written.
    Refused,
    /// The outcome of the transaction is unknown.
    Unknown,
    /// The transaction failed and will not take effect.
    Failed,
    /// The wait is over.
    Waited,
}

/// Result of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rolled {
    /// The log continues in this segment, rolled by this call or by another.
    Into {
        /// Number of the new segment.
        segment: u32,
    },
    /// The segment has no finished snapshot yet. A load must find a snapshot in the two newest
    /// segments.
    NoSnapshotYet,
}

/// Reason why a roll was given up; nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RollRefusal {
    /// The log does not exist, or it cannot have another segment.
    #[error("the log does not exist or is full")]
    NoSegment,
    /// Other writers won every race.
    #[error("too many writers at once: the next append rolls")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
}

/// State machine of a roll.
#[derive(Debug, Clone, PartialEq)]
pub struct Roll {
    log: LogId,
    /// Last known entry.
    tail: Arc<Entry>,
    phase: Phase,
    attempts: u32,
    failed_reads: u32,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    ReadingSegment,
    Transacting,
    Reading,
    /// Waiting to read the entries after the last known one.
    WaitingToRead,
    WaitingForSegment,
    Finished,
}

impl Roll {
    /// Starts a roll, given an existing entry; the newer, the better.
    #[must_use]
    pub fn begin(tail: Arc<Entry>) -> (Self, RollAction) {
        let phase = Phase::ReadingSegment;
        let roll = Self { log: tail.log, tail, phase, attempts: 0, failed_reads: 0 };
        (roll, RollAction::ReadNewestSegment)
    }

    /// Advances the state machine. An event that does not answer the last action ends the roll.
    #[must_use]
    pub fn step(mut self, event: RollEvent, inputs: Inputs) -> (Self, RollAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::ReadingSegment, RollEvent::NewestSegment(newest)) => {
                self.segment_read(newest.as_ref(), inputs)
            }
            (
                phase @ (Phase::ReadingSegment | Phase::Reading),
                RollEvent::ReadFailed { temporary },
            ) => self.read_failed(&phase, temporary, inputs),
            (Phase::Reading, RollEvent::Page { entries, more }) => {
                self.page(&entries, more, inputs)
            }
            (Phase::Transacting, RollEvent::Accepted) => self.rolled(),
            (Phase::Transacting, RollEvent::Refused | RollEvent::Unknown) => self.lost(inputs),
            (Phase::WaitingToRead, RollEvent::Waited) => self.read(),
            (Phase::WaitingForSegment, RollEvent::Waited) => {
                self.phase = Phase::ReadingSegment;
                RollAction::ReadNewestSegment
            }
            _ => RollAction::Finish(Err(RollRefusal::Store)),
        };
        (self, action)
    }

    fn segment_read(&mut self, newest: Option<&Segment>, inputs: Inputs) -> RollAction {
        let current = self.tail.position.segment();
        match newest {
            None => RollAction::Finish(Err(RollRefusal::NoSegment)),
            Some(newest) if newest.num > current => {
                RollAction::Finish(Ok(Rolled::Into { segment: newest.num }))
            }
            Some(newest) if newest.last_snapshot.is_none() => {
                RollAction::Finish(Ok(Rolled::NoSnapshotYet))
            }
            Some(_) => self.transact(inputs),
        }
    }

    /// Closes the segment after the last known entry, which is not an End Segment.
    fn transact(&mut self, inputs: Inputs) -> RollAction {
        if matches!(self.tail.content, Content::EndSegment) {
            return self.rolled();
        }
        let end = self.tail.position.next_in_segment();
        let first = self.tail.position.next_segment();
        let (Some(end), Some(first)) = (end, first) else {
            return RollAction::Finish(Err(RollRefusal::NoSegment));
        };
        let created_s = inputs.now_s;
        let entry = |position, header, content| Entry {
            log: self.log,
            position,
            created_s,
            author: None,
            header,
            content,
        };
        let snapshot = Content::Snapshot { root: None, trimmed_s: None };
        let Header { incarnation, summary, .. } = self.tail.header.clone();
        let first_header = Header::of_segment(incarnation, summary);
        let transaction = Transaction {
            end: entry(end, self.tail.header.clone(), Content::EndSegment),
            segment: Segment {
                log: self.log,
                num: first.segment(),
                created_s,
                last_snapshot: None,
                offloaded: None,
                lineage: None,
            },
            first: entry(first, first_header, snapshot),
        };
        self.phase = Phase::Transacting;
        RollAction::Transact(Box::new(transaction))
    }

    /// Reads the entries after the last known one, after a lost race or a lost reply.
    fn lost(&mut self, inputs: Inputs) -> RollAction {
        self.attempts += 1;
        if self.attempts >= MAX_PUT_ATTEMPTS {
            return RollAction::Finish(Err(RollRefusal::Contention));
        }
        self.phase = Phase::WaitingToRead;
        RollAction::Wait { delay_ms: full_jitter_ms(self.attempts, inputs.random) }
    }

    fn read(&mut self) -> RollAction {
        match self.tail.next_position() {
            Some(from) => {
                self.phase = Phase::Reading;
                RollAction::Read { from }
            }
            None => RollAction::Finish(Err(RollRefusal::NoSegment)),
        }
    }

    fn page(&mut self, entries: &[Arc<Entry>], more: bool, inputs: Inputs) -> RollAction {
        for entry in entries {
            if Some(entry.position) != self.tail.next_position() {
                return RollAction::Finish(Err(RollRefusal::Store));
            }
            if matches!(entry.content, Content::EndSegment) {
                self.tail = Arc::clone(entry);
                return self.rolled();
            }
            self.tail = Arc::clone(entry);
        }
        if more && !entries.is_empty() { self.read() } else { self.transact(inputs) }
    }

    fn rolled(&self) -> RollAction {
        let segment = self.tail.position.segment().saturating_add(1);
        RollAction::Finish(Ok(Rolled::Into { segment }))
    }

    fn read_failed(&mut self, phase: &Phase, temporary: bool, inputs: Inputs) -> RollAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= MAX_READ_ATTEMPTS {
            return RollAction::Finish(Err(RollRefusal::Store));
        }
        self.phase = match phase {
            Phase::Reading => Phase::WaitingToRead,
            _ => Phase::WaitingForSegment,
        };
        RollAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }
}
