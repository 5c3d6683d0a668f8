//! The cells of a rectangle, band by band: no more tiles are in memory than a band meets.

use std::collections::BTreeMap;
use std::ops::Range;

use cellar_api::wire::CellAt;
use cellar_base::limits::MAX_READ_BAND_TILES;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::{TileCell, visible_cells};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, ObjectKind};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::Tile;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::Source;
use super::opened::Opened;

/// Cells of the first band, blank ones included.
const BAND_CELLS: u32 = 32 * 1024;
/// Cells of a band that is said to be sparse: where there is little, more rows at once.
const SPARSE_BAND_CELLS: usize = 8 * 1024;
/// Cells of a band that is said to be dense: where there is much, fewer.
const DENSE_BAND_CELLS: usize = 64 * 1024;

/// The rows and columns of a rectangle that were ever written to.
fn written(rectangle: Rectangle, extent: Extent) -> (Range<u32>, Range<u32>) {
    let Rectangle { first, last } = rectangle;
    let rows = first.row..last.row.saturating_add(1).min(extent.rows);
    let columns = first.column..last.column.saturating_add(1).min(extent.columns);
    (rows, columns)
}

/// What to do when tiles are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Load them.
    Load,
    /// Forget those of earlier bands first; what this one meets of them is asked for again.
    Forget,
    /// Read fewer rows.
    Narrow,
}

impl Next {
    /// With so many tiles in memory and so many missing, for a band of so many rows.
    fn of(there: usize, missing: usize, rows: usize) -> Self {
        if missing == 0 || there.saturating_add(missing) <= MAX_READ_BAND_TILES {
            Self::Load
        } else if there > 0 {
            Self::Forget
        } else if rows > 1 {
            Self::Narrow
        } else {
            Self::Load
        }
    }
}

impl Opened {
    /// The cells of a rectangle that hold something, by row and column, texts whole.
    pub(super) async fn cells(
        &mut self,
        source: &Source,
        sheet: SheetId,
        rectangle: Rectangle,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let Some(own) = self.metadata.sheets.get(&sheet) else { return Ok(Vec::new()) };
        let (rows, columns) = written(rectangle, own.extent);
        let width = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        let mut band_rows = (BAND_CELLS / width.max(1)).max(1);
        let (mut row, mut found) = (rows.start, Vec::new());
        while row < rows.end && !columns.is_empty() {
            let end = row.saturating_add(band_rows).min(rows.end);
            let window = Window { rows: row..end, columns: columns.clone() };
            let Some(tile) = self.tile(source, sheet, &window).await? else {
                band_rows = (end.saturating_sub(row) / 2).max(1);
                continue;
            };
            let band = self.placed(source, sheet, &tile).await?;
            band_rows = match band.len() {
                ..SPARSE_BAND_CELLS => band_rows.saturating_mul(2),
                DENSE_BAND_CELLS.. => (band_rows / 2).max(1),
                _ => band_rows,
            };
            found.extend(band);
            row = end;
        }
        Ok(found)
    }

    /// A merged window; `None` if it is of several rows and meets more tiles than a band may.
    async fn tile(
        &mut self,
        source: &Source,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Option<Tile>, ReaderError> {
        loop {
            let (root, tail) = (self.root.as_ref(), &self.tail);
            let asked = view::window(root, tail, sheet, window, &self.objects);
            let wanted = match asked.map_err(|error| ReaderError::shape(source.log, &error))? {
                Fetch::Ready(tile) => return Ok(Some(tile)),
                Fetch::Need(wanted) => wanted,
            };
            let tiles = wanted.iter().filter(|wanted| wanted.kind == ObjectKind::Tile).count();
            let there = self.objects.tile_count();
            match Next::of(there, tiles, window.rows.len()) {
                Next::Load => source.load(&wanted, &mut self.objects).await?,
                Next::Forget => self.objects.drop_tiles(),
                Next::Narrow => return Ok(None),
            }
        }
    }

    /// The cells of a merged window.
    async fn placed(
        &self,
        source: &Source,
        sheet: SheetId,
        tile: &Tile,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let Some(own) = self.metadata.sheets.get(&sheet) else { return Ok(Vec::new()) };
        let found = visible_cells(tile, &own.formats);
        let texts = self.long_texts(source, &found).await?;
        let placed = found.into_iter().map(|placed| {
            let TileCell { row, column, mut cell, long_text } = placed;
            if let Some(hash) = long_text {
                let text = texts.get(&ChunkHash(hash));
                let lost = || Value::Error(ErrorCode::Lost);
                cell.value = text.map_or_else(lost, |text| Value::Text(text.clone()));
            }
            CellAt { row, column, cell }
        });
        Ok(placed.collect())
    }

    /// The long texts of cells, from objects of their own or from entries after the snapshot. Texts that are
    /// gone or damaged are left out.
    async fn long_texts(
        &self,
        source: &Source,
        found: &[TileCell],
    ) -> Result<BTreeMap<ChunkHash, String>, ReaderError> {
        let mut texts = BTreeMap::new();
        let hashes = found.iter().filter_map(|placed| placed.long_text.map(ChunkHash));
        let mut missing: Vec<ChunkHash> = hashes.collect();
        if missing.is_empty() {
            return Ok(texts);
        }
        missing.sort_unstable();
        missing.dedup();
        for text in &self.tail.long_texts {
            if let Ok(index) = missing.binary_search(&ChunkHash(text.hash)) {
                missing.remove(index);
                texts.insert(ChunkHash(text.hash), text.text.clone());
            }
        }
        let take = |hash: &ChunkHash, stored: &[u8]| {
            let bytes = unpack(*hash, stored, Bounds::TEXT).map_err(|why| why.to_string())?;
            let text = String::from_utf8(bytes).map_err(|why| why.to_string())?;
            texts.insert(*hash, text);
            Ok(())
        };
        source.chunks(&missing, |hash| *hash, take, |_, _| Ok(())).await?;
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_meets_as_many_tiles_as_may_be_in_memory_and_not_one_more() {
        let most = MAX_READ_BAND_TILES;
        for (there, missing, rows, next) in [
            (0, most, 2, Next::Load),
            (0, most + 1, 2, Next::Narrow),
            (0, most + 1, 1, Next::Load),
            (1, most - 1, 2, Next::Load),
            (1, most, 2, Next::Forget),
            (1, most, 1, Next::Forget),
            (most + 9, 0, 2, Next::Load),
        ] {
            assert_eq!(Next::of(there, missing, rows), next, "{there} {missing} {rows}");
        }
    }

    #[test]
    fn only_what_was_written_is_read() {
        let everything = written(Rectangle::EVERYTHING, Extent { rows: 3, columns: 2 });
        assert_eq!(everything, (0..3, 0..2));
        let inside: cellar_sheet::a1::Range = "B2:C3".parse().unwrap();
        assert_eq!(written(inside.rectangle, Extent { rows: 9, columns: 2 }), (1..3, 1..2));
        let (rows, columns) = written(inside.rectangle, Extent { rows: 1, columns: 1 });
        assert!(rows.is_empty() && columns.is_empty());
    }
}
