//! Appends whose bases are before entries that were trimmed.

use std::sync::Arc;

use super::{Append, finish};
use crate::append::phase::Phase;
use crate::append::{AppendAction, Refusal};
use crate::entry::Entry;
use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;

impl Append {
    /// Refuses the request, unless the reason is a missing entry that may have been trimmed. In
    /// that case, reads the first entry of the segment. If it is marked as trimmed, the append
    /// restarts at the latest segment.
    pub(super) fn refuse_unless_trimmed(&mut self, refusal: Refusal) -> AppendAction {
        let missing_position = match refusal {
            Refusal::UnknownBase { base } => base,
            Refusal::Corrupt { at } => at,
            other_refusal => return finish(Err(other_refusal)),
        };
        if self.base_was_trimmed {
            return finish(Err(refusal));
        }
        self.phase = Phase::CheckingTrim { refusal };
        AppendAction::Read {
            from: missing_position.segment_start(),
            consistency: ReadConsistency::Strong,
        }
    }

    pub(super) fn restart_or_refuse(
        &mut self,
        refusal: Refusal,
        entries: &[Arc<Entry>],
    ) -> AppendAction {
        let segment_is_trimmed = entries.first().is_some_and(|first| first.is_trimmed());
        if segment_is_trimmed { self.find_newest_segment() } else { finish(Err(refusal)) }
    }

    pub(super) fn find_newest_segment(&mut self) -> AppendAction {
        self.phase = Phase::FindingNewestSegment;
        AppendAction::FindNewestSegment
    }

    /// Restarts the scan at the latest segment, because entries after a base were trimmed. The
    /// latest segment suffices if the client's mutation ids are trusted. Mutations that cannot be
    /// transformed without the trimmed entries are committed as rejected.
    pub(super) fn restart_at_newest_segment(
        &mut self,
        newest_segment: Option<u32>,
    ) -> AppendAction {
        let segment_start = newest_segment.and_then(|segment| Position::new(segment, 0).ok());
        let Some(segment_start) = segment_start else {
            return finish(Err(Refusal::Corrupt { at: self.scan.start_position }));
        };
        self.base_was_trimmed = true;
        self.end_is_confirmed = false;
        self.scan.restart_at(segment_start, &self.request);
        if self.request.numbering_is_trusted {
            // The preceding mutations may be in entries that were trimmed.
            self.scan.assume_committed_before(self.request.first_id);
        }
        self.read(segment_start, ReadConsistency::Strong)
    }
}
