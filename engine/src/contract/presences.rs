//! Contract tests for presence.

use std::collections::BTreeSet;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_AUTHOR_BYTES, PRESENCE_SLOTS};
use cellar_log::presence::{Presence, Selection, ShownTimes, StoredPresence};
use cellar_sheet::a1::SheetArea;

use super::{at, edit_entry, forks, new_log_id, segment_record};
use crate::ports::{
    CreateOutcome, Entries, PresenceOutcome, Presences, ReadConsistency, Retention, Segments,
};

const NOW_MS: u64 = 1_795_246_133_123;

/// Checks presence. Does not change other logs in the tables.
pub async fn presences<T: Entries + Segments + Retention + Presences>(tables: &T) {
    presences_are_stored_in_their_slots(tables).await;
    only_what_is_not_shown_is_replaced(tables).await;
    slots_are_deleted_one_by_one(tables).await;
    presences_are_neither_segments_nor_forks(tables).await;
}

fn stored(slot: u32, client: u8, seen_ms: u64) -> StoredPresence {
    let area = SheetArea::from_numbers([3, slot, 2, 5, 1]).unwrap_or_else(|| panic!("an area"));
    let presence = Presence {
        client: ClientKey([client; 8]),
        author: "a".repeat(MAX_AUTHOR_BYTES),
        selection: Selection { area, at: at(2, 7) },
        seen_ms,
    };
    StoredPresence { slot, presence }
}

async fn put<T: Presences>(tables: &T, log_id: LogId, stored: &StoredPresence) -> PresenceOutcome {
    let outcome = tables.put_presence(log_id, stored, ShownTimes::at(NOW_MS)).await;
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

async fn read<T: Presences>(tables: &T, log_id: LogId) -> Vec<StoredPresence> {
    let read = tables.presences(log_id, ReadConsistency::Strong).await;
    read.unwrap_or_else(|error| panic!("{error}"))
}

async fn presences_are_stored_in_their_slots<T: Presences>(tables: &T) {
    let (log_id, other_log) = (new_log_id("presence"), new_log_id("presence of another"));
    assert_eq!(read(tables, log_id).await, []);
    let all: Vec<_> = (0..PRESENCE_SLOTS).map(|slot| stored(slot, 1, NOW_MS)).collect();
    for in_slot in all.iter().rev() {
        assert_eq!(put(tables, log_id, in_slot).await, PresenceOutcome::Stored);
    }
    assert_eq!(read(tables, log_id).await, all);
    let eventual = tables.presences(log_id, ReadConsistency::Eventual).await;
    assert!(eventual.is_ok_and(|stored| stored.len() <= all.len()));
    let left = StoredPresence { slot: 0, presence: stored(0, 1, NOW_MS).presence.left() };
    assert_eq!(put(tables, other_log, &left).await, PresenceOutcome::Stored);
    assert_eq!(read(tables, other_log).await, [left]);
    assert_eq!(read(tables, log_id).await, all);
}

async fn only_what_is_not_shown_is_replaced<T: Presences>(tables: &T) {
    let log_id = new_log_id("replaced presence");
    let ShownTimes { first_ms, last_ms } = ShownTimes::at(NOW_MS);
    for (seen_ms, is_shown) in [
        (first_ms - 1, false),
        (first_ms, true),
        (NOW_MS, true),
        (last_ms, true),
        (last_ms + 1, false),
        (0, false),
    ] {
        let (earlier, later) = (stored(5, 1, seen_ms), stored(5, 2, NOW_MS));
        assert_eq!(tables.delete_presence(log_id, 5).await, Ok(()));
        // A client always replaces its own presence.
        for seen_ms in [NOW_MS, seen_ms, seen_ms] {
            let own = stored(5, 1, seen_ms);
            assert_eq!(put(tables, log_id, &own).await, PresenceOutcome::Stored);
        }
        let outcome = put(tables, log_id, &later).await;
        let (expected_outcome, expected) = match is_shown {
            true => (PresenceOutcome::Taken, earlier),
            false => (PresenceOutcome::Stored, later),
        };
        assert_eq!((outcome, read(tables, log_id).await), (expected_outcome, vec![expected]));
    }
}

async fn slots_are_deleted_one_by_one<T: Presences>(tables: &T) {
    let log_id = new_log_id("deleted presence");
    for slot in 0..3 {
        put(tables, log_id, &stored(slot, 1, NOW_MS)).await;
    }
    for _ in 0..2 {
        assert_eq!(tables.delete_presence(log_id, 1).await, Ok(()));
        assert_eq!(read(tables, log_id).await, [stored(0, 1, NOW_MS), stored(2, 1, NOW_MS)]);
    }
}

/// Other readers of the Segment table do not see presences.
async fn presences_are_neither_segments_nor_forks<T>(tables: &T)
where
    T: Entries + Segments + Retention + Presences,
{
    let log_id = new_log_id("presence beside segments");
    let segment = segment_record(log_id, 0);
    let first_entry = edit_entry(log_id, at(0, 0), "x");
    assert_eq!(tables.create(&segment, &first_entry).await, CreateOutcome::Created);
    forks::create_forks(tables, log_id, "fork beside presence", 2).await;
    for slot in [0, 1, 9] {
        put(tables, log_id, &stored(slot, 1, NOW_MS)).await;
    }
    let newest = tables.newest(log_id, 9, ReadConsistency::Strong).await;
    assert_eq!(newest, Ok(vec![segment.clone()]));
    let listed = tables.forks(log_id, None, 9).await.map(|page| page.forks.len());
    assert_eq!(listed, Ok(2));
    let (mut scanned, mut next_page) = (Vec::new(), None);
    loop {
        let page = tables.all_segments(next_page).await.unwrap_or_else(|error| panic!("{error}"));
        scanned.extend(page.segments.into_iter().filter(|segment| segment.log == log_id));
        next_page = page.next;
        if next_page.is_none() {
            break;
        }
    }
    assert_eq!(scanned, [segment]);
    assert_eq!(tables.delete_segment(log_id, 0).await, Ok(()));
    let slots: BTreeSet<u32> =
        read(tables, log_id).await.iter().map(|stored| stored.slot).collect();
    assert_eq!(slots, BTreeSet::from([0, 1, 9]));
}
