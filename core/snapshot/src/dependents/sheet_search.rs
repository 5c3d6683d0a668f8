//! Searches the formulas of one sheet.

use std::collections::{BTreeMap, VecDeque};

use super::SearchedState;
use super::candidates::{CandidateLevel, CandidateTile, Candidates};
use super::scan::cells_of_readers;
use super::searched_cells::SearchedCells;
use crate::error::SnapshotError;
use crate::level::StoredTile;
use crate::merge::{PlacedTile, StoredFormula, Window};
use crate::objects::{Fetch, ObjectKind, ObjectRequest, Objects};
use crate::tile::{Tile, TileColumn};
use crate::view::read_newest_levels;
use cellar_base::limits::{MAX_BAND_FORMULA_BYTES, MAX_DEPENDENT_TILES_AT_ONCE};
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;

/// Number of tiles that are loaded together.
const TILES_AT_ONCE: usize = 8;
/// Maximum number of cells whose formulas are read at once. The window of all of them is read.
const MAX_UNREAD_CELLS: usize = 1_024;

/// The progress of the search in one sheet.
#[derive(Debug)]
pub(super) struct SheetSearch {
    pub(super) sheet: SheetId,
    levels: Vec<CandidateLevel>,
    /// Tiles to scan, by their first row.
    tiles: VecDeque<CandidateTile>,
    /// Cells to read, because their formulas may read the searched cells.
    unread: Vec<UnreadCells>,
    found: BTreeMap<CellName, String>,
    /// Number of formulas to find at most.
    max_formulas: usize,
    /// Whether formulas were left out because they are too many.
    is_truncated: bool,
}

/// Cells in newest coordinates and in ascending order.
#[derive(Debug)]
struct UnreadCells {
    /// Index of the level of their formulas. Newer levels may hide them.
    level_index: usize,
    cells: Vec<CellName>,
    /// Number of cells that are read at once.
    at_once: usize,
}

/// The formulas of a sheet that read the searched cells.
pub(super) struct FoundInSheet {
    pub(super) formulas: BTreeMap<CellName, String>,
    /// Whether formulas were left out because they are too many.
    pub(super) is_truncated: bool,
}

pub(super) enum SheetStep {
    Advanced,
    /// The next step needs these objects.
    Missing(Vec<ObjectRequest>),
    Done,
}

impl SheetSearch {
    /// Lists the tiles to scan, and scans the entries after the root.
    pub(super) fn open(
        state: &SearchedState<'_>,
        sheet: SheetId,
        searched: &SearchedCells,
        max_formulas: usize,
        objects: &Objects,
    ) -> Result<Fetch<Self>, SnapshotError> {
        let Candidates { levels, tiles } = match Candidates::load(state, sheet, searched, objects)?
        {
            Fetch::Missing(requests) => return Ok(Fetch::Missing(requests)),
            Fetch::Ready(candidates) => candidates,
        };
        let (found, unread) = (BTreeMap::new(), Vec::new());
        let tiles = VecDeque::from(tiles);
        let mut search =
            Self { sheet, levels, tiles, unread, found, max_formulas, is_truncated: false };
        let tail_sheet = state.tail.sheets.iter().find(|folded| folded.sheet == sheet);
        if let Some((folded, level)) = tail_sheet.zip(search.levels.last()) {
            let tile = level.placed_tail(&folded.tile);
            search.unread.push(UnreadCells::of_tile(level.level_index, &tile, searched));
        }
        Ok(Fetch::Ready(search))
    }

    /// Reads the next cells, or scans the next tile.
    pub(super) fn step(
        &mut self,
        state: &SearchedState<'_>,
        searched: &SearchedCells,
        objects: &Objects,
    ) -> Result<SheetStep, SnapshotError> {
        if let Some(unread) = self.next_unread() {
            return self.read(unread, state, searched, objects);
        }
        let last = self.found.last_key_value().map(|(cell, _)| cell.row);
        let is_useless = |tile: &CandidateTile| self.is_truncated && Some(tile.first_row) > last;
        if self.tiles.front().is_none_or(is_useless) {
            return Ok(SheetStep::Done);
        }
        self.scan_next_tile(searched, objects)
    }

    fn scan_next_tile(
        &mut self,
        searched: &SearchedCells,
        objects: &Objects,
    ) -> Result<SheetStep, SnapshotError> {
        let Some(candidate) = self.tiles.front() else { return Ok(SheetStep::Done) };
        let Fetch::Ready(tile) = objects.stored_tile(&candidate.located.tile.stored)? else {
            return Ok(SheetStep::Missing(self.next_missing_tiles(objects)));
        };
        if let Some(candidate) = self.tiles.pop_front()
            && let Some(level) = self.levels.get(candidate.level)
        {
            let tile = level.placed(&candidate.located, &tile);
            self.unread.push(UnreadCells::of_tile(level.level_index, &tile, searched));
        }
        Ok(SheetStep::Advanced)
    }

