//! Trim: deletes the entries of an offloaded segment, except its first entry and its End Segment
//! (the last entry).
//!
//! The first entry is marked as trimmed before the other entries are deleted in ascending order. A
//! concurrent reader therefore sees the mark, or a gap before a later entry. In both cases, it does
//! not mistake the gap for the end of the log. A suspended writer may have cached the untrimmed
//! segment, but discards its cache after `CACHED_TAIL_AGE_MS`, and appends to no entry older than
//! `CACHED_ENTRY_AGE_S` without a read. The trim is allowed only much later, `TRIM_FENCE_S` after
//! the segment's end. A trim can be repeated safely.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;

/// Next action for the driver to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrimAction {
    /// Read the segment's last entry with strong consistency.
    ReadLast,
    /// Read the offloaded segment and verify that it contains every entry up to `last`.
    CheckOffloaded {
        /// Position of the End Segment.
        last: Position,
    },
    /// Mark the first entry of the segment as trimmed, unless it is already marked.
    Mark {
        /// Time of the trim, in seconds since the Unix epoch.
        trimmed_s: u64,
    },
    /// Read one page forward from `from` (inclusive) with strong consistency.
    Read {
        /// First position to read.
        from: Position,
    },
    /// Delete these entries in the given order.
    Delete {
        /// Positions of the entries in ascending order, excluding the first entry and the End
        /// Segment.
        positions: Vec<Position>,
    },
    /// Return this result to the caller of the trim.
    Finish(Result<Trimmed, TrimRefusal>),
}

/// Result of a [`TrimAction`].
#[derive(Debug, Clone, PartialEq)]
pub enum TrimEvent {
    /// The segment's last entry, or `None` if the segment is empty.
    Last(Option<Arc<Entry>>),
    /// The offloaded segment contains every entry.
    OffloadedIsComplete,
    /// The offloaded segment is missing or incomplete.
    OffloadedIsIncomplete,
    /// The first entry is marked as trimmed.
    Marked,
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may contain more entries.
        has_more: bool,
    },
    /// The requested entries were deleted.
    Deleted,
    /// The store is unreachable or rejected the request.
    Failed,
}

variant_names!(TrimEvent {
    Last,
    OffloadedIsComplete,
    OffloadedIsIncomplete,
    Marked,
    Page,
    Deleted,
    Failed,
});

/// Result of a trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimmed {
    /// Number of entries deleted by this trim.
    pub deleted: u64,
}

/// Reason why a trim did not finish. A later trim continues the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrimRefusal {
    /// The segment has no End Segment.
    #[error("the segment has not ended")]
    NotEnded,
    /// The segment ended less than `TRIM_FENCE_S` ago.
    #[error("the segment ended less than a day ago; a writer may still have it cached")]
    TooYoung,
    /// The offloaded segment is missing or incomplete.
    #[error(
        "the offloaded copy of the segment is missing or incomplete; offload the segment again"
    )]
    NotOffloaded,
    /// The store is unreachable or rejected a request.
    #[error("the store failed; retry the trim")]
    Store,
    /// The event does not match the last action.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedEvent),
}

/// Safety rules of a trim, of which the model checker disables one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fences {
    /// A segment is trimmed only after `TRIM_FENCE_S` have passed since its end.
    #[cfg(feature = "model")]
    pub age: bool,
    /// The first entry and the End Segment are kept.
    #[cfg(feature = "model")]
    pub tombstones: bool,
}

#[cfg_attr(
    not(feature = "model"),
    allow(
        clippy::derivable_impls,
        reason = "with the feature `model`, the fields are true by default"
    )
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
    fn age_is_enforced(self) -> bool {
        self.age
    }

    #[cfg(feature = "model")]
    fn tombstones_are_enforced(self) -> bool {
        self.tombstones
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    fn age_is_enforced(self) -> bool {
        true
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    fn tombstones_are_enforced(self) -> bool {
        true
    }
}

/// A trim in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Trim {
    segment_start: Position,
    fences: Fences,
    phase: Phase,
    end_segment_position: Option<Position>,
    deleted_count: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    ReadingLast,
    CheckingOffloaded,
    Marking,
    Reading,
    Deleting {
        count: u64,
        /// Position at which to continue reading after the deletion, or `None` at the end of the
        /// segment.
        next_position: Option<Position>,
    },
    Finished,
}

