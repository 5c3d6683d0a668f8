//! Places of rows or columns among all others, also among deleted ones.

use std::collections::BTreeMap;

use cellar_base::position::Position;
use cellar_grid::{Axis, SheetId, Spans};

/// The order that the rows or columns of a sheet would have if none had been deleted. A deleted row
/// comes back at its place in this order, so that the order of the undos does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePlaces {
    runs: Vec<PlacedRun>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlacedRun {
    count: u32,
    /// When the rows were deleted, or `None` if they exist.
    deleted_at: Option<Position>,
}

/// Deleted rows or columns that belong before an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedLines {
    /// Number of rows or columns.
    pub count: u32,
    /// Index of the existing row or column before which they belong.
    pub before: u32,
}

/// The rows and columns that one entry deleted in each sheet, in their order.
pub type DeletedLinesOfSheets = BTreeMap<(SheetId, Axis), Vec<DeletedLines>>;

impl LinePlaces {
    /// Starts with the rows or columns that exist. Those that were deleted earlier have no place.
    #[must_use]
    pub fn new(axis: Axis) -> Self {
        Self { runs: vec![PlacedRun { count: axis.limit(), deleted_at: None }] }
    }

    /// Deletes existing rows or columns at a position. As many blank ones are added at the end.
    pub fn delete(&mut self, position: Position, spans: &Spans) {
        let mut deleted_count = 0;
        for span in spans.iter().rev() {
            let (start, end) = (self.split_at(span.first), self.split_at(span.end()));
            let existing = self.runs.iter_mut().take(end).skip(start);
            for run in existing.filter(|run| run.deleted_at.is_none()) {
                run.deleted_at = Some(position);
                deleted_count += run.count;
            }
        }
        self.runs.push(PlacedRun { count: deleted_count, deleted_at: None });
    }

    /// Inserts rows or columns before the existing one with the index `before`. If they are deleted
    /// ones that an undo or revert has restored, they get the places of these. `is_restored` returns
    /// whether it restores rows that were deleted at a position.
    pub fn insert(&mut self, before: u32, count: u32, is_restored: impl Fn(Position) -> bool) {
        let end = self.split_at(before);
        let is_deleted = |run: &&PlacedRun| run.deleted_at.is_some();
        let gap_len = self.runs.iter().take(end).rev().take_while(is_deleted).count();
        let mut missing = count;
        let mut restored = Vec::new();
        for index in (end - gap_len..end).rev() {
            let Some(run) = self.runs.get(index) else { continue };
            let is_fitting = run.count <= missing && run.deleted_at.is_some_and(&is_restored);
            if is_fitting {
                missing -= run.count;
                restored.push(index);
            }
        }
        if missing == 0 {
            for (_, run) in self.runs.iter_mut().enumerate().filter(|(at, _)| restored.contains(at))
            {
                run.deleted_at = None;
            }
        } else {
            self.runs.insert(end, PlacedRun { count, deleted_at: None });
        }
        self.remove_from_end(count);
    }

    /// Returns the rows or columns that were deleted at a position and do not exist.
    #[must_use]
    pub fn deleted_at(&self, position: Position) -> Vec<DeletedLines> {
        let mut before = 0;
        let mut deleted = Vec::<DeletedLines>::new();
        for run in &self.runs {
            match run.deleted_at {
                None => before += run.count,
                Some(deleted_at) if deleted_at == position => {
                    deleted.push(DeletedLines { count: run.count, before });
                }
                Some(_) => {}
            }
        }
        deleted
    }

    /// Returns the number of the run that begins with the existing row of an index. Splits a run if
    /// necessary.
    fn split_at(&mut self, index: u32) -> usize {
        let mut first = 0;
        let mut split = None;
        for (number, run) in self.runs.iter_mut().enumerate() {
            if run.deleted_at.is_some() {
                continue;
            }
            if first == index {
                return number;
            }
            let count = index - first;
            if count < run.count {
                split = Some((number + 1, PlacedRun { count: run.count - count, ..*run }));
                run.count = count;
                break;
            }
            first += run.count;
        }
        let Some((number, rest)) = split else { return self.runs.len() };
        self.runs.insert(number, rest);
        number
    }

    /// Removes existing rows that moved past the end of the sheet.
    fn remove_from_end(&mut self, mut count: u32) {
        for run in self.runs.iter_mut().rev().filter(|run| run.deleted_at.is_none()) {
            let removed = run.count.min(count);
            run.count -= removed;
            count -= removed;
        }
        self.runs.retain(|run| run.count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u32) -> Position {
        Position::new(0, number).unwrap()
    }

    fn deleted(count: u32, before: u32) -> DeletedLines {
        DeletedLines { count, before }
    }

    #[test]
    fn restored_rows_get_the_places_of_the_deleted_ones() {
        let mut places = LinePlaces::new(Axis::Rows);
        places.delete(at(1), &Spans::one(1, 1));
        places.delete(at(2), &Spans::one(0, 1));
        assert_eq!(places.deleted_at(at(1)), [deleted(1, 0)]);
        // The undo of the older deletion restores the second row. The first one belongs before it.
        places.insert(0, 1, |position| position == at(1));
        assert_eq!(places.deleted_at(at(1)), []);
        assert_eq!(places.deleted_at(at(2)), [deleted(1, 0)]);
        places.insert(0, 1, |position| position == at(2));
        assert_eq!(places.deleted_at(at(2)), []);

        let mut places = LinePlaces::new(Axis::Rows);
        places.delete(at(1), &Spans::one(0, 1));
        places.delete(at(2), &Spans::one(0, 1));
        places.insert(0, 1, |position| position == at(1));
        assert_eq!(places.deleted_at(at(2)), [deleted(1, 1)], "the second row follows the first");
    }

    #[test]
    fn new_rows_are_next_to_the_row_before_which_they_were_inserted() {
        let mut places = LinePlaces::new(Axis::Rows);
        places.delete(at(1), &Spans::of([2, 5]));
        places.insert(2, 3, |_| false);
        assert_eq!(places.deleted_at(at(1)), [deleted(1, 2), deleted(1, 7)]);
        places.insert(9, 2, |position| position == at(1));
        assert_eq!(places.deleted_at(at(1)), [deleted(1, 2), deleted(1, 7)], "not in this gap");
    }

    #[test]
    fn the_number_of_existing_rows_stays_the_same() {
        let mut places = LinePlaces::new(Axis::Columns);
        for number in 1..9 {
            places.delete(at(number), &Spans::one(number, 3));
            places.insert(0, 2 * number, |position| position == at(number - 1));
            let existing = places.runs.iter().filter(|run| run.deleted_at.is_none());
            assert_eq!(existing.map(|run| run.count).sum::<u32>(), Axis::Columns.limit());
        }
    }
}