    /// Removes the next cells to read. Cells after the last formula that is kept are left out.
    fn next_unread(&mut self) -> Option<UnreadCells> {
        let last = self.found.last_key_value().map(|(cell, _)| *cell);
        while let Some(mut unread) = self.unread.pop() {
            unread.cells.retain(|cell| !self.is_truncated || Some(*cell) < last);
            let later = unread.cells.split_off(unread.at_once.min(unread.cells.len()));
            if !later.is_empty() {
                self.unread.push(UnreadCells { cells: later, ..unread });
            }
            if !unread.cells.is_empty() {
                return Some(unread);
            }
        }
        None
    }

    fn next_missing_tiles(&self, objects: &Objects) -> Vec<ObjectRequest> {
        let mut requests = Vec::new();
        for candidate in self.tiles.iter().take(TILES_AT_ONCE) {
            if let StoredTile::Chunk(chunk) = candidate.located.tile.stored
                && objects.tile(&chunk.hash).is_none()
            {
                requests.push(ObjectRequest::new(ObjectKind::Tile, chunk));
            }
        }
        requests.sort_unstable();
        requests.dedup();
        requests
    }

    /// Reads cells, or divides them if they are in too many tiles.
    fn read(
        &mut self,
        unread: UnreadCells,
        state: &SearchedState<'_>,
        searched: &SearchedCells,
        objects: &Objects,
    ) -> Result<SheetStep, SnapshotError> {
        let SearchedState { root, tail, metadata } = *state;
        let (tabs, level_index) = (&metadata.tabs, unread.level_index);
        let (levels, window) = ((root, tail), unread.window());
        match read_newest_levels(levels, tabs, self.sheet, &window, level_index, objects)? {
            Fetch::Ready(tile) => self.add_found(&tile, &unread.cells, metadata, searched),
            Fetch::Missing(requests) => {
                let cell_count = unread.cells.len();
                let is_too_large = count_tiles(&requests) > MAX_DEPENDENT_TILES_AT_ONCE;
                if !is_too_large || cell_count == 1 {
                    self.unread.push(unread);
                    return Ok(SheetStep::Missing(requests));
                }
                self.unread.push(UnreadCells { at_once: cell_count / 2, ..unread });
            }
        }
        Ok(SheetStep::Advanced)
    }

    /// Adds the cells whose formulas read the searched cells.
    fn add_found(
        &mut self,
        tile: &Tile,
        cells: &[CellName],
        metadata: &WorkbookMetadata,
        searched: &SearchedCells,
    ) {
        for cell in cells {
            let Some(text) = formula_text(tile, *cell, metadata) else { continue };
            let formula = Formula::parse(&text, &metadata.tabs);
            if formula.is_ok_and(|parsed| searched.is_read_by(&parsed, self.sheet)) {
                self.found.insert(*cell, text);
            }
            if self.found.len() > self.max_formulas {
                self.found.pop_last();
                self.is_truncated = true;
            }
        }
    }

    pub(super) fn finish(self) -> FoundInSheet {
        FoundInSheet { formulas: self.found, is_truncated: self.is_truncated }
    }
}

impl UnreadCells {
    /// Returns the cells of a tile whose formulas may read the searched cells. If the formulas are
    /// long, few cells are read at once.
    fn of_tile(level_index: usize, tile: &PlacedTile<'_>, searched: &SearchedCells) -> Self {
        let bands = tile.tile.formula_bytes().div_ceil(MAX_BAND_FORMULA_BYTES).max(1);
        let cells = cells_of_readers(tile, searched);
        Self { level_index, cells, at_once: (MAX_UNREAD_CELLS / bands).max(1) }
    }

    /// Returns the smallest window with all of the cells.
    fn window(&self) -> Window {
        let rows = self.cells.iter().map(|cell| cell.row);
        let columns = self.cells.iter().map(|cell| cell.column);
        let end = |last: Option<u32>| last.unwrap_or(0).saturating_add(1);
        Window {
            rows: rows.clone().min().unwrap_or(0)..end(rows.max()),
            columns: columns.clone().min().unwrap_or(0)..end(columns.max()),
        }
    }
}

pub(super) fn count_tiles(requests: &[ObjectRequest]) -> usize {
    requests.iter().filter(|request| request.kind == ObjectKind::Tile).count()
}

/// Returns the text of the formula of a cell. The tile must have the rows and columns of the sheet.
fn formula_text(tile: &Tile, cell: CellName, metadata: &WorkbookMetadata) -> Option<String> {
    let index = tile.columns.binary_search_by_key(&cell.column, |column| column.index).ok()?;
    let column: &TileColumn = tile.columns.get(index)?;
    match StoredFormula::at(column, cell.row)? {
        StoredFormula::Text(text) => Some(text.to_owned()),
        StoredFormula::Template(encoded) => {
            let template = Template::decode(encoded.to_owned()).ok()?;
            Some(template.text_at(cell, &metadata.tabs))
        }
    }
}
