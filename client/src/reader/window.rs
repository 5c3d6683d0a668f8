//! Reads the cells of a rectangle.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cellar_api::wire::CellAt;
use cellar_calculation::CellWindow;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::visible_cells;
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::Tile;

use super::ReaderError;
use super::bands::{BandSize, Bands, load_next_band};
use super::objects::{ChunkReceiver, SnapshotSource};
use super::opened::ReadableState;

pub(super) fn clip_to_extent(rectangle: Rectangle, extent: Extent) -> (Range<u32>, Range<u32>) {
    let Rectangle { first, last } = rectangle;
    let rows = first.row..last.row.saturating_add(1).min(extent.rows);
    let columns = first.column..last.column.saturating_add(1).min(extent.columns);
    (rows, columns)
}

/// Texts that are missing or corrupt are not included.
#[derive(Debug, Default)]
pub(super) struct LongTexts {
    by_hash: BTreeMap<ChunkHash, String>,
}

impl LongTexts {
    pub(super) fn take(&mut self, hash: &ChunkHash) -> Option<String> {
        self.by_hash.remove(hash)
    }

    pub(super) fn value_of(&self, hash: ChunkHash) -> Value {
        match self.by_hash.get(&hash) {
            Some(text) => Value::Text(text.clone()),
            None => Value::Error(ErrorCode::Lost),
        }
    }
}

impl ChunkReceiver for LongTexts {
    type Request = ChunkHash;

    fn hash_of(request: &ChunkHash) -> ChunkHash {
        *request
    }

    fn accept(&mut self, hash: &ChunkHash, stored: &[u8]) -> Result<(), String> {
        let bytes = unpack(*hash, stored, Bounds::TEXT).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        self.by_hash.insert(*hash, text);
        Ok(())
    }

    fn handle_unavailable(&mut self, _: &ChunkHash, _: ReaderError) -> Result<(), ReaderError> {
        Ok(())
    }
}

impl ReadableState {
    /// In row-major order, including long texts.
    pub(super) async fn nonblank_cells(
        &mut self,
        source: &SnapshotSource,
        sheet: SheetId,
        rectangle: Rectangle,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let Some(extent) = self.used_range(source, sheet).await? else { return Ok(Vec::new()) };
        let (rows, columns) = clip_to_extent(rectangle, extent);
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let mut bands = Bands::new(BandSize::IN_MEMORY, rows, columns);
        let mut cells = Vec::new();
        loop {
            let Self { root, tail, metadata, objects, .. } = &mut *self;
            let state = SearchedState { root: root.as_ref(), tail, metadata };
            let band = load_next_band(source, state, sheet, &mut bands, objects).await?;
            let Some((window, merged)) = band else { break };
            let band = CellWindow { sheet, window };
            let band_cells = self.displayed_cells(source, &band, &merged).await?;
            bands.adapt_height(band_cells.len());
            cells.extend(band_cells);
        }
        Ok(cells)
    }

    pub(super) async fn displayed_cells(
        &mut self,
        source: &SnapshotSource,
        band: &CellWindow,
        merged: &Tile,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let metadata = self.metadata.sheets.get(&band.sheet);
        let Some(metadata) = metadata else { return Ok(Vec::new()) };
        let mut tile_cells = visible_cells(merged, &metadata.formats);
        self.calculate(source, band, &mut tile_cells).await?;
        let hashes = tile_cells.iter().filter_map(|cell| cell.long_text.map(ChunkHash)).collect();
        let long_texts = self.load_texts(source, &hashes).await?;
        let mut displayed_cells = Vec::with_capacity(tile_cells.len());
        for mut tile_cell in tile_cells {
            if let Some(text_hash) = tile_cell.long_text {
                tile_cell.cell.value = long_texts.value_of(ChunkHash(text_hash));
            }
            displayed_cells.push(tile_cell.into());
        }
        Ok(displayed_cells)
    }

    /// The texts are taken from the log entries after the snapshot root or loaded from chunks.
    /// Texts that are missing or corrupt are omitted.
    pub(super) async fn load_texts(
        &self,
        source: &SnapshotSource,
        hashes: &BTreeSet<ChunkHash>,
    ) -> Result<LongTexts, ReaderError> {
        let mut long_texts = LongTexts::default();
        if hashes.is_empty() {
            return Ok(long_texts);
        }
        let mut missing_hashes = hashes.clone();
        for tail_text in &self.tail.long_texts {
            let hash = ChunkHash(tail_text.hash);
            if missing_hashes.remove(&hash) {
                long_texts.by_hash.insert(hash, tail_text.text.clone());
            }
        }
        source.load_chunks(&Vec::from_iter(missing_hashes), &mut long_texts).await?;
        Ok(long_texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_to_the_used_range() {
        let everything = clip_to_extent(Rectangle::EVERYTHING, Extent { rows: 3, columns: 2 });
        assert_eq!(everything, (0..3, 0..2));
        let inside: cellar_sheet::a1::Range = "B2:C3".parse().unwrap();
        assert_eq!(clip_to_extent(inside.rectangle, Extent { rows: 9, columns: 2 }), (1..3, 1..2));
        let (rows, columns) = clip_to_extent(inside.rectangle, Extent { rows: 1, columns: 1 });
        assert!(rows.is_empty() && columns.is_empty());
    }
}
