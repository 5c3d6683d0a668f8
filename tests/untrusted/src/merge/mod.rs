//! Merges of levels (I7), including resumed ones.

mod choices;
mod levels;
mod progress;

use std::sync::Arc;

use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{Operation, Span};
use cellar_sheet::workbook::Workbook;
use cellar_snapshot::TileFormulas;
use cellar_snapshot::level::{ChunkHash, ChunkRef, StoredTile, StripeTile};
use cellar_snapshot::merge::{MergeCursor, MergedTile};
use cellar_snapshot::tile::Tile;

use self::choices::Choices;
use self::levels::{Levels, MergeParameters};
use super::entries::previewed;

/// Byte that ends a batch of operations, which is then folded and merged.
const MERGE: u8 = 0xFE;
/// Maximum operations of a batch, and maximum batches of an input. Small inputs suffice to find
/// defects.
const MAX_OPERATIONS: usize = 30;
const MAX_BATCHES: usize = 12;

/// Reads an input of one of three kinds. `m`: operations and merges, after which the levels must
/// show the cells of a replay. `h`: operations, followed by a merge from an arbitrary cursor over
/// arbitrary tiles. `c`: stored progress of a snapshot worker.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else { return false };
    match kind {
        b'm' => check_merges(&mut Choices(rest)),
        b'h' => check_hostile_merge(rest),
        b'c' => progress::read(rest),
        _ => false,
    }
}

fn draw_parameters(choices: &mut Choices<'_>) -> MergeParameters {
    MergeParameters {
        bytes_per_cell: usize::from(choices.byte()) * 32 + 1,
        resumed_every: usize::from(choices.byte() % 4),
        narrow: choices.byte() & 1 == 1,
    }
}

fn check_merges(choices: &mut Choices<'_>) -> bool {
    let (mut levels, mut replayed) = (Levels::new(draw_parameters(choices)), Workbook::default());
    let batches = draw_batches(choices);
    for (operations, merged) in &batches {
        if replayed.apply_operations(operations).is_err() {
            return false;
        }
        let inputs = levels.fold(operations, *merged);
        levels.merge(&inputs);
    }
    assert_shows(&levels, &replayed);
    batches.len() > 1
}

/// Operations, and the number of levels with which they are merged.
type OperationBatch = (Vec<Operation>, usize);

fn draw_batches(choices: &mut Choices<'_>) -> Vec<OperationBatch> {
    std::iter::from_fn(|| draw_batch(choices)).take(MAX_BATCHES).collect()
}

fn draw_batch(choices: &mut Choices<'_>) -> Option<OperationBatch> {
    if choices.is_empty() {
        return None;
    }
    let mut operations = Vec::new();
    while !choices.is_empty() && operations.len() < MAX_OPERATIONS {
        if choices.0.first() == Some(&MERGE) {
            choices.byte();
            break;
        }
        operations.extend(choices.operation());
    }
    Some((operations, usize::from(choices.byte() % 4)))
}

fn assert_shows(levels: &Levels, workbook: &Workbook) {
    assert_eq!(workbook.tabs(), &levels.metadata.tabs);
    assert_eq!(workbook.sheets().count(), levels.metadata.sheets.len());
    for (id, sheet) in workbook.sheets() {
        let own = levels.metadata.sheets.get(&id).expect("the same sheets");
        assert_eq!((sheet.extent(), sheet.formats()), (own.extent, &own.formats));
        let held = sheet.cells_in(Rectangle::EVERYTHING);
        let held: Vec<_> = held.map(|(place, cell)| (place, previewed(cell))).collect();
        assert_eq!(levels.visible_cells(id), held);
    }
}

/// Runs a merge of arbitrary data, which must end with valid tiles or a refusal.
fn check_hostile_merge(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let cursor = MergeCursor {
        sheet: u32::from(choices.byte()),
        stripe: u32::from(choices.byte()),
        row: choices.number(),
        density: choices.number(),
    };
    let done = (0..choices.byte() % 4).map(|_| any_tile(&mut choices)).collect();
    let (drop_tile, length) = (choices.byte(), usize::from(choices.byte()) * 8);
    let (chunk, rest) = choices.0.split_at(length.min(choices.0.len()));
    let other = cellar_snapshot::chunk::decode(chunk).ok().map(Arc::new);
    let mut choices = Choices(rest);
    let mut levels = Levels::new(draw_parameters(&mut choices));
    let mut last = Vec::new();
    for (operations, merged) in draw_batches(&mut choices) {
        levels.merge(&last);
        last = levels.fold(&operations, merged);
    }
    let change = |hash: ChunkHash, tile: Arc<Tile>| match hash.0.first() {
        Some(first) if first & drop_tile != 0 => other.clone().unwrap_or_default(),
        _ => tile,
    };
    levels.merge_hostile(&last, done, cursor, &change)
}

/// Returns formulas that read at most one area, or `None` if the drawn numbers are no formulas.
fn any_formulas(choices: &mut Choices<'_>) -> Option<TileFormulas> {
    let count = if choices.byte().is_multiple_of(2) { 2 } else { 7 };
    let numbers: Vec<u32> = (0..count).map(|_| u32::from(choices.byte())).collect();
    TileFormulas::from_numbers(&numbers)
}

fn any_tile(choices: &mut Choices<'_>) -> MergedTile {
    let rows = Span { first: choices.number(), count: choices.number() };
    let chunk = ChunkRef { hash: ChunkHash([choices.byte(); 32]), bytes: choices.number() };
    MergedTile {
        sheet: u32::from(choices.byte()),
        stripe: u32::from(choices.byte()),
        tile: StripeTile {
            rows,
            cells: choices.number(),
            stored: StoredTile::Chunk(chunk),
            formulas: any_formulas(choices),
        },
    }
}
