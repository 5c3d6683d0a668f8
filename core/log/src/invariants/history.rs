//! Complete log history, and invariant I2: an entry never changes once read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use cellar_base::position::Position;

/// Returns all entries that a log ever had. Entries of trimmed segments come from their offloaded
/// copies, all others from the table. Returns both copies if the table still contains an entry of a
/// trimmed segment that differs from its offloaded copy, so that other checks detect the fault.
#[must_use]
pub fn history(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed = trimmed_segments(table);
    let is_trimmed = |entry: &&Arc<Entry>| trimmed.contains(&entry.position.segment());
    let mut history: Vec<_> = offloaded.iter().filter(is_trimmed).cloned().collect();
    let offloaded: BTreeSet<_> = history.iter().map(|entry| entry.position).collect();
    for entry in table {
        let is_listed = offloaded.contains(&entry.position)
            && history.iter().any(|other| is_same(other, entry));
        if !is_listed {
            history.push(Arc::clone(entry));
        }
    }
    history.sort_by_key(|entry| entry.position);
    history
}

/// Returns the entries visible to a reader of the whole log. Entries of trimmed segments come from
/// their offloaded copies, all others from the table. Stops at the first gap and skips entries
/// after a segment's End Segment.
#[must_use]
pub fn readable(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed = trimmed_segments(table);
    let is_trimmed = |entry: &Arc<Entry>| trimmed.contains(&entry.position.segment());
    let offloaded = offloaded.iter().filter(|entry| is_trimmed(entry));
    let stored = table.iter().filter(|entry| !is_trimmed(entry));
    let by_position: BTreeMap<Position, &Arc<Entry>> =
        offloaded.chain(stored).map(|entry| (entry.position, entry)).collect();
    let mut readable = Vec::new();
    let mut next = by_position.get(&Position::FIRST);
    while let Some(entry) = next {
        readable.push(Arc::clone(entry));
        next = entry.next_position().and_then(|position| by_position.get(&position));
    }
    readable
}

fn trimmed_segments(table: &[Arc<Entry>]) -> BTreeSet<u32> {
    let marked = table.iter().filter(|entry| entry.is_trimmed());
    marked.map(|entry| entry.position.segment()).collect()
}

/// Checks I2: `read`, an earlier read from the start of the log, is still a prefix of the log.
/// `history` is the result of [`history`].
///
/// # Errors
/// Returns [`Violation::PrefixChanged`] with the first differing position.
pub fn check_prefix(read: &[Arc<Entry>], history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut current = history.iter();
    for entry in read {
        if !current.next().is_some_and(|current| is_same(entry, current)) {
            return Err(Violation::PrefixChanged { at: entry.position });
        }
    }
    match (read.last(), current.next()) {
        // The history contains a second entry at the last read position.
        (Some(last), Some(next)) if next.position <= last.position => {
            Err(Violation::PrefixChanged { at: next.position })
        }
        _ => Ok(()),
    }
}

/// Whether two entries are equal, ignoring the root and the trim time, which are added to a
/// Snapshot entry later.
fn is_same(one: &Entry, other: &Entry) -> bool {
    let are_snapshots = matches!(one.content, Content::Snapshot { .. })
        && matches!(other.content, Content::Snapshot { .. });
    let same_content = are_snapshots || one.content == other.content;
    same_content
        && (one.log, one.position, one.created_s) == (other.log, other.position, other.created_s)
        && (&one.author, &one.header) == (&other.author, &other.header)
}
