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
    let edits =
        Edits { client: ClientKey([who; 8]), name: None, first_id: u64::from(num), mutations };
    Entry {
        log: LogId::from_uuid(uuid::Uuid::from_bytes([9; 16])),
        position: at(num),
        created_s: 0,
        author: None,
        header: Header::first(0),
        content: Content::Edits(edits),
    }
}

/// Measures the time to build the maps for `MAX_BASES_PER_ENTRY` bases and checks it against a
/// limit.
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
fn the_worst_maps_are_built_in_bounded_time() {
    let max_cost = u32::try_from(MAX_TRANSFORM_CHANGES).unwrap();
    // A client's own mutation has cost 17, and another client's change has cost 1.
    let max_pairs = max_cost / 18;
    let inserts_by = |author: u8, numbers: RangeInclusive<u32>| {
        numbers.map(move |number| entry(number, author, 0, scattered_insert(number)))
    };
    let own_inserts = |base_of: fn(u32) -> u32| {
        (1..max_pairs).map(move |number| {
            entry(max_pairs + number, OWN, base_of(number), scattered_insert(number))
        })
    };

    measure_map_building("others", inserts_by(OTHER, 1..=max_cost), |index| index);

    let alternating = (1..max_pairs * 2).map(|number| {
        let author = if number % 2 == 0 { OTHER } else { OWN };
        entry(number, author, 0, scattered_insert(number))
    });
    measure_map_building("own and others in turn", alternating, |_| 0);

    let deletions = (1..=max_pairs).map(|number| entry(number, OTHER, 0, deletion(number)));
    let own_on_rising_bases = own_inserts(|number| number);
    measure_map_building("own on rising bases", deletions.chain(own_on_rising_bases), |index| {
        max_pairs + index / 2
    });

    // The first mutation remains uncommitted while its author writes more mutations on later bases.
    let others = inserts_by(OTHER, 1..=max_pairs);
    let own_first_on_lowest = own_inserts(|number| if number == 1 { 0 } else { number });
    measure_map_building(
        "own on rising bases, the first on the lowest",
        others.chain(own_first_on_lowest),
        |index| max_pairs - index,
    );

    let lagging = (1..max_pairs)
        .map(|number| entry(number, OWN, number.saturating_sub(4), scattered_insert(number)));
    measure_map_building("own, each late", lagging, |index| max_pairs - 16 + index);
}

/// Returns an insert for this number. Its position is far from those for the preceding numbers.
fn scattered_insert(number: u32) -> Operation {
    let max_cost = u32::try_from(MAX_TRANSFORM_CHANGES).unwrap();
    insert(number.wrapping_mul(7_919) % max_cost * 2)
}

fn deletion(row: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(row, 1) })
}
