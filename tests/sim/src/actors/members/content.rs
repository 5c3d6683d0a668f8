//! Sheets that members import. There are only a few different contents, so that honest and hostile
//! members upload the same objects.

use std::collections::BTreeMap;

use cellar_base::limits::MIN_STRIPE_COLUMNS;
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, Span, TileIndex};
use cellar_snapshot::PackLimits;
use cellar_snapshot::chunk;
use cellar_snapshot::index::pack_level;
use cellar_snapshot::level::{
    ChunkHash, Level, LevelSheet, SheetMoves, StoredTile, Stripe, StripeTile,
};
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::{NamedText, Tile, TileColumn, TileValue, preview};

/// Number of distinct long texts.
pub(super) const TEXTS: u32 = 3;
/// Number of distinct row counts.
const ROWS: u32 = 4;
/// Limits that are so low that the tile index becomes a separate object.
const DEEP: PackLimits = PackLimits {
    inline_bytes: 60,
    inline_total_bytes: 60,
    chunk_bytes: 150,
    referenced_bytes: u64::MAX,
};
/// Limits with which the import operation itself contains the tile index.
const FLAT: PackLimits = PackLimits {
    inline_bytes: 4_096,
    inline_total_bytes: 4_096,
    chunk_bytes: 4_096,
    referenced_bytes: u64::MAX,
};

/// Returns one of the long texts, which all members use.
pub(super) fn long_text(number: u32) -> String {
    format!("text {number} ").repeat(600)
}

/// Returns the reference to a text, as stored in a tile.
pub(super) fn text_reference(text: &str) -> NamedText {
    NamedText {
        hash: ChunkHash::of(text.as_bytes()),
        bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
        preview: preview(text).to_owned(),
    }
}

/// A sheet, represented both as objects and as cells.
#[derive(Debug, Clone)]
pub(super) struct Content {
    /// The objects that contain the long texts.
    pub(super) texts: Vec<PackedObject>,
    /// The only tile.
    pub(super) tile: PackedObject,
    /// The chunks that contain the tile index.
    pub(super) index: Vec<PackedObject>,
    /// The sheet's cells.
    pub(super) cells: BTreeMap<(u32, u32), Value>,
    packed: TileIndex,
    extent: Extent,
}

impl Content {
    /// Creates a sheet with one of the few contents: numbers in the first column and a text in the
    /// second.
    pub(super) fn with_text(choice: u32, is_deep: bool) -> Option<Self> {
        let text = long_text(choice % TEXTS);
        let mut content = Self::with_references(choice, &[text_reference(&text)], is_deep)?;
        content.texts.push(pack(text.as_bytes(), Bounds::TEXT).ok()?);
        content.cells.insert((0, 1), Value::Text(text));
        Some(content)
    }

    /// Creates a sheet whose tile references `texts`. The texts do not have to exist.
    pub(super) fn with_references(choice: u32, texts: &[NamedText], is_deep: bool) -> Option<Self> {
        let (mut numbers, mut long) = (TileColumn::new(0), TileColumn::new(1));
        let mut cells = BTreeMap::new();
        for row in 0..1 + choice % ROWS {
            let number = f64::from(choice / ROWS + row);
            numbers.values.push(row, TileValue::Number(number));
            cells.insert((row, 0), Value::Number(number));
        }
        for (row, text) in (0..).zip(texts) {
            long.values.push_long_text(row, &text.preview, text.hash.0, text.bytes);
        }
        let tile = Tile { columns: vec![numbers, long] };
        let count = u32::try_from(tile.cell_count()).ok()?;
        let tile = pack(&chunk::encode(&tile).ok()?, Bounds::CHUNK).ok()?;
        Self::with_tile(tile, count, cells, is_deep)
    }

    /// Creates a sheet that consists of one tile with `count` cells.
    pub(super) fn with_tile(
        tile: PackedObject,
        count: u32,
        cells: BTreeMap<(u32, u32), Value>,
        is_deep: bool,
    ) -> Option<Self> {
        let rows = Span { first: 0, count: ROWS };
        let stored = StoredTile::Chunk(tile.chunk);
        let place = StripeTile { rows, cells: count, stored, formulas: None };
        let columns = Span { first: 0, count: MIN_STRIPE_COLUMNS };
        let stripe = Stripe { columns, tiles: vec![place] };
        let sheet =
            LevelSheet { sheet: SheetId(1), moves: SheetMoves::default(), stripes: vec![stripe] };
        let limits = if is_deep { DEEP } else { FLAT };
        let (packed, index) = pack_level(&Level { sheets: vec![sheet] }, limits).ok()?;
        let packed = packed.sheets.into_iter().next()?.stripes.to_import().ok()?;
        let extent = Extent { rows: ROWS, columns: 2 };
        Some(Self { texts: Vec::new(), tile, index, cells, packed, extent })
    }

    /// Returns all objects of the sheet.
    pub(super) fn objects(&self) -> impl Iterator<Item = &PackedObject> {
        self.texts.iter().chain([&self.tile]).chain(&self.index)
    }

    /// Returns the mutation that imports the sheet.
    pub(super) fn operation(&self, sheet: SheetId) -> Operation {
        Operation::ImportSheet(ImportSheet {
            sheet,
            name: "Imported".to_owned(),
            replaces: None,
            extent: self.extent,
            cells: u64::try_from(self.cells.len()).unwrap_or(u64::MAX),
            formulas: Some(0),
            sheets: BTreeMap::new(),
            tile_index: self.packed.clone(),
        })
    }
}
