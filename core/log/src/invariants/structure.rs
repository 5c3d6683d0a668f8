//! Invariants I1 and I5: entry numbers have no gaps, and segments are linked.

use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use crate::segment::Segment;
use cellar_base::position::Position;

/// Checks I1: segment numbers start at 0 and have no gaps, and neither do the entry numbers of each
/// segment. Entries may be missing only if the first entry of their segment is marked as trimmed.
///
/// # Errors
/// Returns [`Violation::Gap`] with the first missing position.
pub fn check_no_gap(entries: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut expected = Some(Position::FIRST);
    let mut segment_is_trimmed = false;
    for entry in entries {
        let at = entry.position;
        if at.num() == 0 {
            segment_is_trimmed = entry.is_trimmed();
        }
        let is_next = Some(at) == expected;
        let starts_next_segment = at.num() == 0
            && expected.and_then(Position::next_segment) == Some(at)
            && expected.is_some_and(|expected| expected.num() > 0);
        let is_after_trimmed_entries =
            segment_is_trimmed && Some(at.segment()) == expected.map(Position::segment);
        if !is_next && !starts_next_segment && !is_after_trimmed_entries {
            return Err(Violation::Gap { at: expected.unwrap_or(at) });
        }
        expected = at.next_in_segment();
    }
    Ok(())
}

/// Checks I5: every segment starts with a Snapshot entry and has a record in `segments`; every
/// segment except the latest ends with exactly one End Segment (the last entry of a closed
/// segment).
///
/// # Errors
/// Returns [`Violation::NotLinked`] or [`Violation::AfterEnd`] with the first violation.
pub fn check_links(entries: &[Arc<Entry>], segments: &[Segment]) -> Result<(), Violation> {
    let is_end = |entry: &Entry| matches!(entry.content, Content::EndSegment);
    let mut previous: Option<&Arc<Entry>> = None;
    let mut recorded = segments.iter().map(|segment| segment.num);
    for entry in entries {
        let segment = entry.position.segment();
        let is_same_segment = previous.is_some_and(|entry| entry.position.segment() == segment);
        let follows_end = previous.is_none_or(|entry| is_end(entry));
        if is_same_segment && follows_end {
            return Err(Violation::AfterEnd { at: entry.position });
        }
        if !is_same_segment {
            let is_snapshot = matches!(entry.content, Content::Snapshot { .. });
            if !follows_end || !is_snapshot || recorded.next() != Some(segment) {
                return Err(Violation::NotLinked { segment });
            }
        }
        previous = Some(entry);
    }
    // An End Segment and the start of the next segment are written in one transaction.
    if let Some(last) = previous.filter(|last| is_end(last)) {
        return Err(Violation::NotLinked { segment: last.position.segment() + 1 });
    }
    match recorded.next() {
        Some(segment) => Err(Violation::NotLinked { segment }),
        None => Ok(()),
    }
}
