//! Benchmarks the worst case of building transform maps. Run explicitly with `cargo test --release
//! -p cellar-log cost -- --ignored --nocapture`.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::*;
use crate::entry::{Content, Edits, Entry, Header, Mutation};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_BASES_PER_ENTRY, MAX_TRANSFORM_CHANGES};
use cellar_base::position::Position;
use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId, Spans};

/// First byte of the key of the client whose viewpoint is built.
const OWN: u8 = 1;
/// First byte of the key of another client.
const OTHER: u8 = 2;

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })
}

fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}

fn entry(num: u32, who: u8, base: u32, authored: Operation) -> Entry {
    let mutations = vec![Mutation { base: at(base), authored, committed: None }];
    let edits = Edits {
        client: ClientKey([who; 8]),
        name: None,
        merged: None,
        first_id: u64::from(num),
        mutations,
    };
    Entry {
        log: LogId::from_uuid(uuid::Uuid::from_bytes([9; 16])),
        position: at(num),
        created_s: 0,
        author: None,
        header: Header::first(0),
        content: Content::Edits(edits),
    }
}

/// Measures how long it takes to build the maps for `MAX_BASES_PER_ENTRY` bases, and checks that
/// the time is within a limit.
fn measure_map_building(
    case_name: &str,
    entries: impl Iterator<Item = Entry>,
    base_number: impl Fn(u32) -> u32,
) {
    const MAX_DURATION: Duration = Duration::from_secs(30);
    let mut viewpoint = Viewpoint::new(ClientKey([OWN; 8]));
    entries.for_each(|entry| viewpoint.add_entry(&entry));
    let start = Instant::now();
    let mut max_run_count = 0;
    for index in 0..u32::try_from(MAX_BASES_PER_ENTRY).unwrap() {
        let map = viewpoint.map_from(at(base_number(index)));
        let run_count = map.map_or(0, |map| map.sheet_map(SheetId::FIRST).rows.runs().len());
        max_run_count = max_run_count.max(run_count);
    }
    let duration = start.elapsed();
    println!("{case_name}: {duration:?}, {max_run_count} runs");
    assert!(duration < MAX_DURATION, "{case_name}: {duration:?}");
}

#[test]
#[ignore = "a measurement for release builds"]
fn maps_of_other_clients_changes_are_built_in_bounded_time() {
    let inserts = inserts_by(OTHER, 1..=max_cost());
    measure_map_building("changes of other clients", inserts, |index| index);
}

#[test]
#[ignore = "a measurement for release builds"]
fn maps_of_alternating_changes_are_built_in_bounded_time() {
    let alternating_inserts = (1..max_pairs() * 2).map(|number| {
        let author = if number % 2 == 0 { OTHER } else { OWN };
        entry(number, author, 0, scattered_insert(number))
    });
    measure_map_building("own and other changes alternate", alternating_inserts, |_| 0);
}

#[test]
#[ignore = "a measurement for release builds"]
fn maps_of_own_mutations_on_rising_bases_are_built_in_bounded_time() {
    let max_pairs = max_pairs();
    let deletions = (1..=max_pairs).map(|number| entry(number, OTHER, 0, deletion(number)));
    let own_inserts = own_inserts_after(max_pairs, |number| number);
    measure_map_building("own bases rise", deletions.chain(own_inserts), |index| {
        max_pairs + index / 2
    });
}

/// The first mutation remains uncommitted while its author writes more mutations on later bases.
#[test]
#[ignore = "a measurement for release builds"]
fn maps_of_a_late_first_mutation_are_built_in_bounded_time() {
    let max_pairs = max_pairs();
    let other_inserts = inserts_by(OTHER, 1..=max_pairs);
    let own_inserts = own_inserts_after(max_pairs, |number| if number == 1 { 0 } else { number });
    measure_map_building(
        "own bases rise, and the first is the lowest base",
        other_inserts.chain(own_inserts),
        |index| max_pairs - index,
    );
}

#[test]
#[ignore = "a measurement for release builds"]
fn maps_of_mutations_on_old_bases_are_built_in_bounded_time() {
    const BASE_AGE: u32 = 4;
    let max_pairs = max_pairs();
    let late_inserts = (1..max_pairs).map(|number| {
        entry(number, OWN, number.saturating_sub(BASE_AGE), scattered_insert(number))
    });
    measure_map_building("each own base is old", late_inserts, |index| max_pairs - 16 + index);
}

fn max_cost() -> u32 {
    u32::try_from(MAX_TRANSFORM_CHANGES).unwrap()
}

/// Returns how many pairs of a client's own mutation (cost 17) and another client's change (cost 1)
/// a viewpoint may contain.
fn max_pairs() -> u32 {
    max_cost() / 18
}

fn inserts_by(author: u8, numbers: RangeInclusive<u32>) -> impl Iterator<Item = Entry> {
    numbers.map(move |number| entry(number, author, 0, scattered_insert(number)))
}

/// Returns own mutations that were committed after the entry with the number `last_number`.
fn own_inserts_after(last_number: u32, base_of: fn(u32) -> u32) -> impl Iterator<Item = Entry> {
    (1..last_number).map(move |number| {
        entry(last_number + number, OWN, base_of(number), scattered_insert(number))
    })
}

/// Returns an insert that is far from the inserts for the preceding numbers.
fn scattered_insert(number: u32) -> Operation {
    insert(number.wrapping_mul(7_919) % max_cost() * 2)
}

fn deletion(row: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(row, 1) })
}
