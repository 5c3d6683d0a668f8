//! Trim: deletes the entries of an offloaded segment between its first entry and its End Segment.
//!
//! First, the first entry is marked; then the others are deleted in ascending order. A concurrent
//! reader sees the mark, or a hole with a later entry after it, and never mistakes it for the end
//! of the log. A frozen writer may have cached the segment as it was, but discards it after
//! `CACHED_TAIL_AGE_MS`, long before the fence of `TRIM_FENCE_S` after the segment's end. A trim may
//! be repeated at any time.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;

/// Next action of the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrimAction {
    /// Read the newest entry of the segment with strong consistency.
    ReadLast,
    /// Read the offloaded segment and check that it contains every entry from the first to `last`.
    CheckOffloaded {
        /// Position of the End Segment.
        last: Position,
    },
    /// Mark the first entry of the segment as trimmed, unless it is.
    Mark {
        /// Time of the trim, Unix seconds.
        trimmed_s: u64,
    },
    /// Read one page forward from `from`, inclusive, with strong consistency.
    Read {
        /// First position.
        from: Position,
    },
    /// Delete these entries in this order.
    Delete {
        /// Ascending positions; never the first entry of the segment, never its End Segment.
        positions: Vec<Position>,
    },
    /// The result.
    Finish(Result<Trimmed, TrimRefusal>),
}

/// Result of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum TrimEvent {
    /// Newest entry, if there is one.
    Last(Option<Arc<Entry>>),
    /// The offloaded segment contains every entry.
    OffloadedIsWhole,
    /// The offloaded segment is missing or incomplete.
    OffloadedIsDamaged,
    /// The first entry is marked.
    Marked,
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Set if the segment may have further entries.
        more: bool,
    },
    /// The entries are deleted.
    Deleted,
    /// The store failed: repeat the trim later.
    Failed,
}

/// Result of a trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimmed {
    /// Entries deleted by this call.
    pub deleted: u64,
}

/// Reason why a segment was not trimmed completely; repeat the trim later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrimRefusal {
    /// The segment has no End Segment.
    #[error("the segment has not ended")]
    NotEnded,
    /// The segment ended less than `TRIM_FENCE_S` ago.
    #[error("the segment ended less than a day ago: a writer may still know it")]
    TooYoung,
    /// The offloaded segment is missing or incomplete.
    #[error(
        "the offloaded segment of the segment is missing or does not hold all of it: offload it again"
    )]
    NotOffloaded,
    /// The store failed.
    #[error("the store failed: repeat the trim")]
    Store,
}

/// Safety fences of a trim: both apply, except in the model checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fences {
    /// A segment is trimmed at the earliest one day after its end.
    #[cfg(feature = "model")]
    pub age: bool,
    /// The first entry and the End Segment are kept.
    #[cfg(feature = "model")]
    pub tombstones: bool,
}

#[cfg_attr(
    not(feature = "model"),
    allow(clippy::derivable_impls, reason = "with the feature the fences are up by default")
)]
impl Default for Fences {
    fn default() -> Self {
        Self {
            #[cfg(feature = "model")]
            age: true,
            #[cfg(feature = "model")]
            tombstones: true,
        }
    }
}

impl Fences {
    #[cfg(feature = "model")]
    fn age(self) -> bool {
        self.age
    }

    #[cfg(feature = "model")]
    fn tombstones(self) -> bool {
        self.tombstones
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    fn age(self) -> bool {
        true
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    fn tombstones(self) -> bool {
        true
    }
}

/// State machine of a trim.
#[derive(Debug, Clone, PartialEq)]
pub struct Trim {
    segment_start: Position,
    fences: Fences,
    phase: Phase,
    last: Option<Position>,
    deleted: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    ReadingLast,
    CheckingOffloaded,
    Marking,
    Reading,
    Deleting { behind: Option<Position>, count: u64 },
    Finished,
}

impl Trim {
    /// Starts to trim the segment that begins at `segment_start`.
    #[must_use]
    pub fn begin(segment_start: Position, fences: Fences) -> (Self, TrimAction) {
        let phase = Phase::ReadingLast;
        let trim = Self { segment_start, fences, phase, last: None, deleted: 0 };
        (trim, TrimAction::ReadLast)
    }

    /// Advances the state machine. An event that does not answer the last action ends the trim.
    #[must_use]
    pub fn step(mut self, event: TrimEvent, now_s: u64) -> (Self, TrimAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::ReadingLast, TrimEvent::Last(last)) => self.last_read(last.as_deref(), now_s),
            (Phase::CheckingOffloaded, TrimEvent::OffloadedIsWhole) => {
                self.phase = Phase::Marking;
                TrimAction::Mark { trimmed_s: now_s }
            }
            (Phase::CheckingOffloaded, TrimEvent::OffloadedIsDamaged) => {
                TrimAction::Finish(Err(TrimRefusal::NotOffloaded))
            }
            (Phase::Marking, TrimEvent::Marked) => self.read(self.segment_start.next_in_segment()),
            (Phase::Reading, TrimEvent::Page { entries, more }) => self.page(&entries, more),
            (Phase::Deleting { behind, count }, TrimEvent::Deleted) => {
                self.deleted = self.deleted.saturating_add(count);
                match behind {
                    Some(_) => self.read(behind),
                    None => self.finish(),
                }
            }
            _ => TrimAction::Finish(Err(TrimRefusal::Store)),
        };
        (self, action)
    }

    fn last_read(&mut self, last: Option<&Entry>, now_s: u64) -> TrimAction {
        let Some(last) = last.filter(|last| matches!(last.content, Content::EndSegment)) else {
            return TrimAction::Finish(Err(TrimRefusal::NotEnded));
        };
        if now_s < last.created_s.saturating_add(TRIM_FENCE_S) && self.fences.age() {
            return TrimAction::Finish(Err(TrimRefusal::TooYoung));
        }
        self.last = Some(last.position);
        self.phase = Phase::CheckingOffloaded;
        TrimAction::CheckOffloaded { last: last.position }
    }

    fn read(&mut self, from: Option<Position>) -> TrimAction {
        match from {
            Some(from) => {
                self.phase = Phase::Reading;
                TrimAction::Read { from }
            }
            None => self.finish(),
        }
    }

    fn page(&mut self, entries: &[Arc<Entry>], more: bool) -> TrimAction {
        // Entries that were not found in the offloaded segment are not deleted.
        let between = |entry: &&Arc<Entry>| {
            entry.position > self.segment_start && Some(entry.position) < self.last
        };
        let doomed = entries.iter().filter(|entry| !self.fences.tombstones() || between(entry));
        let positions: Vec<Position> = doomed.map(|entry| entry.position).collect();
        let last = entries.last().map(|entry| entry.position);
        let behind = last.filter(|_| more).and_then(Position::next_in_segment);
        if positions.is_empty() {
            return self.read(behind);
        }
        let count = u64::try_from(positions.len()).unwrap_or(u64::MAX);
        self.phase = Phase::Deleting { behind, count };
        TrimAction::Delete { positions }
    }

    fn finish(&self) -> TrimAction {
        TrimAction::Finish(Ok(Trimmed { deleted: self.deleted }))
    }
}
