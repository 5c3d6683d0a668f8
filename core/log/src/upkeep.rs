//! Upkeep after an append: puts Snapshot entries, which request snapshots, and rolls segments. Both
//! limit the time to load a spreadsheet. A failure is harmless, because the next append tries
//! again.

use serde::{Deserialize, Serialize};

use crate::append::tail_age::may_be_followed_unread;
use crate::entry::{Content, Entry, Header};
use cellar_base::limits::{
    ROLL_TRY_ENTRIES, SEGMENT_BYTES, SEGMENT_ENTRIES, SNAPSHOT_BYTES, SNAPSHOT_ENTRIES,
    SNAPSHOT_OUTSIDE_BYTES,
};

/// Thresholds for putting Snapshot entries and rolling segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogPolicy {
    /// Number of entries between two Snapshot entries.
    pub snapshot_entries: u32,
    /// Total body size between two Snapshot entries, in bytes.
    pub snapshot_bytes: u64,
    /// Number of entries after which a segment is rolled.
    pub segment_entries: u32,
    /// Total body size after which a segment is rolled, in bytes.
    pub segment_bytes: u64,
}

impl Default for LogPolicy {
    fn default() -> Self {
        Self {
            snapshot_entries: SNAPSHOT_ENTRIES,
            snapshot_bytes: SNAPSHOT_BYTES,
            segment_entries: SEGMENT_ENTRIES,
            segment_bytes: SEGMENT_BYTES,
        }
    }
}

impl LogPolicy {
    /// Whether to start a roll after the latest entry `tail`. A roll fails if the segment has no
    /// snapshot yet, but it still costs a read. In a long segment, a roll is therefore attempted
    /// only every `ROLL_TRY_ENTRIES` entries. `now_s` is in seconds since the Unix epoch.
    #[must_use]
    pub fn should_roll(&self, tail: &Entry, now_s: u64) -> bool {
        let entry_number = tail.position.entry_number();
        let is_long_segment =
            entry_number >= self.segment_entries || tail.header.segment_bytes >= self.segment_bytes;
        is_long_segment
            && entry_number.is_multiple_of(ROLL_TRY_ENTRIES)
            && segment_can_continue(tail, now_s)
    }

    /// Returns the Snapshot entry to put after the latest entry `tail`, or `None` if no snapshot is
    /// due. `now_s` is in seconds since the Unix epoch.
    #[must_use]
    pub fn snapshot_entry_after(&self, tail: &Entry, now_s: u64) -> Option<Entry> {
        let Header { segment_bytes, snapshot_num, snapshot_bytes, outside_bytes, .. } = tail.header;
        let entries_since_snapshot = tail.position.entry_number().saturating_sub(snapshot_num);
        let bytes_since_snapshot = segment_bytes.saturating_sub(snapshot_bytes);
        let snapshot_is_due = entries_since_snapshot >= self.snapshot_entries
            || bytes_since_snapshot >= self.snapshot_bytes
            || outside_bytes >= SNAPSHOT_OUTSIDE_BYTES;
        // A snapshot directly after another Snapshot entry would be identical to that entry's
        // snapshot.
        let tail_is_snapshot_entry = entries_since_snapshot == 0;
        if !snapshot_is_due || tail_is_snapshot_entry || !segment_can_continue(tail, now_s) {
            return None;
        }
        let position = tail.position.next_in_segment()?;
        let header = Header {
            snapshot_num: position.entry_number(),
            snapshot_bytes: segment_bytes,
            outside_bytes: 0,
            ..tail.header.clone()
        };
        let content = Content::Snapshot { root: None, trimmed_s: None };
        Some(Entry { log: tail.log, position, created_s: now_s, author: None, header, content })
    }
}

