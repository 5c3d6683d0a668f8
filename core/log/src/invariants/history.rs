//! All that ever was in a log, and that what was read of it never changes (I2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use cellar_base::position::Position;

/// All that ever was in the log: of a trimmed segment what its offloaded copy holds, else what the table
/// holds. An entry that stands in a trimmed segment and is not the offloaded segment's is in the list as well,
/// so that the other predicates find it.
#[must_use]
pub fn history(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed = trimmed_segments(table);
    let from_offloaded = |entry: &&Arc<Entry>| trimmed.contains(&entry.position.segment());
    let mut all: Vec<_> = offloaded.iter().filter(from_offloaded).cloned().collect();
    let offloaded: BTreeSet<_> = all.iter().map(|entry| entry.position).collect();
    for entry in table {
        let known =
            offloaded.contains(&entry.position) && all.iter().any(|other| is_same(other, entry));
        if !known {
            all.push(Arc::clone(entry));
        }
    }
    all.sort_by_key(|entry| entry.position);
    all
}

/// What whoever reads the log from its beginning comes to see: of a trimmed segment what its offloaded copy
/// holds, else what the table holds, up to the first gap, and nothing behind an End Segment.
#[must_use]
pub fn readable(table: &[Arc<Entry>], offloaded: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let trimmed = trimmed_segments(table);
    let of = |entry: &&Arc<Entry>, is_offloaded| {
        trimmed.contains(&entry.position.segment()) == is_offloaded
    };
    let offloaded = offloaded.iter().filter(|entry| of(entry, true));
    let stored = table.iter().filter(|entry| of(entry, false));
    let by_position: BTreeMap<Position, &Arc<Entry>> =
        offloaded.chain(stored).map(|entry| (entry.position, entry)).collect();
    let mut next = Some(Position::FIRST);
    let forward = std::iter::from_fn(|| {
        let entry = *by_position.get(&next?)?;
        next = entry.next_position();
        Some(Arc::clone(entry))
    });
    forward.collect()
}

fn trimmed_segments(table: &[Arc<Entry>]) -> BTreeSet<u32> {
    let marked = table.iter().filter(|entry| entry.is_trimmed());
    marked.map(|entry| entry.position.segment()).collect()
}

/// I2: what was read from the beginning of the log still stands there, with nothing in between.
/// `history` is what [`history`] returns.
///
/// # Errors
/// [`Violation::PrefixChanged`] with the first position that differs.
pub fn check_prefix(read: &[Arc<Entry>], history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut now = history.iter();
    for entry in read {
        if !now.next().is_some_and(|now| is_same(entry, now)) {
            return Err(Violation::PrefixChanged { at: entry.position });
        }
    }
    match (read.last(), now.next()) {
        // A second entry at the place of the last that was read.
        (Some(last), Some(next)) if next.position <= last.position => {
            Err(Violation::PrefixChanged { at: next.position })
        }
        _ => Ok(()),
    }
}

/// Equal but for what is added to a Snapshot entry later: its root and the mark of a trim.
fn is_same(one: &Entry, other: &Entry) -> bool {
    let snapshots = matches!(one.content, Content::Snapshot { .. })
        && matches!(other.content, Content::Snapshot { .. });
    let same_content = snapshots || one.content == other.content;
    same_content
        && (one.log, one.position, one.created_s) == (other.log, other.position, other.created_s)
        && (&one.author, &one.header) == (&other.author, &other.header)
}
