//! The cells that show results of formulas in other cells.

use std::collections::BTreeMap;

/// The areas that end in or below the current row of a sheet. Cells are visited row by row, so an
/// area needs no first row.
///
/// Areas do not overlap. Their number is therefore at most the number of columns, and each search
/// takes logarithmic time.
#[derive(Debug, Default)]
pub(crate) struct SpilledAreas(BTreeMap<u32, SpilledArea>);

/// An area by its first column.
#[derive(Debug, Clone, Copy)]
struct SpilledArea {
    last_column: u32,
    last_row: u32,
}

impl SpilledAreas {
    /// Adds the area from `first` to `last`, both with row and column. Returns whether the area is
    /// valid and does not overlap another one.
    pub(crate) fn add(&mut self, first: (u32, u32), last: (u32, u32)) -> bool {
        let ((row, first_column), (last_row, last_column)) = (first, last);
        if last_row < row || last_column < first_column {
            return false;
        }
        while let Some((start, area)) = self.last_before_end(last_column)
            && area.last_column >= first_column
        {
            if area.last_row >= row {
                return false;
            }
            self.0.remove(&start);
        }
        self.0.insert(first_column, SpilledArea { last_column, last_row });
        true
    }

    /// Returns whether an area contains the cell.
    pub(crate) fn contains(&self, row: u32, column: u32) -> bool {
        self.last_before_end(column)
            .is_some_and(|(_, area)| area.last_column >= column && area.last_row >= row)
    }

    /// Returns the last area that starts in or before the column.
    fn last_before_end(&self, column: u32) -> Option<(u32, SpilledArea)> {
        self.0.range(..=column).next_back().map(|(start, area)| (*start, *area))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn areas_end_and_do_not_overlap() {
        let mut areas = SpilledAreas::default();
        assert!(areas.add((0, 1), (2, 3)));
        assert!(areas.contains(0, 1) && areas.contains(2, 3));
        assert!(!areas.contains(3, 1) && !areas.contains(1, 0) && !areas.contains(1, 4));
        for (first, last) in
            [((1, 0), (1, 1)), ((2, 3), (9, 9)), ((1, 2), (1, 2)), ((1, 0), (5, 9))]
        {
            assert!(!areas.add(first, last), "{first:?}");
        }
        assert!(areas.add((2, 4), (2, 4)) && areas.add((3, 0), (9, 9)));
        assert!(areas.contains(9, 5) && areas.0.len() == 1);
        assert!(!areas.add((10, 5), (9, 5)) && !areas.add((10, 5), (11, 4)));
    }

    proptest! {
        /// A list of all areas that were added is searched from start to end.
        #[test]
        fn areas_are_those_of_a_list(
            added in proptest::collection::vec((0..3_u32, 0..9_u32, 0..4_u32, 0..4_u32), 0..40),
        ) {
            let (mut areas, mut list, mut row) = (SpilledAreas::default(), Vec::new(), 0);
            for (rows_below, column, height, width) in added {
                row += rows_below;
                let (last_row, last_column) = (row + height, column + width);
                let is_in = |(first, last, end): &(u32, u32, u32), column: u32| {
                    (*first..=*last).contains(&column) && *end >= row
                };
                let is_free = (column..=last_column)
                    .all(|column| !list.iter().any(|area| is_in(area, column)));
                prop_assert_eq!(areas.add((row, column), (last_row, last_column)), is_free);
                if is_free {
                    list.push((column, last_column, last_row));
                }
                for column in 0..14 {
                    let is_in_list = list.iter().any(|area| is_in(area, column));
                    prop_assert_eq!(areas.contains(row, column), is_in_list);
                }
            }
        }
    }
}
