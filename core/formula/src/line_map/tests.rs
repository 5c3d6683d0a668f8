//! Compares line maps with a reference model that stores the ids of the rows of a range.

use cellar_grid::testing::random_cases;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Number of rows in the model.
const SIDE: u32 = 24;

#[derive(Debug, Clone)]
enum Change {
    Insert(u32, u32),
    Delete(Spans),
}

fn any_change() -> impl Strategy<Value = Change> {
    let span = (0..SIDE, 1..4_u32).prop_map(|(first, count)| Span { first, count });
    prop_oneof![
        (0..SIDE, 1..4_u32).prop_map(|(before, count)| Change::Insert(before, count)),
        vec(span, 1..4).prop_map(|mut spans| {
            spans.sort_by_key(|span| span.first);
            Change::Delete(Spans::from_sorted(spans))
        }),
    ]
}

/// A sheet as a list of row ids, and a range as the ids of its rows.
struct Model {
    ids: Vec<u32>,
    range: Vec<u32>,
    next_id: u32,
    /// Number of rows of the sheet, or `None` if the model contains only the first rows of a larger
    /// sheet.
    limit: Option<usize>,
}

impl Model {
    fn new(first: u32, last: u32, limit: Option<usize>) -> Self {
        // The model has enough rows that no change reaches its end.
        let count = if limit.is_some() { SIDE } else { 4 * SIDE };
        Self { ids: (0..count).collect(), range: (first..=last).collect(), next_id: count, limit }
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Insert(before, count) => self.insert(*before as usize, *count),
            Change::Delete(spans) => self.delete(spans),
        }
        if let Some(limit) = self.limit {
            let new_rows = self.next_id..;
            let missing = limit.saturating_sub(self.ids.len());
            self.ids.extend(new_rows.take(missing));
            self.next_id += u32::try_from(missing).unwrap();
            let lost = self.ids.split_off(limit);
            self.range.retain(|id| !lost.contains(id));
        }
    }

    fn insert(&mut self, before: usize, count: u32) {
        let new: Vec<u32> = (self.next_id..self.next_id + count).collect();
        self.next_id += count;
        let is_in_range =
            |index: usize| self.ids.get(index).is_some_and(|id| self.range.contains(id));
        let is_inside = before > 0 && is_in_range(before - 1) && is_in_range(before);
        if is_inside {
            self.range.extend(&new);
        }
        let before = before.min(self.ids.len());
        self.ids.splice(before..before, new);
    }

    fn delete(&mut self, spans: &Spans) {
        let kept = |index: usize| !spans.contains(u32::try_from(index).unwrap());
        let mut index = 0;
        let mut deleted = Vec::new();
        self.ids.retain(|id| {
            index += 1;
            if kept(index - 1) {
                return true;
            }
            deleted.push(*id);
            false
        });
        self.range.retain(|id| !deleted.contains(id));
    }

    fn range(&self) -> Option<(u32, u32)> {
        let index_of = |id: &u32| self.ids.iter().position(|other| other == id).unwrap();
        let indices: Vec<usize> = self.range.iter().map(index_of).collect();
        let (first, last) = (*indices.iter().min()?, *indices.iter().max()?);
        assert_eq!(last - first + 1, indices.len(), "a range is contiguous");
        Some((u32::try_from(first).unwrap(), u32::try_from(last).unwrap()))
    }
}

fn map_of(change: &Change) -> LineMap {
    match change {
        Change::Insert(before, count) => LineMap::insert(Axis::Rows, *before, *count),
        Change::Delete(spans) => LineMap::delete(Axis::Rows, spans),
    }
}

fn composed(changes: &[Change]) -> LineMap {
    changes.iter().fold(LineMap::identity(Axis::Rows), |map, change| map.then(&map_of(change)))
}

/// Applies changes to a range one after the other.
fn apply_each(changes: &[Change], range: (u32, u32)) -> Option<(u32, u32)> {
    changes.iter().try_fold(range, |(first, last), change| map_of(change).range(first, last))
}

