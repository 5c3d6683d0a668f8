//! One of two states that are compared.

use std::ops::Range;
use std::sync::Arc;

use cellar_api::wire::ProblemKind;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{StateCell, Workbook, WorkbookTooLarge};
use cellar_snapshot::cells::{StoredTileCell, stored_cells};
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::Window;
use cellar_snapshot::tile::Tile;

use crate::reader::ReaderError;
use crate::reader::bands::{BandSize, Bands, load_next_stored_band};
use crate::reader::objects::SnapshotSource;
use crate::reader::opened::{ReadableState, invalid_reply};

/// A state that can be read, and its sheets without their cells.
pub(super) struct ComparedState {
    pub(super) source: Arc<SnapshotSource>,
    pub(super) state: ReadableState,
    pub(super) skeleton: Workbook,
}

/// Rows of a sheet as they are stored.
#[derive(Default)]
pub(super) struct StoredRows {
    pub(super) tiles: Vec<(Window, Tile)>,
}

impl StoredRows {
    pub(super) fn cell_count(&self) -> usize {
        self.tiles.iter().map(|(_, tile)| tile.cell_count()).sum()
    }
}

impl ComparedState {
    /// Returns the used range of a sheet, which is empty if the sheet does not exist.
    pub(super) fn extent(&self, sheet: Option<SheetId>) -> Extent {
        let metadata = sheet.and_then(|sheet| self.state.metadata.sheets.get(&sheet));
        metadata.map(|metadata| metadata.extent).unwrap_or_default()
    }

    /// Reads one or several parts of a sheet.
    pub(super) async fn read_rows(
        &mut self,
        sheet: Option<SheetId>,
        parts: &[Range<u32>],
    ) -> Result<StoredRows, ReaderError> {
        let mut stored = StoredRows::default();
        let columns = 0..self.extent(sheet).columns;
        let Some(sheet) = sheet.filter(|_| !columns.is_empty()) else { return Ok(stored) };
        let ReadableState { root, tail, metadata, objects, .. } = &mut self.state;
        let state = SearchedState { root: root.as_ref(), tail, metadata };
        for rows in parts {
            let mut bands = Bands::new(BandSize::IN_MEMORY, rows.clone(), columns.clone());
            while let Some((window, tile)) =
                load_next_stored_band(&self.source, state, sheet, &mut bands, objects).await?
            {
                bands.adapt_height(tile.cell_count());
                stored.tiles.push((window, tile));
            }
        }
        Ok(stored)
    }

    /// Returns the skeleton with the cells of some rows.
    pub(super) async fn fill(
        &self,
        sheet: Option<SheetId>,
        rows: StoredRows,
    ) -> Result<Result<Workbook, WorkbookTooLarge>, ReaderError> {
        let mut workbook = self.skeleton.clone();
        let Some(sheet) = sheet else { return Ok(Ok(workbook)) };
        for (_, tile) in &rows.tiles {
            let cells = self.with_long_texts(stored_cells(tile).collect()).await?;
            if let Err(too_large) = workbook.fill(sheet, cells) {
                return Ok(Err(too_large));
            }
        }
        Ok(Ok(workbook))
    }

    async fn with_long_texts(
        &self,
        cells: Vec<StoredTileCell>,
    ) -> Result<Vec<((u32, u32), StateCell)>, ReaderError> {
        let hashes = cells.iter().filter_map(|cell| cell.long_text.map(ChunkHash)).collect();
        let texts = self.state.load_texts(&self.source, &hashes).await?;
        let placed = cells.into_iter().map(|StoredTileCell { place, mut cell, long_text }| {
            if let Some(hash) = long_text {
                cell.value = texts.value_of(ChunkHash(hash));
            }
            ((place.row, place.column), cell)
        });
        Ok(placed.collect())
    }

    pub(super) fn too_large(error: WorkbookTooLarge) -> ReaderError {
        ReaderError::from_problem(ProblemKind::RangeTooLarge, error.to_string())
    }
}

/// Applies the entries after `start`, up to and including `end`, to the skeleton of the state at
/// `start`.
///
/// Only the history has entries of any age, and it starts with the newest. To keep few entries in
/// memory, its pages are read back to `start` first, and then again in the order of the log.
pub(super) async fn skeleton_after(
    source: &SnapshotSource,
    at_start: &Workbook,
    start: Position,
    end: Position,
) -> Result<Workbook, ReaderError> {
    let read_page =
        async |until| source.spreadsheet.history_page(Some(until), Some(MAX_PAGE_ENTRIES)).await;
    let mut skeleton = at_start.clone();
    let (mut later_pages, mut reached) = (Vec::new(), start);
    let mut until = end;
    let mut page = read_page(until).await?;
    while let Some(next) = page.next.filter(|next| *next > start) {
        later_pages.push(until);
        until = next;
        page = read_page(until).await?;
    }
    loop {
        for entry in page.entries.iter().rev().filter(|entry| entry.position > reached) {
            let mutations = source.mutations_of(entry).await?;
            for mutation in mutations.iter() {
                skeleton
                    .apply_operations(mutation.committed_operations())
                    .map_err(|error| invalid_reply(source, error.to_string()))?;
            }
            skeleton.drop_cells();
        }
        reached = page.entries.first().map_or(reached, |entry| entry.position.max(reached));
        let Some(until) = later_pages.pop() else { break };
        page = read_page(until).await?;
    }
    if reached < end {
        return Err(ReaderError::Incomplete { reached, head: end });
    }
    Ok(skeleton)
}
