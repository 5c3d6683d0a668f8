//! Limits the work of one find or filter request.

use cellar_base::limits::{
    MAX_REGEX_TEXT_BYTES, MAX_REPLY_BYTES, MAX_SEARCH_CELLS, MAX_SEARCH_LONG_TEXTS,
    MAX_SEARCH_TILES, MAX_SEARCH_WINDOWS,
};
use cellar_sheet::cell::{Cell, Value};
use cellar_snapshot::WindowEstimate;
use cellar_snapshot::cells::TileCell;

use super::super::cells::note_bytes;
use super::json_bytes;

const WINDOW_CELLS: u64 = 64 * 1024;
/// Number of range formats that take about as long to search as one cell takes to read.
const FORMATS_PER_CELL: usize = 100;

/// The remaining work of a request. A page ends when any part is used up, but only after it has
/// advanced, so that every page makes progress.
#[derive(Debug, Clone)]
pub(in super::super) struct Budget {
    pub(in super::super) windows: u64,
    pub(in super::super) cells: u64,
    pub(in super::super) tiles: u64,
    pub(in super::super) long_texts: u64,
    pub(in super::super) regex_bytes: u64,
    pub(in super::super) reply_bytes: usize,
    /// Maximum number of cells read at once.
    pub(in super::super) window_cells: u64,
    pub(in super::super) has_advanced: bool,
    /// Cost of reading a cell. It is higher in a sheet with many range formats.
    pub(in super::super) cell_cost: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            windows: MAX_SEARCH_WINDOWS,
            cells: MAX_SEARCH_CELLS,
            tiles: MAX_SEARCH_TILES,
            long_texts: MAX_SEARCH_LONG_TEXTS,
            regex_bytes: MAX_REGEX_TEXT_BYTES,
            reply_bytes: MAX_REPLY_BYTES,
            window_cells: WINDOW_CELLS,
            has_advanced: false,
            cell_cost: 1,
        }
    }
}

impl Budget {
    /// Sets the cost of a cell from the number of range formats of the sheet that is read next.
    pub(super) fn set_formats(&mut self, count: usize) {
        let cost = 1 + count / FORMATS_PER_CELL;
        self.cell_cost = u64::try_from(cost).unwrap_or(u64::MAX);
    }

    /// Records that the page has advanced: the next page will start later than this one.
    pub(super) fn advance(&mut self) {
        self.has_advanced = true;
    }

    /// Returns whether the page must end before the next window.
    pub(super) fn ends_at_window(&self) -> bool {
        let has_no_window = [self.windows, self.cells, self.tiles].contains(&0);
        self.has_advanced && (has_no_window || self.has_no_text())
    }

    /// Returns whether the page must end before the next cell of a window that was already read.
    pub(super) fn ends_at_cell(&self) -> bool {
        self.has_advanced && self.has_no_text()
    }

    /// Returns whether no more text may be read or matched.
    pub(super) fn has_no_text(&self) -> bool {
        self.long_texts == 0 || self.regex_bytes == 0
    }

    pub(super) fn take_window(&mut self) {
        self.windows = self.windows.saturating_sub(1);
    }

    pub(super) fn take_estimate(&mut self, estimate: WindowEstimate) {
        let cost = estimate.cells.saturating_mul(self.cell_cost);
        self.cells = self.cells.saturating_sub(cost);
        self.tiles = self.tiles.saturating_sub(estimate.tiles);
    }

    pub(super) fn take_long_text(&mut self) {
        self.long_texts = self.long_texts.saturating_sub(1);
    }

    /// Subtracts the length of the text of a cell, which is matched against a regular expression.
    pub(super) fn take_regex_text(&mut self, cell: &Cell) {
        let text_bytes = match &cell.value {
            Value::Text(text) => text.len(),
            _ => 1,
        };
        let text_bytes = u64::try_from(text_bytes).unwrap_or(u64::MAX);
        self.regex_bytes = self.regex_bytes.saturating_sub(text_bytes);
    }

    /// Reserves space in the response for a cell and `other_bytes` more. Returns `false` if they do
    /// not fit. The first cell of a page always fits.
    pub(super) fn take_reply(
        &mut self,
        cell: &TileCell,
        other_bytes: usize,
        is_first: bool,
    ) -> bool {
        let cell_bytes = json_bytes(&cell.cell) + note_bytes(cell);
        let bytes = cell_bytes.saturating_add(other_bytes);
        if bytes > self.reply_bytes && !is_first {
            return false;
        }
        self.reply_bytes = self.reply_bytes.saturating_sub(bytes);
        true
    }
}