/// Returns the changes with `offset` added to all row indices.
fn moved_down(changes: &[Change], offset: u32) -> Vec<Change> {
    let move_span = |span: Span| Span { first: span.first + offset, ..span };
    let moved = changes.iter().map(|change| match change {
        Change::Insert(before, count) => Change::Insert(before + offset, *count),
        Change::Delete(spans) => {
            let fits = |span: &Span| span.end() <= SIDE;
            let spans = spans.iter().filter(fits).map(move_span).collect();
            Change::Delete(Spans::from_sorted(spans))
        }
    });
    moved.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(2_000)))]

    #[test]
    fn a_composed_map_moves_a_range_as_its_changes_one_by_one(
        changes in vec(any_change(), 0..8),
        first in 0..SIDE,
        count in 1..8_u32,
        split in 0..8_usize,
    ) {
        let last = first + count - 1;
        let mut model = Model::new(first, last, None);
        changes.iter().for_each(|change| model.apply(change));
        let map = composed(&changes);
        prop_assert_eq!(map.range(first, last), model.range());
        prop_assert_eq!(apply_each(&changes, (first, last)), model.range());
        let mut line = Model::new(first, first, None);
        changes.iter().for_each(|change| line.apply(change));
        prop_assert_eq!(map.range(first, first), line.range());
        prop_assert_eq!(map.line(first), line.range().map(|(first, _)| first));
        let (older, newer) = changes.split_at(split.min(changes.len()));
        let grouped = composed(older).then(&composed(newer));
        prop_assert_eq!(&grouped, &map);
        let ends = map.undetermined_ends();
        prop_assert!(ends.len() <= map.deleted().len());
        prop_assert_eq!(LineMap::with_ends(map.kept().clone(), Axis::Rows, &ends), map);
    }

    #[test]
    fn ranges_at_the_end_of_a_sheet_move_as_in_the_model(
        changes in vec(any_change(), 0..8),
        first in 0..SIDE,
        count in 1..8_u32,
    ) {
        let offset = Axis::Rows.limit() - SIDE;
        let last = (first + count - 1).min(SIDE - 1);
        let changes = moved_down(&changes, 0);
        let mut model = Model::new(first, last, Some(SIDE as usize));
        changes.iter().for_each(|change| model.apply(change));
        let map = composed(&moved_down(&changes, offset));
        let expected = model.range().map(|(first, last)| (first + offset, last + offset));
        prop_assert_eq!(map.range(first + offset, last + offset), expected);
        let ends = map.undetermined_ends();
        prop_assert_eq!(LineMap::with_ends(map.kept().clone(), Axis::Rows, &ends), map);
    }
}

#[test]
fn a_deleted_end_is_replaced_by_rows_that_were_inserted_before_the_deletion() {
    let insert = LineMap::insert(Axis::Rows, 3, 1);
    let delete_moved = LineMap::delete(Axis::Rows, &Spans::one(4, 1));
    let inserted_first = insert.then(&delete_moved);
    let delete = LineMap::delete(Axis::Rows, &Spans::one(3, 1));
    let deleted_first = delete.then(&insert);
    for row in 0..9 {
        assert_eq!(inserted_first.line(row), deleted_first.line(row));
    }
    assert_eq!(inserted_first.range(2, 3), Some((2, 3)));
    assert_eq!(deleted_first.range(2, 3), Some((2, 2)));
    assert_eq!((inserted_first.range(3, 3), deleted_first.range(3, 3)), (None, None));
}

#[test]
fn only_ends_that_the_axis_map_does_not_determine_are_listed() {
    let insert = LineMap::insert(Axis::Rows, 3, 1);
    let delete = LineMap::delete(Axis::Rows, &Spans::one(3, 2));
    assert_eq!(insert.undetermined_ends(), []);
    assert_eq!(delete.then(&insert).undetermined_ends(), []);
    let inserted_first = LineMap::insert(Axis::Rows, 4, 1)
        .then(&LineMap::delete(Axis::Rows, &Spans::one(3, 1)))
        .then(&LineMap::delete(Axis::Rows, &Spans::one(4, 1)));
    let last = Axis::Rows.limit() - 1;
    let deleted = |first, start, end| DeletedLines { span: Span { first, count: 1 }, start, end };
    // The insertion pushed the last row past the end of the sheet.
    let ends = [deleted(3, 3, 3), deleted(4, 4, 4), deleted(last, last + 1, last - 1)];
    assert_eq!(inserted_first.undetermined_ends(), ends);
    // Bounds of rows that still exist are ignored.
    let wider = [ends[0], DeletedLines { span: Span { first: 4, count: 9 }, ..ends[1] }, ends[2]];
    let map = LineMap::with_ends(inserted_first.kept().clone(), Axis::Rows, &wider);
    assert_eq!(map, inserted_first);
}

#[test]
fn a_range_contains_rows_whose_order_changed() {
    use cellar_grid::axis_map::Run;
    let without = AxisMap::insert(Axis::Rows, 3, 2).reversed();
    let reordered = without.then(&AxisMap::insert(Axis::Rows, 9, 2));
    let reordered = reordered.with_run(Run { src: 3, dst: 9, len: 2 });
    assert!(!reordered.keeps_order());
    let map = LineMap::of_one_change(reordered, Axis::Rows);
    assert_eq!(map.range(2, 5), Some((2, 10)));
    assert_eq!(map.range(3, 4), Some((9, 10)));
    assert!(LineMap::identity(Axis::Columns).is_identity());
}
