//! Benchmarks the worst case of building transform maps. Run manually with `cargo test --release -p
//! cellar-log cost -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use super::*;
use crate::entry::{Content, Edits, Entry, Header, Mutation};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_BASES_PER_ENTRY, MAX_TRANSFORM_CHANGES};
use cellar_base::position::Position;
use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId, Spans};

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

/// Measures and bounds the time to build the maps for `MAX_BASES_PER_ENTRY` bases.
fn measure(name: &str, entries: impl Iterator<Item = Entry>, bases: impl Fn(u32) -> u32) {
    let mut viewpoint = Viewpoint::new(ClientKey([1; 8]));
    entries.for_each(|entry| viewpoint.add_entry(&entry));
    let start = Instant::now();
    let mut runs = 0;
    for number in 0..u32::try_from(MAX_BASES_PER_ENTRY).unwrap() {
        let map = viewpoint.map_from(at(bases(number)));
        runs = map.map_or(0, |map| map.sheet_map(SheetId::FIRST).rows.runs().len()).max(runs);
    }
    let took = start.elapsed();
    println!("{name}: {took:?}, {runs} runs");
    assert!(took < Duration::from_secs(30), "{name}: {took:?}");
}

#[test]
#[ignore = "a measurement for release builds"]
fn the_worst_maps_are_built_in_bounded_time() {
    let most = u32::try_from(MAX_TRANSFORM_CHANGES).unwrap();
    let apart = |num: u32| insert(num.wrapping_mul(7_919) % most * 2);
    measure("others", (1..=most).map(|num| entry(num, 2, 0, apart(num))), |number| number);
    // Add as many own mutations as possible.
    let both = (1..most / 18 * 2).map(|num| entry(num, 1 + u8::from(num % 2 == 0), 0, apart(num)));
    measure("own and others in turn", both, |_| 0);
    // An own mutation costs 17; a foreign change costs 1.
    let half = most / 18;
    let first = (1..=half).map(|num| {
        entry(
            num,
            2,
            0,
            Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(num, 1) }),
        )
    });
    let own = (1..half).map(|num| entry(half + num, 1, num, apart(num)));
    measure("own on rising bases", first.chain(own), |number| half + number / 2);
    // One mutation is pending from the start while its author writes on ever later bases.
    let others = (1..=half).map(|num| entry(num, 2, 0, apart(num)));
    let own = (1..half).map(|num| entry(half + num, 1, if num == 1 { 0 } else { num }, apart(num)));
    measure("own on rising bases, the first on the lowest", others.chain(own), |number| {
        half - number
    });
    let lagging = (1..half).map(|num| entry(num, 1, num.saturating_sub(4), apart(num)));
    measure("own, each late", lagging, |number| half - 16 + number);
}
