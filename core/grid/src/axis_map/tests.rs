//! Compares axis maps with a reference model: a list of row ids.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::testing::any_spans;

/// Number of rows in the model, which is much shorter than a real axis.
const SIDE: u32 = 60;

/// Reference model of the rows of a sheet: a list of row ids.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ids {
    ids: Vec<u32>,
    next: u32,
}

/// An insertion or deletion on an axis.
#[derive(Debug, Clone)]
pub(crate) enum AxisChange {
    Insert(u32, u32),
    Delete(Spans),
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self { ids: (0..SIDE).collect(), next: SIDE }
    }

    pub(crate) fn apply(&mut self, step: &AxisChange) {
        match step {
            AxisChange::Insert(before, count) => {
                let new = self.next..self.next + count;
                self.next += count;
                let at = *before as usize;
                self.ids.splice(at..at, new);
            }
            AxisChange::Delete(spans) => {
                let mut index = 0;
                self.ids.retain(|_| {
                    index += 1;
                    !spans.contains(index - 1)
                });
            }
        }
    }

    pub(crate) fn place(&self, id: u32) -> Option<u32> {
        self.ids.iter().position(|other| *other == id).map(|index| index as u32)
    }

    /// Returns the index in `newer` of the id that this list has at `index`.
    fn place_in(&self, newer: &Self, index: u32) -> Option<u32> {
        newer.place(self.ids[index as usize])
    }
}

pub(crate) fn step() -> impl Strategy<Value = AxisChange> {
    prop_oneof![
        (0..12_u32, 1..4_u32).prop_map(|(before, count)| AxisChange::Insert(before, count)),
        any_spans().prop_map(AxisChange::Delete),
    ]
}

pub(crate) fn map_of(step: &AxisChange) -> AxisMap {
    match step {
        AxisChange::Insert(before, count) => AxisMap::insert(Axis::Rows, *before, *count),
        AxisChange::Delete(spans) => AxisMap::delete(Axis::Rows, spans),
    }
}

/// Returns the composed map of all changes, and the id lists before and after them.
fn apply_all(steps: &[AxisChange]) -> (AxisMap, Ids, Ids) {
    let (mut map, mut ids) = (AxisMap::identity(Axis::Rows), Ids::new());
    for step in steps {
        map = map.then(&map_of(step));
        ids.apply(step);
    }
    (map, Ids::new(), ids)
}

/// Number of indices to compare. Larger indices could reach the end of the model, which is shorter
/// than a real axis.
const COMPARED: u32 = 20;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn maps_agree_with_the_model_in_both_directions(steps in vec(step(), 0..7)) {
        let (map, before, after) = apply_all(&steps);
        for index in 0..COMPARED {
            prop_assert_eq!(map.get(index), before.place_in(&after, index), "of {}", index);
            prop_assert_eq!(map.source(index), after.place_in(&before, index), "from {}", index);
        }
    }

    #[test]
    fn gaps_kept_and_covered_agree_with_the_model(
        steps in vec(step(), 0..7),
        spans in any_spans(),
        gap in 0..COMPARED,
    ) {
        let (map, before, after) = apply_all(&steps);
        let survivors: Vec<u32> =
            (0..SIDE).filter(|i| spans.contains(*i)).filter_map(|i| before.place_in(&after, i)).collect();
        prop_assert_eq!(map.kept_spans(&spans), Spans::of(survivors));
        let next_kept = (gap..SIDE).find_map(|index| before.place_in(&after, index));
        prop_assert_eq!(Some(map.insertion_point(gap)), next_kept);
        for span in spans.iter() {
            let inside = (span.first..span.end()).filter_map(|i| before.place_in(&after, i));
            let inside: Vec<u32> = inside.collect();
            let covered = match (inside.first(), inside.last()) {
                (Some(first), Some(last)) => Spans::one(*first, last - first + 1),
                _ => Spans::default(),
            };
            prop_assert_eq!(map.covering_spans(&Spans::one(span.first, span.count)), covered);
        }
    }

    #[test]
    fn composition_is_associative_and_runs_are_maximal(
        one in vec(step(), 0..4),
        two in vec(step(), 0..4),
        three in vec(step(), 0..4),
    ) {
        let map = |steps: &[AxisChange]| apply_all(steps).0;
        let (one, two, three) = (map(&one), map(&two), map(&three));
        let left = one.then(&two).then(&three);
        prop_assert_eq!(&left, &one.then(&two.then(&three)));
        for pair in left.runs().windows(2) {
            prop_assert!(pair[0].src_end() <= pair[1].src && pair[0].dst_end() <= pair[1].dst);
            prop_assert!((pair[0].src_end(), pair[0].dst_end()) != (pair[1].src, pair[1].dst));
        }
        prop_assert_eq!(left.reversed().reversed(), left);
    }

    #[test]
    fn round_trips_stored_maps(steps in vec(step(), 0..7)) {
        let (map, ..) = apply_all(&steps);
        let bytes = postcard::to_allocvec(&StoredAxisMap::from(&map)).unwrap();
        let stored: StoredAxisMap = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(stored.into_map(Axis::Rows).unwrap(), map);
    }

    #[test]
    fn decoding_any_bytes_stays_within_the_axis(bytes: Vec<u8>) {
        if let Ok(stored) = postcard::from_bytes::<StoredAxisMap>(&bytes)
            && let Ok(map) = stored.into_map(Axis::Columns)
        {
            let limit = Axis::Columns.limit();
            prop_assert!(map.runs().iter().all(|r| r.src_end() <= limit && r.dst_end() <= limit));
        }
    }
}

