//! Tiles and runs of cells that contain formulas, and the cells that these formulas read.

use std::sync::Arc;

use crate::error::SnapshotError;
use crate::index::{LocatedTile, PackedLevel, PackedSheet};
use crate::level::{Region, StoredTile, StripeTile};
use crate::objects::{MissingObjects, ObjectKind, Objects, to_fetch};
use crate::outdated::changes::rectangle;
use crate::tile_formulas::{FormulaRun, formula_runs};
use cellar_base::limits::MAX_SHEET_READ_AREAS;
use cellar_formula::ReadAreas;
use cellar_formula::changes::MovedLines;
use cellar_sheet::a1::{CellName, SheetArea};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Spans};

/// Formulas whose values are outdated or not as a whole, in the coordinates of the root.
#[derive(Debug, Clone)]
pub(super) struct FormulaArea<'a> {
    /// The cells, or `None` if they are not known yet.
    pub(super) cells: Option<SheetArea>,
    /// The cells and other inputs of the formulas, or `None` if they are not known.
    pub(super) reads: Option<ReadAreas>,
    /// The smaller areas of which it consists, if there are any.
    pub(super) parts: Option<Parts<'a>>,
}

/// Where the smaller areas of formulas are listed.
#[derive(Debug, Clone)]
pub(super) enum Parts<'a> {
    /// The tiles of a sheet of a level.
    Tiles(&'a PackedLevel, SheetId, Arc<MovedLines>),
    /// The runs of formulas of a tile whose formulas are far apart.
    Runs(LocatedTile, SheetId, Arc<MovedLines>),
}

impl<'a> FormulaArea<'a> {
    /// Returns the formulas of a sheet in a level. `moves` leads from the level to the root. Returns
    /// `None` if there are none.
    pub(super) fn of_sheet(
        level: &'a PackedLevel,
        packed: &PackedSheet,
        moves: &Arc<MovedLines>,
    ) -> Option<Self> {
        if packed.formulas == Some(0) {
            return None;
        }
        let parts = Parts::Tiles(level, packed.sheet, Arc::clone(moves));
        let reads = packed.reads.as_ref().map(|reads| reads.moved(moves));
        Some(Self { cells: None, reads, parts: Some(parts) })
    }

    /// Returns `None` if the tile has no formulas, or if no row or column of it is left.
    fn of_tile(located: LocatedTile, sheet: SheetId, moves: &Arc<MovedLines>) -> Option<Self> {
        let LocatedTile { columns, tile } = &located;
        if !tile.may_have_formulas() {
            return None;
        }
        let cells =
            moves.moved_area(&SheetArea { sheet, cells: rectangle(tile.rows, *columns) })?;
        let reads = tile.formulas.as_ref().map(|formulas| formulas.reads.moved(moves));
        let has_runs = reads.is_some() && is_sparse(tile);
        let parts = has_runs.then(|| Parts::Runs(located, sheet, Arc::clone(moves)));
        Some(Self { cells: Some(cells), reads, parts })
    }

    fn of_run(run: &FormulaRun, sheet: SheetId, moves: &MovedLines) -> Option<Self> {
        let cells = moves.moved_area(&SheetArea { sheet, cells: run.cells })?;
        let mut reads = ReadAreas::default();
        reads.add_traits(run.template.traits());
        reads.add_run(&run.template_run(sheet), MAX_SHEET_READ_AREAS);
        Some(Self { cells: Some(cells), reads: Some(reads.moved(moves)), parts: None })
    }
}

/// Returns whether the formulas of a tile are considered run by run: if few of its rows have cells,
/// as in newer levels, or if the tile is in the index and needs not be loaded.
fn is_sparse(tile: &StripeTile) -> bool {
    const MIN_CELLS_PER_ROW: f64 = 0.5;
    let is_inline = matches!(tile.stored, StoredTile::Inline(_));
    is_inline || f64::from(tile.cells) < f64::from(tile.rows.count) * MIN_CELLS_PER_ROW
}

impl Parts<'_> {
    pub(super) fn sheet(&self) -> SheetId {
        match self {
            Self::Tiles(_, sheet, _) | Self::Runs(_, sheet, _) => *sheet,
        }
    }

    /// Returns whether the parts are in a tile that is stored in a chunk.
    pub(super) fn are_in_chunk(&self) -> bool {
        match self {
            Self::Tiles(..) => false,
            Self::Runs(located, ..) => matches!(located.tile.stored, StoredTile::Chunk(_)),
        }
    }

    /// Returns the smaller areas. Adds the objects that are not loaded to `missing`.
    pub(super) fn load<'a>(
        &self,
        objects: &Objects,
        missing: &mut MissingObjects,
    ) -> Result<Vec<FormulaArea<'a>>, SnapshotError> {
        match self {
            Self::Tiles(level, sheet, moves) => {
                let rows = Spans::all(Axis::Rows);
                let region = Region { rows, columns: Spans::all(Axis::Columns) };
                let lookup = level.tiles(*sheet, &region, &|hash| objects.index.get(hash))?;
                let fetch = to_fetch(lookup, ObjectKind::Index);
                let tiles = missing.ready_or_record_missing(fetch).unwrap_or_default();
                let of_tile = |located| FormulaArea::of_tile(located, *sheet, moves);
                Ok(tiles.into_iter().filter_map(of_tile).collect())
            }
            Self::Runs(located, sheet, moves) => {
                let stored = &located.tile.stored;
                let Some(tile) = missing.ready_or_record_missing(objects.stored_tile(stored)?)
                else {
                    return Ok(Vec::new());
                };
                let corner =
                    CellName { row: located.tile.rows.first, column: located.columns.first };
                let runs = formula_runs(&tile, corner);
                Ok(runs.iter().filter_map(|run| FormulaArea::of_run(run, *sheet, moves)).collect())
            }
        }
    }
}
