//! Numbers without a gap, and segments that are linked (I1, I5).

use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use crate::segment::Segment;
use cellar_base::position::Position;

/// I1: the entries of each segment are numbered 0, 1, 2 … without a gap, and so are the segments;
/// only behind the mark of a trim entries may be missing.
///
/// # Errors
/// [`Violation::Gap`] with the first position that is missing.
pub fn check_no_gap(entries: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut expected = Some(Position::FIRST);
    let mut trimmed = false;
    for entry in entries {
        let at = entry.position;
        if at.num() == 0 {
            trimmed = entry.is_trimmed();
        }
        let in_sequence = Some(at) == expected;
        let begins_next = at.num() == 0
            && expected.and_then(Position::next_segment) == Some(at)
            && expected.is_some_and(|expected| expected.num() > 0);
        let behind_mark = trimmed && Some(at.segment()) == expected.map(Position::segment);
        if !in_sequence && !begins_next && !behind_mark {
            return Err(Violation::Gap { at: expected.unwrap_or(at) });
        }
        expected = at.next_in_segment();
    }
    Ok(())
}

/// I5: every segment begins with a Snapshot entry and every one but the newest ends with exactly
/// one End Segment, with nothing behind it; and each has its record in `segments`.
///
/// # Errors
/// [`Violation::NotLinked`] or [`Violation::BehindEnd`].
pub fn check_links(entries: &[Arc<Entry>], segments: &[Segment]) -> Result<(), Violation> {
    let ended = |entry: &Entry| matches!(entry.content, Content::EndSegment);
    let mut before: Option<&Arc<Entry>> = None;
    let mut recorded = segments.iter().map(|segment| segment.num);
    for entry in entries {
        let segment = entry.position.segment();
        let same = before.is_some_and(|before| before.position.segment() == segment);
        let before_ended = before.is_none_or(|before| ended(before));
        if same && before_ended {
            return Err(Violation::BehindEnd { at: entry.position });
        }
        let begins = matches!(entry.content, Content::Snapshot { .. });
        let linked = same || (before_ended && begins && recorded.next() == Some(segment));
        if !linked {
            return Err(Violation::NotLinked { segment });
        }
        before = Some(entry);
    }
    // A log that has ended goes on: both were written in one transaction.
    let newest = before.filter(|last| ended(last)).map(|last| last.position.segment() + 1);
    match newest.or_else(|| recorded.next()) {
        Some(segment) => Err(Violation::NotLinked { segment }),
        None => Ok(()),
    }
}
