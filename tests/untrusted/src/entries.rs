//! Bodies of entries.

use cellar_base::identity::ClientKey;
use cellar_base::limits::{
    MAX_CELLS_PER_UPLOAD, MAX_COLUMNS, MAX_MUTATIONS_PER_REQUEST, MAX_ROWS, MAX_TILE_TEXT_BYTES,
};
use cellar_base::position::Position;
use cellar_log::entry::{
    Edits, Mutation, decode_edits, decode_external, decode_external_body, encode_edits_body,
    encode_external, encode_external_body,
};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::Workbook;
use cellar_snapshot::cells::visible_cells;
use cellar_snapshot::compaction::{
    CompactionBase, CompactionFold, CompactionPlan, FoldedEntries, plan_compaction,
};
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, Objects};
use cellar_snapshot::root::Root;
use cellar_snapshot::view;

const CLIENT: ClientKey = ClientKey([7; 8]);
const FIRST_ID: u64 = 5;

fn position() -> Position {
    Position::new(3, 1_000).unwrap()
}

/// Reads a version byte and a body: edits, or the reference to an external body. A readable body
/// must encode to the same value, and its operations must apply or be refused without a panic.
pub(super) fn body(bytes: &[u8]) -> bool {
    let Some((version, body)) = bytes.split_first() else { return false };
    let version = u64::from(*version);
    let edits = decode_edits(version, position(), CLIENT, FIRST_ID, body);
    if let Ok(edits) = &edits {
        same_again(edits);
        let operations = edits.mutations.iter().map(Mutation::committed_operations);
        apply(&operations.collect::<Vec<_>>());
    }
    let object = || "uploads/x".to_owned();
    let external = decode_external(version, position(), CLIENT, FIRST_ID, object(), body);
    let Ok(external) = external else { return edits.is_ok() };
    let (version, again) = encode_external(position(), &external).unwrap();
    let read = decode_external(version, position(), CLIENT, FIRST_ID, object(), &again);
    assert_eq!(read, Ok(external));
    true
}

fn same_again(edits: &Edits) {
    let (version, again) = encode_edits_body(position(), edits).unwrap();
    let read = decode_edits(version, position(), CLIENT, FIRST_ID, &again).unwrap();
    let mut ordered = edits.clone();
    for mutation in &mut ordered.mutations {
        in_order(&mut mutation.authored);
        mutation.committed.iter_mut().flatten().for_each(in_order);
    }
    assert_eq!(read, ordered);
}

/// Sorts cells by row and column. The input may have cells in any order and repeat a cell (the last
/// one wins), but the encoder sorts them.
fn in_order(operation: &mut Operation) {
    if let Operation::SetCells(set) = operation {
        set.cells.sort_by_key(|edit| (edit.row, edit.column));
    }
}

/// Checks that every stored operation applies or does nothing, and that a snapshot shows the same
/// cells as a workbook: of all operations together, and of the second half on top of the first.
fn apply(operations: &[&[Operation]]) {
    let mut workbook = Workbook::default();
    for operations in operations {
        if workbook.apply_operations(operations).is_err() {
            return;
        }
    }
    let (first, second) = operations.split_at(operations.len() / 2);
    let nothing = CompactionBase::default();
    // A tile index may be unreadable; an append would refuse it.
    let Some(folded) = fold(&nothing, operations) else { return };
    assert_shows(None, &folded, &workbook);
    let Some(earlier) = fold(&nothing, first) else { return };
    let CompactionPlan::LevelZero(next) = plan_compaction(&nothing, &earlier).expect("a next root")
    else {
        return;
    };
    let objects = Objects::default();
    let Ok(Fetch::Ready(base)) = CompactionBase::open(&next.root, &objects) else { return };
    let Some(later) = fold(&base, second) else { return };
    assert_shows(Some(&next.root), &later, &workbook);
}

fn fold(base: &CompactionBase, operations: &[&[Operation]]) -> Option<FoldedEntries> {
    let mut fold = CompactionFold::new(base);
    fold.fold_entry(position(), 1, Some((CLIENT, FIRST_ID)), operations).ok()?;
    Some(fold.finish().expect("there is an entry"))
}

fn assert_shows(root: Option<&Root>, folded: &FoldedEntries, workbook: &Workbook) {
    let window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
    let first = CellName { row: 0, column: 0 };
    let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
    assert_eq!(folded.metadata.sheets.len(), workbook.sheets().count());
    for (id, sheet) in workbook.sheets() {
        let metadata = folded.metadata.sheets.get(&id).expect("the same sheets");
        assert_eq!(metadata.extent, sheet.extent());
        let tabs = &folded.metadata.tabs;
        let shown = view::read_window(root, &folded.level, tabs, id, &window, &Objects::default());
        // Formats and maps may be stored in separate chunks.
        let Fetch::Ready(tile) = shown.expect("a window") else { return };
        let shown = visible_cells(&tile, &metadata.formats).into_iter();
        let shown = shown.map(|cell| ((cell.row, cell.column), cell.cell));
        let held = sheet.cells_in(Rectangle { first, last });
        let held = held.map(|(place, cell)| (place, previewed(cell)));
        assert_eq!(shown.collect::<Vec<_>>(), held.collect::<Vec<_>>());
    }
}

/// Truncates a cell's text to the length that a tile stores.
pub(super) fn previewed(mut cell: Cell) -> Cell {
    if let Value::Text(text) = &mut cell.value
        && text.len() > MAX_TILE_TEXT_BYTES
    {
        text.truncate(text.floor_char_boundary(MAX_TILE_TEXT_BYTES));
    }
    cell
}

/// Reads an external body: after a 0 byte the stored object, after any other byte its uncompressed
/// content.
pub(super) fn external_body(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else { return false };
    let object = match kind {
        0 => rest.to_vec(),
        _ => [[1].as_slice(), &zstd::bulk::compress(rest, 1).unwrap()].concat(),
    };
    let Ok(operations) = decode_external_body(&object) else { return false };
    assert!(operations.len() <= MAX_MUTATIONS_PER_REQUEST);
    let cells = operations.iter().map(|operation| match operation {
        Operation::SetCells(set) => set.cells.len(),
        other => panic!("{other:?} is in an object"),
    });
    assert!(cells.sum::<usize>() <= MAX_CELLS_PER_UPLOAD);
    let again = encode_external_body(&operations).expect("what was read can be written");
    let mut ordered = operations;
    ordered.iter_mut().for_each(in_order);
    assert_eq!(decode_external_body(&again), Ok(ordered));
    true
}