variant_names!(Phase { ReadingLast, CheckingOffloaded, Marking, Reading, Deleting, Finished });

impl Trim {
    /// Starts a trim of the segment at `segment_start`.
    #[must_use]
    pub fn begin(segment_start: Position, fences: Fences) -> (Self, TrimAction) {
        let phase = Phase::ReadingLast;
        let (end_segment_position, deleted_count) = (None, 0);
        let trim = Self { segment_start, fences, phase, end_segment_position, deleted_count };
        (trim, TrimAction::ReadLast)
    }

    /// Processes the result of the last action and returns the next action. Ends the trim with
    /// [`TrimRefusal::Unexpected`] if the event does not match the last action.
    #[must_use]
    pub fn step(mut self, event: TrimEvent, now_s: u64) -> (Self, TrimAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::ReadingLast, TrimEvent::Last(last_entry)) => {
                self.check_last_entry(last_entry.as_deref(), now_s)
            }
            (Phase::CheckingOffloaded, TrimEvent::OffloadedIsComplete) => {
                self.phase = Phase::Marking;
                TrimAction::Mark { trimmed_s: now_s }
            }
            (Phase::CheckingOffloaded, TrimEvent::OffloadedIsIncomplete) => {
                TrimAction::Finish(Err(TrimRefusal::NotOffloaded))
            }
            (Phase::Marking, TrimEvent::Marked) => {
                self.read_or_finish(self.segment_start.next_in_segment())
            }
            (Phase::Reading, TrimEvent::Page { entries, has_more }) => {
                self.delete_entries_of_page(&entries, has_more)
            }
            (Phase::Deleting { count, next_position }, TrimEvent::Deleted) => {
                self.deleted_count = self.deleted_count.saturating_add(count);
                self.read_or_finish(next_position)
            }
            (
                Phase::ReadingLast
                | Phase::CheckingOffloaded
                | Phase::Marking
                | Phase::Reading
                | Phase::Deleting { .. },
                TrimEvent::Failed,
            ) => TrimAction::Finish(Err(TrimRefusal::Store)),
            (phase, event) => {
                let (phase, event) = (phase.name(), event.name());
                let fault = UnexpectedEvent { machine: "trim of a segment", phase, event };
                TrimAction::Finish(Err(fault.into()))
            }
        };
        (self, action)
    }

    fn check_last_entry(&mut self, last_entry: Option<&Entry>, now_s: u64) -> TrimAction {
        let end_segment = match last_entry {
            Some(entry) if matches!(entry.content, Content::EndSegment) => entry,
            _ => return TrimAction::Finish(Err(TrimRefusal::NotEnded)),
        };
        let is_too_young = now_s < end_segment.created_s.saturating_add(TRIM_FENCE_S);
        if is_too_young && self.fences.age_is_enforced() {
            return TrimAction::Finish(Err(TrimRefusal::TooYoung));
        }
        self.end_segment_position = Some(end_segment.position);
        self.phase = Phase::CheckingOffloaded;
        TrimAction::CheckOffloaded { last: end_segment.position }
    }

    fn read_or_finish(&mut self, next_position: Option<Position>) -> TrimAction {
        match next_position {
            Some(from) => {
                self.phase = Phase::Reading;
                TrimAction::Read { from }
            }
            None => TrimAction::Finish(Ok(Trimmed { deleted: self.deleted_count })),
        }
    }

    fn delete_entries_of_page(&mut self, entries: &[Arc<Entry>], has_more: bool) -> TrimAction {
        let deletable_positions: Vec<Position> = entries
            .iter()
            .map(|entry| entry.position)
            .filter(|position| self.may_delete(*position))
            .collect();
        let next_position = match entries.last() {
            Some(last_entry) if has_more => last_entry.position.next_in_segment(),
            _ => None,
        };
        if deletable_positions.is_empty() {
            return self.read_or_finish(next_position);
        }
        let count = u64::try_from(deletable_positions.len()).unwrap_or(u64::MAX);
        self.phase = Phase::Deleting { count, next_position };
        TrimAction::Delete { positions: deletable_positions }
    }

    /// Entries after the End Segment are kept, because the offloaded copy may not contain them.
    fn may_delete(&self, position: Position) -> bool {
        let is_before_end = self.end_segment_position.is_some_and(|end| position < end);
        let is_between = position > self.segment_start && is_before_end;
        is_between || !self.fences.tombstones_are_enforced()
    }
}