#[test]
fn rows_moved_past_the_end_are_lost() {
    let limit = Axis::Rows.limit();
    let pushed = AxisMap::insert(Axis::Rows, 0, 2);
    assert_eq!(pushed.get(limit - 3), Some(limit - 1));
    assert_eq!(pushed.get(limit - 2), None);
    let back = pushed.then(&AxisMap::delete(Axis::Rows, &Spans::one(0, 2)));
    assert_eq!(back.get(limit - 3), Some(limit - 3));
    assert_eq!(back.get(limit - 2), None);
    assert_eq!(AxisMap::insert(Axis::Rows, 5, 0), AxisMap::identity(Axis::Rows));
    assert!(AxisMap::insert(Axis::Rows, limit, 5).is_identity());
    assert_eq!(AxisMap::insert(Axis::Rows, 0, limit).runs(), []);
    assert_eq!(AxisMap::insert(Axis::Rows, 0, limit).insertion_point(7), limit);
}

#[test]
fn the_whole_axis_stays_covered() {
    let all = Spans::all(Axis::Rows);
    for map in [
        AxisMap::insert(Axis::Rows, 0, 2),
        AxisMap::insert(Axis::Rows, 7, 2),
        AxisMap::delete(Axis::Rows, &Spans::one(3, 9)),
    ] {
        assert_eq!(map.covering_spans(&all), all);
    }
    let kept = AxisMap::insert(Axis::Rows, 7, 2).kept_spans(&all);
    assert!(!kept.contains(7) && !kept.contains(8) && kept.contains(9));
}

#[test]
fn a_run_that_breaks_the_order_becomes_a_stray() {
    let reversed = AxisMap::insert(Axis::Rows, 3, 2).reversed();
    let run = Run { src: 3, dst: 3, len: 2 };
    // The map deletes the author's rows 3 and 4, and `with_run` adds them again.
    let moved = reversed.then(&AxisMap::insert(Axis::Rows, 3, 2)).with_run(run);
    assert!(moved.is_identity());
    let wrong = Run { src: 3, dst: 9, len: 2 };
    let map = reversed.then(&AxisMap::insert(Axis::Rows, 9, 2)).with_run(wrong);
    assert!(!map.keeps_order());
    assert_eq!([3, 4, 5].map(|row| map.get(row)), [Some(9), Some(10), Some(3)]);
    // A reordered run is moved and split like any other run.
    let later = map.then(&AxisMap::delete(Axis::Rows, &Spans::of([0, 9])));
    assert_eq!((later.get(3), later.get(4), later.source(8)), (None, Some(8), Some(4)));
    assert_eq!([3, 4, 5].map(|gap| later.insertion_point(gap)), [8, 8, 2]);
    assert_eq!(later.kept_spans(&Spans::one(3, 3)), Spans::of([2, 8]));
    let earlier = AxisMap::insert(Axis::Rows, 0, 1).then(&map);
    assert_eq!((earlier.get(2), earlier.get(3)), (Some(9), Some(10)));
    let beyond = Run { src: 3, dst: Axis::Rows.limit(), len: 1 };
    assert_eq!(map.clone().with_run(beyond), map);
}

#[test]
fn stored_maps_are_bounded() {
    use cellar_base::limits::MAX_AXIS_RUNS;
    let map = |runs: u32| {
        let spans = (0..runs).map(|i| Span { first: 2 * i + 1, count: 1 });
        AxisMap::delete(Axis::Rows, &Spans::from_sorted(spans.collect()))
    };
    let most = u32::try_from(MAX_AXIS_RUNS).unwrap() - 1;
    let (fits, too_long) = (map(most), map(most + 1));
    assert_eq!(fits.runs().len(), MAX_AXIS_RUNS);
    assert_eq!(StoredAxisMap::from(&fits).into_map(Axis::Rows).unwrap(), fits);
    assert!(StoredAxisMap::from(&too_long).into_map(Axis::Rows).is_err());
    let reads = |map: &AxisMap| {
        let bytes = postcard::to_allocvec(&StoredAxisMap::from(map)).unwrap();
        postcard::from_bytes::<StoredAxisMap>(&bytes).is_ok()
    };
    assert!(reads(&fits) && !reads(&too_long));
}
