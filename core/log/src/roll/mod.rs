//! Roll: ends a log segment and begins the next, in one transaction (design `2-log.md` §3).
//!
//! The same kind of machine as an append: it says what to do next and is told what came of it.
//! Losing a race, a reply or the whole roll costs nothing: whoever appends next does it again.

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

/// The transaction that rolls: all of it or nothing, each if its key is free.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// The End Segment behind the last entry.
    pub end: Entry,
    /// The record of the next segment.
    pub segment: Segment,
    /// Its first entry.
    pub first: Entry,
}

/// What the driver is to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum RollAction {
    /// Read the record of the newest segment, consistently.
    ReadNewestSegment,
    /// Read one page forward, `from` inclusive, consistently.
    Read {
        /// The first position wanted.
        from: Position,
    },
    /// Write all of it or nothing.
    Transact(Box<Transaction>),
    /// Wait, then report [`RollEvent::Waited`].
    Wait {
        /// How long, milliseconds.
        delay_ms: u64,
    },
    /// The end.
    Finish(Result<Rolled, RollRefusal>),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum RollEvent {
    /// The newest segment; `None` if the log has none.
    NewestSegment(Option<Segment>),
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may have more behind them.
        more: bool,
    },
    /// A read failed.
    ReadFailed {
        /// Whether trying again may help.
        temporary: bool,
    },
    /// The transaction was accepted.
    Accepted,
    /// One of the keys was taken: nothing was written.
    Refused,
    /// The transaction may or may not have happened.
    Unknown,
    /// The transaction did not and will not happen.
    Failed,
    /// The wait is over.
    Waited,
}

/// What a roll came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rolled {
    /// The log goes on in this segment: rolled by this call or by another.
    Into {
        /// The number of the segment that begins.
        segment: u32,
    },
    /// The segment has no completed snapshot yet: whoever loads must find one in the two newest
    /// segments (seed event-log).
    NoSnapshotYet,
}

/// Why a roll was given up; nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RollRefusal {
    /// There is no such log, or it cannot have one more segment.
    #[error("the log does not exist or is full")]
    NoSegment,
    /// Others append faster.
    #[error("too many writers at once: the next append rolls")]
    Contention,
    /// The store refuses or does not answer.
    #[error("the store is unreachable or rejected the request")]
    Store,
}

/// One roll on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Roll {
    log: LogId,
    /// The last entry known.
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
    /// Waiting to read what came behind the tail.
    WaitingToRead,
    WaitingForSegment,
    Finished,
}

impl Roll {
    /// Begins, knowing an entry that exists: the newer, the better.
    #[must_use]
    pub fn begin(tail: Arc<Entry>) -> (Self, RollAction) {
        let phase = Phase::ReadingSegment;
        let roll = Self { log: tail.log, tail, phase, attempts: 0, failed_reads: 0 };
        (roll, RollAction::ReadNewestSegment)
    }

    /// Takes the next step. An event that does not answer the last action ends the roll.
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

    /// Ends the segment behind the tail, which is known to exist and is no End Segment.
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

    /// Another was faster, or the reply was lost: what stands behind the tail tells.
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