/// No entry may follow an End Segment, the last entry of a closed segment. The segment of an old
/// entry may have been closed and trimmed.
fn segment_can_continue(tail: &Entry, now_s: u64) -> bool {
    !matches!(tail.content, Content::EndSegment) && may_be_followed_unread(tail, now_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::LogId;
    use cellar_base::limits::CACHED_ENTRY_AGE_S;
    use cellar_base::position::Position;

    const POLICY: LogPolicy = LogPolicy {
        snapshot_entries: 10,
        snapshot_bytes: 1_000,
        segment_entries: 64,
        segment_bytes: 5_000,
    };

    fn tail(num: u32, header: Header) -> Entry {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let position = Position::new(3, num).unwrap();
        Entry { position, header, ..Entry::first(log, None, 0) }
    }

    fn header(segment_bytes: u64, snapshot_num: u32, snapshot_bytes: u64) -> Header {
        Header { segment_bytes, snapshot_num, snapshot_bytes, ..Header::first(5) }
    }

    #[test]
    fn a_snapshot_entry_is_due_after_enough_entries_or_bytes() {
        for (num, header, due) in [
            (9, header(0, 0, 0), false),
            (10, header(0, 0, 0), true),
            (29, header(0, 20, 0), false),
            (30, header(0, 20, 0), true),
            (1, header(999, 0, 0), false),
            (1, header(1_000, 0, 0), true),
            (22, header(1_999, 20, 1_000), false),
            (22, header(2_000, 20, 1_000), true),
            // The latest entry is the Snapshot entry.
            (20, header(9_000, 20, 0), false),
        ] {
            let snapshot = POLICY.snapshot_entry_after(&tail(num, header.clone()), 9);
            assert_eq!(snapshot.is_some(), due, "{num} {header:?}");
        }
    }

    #[test]
    fn a_snapshot_entry_is_due_after_much_outside_data() {
        for (outside_bytes, due) in
            [(SNAPSHOT_OUTSIDE_BYTES - 1, false), (SNAPSHOT_OUTSIDE_BYTES, true)]
        {
            let header = Header { outside_bytes, ..header(300, 0, 0) };
            assert_eq!(POLICY.snapshot_entry_after(&tail(3, header), 9).is_some(), due);
        }
    }

    #[test]
    fn a_snapshot_entry_resets_the_counts() {
        let outside_bytes = SNAPSHOT_OUTSIDE_BYTES;
        let tail = tail(30, Header { outside_bytes, ..header(1_234, 20, 1_000) });
        let snapshot = POLICY.snapshot_entry_after(&tail, 9).unwrap();
        assert_eq!(snapshot.position, tail.next_position().unwrap());
        assert_eq!(snapshot.header, header(1_234, 31, 1_234));
        assert_eq!((snapshot.log, snapshot.created_s), (tail.log, 9));
        assert_eq!(snapshot.content, Content::Snapshot { root: None, trimmed_s: None });
        assert_eq!(POLICY.snapshot_entry_after(&snapshot, 9), None);
    }

    #[test]
    fn a_long_segment_is_rolled_at_every_nth_entry() {
        for (num, segment_bytes, rolls) in [
            (63, 0, false),
            (64, 0, true),
            (65, 0, false),
            (64 + ROLL_TRY_ENTRIES, 0, true),
            (ROLL_TRY_ENTRIES, 4_999, false),
            (ROLL_TRY_ENTRIES, 5_000, true),
            (ROLL_TRY_ENTRIES + 1, 5_000, false),
        ] {
            let header = header(segment_bytes, 0, 0);
            assert_eq!(POLICY.should_roll(&tail(num, header), 9), rolls, "{num} {segment_bytes}");
        }
    }

    #[test]
    fn nothing_is_put_after_an_end_segment() {
        let end = Entry { content: Content::EndSegment, ..tail(64, header(9_000, 0, 0)) };
        assert!(!POLICY.should_roll(&end, 9));
        assert_eq!(POLICY.snapshot_entry_after(&end, 9), None);
    }

    #[test]
    fn nothing_is_put_after_an_old_entry() {
        let long = tail(64, header(9_000, 0, 0));
        for (age_s, is_young) in [(CACHED_ENTRY_AGE_S - 1, true), (CACHED_ENTRY_AGE_S, false)] {
            assert_eq!(POLICY.should_roll(&long, age_s), is_young);
            assert_eq!(POLICY.snapshot_entry_after(&long, age_s).is_some(), is_young);
        }
    }

    #[test]
    fn a_policy_round_trips() {
        let json = serde_json::to_string(&LogPolicy::default()).unwrap();
        assert_eq!(serde_json::from_str::<LogPolicy>(&json).unwrap(), LogPolicy::default());
        assert!(serde_json::from_str::<LogPolicy>("{}").is_err());
    }
}
