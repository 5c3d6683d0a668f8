//! The number of rows that are compared at once.

/// Number of cells of the first band, including blank cells.
const FIRST_CELLS: u32 = 32 * 1024;
/// If a band has fewer cells that are not blank, the next one is twice as high.
const SPARSE_CELLS: usize = 32 * 1024;
/// If a band has at least this many cells that are not blank, the next one is half as high.
const DENSE_CELLS: usize = 128 * 1024;

/// Number of rows of the next band.
pub(super) struct BandHeight {
    rows: u32,
}

impl BandHeight {
    pub(super) fn new(columns: u32) -> Self {
        Self { rows: (FIRST_CELLS / columns.max(1)).max(1) }
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    pub(super) fn halve(&mut self) {
        self.rows = (self.rows / 2).max(1);
    }

    /// `cells` is the number of cells in both states of the last band that are not blank.
    pub(super) fn adapt(&mut self, cells: usize) {
        if cells < SPARSE_CELLS {
            self.rows = self.rows.saturating_mul(2);
        } else if cells >= DENSE_CELLS {
            self.halve();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_adapt_to_the_density_of_cells() {
        let mut height = BandHeight::new(64);
        assert_eq!(height.rows(), 512);
        for (cells, rows) in [
            (SPARSE_CELLS - 1, 1_024),
            (SPARSE_CELLS, 1_024),
            (DENSE_CELLS - 1, 1_024),
            (DENSE_CELLS, 512),
        ] {
            height.adapt(cells);
            assert_eq!(height.rows(), rows, "after {cells} cells");
        }
        let mut wide = BandHeight::new(u32::MAX);
        wide.halve();
        assert_eq!((wide.rows(), BandHeight::new(0).rows()), (1, FIRST_CELLS));
    }
}
