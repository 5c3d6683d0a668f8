//! Invariants I1 and I5: entry numbers are contiguous, and segments are linked.

use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use crate::segment::Segment;
use cellar_base::position::Position;

/// Checks I1: the segment numbers of a log and the entry numbers of each segment are contiguous and
/// start at 0. A segment may have gaps only if its first entry is marked as trimmed.
///
/// # Errors
/// Returns [`Violation::Gap`] with the first missing position.
pub fn check_no_gap(entries: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut expected_position = Some(Position::FIRST);
    let mut segment_is_trimmed = false;
    for entry in entries {
        let position = entry.position;
        if position.entry_number() == 0 {
            segment_is_trimmed = entry.is_trimmed();
        }
        let continues_log = expected_position
            .is_some_and(|expected| may_be_next(position, expected, segment_is_trimmed));
        if !continues_log {
            return Err(Violation::Gap { at: expected_position.unwrap_or(position) });
        }
        expected_position = position.next_in_segment();
    }
    Ok(())
}

fn may_be_next(position: Position, expected: Position, segment_is_trimmed: bool) -> bool {
    let is_in_trimmed_segment = segment_is_trimmed && position.segment() == expected.segment();
    let starts_next_segment =
        expected.entry_number() > 0 && Some(position) == expected.next_segment();
    position == expected || starts_next_segment || is_in_trimmed_segment
}

/// Checks I5: every segment has a record in `segments` and starts with a Snapshot entry. Every
/// segment except the latest also ends with exactly one End Segment (the last entry of a closed
/// segment).
///
/// # Errors
/// Returns [`Violation::NotLinked`] or [`Violation::AfterEnd`] with the first violation.
pub fn check_links(entries: &[Arc<Entry>], segments: &[Segment]) -> Result<(), Violation> {
    let mut recorded_segments = segments.iter().map(|segment| segment.num);
    let mut previous_entry: Option<&Entry> = None;
    for entry in entries {
        let segment = entry.position.segment();
        let is_segment_start =
            previous_entry.is_none_or(|previous| previous.position.segment() != segment);
        if is_segment_start {
            let previous_has_ended = previous_entry.is_none_or(is_end_segment);
            let is_snapshot = matches!(entry.content, Content::Snapshot { .. });
            let next_recorded_segment = recorded_segments.next();
            let is_recorded = next_recorded_segment == Some(segment);
            if !previous_has_ended || !is_snapshot || !is_recorded {
                return Err(Violation::NotLinked { segment });
            }
        } else if previous_entry.is_some_and(is_end_segment) {
            return Err(Violation::AfterEnd { at: entry.position });
        }
        previous_entry = Some(entry);
    }
    // An End Segment is written in the same transaction as the start of the next segment.
    if let Some(last_entry) = entries.last()
        && is_end_segment(last_entry)
    {
        return Err(Violation::NotLinked { segment: last_entry.position.segment() + 1 });
    }
    match recorded_segments.next() {
        Some(segment_without_entries) => {
            Err(Violation::NotLinked { segment: segment_without_entries })
        }
        None => Ok(()),
    }
}

fn is_end_segment(entry: &Entry) -> bool {
    matches!(entry.content, Content::EndSegment)
}
