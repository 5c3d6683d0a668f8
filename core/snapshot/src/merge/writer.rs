//! Writes the tiles of a new sheet, such as an imported sheet. Rows must be passed from top to
//! bottom. No levels are merged.

use std::collections::BTreeMap;

use super::pending_tile::{FinishedTile, PendingTile, RowTooLarge, TileEncoder};
use crate::level::{Stripe, StripeTile};
use crate::packed::PackedObject;
use crate::saturate::to_u64;
use crate::tile::Tile;
use cellar_base::limits::{MAX_TILE_CELLS, MAX_WRITER_BYTES, MIN_STRIPE_COLUMNS};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::Span;

/// Number of cells of the blocks that are read before the size of a tile is known.
const FIRST_BLOCK_CELLS: usize = MAX_TILE_CELLS / 8;

/// A tile with more cells, which take less than a byte each, is joined from several blocks. This
/// limits the memory of an import.
const MAX_BLOCK_CELLS: usize = MAX_TILE_CELLS / 2;

/// Tile writer of one sheet. Uses at most `MAX_WRITER_BYTES` of memory, not including the current
/// block.
#[derive(Debug, Clone, Default)]
pub struct SheetWriter {
    /// Stripes of `MIN_STRIPE_COLUMNS` columns each, keyed by stripe index.
    stripes: BTreeMap<u32, StripeWriter>,
    extent: Extent,
    cells: u64,
    formulas: u64,
}

#[derive(Debug, Clone)]
struct StripeWriter {
    columns: Span,
    pending: PendingTile,
    tiles: Vec<StripeTile>,
}

/// A sheet whose tiles have been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSheet {
    /// Stripes with their tiles, from left to right.
    pub stripes: Vec<Stripe>,
    /// Used range of the sheet.
    pub extent: Extent,
    /// Number of cells.
    pub cells: u64,
    /// Number of formulas.
    pub formulas: u64,
}

