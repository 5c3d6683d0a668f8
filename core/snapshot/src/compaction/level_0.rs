//! What a compaction step comes to: a new level 0, or a merge.

use super::merge::MergePlan;
use super::next::{NextRoot, next_root};
use super::{Base, FoldedEntries, counts};
use crate::SnapshotError;
use crate::chunk;
use crate::level::{Level, LevelSheet, StoredTile, Stripe, TilePlace};
use crate::merge::{
    Below, InputCells, LevelInput, Part, Place, SheetInput, Window, composed, merge_window, sources,
};
use crate::tile::Tile;
use cellar_base::limits::{
    LEVEL_0_BYTES, MAX_COLUMNS, MAX_LEVEL_0_CELLS, MAX_LEVEL_CHANGES, MAX_ROWS, MAX_STRIPE_COLUMNS,
};
use cellar_sheet::operation::{SheetId, Span};

/// What is to be done for a compaction step.
#[derive(Debug, Clone)]
pub enum CompactionPlan {
    /// The new level 0 is small: this is the next root.
    LevelZero(Box<NextRoot>),
    /// It is merged with levels.
    Merge(Box<MergePlan>),
}

/// Plans a compaction step.
///
/// # Errors
/// [`SnapshotError`] if the next root would be beyond a limit.
pub fn plan_compaction(
    base: &Base,
    folded: &FoldedEntries,
) -> Result<CompactionPlan, SnapshotError> {
    let fits = || level_0(&inputs(base, folded, base.levels.len()));
    match if is_too_large(base, folded) { None } else { fits() } {
        Some(level) => {
            let root = next_root(base, folded, base.levels.clone(), Some(&level))?;
            Ok(CompactionPlan::LevelZero(Box::new(root)))
        }
        None => Ok(CompactionPlan::Merge(Box::new(MergePlan::new(base, folded)))),
    }
}

/// Whether nobody needs to try whether all fits into level 0: what is new takes as much a cell
/// as what is there.
fn is_too_large(base: &Base, folded: &FoldedEntries) -> bool {
    // Its cells are in chunks.
    if !folded.level.imported.sheets.is_empty() {
        return true;
    }
    let sizes = base.level_0.values().map(super::base::LevelZeroSheet::size);
    let add = |(cells, bytes): (usize, usize), more: (usize, usize)| {
        (cells.saturating_add(more.0), bytes.saturating_add(more.1))
    };
    let (cells, bytes) = sizes.fold((0, 0), add);
    let new = folded.level.sheets.iter().map(|sheet| sheet.tile.cells());
    let new = new.fold(0, usize::saturating_add);
    let of_new = bytes.saturating_mul(new).checked_div(cells).unwrap_or(0);
    bytes.saturating_add(of_new) > LEVEL_0_BYTES
}

/// Level 0 and what was folded, sheet by sheet, above so many levels.
fn inputs(base: &Base, folded: &FoldedEntries, levels: usize) -> Vec<SheetInput> {
    let sheets = folded.metadata.sheets.keys().filter_map(|id| {
        let level_0 = base.level_0.get(id).map(super::base::LevelZeroSheet::input);
        let new = folded.level.sheets.iter().find(|sheet| sheet.sheet == *id).cloned();
        let inputs: Vec<LevelInput> =
            level_0.into_iter().chain(new.map(LevelInput::folded)).collect();
        (!inputs.is_empty()).then(|| sheet_input(base, folded, *id, levels, inputs))
    });
    sheets.collect()
}

/// Levels of a sheet that become one above so many others.
pub(super) fn sheet_input(
    base: &Base,
    folded: &FoldedEntries,
    sheet: SheetId,
    levels: usize,
    inputs: Vec<LevelInput>,
) -> SheetInput {
    let metadata = folded.metadata.sheets.get(&sheet);
    let formatted = metadata.is_some_and(|metadata| !metadata.formats.is_empty());
    let below = match (base.is_below(sheet, levels), formatted) {
        (true, _) => Below::Levels,
        (false, true) => Below::Nothing,
        (false, false) => Below::NothingFormatted,
    };
    let columns = metadata.map_or(0, |metadata| metadata.extent.columns);
    let stripe_columns = MAX_STRIPE_COLUMNS;
    SheetInput { sheet, below, columns, stripe_columns, levels: inputs }
}

/// The inputs as one level inside the root; `None` if it would be too large for that.
fn level_0(inputs: &[SheetInput]) -> Option<Level> {
    let cells = inputs.iter().flat_map(|input| &input.levels).map(|level| match &level.cells {
        InputCells::Memory(tile) => tile.cells(),
        InputCells::Chunks(_) => usize::MAX,
    });
    if cells.fold(0, usize::saturating_add) > MAX_LEVEL_0_CELLS {
        return None;
    }
    let (mut level, mut bytes) = (Level::default(), 0_usize);
    for input in inputs {
        let (sheet, sheet_bytes) = merge_level_0_sheet(input)?;
        bytes = bytes.saturating_add(sheet_bytes);
        if bytes > LEVEL_0_BYTES || counts::changes(&sheet.moves) > MAX_LEVEL_CHANGES {
            return None;
        }
        if !sheet.is_nothing() {
            level.sheets.push(sheet);
        }
    }
    Some(level)
}

fn merge_level_0_sheet(input: &SheetInput) -> Option<(LevelSheet, usize)> {
    let moves = input.moves();
    let sources = sources(&moves);
    let parts =
        input.levels.iter().zip(&sources).filter_map(|(level, source)| match &level.cells {
            InputCells::Memory(tile) => {
                Some(Part { tile, first_row: 0, first_column: 0, place: Place::SHEET, source })
            }
            InputCells::Chunks(_) => None,
        });
    let parts: Vec<Part<'_>> = parts.collect();
    let window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
    let tile = merge_window(&parts, &window, input.below);
    let (stripes, bytes) = match tile.is_empty() {
        true => (Vec::new(), 0),
        false => inline(&tile)?,
    };
    let moves = composed(&moves).above(input.below);
    Some((LevelSheet { sheet: input.sheet, moves, stripes }, bytes))
}

/// One tile of the whole sheet, in the root.
fn inline(tile: &Tile) -> Option<(Vec<Stripe>, usize)> {
    let bytes = chunk::encode(tile).ok()?;
    let length = bytes.len();
    let cells = u32::try_from(tile.cells()).ok()?;
    let columns = tile.columns.last()?.column.saturating_add(1);
    let stored = StoredTile::Inline(bytes);
    let place = TilePlace { rows: Span { first: 0, count: tile.end() }, cells, stored };
    let columns = Span { first: 0, count: columns };
    Some((vec![Stripe { columns, tiles: vec![place] }], length))
}
