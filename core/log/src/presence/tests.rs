//! Tests of the slots, and of who is shown to others.

use super::*;

const NOW_MS: u64 = 1_795_246_133_000;

fn client(number: u32) -> ClientKey {
    ClientKey(u64::from(number).to_be_bytes())
}

fn stored(slot: u32, number: u32, seen_ms: u64) -> StoredPresence {
    let area = SheetArea::from_numbers([0, slot, 1, 0, 1]).unwrap();
    let selection = Selection { area, at: Position::FIRST };
    let presence = Presence { client: client(number), author: "alice".into(), selection, seen_ms };
    StoredPresence { slot, presence }
}

/// Returns the numbers of the clients that client 0 sees.
fn seen(stored: &[StoredPresence]) -> Vec<u32> {
    let number = |other: &OtherClient| other.presence.client.0[7].into();
    others(stored, client(0), NOW_MS).iter().map(number).collect()
}

#[test]
fn a_selection_is_shown_until_its_maximum_age() {
    for (seen_ms, is_shown) in [
        (NOW_MS, true),
        (NOW_MS - PRESENCE_AGE_MS, true),
        (NOW_MS - PRESENCE_AGE_MS - 1, false),
        (NOW_MS + PRESENCE_AGE_MS, true),
        (NOW_MS + PRESENCE_AGE_MS + 1, false),
        (LEFT_MS, false),
    ] {
        let all = [stored(0, 1, seen_ms)];
        assert_eq!(!seen(&all).is_empty(), is_shown, "{seen_ms}");
        let is_kept = slots_to_try(&all, client(0), NOW_MS)[0] == 1;
        assert_eq!(is_kept, is_shown, "{seen_ms}");
    }
    assert!(!ShownTimes::at(0).includes(LEFT_MS));
    assert!(ShownTimes::at(u64::MAX).includes(u64::MAX));
}

#[test]
fn others_are_listed_once_and_the_newest_first() {
    let ages = [(0, 1, 30), (1, 2, 10), (2, 0, 0), (3, 1, 20), (4, 3, 10)];
    let all = ages.map(|(slot, number, age_ms)| stored(slot, number, NOW_MS - age_ms));
    assert_eq!(seen(&all), [2, 3, 1]);
    let found = others(&all, client(0), NOW_MS);
    assert_eq!(
        (found[2].seen_ms_ago, found[2].presence.selection),
        (20, all[3].presence.selection)
    );
    let ahead = others(&[stored(0, 1, NOW_MS + 5)], client(0), NOW_MS);
    assert_eq!(ahead[0].seen_ms_ago, 0);
}

#[test]
fn a_client_keeps_its_slot_or_takes_the_first_free_one() {
    let old_ms = NOW_MS - PRESENCE_AGE_MS - 1;
    let all = [stored(0, 1, NOW_MS), stored(1, 2, old_ms), stored(3, 3, NOW_MS)];
    assert_eq!(slots_to_try(&all, client(3), NOW_MS), [3, 1, 2, 4]);
    assert_eq!(slots_to_try(&all, client(2), NOW_MS), [1, 2, 4, 5]);
    assert_eq!(slots_to_try(&all, client(9), NOW_MS), [1, 2, 4, 5]);
    let twice = [stored(0, 1, NOW_MS - 2), stored(5, 1, NOW_MS - 1)];
    assert_eq!(slots_to_try(&twice, client(1), NOW_MS), [5, 0, 1, 2]);
}

#[test]
fn limits_the_number_of_clients() {
    let full: Vec<_> = (0..PRESENCE_SLOTS).map(|slot| stored(slot, slot, NOW_MS)).collect();
    let (last, rest) = full.split_last().unwrap();
    assert_eq!(slots_to_try(rest, client(99), NOW_MS), [last.slot]);
    assert_eq!(slots_to_try(&full, client(99), NOW_MS), [0; 0]);
    assert_eq!(slots_to_try(&full, last.presence.client, NOW_MS), [last.slot]);
}

#[test]
fn limits_the_slots_that_are_tried() {
    assert_eq!(slots_to_try(&[], client(1), NOW_MS).len(), PRESENCE_ATTEMPTS);
    let taken = PRESENCE_SLOTS - u32::try_from(PRESENCE_ATTEMPTS).unwrap();
    let all: Vec<_> = (0..taken).map(|slot| stored(slot, 1 + slot, NOW_MS)).collect();
    assert_eq!(slots_to_try(&all, client(0), NOW_MS).len(), PRESENCE_ATTEMPTS);
    let one_more = [&all[..], &[stored(taken, 99, NOW_MS)]].concat();
    assert_eq!(slots_to_try(&one_more, client(0), NOW_MS).len(), PRESENCE_ATTEMPTS - 1);
}

#[test]
fn a_client_that_leaves_is_gone_from_all_its_slots() {
    let old_ms = NOW_MS - PRESENCE_AGE_MS - 1;
    let all = [stored(0, 1, NOW_MS), stored(1, 2, NOW_MS), stored(2, 1, NOW_MS - 1)];
    let left = leave(&all, client(1), NOW_MS);
    assert_eq!(left.iter().map(|left| left.slot).collect::<Vec<_>>(), [0, 2]);
    assert!(left.iter().all(|left| left.presence.author.is_empty()));
    assert_eq!(seen(&left), [0; 0]);
    assert_eq!(leave(&left, client(1), NOW_MS), []);
    assert_eq!(leave(&[stored(0, 1, old_ms)], client(1), NOW_MS), []);
}