impl SheetWriter {
    /// Appends a block of rows below all earlier blocks. Returns the chunks to store. Row and
    /// column numbers are absolute within the sheet.
    ///
    /// # Errors
    /// Returns [`RowTooLarge`] if a row does not fit into a chunk.
    pub fn push(
        &mut self,
        block: Tile,
        encode_tile: TileEncoder<'_>,
    ) -> Result<Vec<PackedObject>, RowTooLarge> {
        self.append_block(block);
        let mut chunks = Vec::new();
        for stripe in self.stripes.values_mut() {
            while stripe.pending.is_full() {
                chunks.extend(stripe.cut_tile(encode_tile)?);
            }
        }
        while self.pending_bytes() > MAX_WRITER_BYTES {
            let Some(chunk) = self.cut_tile_of_largest_stripe(encode_tile)? else { break };
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    fn append_block(&mut self, block: Tile) {
        self.cells += to_u64(block.cell_count());
        self.formulas += to_u64(block.formula_count());
        for (stripe_index, stripe_cells) in split_by_stripe(block) {
            self.extend_extent(&stripe_cells);
            let stripe =
                self.stripes.entry(stripe_index).or_insert_with(|| StripeWriter::new(stripe_index));
            stripe.pending.append(stripe_cells);
        }
    }

    /// Returns the number of cells after which the next block should end. Such a block becomes a tile
    /// without a copy of its cells.
    #[must_use]
    pub fn next_block_cells(&self) -> usize {
        let tile_cells = self.stripes.values().map(|stripe| stripe.pending.tile_cells());
        tile_cells.reduce(usize::saturating_add).unwrap_or(FIRST_BLOCK_CELLS).min(MAX_BLOCK_CELLS)
    }

    /// Returns the tiles that have been written, by the first column of their stripe.
    pub fn written_tiles(&self) -> impl Iterator<Item = (u32, &[StripeTile])> {
        self.stripes.values().map(|stripe| (stripe.columns.first, stripe.tiles.as_slice()))
    }

    fn cut_tile_of_largest_stripe(
        &mut self,
        encode_tile: TileEncoder<'_>,
    ) -> Result<Option<PackedObject>, RowTooLarge> {
        let stripes = self.stripes.values_mut();
        match stripes.max_by_key(|stripe| stripe.pending.memory_bytes()) {
            Some(largest_stripe) => largest_stripe.cut_tile(encode_tile),
            None => Ok(None),
        }
    }

    fn extend_extent(&mut self, cells: &Tile) {
        if let (Some(last_column), Some(last_row)) =
            (cells.columns.last(), cells.end().checked_sub(1))
        {
            self.extent.cover(last_row, last_column.index);
        }
    }

    /// Finishes the sheet. Returns the sheet, and the remaining chunks to store.
    ///
    /// # Errors
    /// Returns [`RowTooLarge`] if a row does not fit into a chunk.
    pub fn finish(
        self,
        encode_tile: TileEncoder<'_>,
    ) -> Result<(WrittenSheet, Vec<PackedObject>), RowTooLarge> {
        let mut chunks = Vec::new();
        let mut written_stripes = Vec::new();
        let Self { stripes, extent, cells, formulas } = self;
        for mut stripe in stripes.into_values() {
            while !stripe.pending.is_empty() {
                chunks.extend(stripe.cut_tile(encode_tile)?);
            }
            if !stripe.tiles.is_empty() {
                written_stripes.push(Stripe { columns: stripe.columns, tiles: stripe.tiles });
            }
        }
        Ok((WrittenSheet { stripes: written_stripes, extent, cells, formulas }, chunks))
    }

    fn pending_bytes(&self) -> usize {
        self.stripes.values().map(|stripe| stripe.pending.memory_bytes()).sum()
    }
}

impl StripeWriter {
    fn new(stripe_index: u32) -> Self {
        let first_column = stripe_index * MIN_STRIPE_COLUMNS;
        let columns = Span { first: first_column, count: MIN_STRIPE_COLUMNS };
        Self { columns, pending: PendingTile::new(columns, None, None), tiles: Vec::new() }
    }

    fn cut_tile(
        &mut self,
        encode_tile: TileEncoder<'_>,
    ) -> Result<Option<PackedObject>, RowTooLarge> {
        let Some(FinishedTile { tile, object }) = self.pending.cut_tile(encode_tile)? else {
            return Ok(None);
        };
        self.tiles.push(tile);
        Ok(Some(object))
    }
}

fn split_by_stripe(block: Tile) -> BTreeMap<u32, Tile> {
    let mut cells_by_stripe: BTreeMap<u32, Tile> = BTreeMap::new();
    for column in block.columns {
        if !column.is_empty() {
            let stripe_index = column.index / MIN_STRIPE_COLUMNS;
            cells_by_stripe.entry(stripe_index).or_default().columns.push(column);
        }
    }
    cells_by_stripe
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::level::{ChunkHash, ChunkRef, StoredTile};
    use crate::tile::{TileColumn, TileValue};

    /// Returns a block with a number in each of the first `columns` columns of the given rows.
    fn block(rows: std::ops::Range<u32>, columns: u32) -> Tile {
        let column = |number| {
            let mut column = TileColumn::new(number);
            rows.clone().for_each(|row| column.values.push(row, TileValue::Number(row.into())));
            column
        };
        Tile { columns: (0..columns).map(column).collect() }
    }

    #[test]
    fn blocks_become_tiles_that_contain_every_cell_once() {
        for (columns, rows, bytes_per_cell) in [(3, 500, 400), (300, 40, 60), (1, 3, 1)] {
            let made: RefCell<Vec<Tile>> = RefCell::default();
            let encode = |tile: &Tile| {
                let stored = vec![0; tile.cell_count() * bytes_per_cell];
                let hash = ChunkHash([u8::try_from(made.borrow().len() % 256).unwrap(); 32]);
                let bytes = u32::try_from(stored.len()).unwrap();
                made.borrow_mut().push(tile.clone());
                Some(PackedObject { chunk: ChunkRef { hash, bytes }, stored })
            };
            let mut writer = SheetWriter::default();
            let mut chunks = Vec::new();
            for first in (0..rows).step_by(7) {
                chunks.extend(
                    writer.push(block(first..rows.min(first + 7), columns), &encode).unwrap(),
                );
            }
            let (sheet, last) = writer.finish(&encode).unwrap();
            chunks.extend(last);
            assert_eq!(sheet.cells, u64::from(columns * rows));
            assert_eq!(sheet.extent, Extent { rows, columns });
            let stripes = usize::try_from(columns.div_ceil(MIN_STRIPE_COLUMNS)).unwrap();
            assert_eq!(sheet.stripes.len(), stripes);
            let tiles = || sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
            assert_eq!(tiles().map(|tile| u64::from(tile.cells)).sum::<u64>(), sheet.cells);
            assert_eq!(tiles().count(), chunks.len());
            for stripe in &sheet.stripes {
                assert!(stripe.tiles.is_sorted_by(|a, b| a.rows.end() == b.rows.first));
            }
            assert!(tiles().all(|tile| matches!(tile.stored, StoredTile::Chunk(_))));
        }
    }

    #[test]
    fn the_next_block_becomes_a_tile() {
        for (columns, bytes_per_cell) in [(3, 5), (256, 3)] {
            let encode = |tile: &Tile| {
                let stored = vec![0; tile.cell_count() * bytes_per_cell];
                let chunk = ChunkRef { hash: ChunkHash([0; 32]), bytes: 0 };
                Some(PackedObject { chunk, stored })
            };
            let (mut writer, mut row) = (SheetWriter::default(), 0);
            assert_eq!(writer.next_block_cells(), FIRST_BLOCK_CELLS);
            for pushed in 0..12 {
                let rows = u32::try_from(writer.next_block_cells()).unwrap() / columns;
                let chunks = writer.push(block(row..row + rows, columns), &encode).unwrap();
                row += rows;
                let stripes = usize::try_from(columns.div_ceil(MIN_STRIPE_COLUMNS)).unwrap();
                assert!(pushed < 6 || chunks.len() == stripes, "{}", chunks.len());
            }
        }
        let encode = |_: &Tile| {
            let chunk = ChunkRef { hash: ChunkHash([0; 32]), bytes: 1 };
            Some(PackedObject { chunk, stored: vec![0] })
        };
        let mut writer = SheetWriter::default();
        writer.push(block(0..300_000, 1), &encode).unwrap();
        assert_eq!(writer.next_block_cells(), MAX_BLOCK_CELLS);
    }

    #[test]
    fn memory_is_bounded_however_many_stripes_there_are() {
        let encode = |tile: &Tile| {
            let bytes = u32::try_from(tile.cell_count()).unwrap();
            Some(PackedObject {
                chunk: ChunkRef { hash: ChunkHash([0; 32]), bytes },
                stored: Vec::new(),
            })
        };
        let mut writer = SheetWriter::default();
        let (mut row, mut chunks) = (0, 0);
        while chunks == 0 {
            chunks = writer.push(block(row..row + 20, 2_000), &encode).unwrap().len();
            assert!(writer.pending_bytes() <= MAX_WRITER_BYTES);
            row += 20;
            assert!(row < 2_000, "memory grows");
        }
    }
}
