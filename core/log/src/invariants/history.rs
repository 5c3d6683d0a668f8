//! Complete history of a log, and invariant I2: an entry never changes once read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use cellar_base::position::Position;

/// Returns every entry that the log ever had. The entries of trimmed segments come from their
/// offloaded copies, all other entries from the table. If an entry in the table differs from its
/// offloaded copy, returns both, so that other checks detect the difference.
#[must_use]
pub fn complete_history(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed_segments = trimmed_segments(table);
    let is_trimmed = |entry: &&Arc<Entry>| trimmed_segments.contains(&entry.position.segment());
    let mut history: Vec<_> = offloaded.iter().filter(is_trimmed).cloned().collect();
    let offloaded_copies: BTreeMap<_, _> =
        history.iter().map(|copy| (copy.position, Arc::clone(copy))).collect();
    for entry in table {
        let copy = offloaded_copies.get(&entry.position);
        if !copy.is_some_and(|copy| is_same_entry(copy, entry)) {
            history.push(Arc::clone(entry));
        }
    }
    history.sort_by_key(|entry| entry.position);
    history
}

/// Returns the entries that a reader of the whole log sees. The entries of trimmed segments come
/// from their offloaded copies, all other entries from the table. Stops at the first gap, and skips
/// entries after the End Segment of a segment.
#[must_use]
pub fn readable_entries(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed_segments = trimmed_segments(table);
    let is_trimmed = |entry: &Arc<Entry>| trimmed_segments.contains(&entry.position.segment());
    let mut entries_by_position: BTreeMap<Position, &Arc<Entry>> = BTreeMap::new();
    for entry in offloaded.iter().filter(|entry| is_trimmed(entry)) {
        entries_by_position.insert(entry.position, entry);
    }
    for entry in table.iter().filter(|entry| !is_trimmed(entry)) {
        entries_by_position.insert(entry.position, entry);
    }
    let mut readable = Vec::new();
    let mut next_entry = entries_by_position.get(&Position::FIRST);
    while let Some(entry) = next_entry {
        readable.push(Arc::clone(entry));
        next_entry = entry.next_position().and_then(|position| entries_by_position.get(&position));
    }
    readable
}

fn trimmed_segments(table: &[Arc<Entry>]) -> BTreeSet<u32> {
    let trim_marks = table.iter().filter(|entry| entry.is_trimmed());
    trim_marks.map(|entry| entry.position.segment()).collect()
}

/// Checks I2: the entries that were read earlier are still a prefix of the log. `read_entries` are
/// the entries that were read from the start of the log, and `history` is the result of
/// [`complete_history`].
///
/// # Errors
/// Returns [`Violation::PrefixChanged`] with the first position that differs.
pub fn check_prefix(read_entries: &[Arc<Entry>], history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut current_entries = history.iter();
    for read_entry in read_entries {
        let is_unchanged =
            current_entries.next().is_some_and(|current| is_same_entry(read_entry, current));
        if !is_unchanged {
            return Err(Violation::PrefixChanged { at: read_entry.position });
        }
    }
    if let (Some(last_read), Some(next_entry)) = (read_entries.last(), current_entries.next())
        && next_entry.position <= last_read.position
    {
        // The history contains a second entry at the position of the last entry that was read.
        return Err(Violation::PrefixChanged { at: next_entry.position });
    }
    Ok(())
}

/// Whether two entries are equal apart from the root key and the trim time, which are set after a
/// Snapshot entry was written.
fn is_same_entry(left: &Entry, right: &Entry) -> bool {
    let are_snapshots = matches!(left.content, Content::Snapshot { .. })
        && matches!(right.content, Content::Snapshot { .. });
    let has_same_content = are_snapshots || left.content == right.content;
    has_same_content
        && left.log == right.log
        && left.position == right.position
        && left.created_s == right.created_s
        && left.author == right.author
        && left.header == right.header
}
