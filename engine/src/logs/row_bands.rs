//! Divides the rows of a sheet into bands that are read one after another.

use std::ops::Range;

/// Number of cells in the first band, including blank cells.
const FIRST_BAND_CELLS: u32 = 32 * 1024;
/// If a band has fewer non-blank cells than this number, the height of the following bands is
/// doubled.
const SPARSE_BAND_CELLS: usize = 8 * 1024;

pub(super) struct RowBands {
    remaining_rows: Range<u32>,
    band_height: u32,
}

impl RowBands {
    pub(super) fn new(rows: Range<u32>, column_count: u32) -> Self {
        let band_height = (FIRST_BAND_CELLS / column_count.max(1)).max(1);
        Self { remaining_rows: rows, band_height }
    }

    pub(super) fn next_rows(&mut self) -> Option<Range<u32>> {
        if self.remaining_rows.is_empty() {
            return None;
        }
        let Range { start, end } = self.remaining_rows;
        let band_end = start.saturating_add(self.band_height).min(end);
        self.remaining_rows = band_end..end;
        Some(start..band_end)
    }

    /// Doubles the height of the following bands if the last band had few non-blank cells.
    pub(super) fn adapt_height(&mut self, cell_count: usize) {
        if cell_count < SPARSE_BAND_CELLS {
            self.band_height = self.band_height.saturating_mul(2);
        }
    }
}
