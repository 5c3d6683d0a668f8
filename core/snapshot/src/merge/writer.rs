//! Tiles of a sheet whose rows come from top to bottom: an import, which has nothing to merge with.

use std::collections::BTreeMap;

use super::TileEncoder;
use super::pending::{CutTile, Pending, RowTooLarge};
use crate::level::{Stripe, TilePlace};
use crate::packed::PackedObject;
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{MAX_WRITER_BYTES, MIN_STRIPE_COLUMNS};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::Span;

/// Writes the tiles of one sheet, with no more in memory than `MAX_WRITER_BYTES` and one block.
#[derive(Debug, Clone, Default)]
pub struct SheetWriter {
    /// By the number of the stripe, all of the narrowest width.
    stripes: BTreeMap<u32, WrittenStripe>,
    extent: Extent,
    cells: u64,
}

#[derive(Debug, Clone)]
struct WrittenStripe {
    pending: Pending,
    tiles: Vec<TilePlace>,
}

/// A sheet that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSheet {
    /// Its tiles.
    pub stripes: Vec<Stripe>,
    /// How far it goes.
    pub extent: Extent,
    /// Its cells.
    pub cells: u64,
}

impl SheetWriter {
    /// Adds rows below those that were added before, in rows and columns of the sheet. Gives the
    /// chunks to store.
    ///
    /// # Errors
    /// [`RowTooLarge`] if a row fits no chunk.
    pub fn push(
        &mut self,
        block: Tile,
        encode: TileEncoder<'_>,
    ) -> Result<Vec<PackedObject>, RowTooLarge> {
        self.cells = self.cells.saturating_add(u64::try_from(block.cells()).unwrap_or(u64::MAX));
        for (number, part) in by_stripe(block) {
            if let (Some(last), end @ 1..) = (part.columns.last(), part.end()) {
                self.extent.cover(end.saturating_sub(1), last.column);
            }
            let first = number.saturating_mul(MIN_STRIPE_COLUMNS);
            let columns = Span { first, count: MIN_STRIPE_COLUMNS };
            let new = || WrittenStripe { pending: Pending::new(columns, None), tiles: Vec::new() };
            self.stripes.entry(number).or_insert_with(new).pending.append(part);
        }
        let mut chunks = Vec::new();
        for stripe in self.stripes.values_mut() {
            while stripe.pending.is_full() {
                chunks.extend(stripe.cut(encode)?);
            }
        }
        while self.pending_bytes() > MAX_WRITER_BYTES {
            let largest = self.stripes.values_mut().max_by_key(|stripe| stripe.pending.bytes());
            match largest.map(|stripe| stripe.cut(encode)).transpose()?.flatten() {
                Some(chunk) => chunks.push(chunk),
                None => break,
            }
        }
        Ok(chunks)
    }

    /// All is there: the last chunks, and where all tiles are.
    ///
    /// # Errors
    /// As [`SheetWriter::push`].
    pub fn finish(
        mut self,
        encode: TileEncoder<'_>,
    ) -> Result<(WrittenSheet, Vec<PackedObject>), RowTooLarge> {
        let mut chunks = Vec::new();
        for stripe in self.stripes.values_mut() {
            while !stripe.pending.is_empty() {
                chunks.extend(stripe.cut(encode)?);
            }
        }
        let stripes = self.stripes.into_iter().map(|(number, stripe)| {
            let first = number.saturating_mul(MIN_STRIPE_COLUMNS);
            Stripe { columns: Span { first, count: MIN_STRIPE_COLUMNS }, tiles: stripe.tiles }
        });
        let stripes = stripes.filter(|stripe| !stripe.tiles.is_empty()).collect();
        Ok((WrittenSheet { stripes, extent: self.extent, cells: self.cells }, chunks))
    }

    fn pending_bytes(&self) -> usize {
        let bytes = self.stripes.values().map(|stripe| stripe.pending.bytes());
        bytes.fold(0, usize::saturating_add)
    }
}

impl WrittenStripe {
    fn cut(&mut self, encode: TileEncoder<'_>) -> Result<Option<PackedObject>, RowTooLarge> {
        let cut = self.pending.cut(encode)?;
        Ok(cut.map(|CutTile { place, object }| {
            self.tiles.push(place);
            object
        }))
    }
}

/// A block's columns by the stripes they belong to.
fn by_stripe(block: Tile) -> BTreeMap<u32, Tile> {
    let mut parts: BTreeMap<u32, Tile> = BTreeMap::new();
    for column in block.columns.into_iter().filter(|column| !TileColumn::is_empty(column)) {
        parts.entry(column.column / MIN_STRIPE_COLUMNS).or_default().columns.push(column);
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::level::{ChunkHash, ChunkRef, StoredTile};
    use crate::tile::TileValue;

    /// Rows `first..end` of some columns, all numbers.
    fn block(rows: std::ops::Range<u32>, columns: u32) -> Tile {
        let column = |number| {
            let mut column = TileColumn::new(number);
            rows.clone().for_each(|row| column.values.push(row, TileValue::Number(row.into())));
            column
        };
        Tile { columns: (0..columns).map(column).collect() }
    }

    #[test]
    fn rows_in_blocks_become_tiles_that_hold_every_cell_once() {
        for (columns, rows, bytes_per_cell) in [(3, 500, 400), (300, 40, 60), (1, 3, 1)] {
            let made: RefCell<Vec<Tile>> = RefCell::default();
            let encode = |tile: &Tile| {
                let stored = vec![0; tile.cells() * bytes_per_cell];
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
    fn memory_is_bounded_however_many_stripes_there_are() {
        let encode = |tile: &Tile| {
            let bytes = u32::try_from(tile.cells()).unwrap();
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
