//! Undo and diff of imports, and of edits of imported sheets.

use cellar_sheet::operation::Undo;
use cellar_sheet::workbook::{SheetChange, WorkbookDiff};

use super::*;

impl World {
    /// Creates a spreadsheet with an imported sheet of two tiles that replaces the first sheet; the
    /// import is at 0.1.
    async fn imported() -> (Self, Sheet) {
        let (world, sheet) = (Self::new().await, Sheet::new(1, 2, FLAT));
        world.upload_all(&sheet).await;
        let Operation::ImportSheet(import) = sheet.operation() else { panic!() };
        let import = ImportSheet { replaces: Some(SheetId::FIRST), ..import };
        world.append(vec![Operation::ImportSheet(import)]).await.unwrap();
        (world, sheet)
    }

    async fn edit(&self, id: u64, base: Position, operation: Operation) -> Appended {
        let mutations = vec![NewMutation { id, base, operation }];
        let request =
            Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, id - 1, mutations)
                .unwrap();
        self.another().append(request).await.unwrap()
    }

    async fn diff(&self, from: Position, to: Position) -> WorkbookDiff {
        self.another().diff(log(), from, to).await.unwrap()
    }
}

fn set_number(row: u32, number: f64) -> Operation {
    let value = Some(Value::Number(number));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SHEET, cells })
}

fn undo(target: Position) -> Operation {
    Operation::Undo(Undo { position: target })
}

#[tokio::test]
async fn an_edit_of_an_imported_sheet_is_undone_and_diffed() {
    let (world, sheet) = World::imported().await;
    let edited = at(0, 2);
    world.edit(2, at(0, 1), set_number(ROWS - 1, 77.0)).await;
    assert_eq!(world.shown().await, ["77", "1"]);
    let calls = world.blobs.faults.requests();
    let diff = world.diff(at(0, 1), edited).await;
    assert_eq!(world.blobs.faults.requests() - calls, 1, "one tile is read, not the other");
    let [cell] = diff.sheets[0].cells.as_slice() else { panic!("{diff:?}") };
    assert_eq!((cell.row, cell.before.text(), cell.after.text()), (9, "0".into(), "77".into()));
    let undone = world.edit(3, edited, undo(edited)).await;
    assert_eq!(undone.results[0].rejection, None);
    assert_eq!(world.shown().await, sheet.numbers());
}

#[tokio::test]
async fn an_import_is_diffed_and_undone() {
    let (world, _) = World::imported().await;
    world.edit(2, at(0, 1), set_number(0, 5.0)).await;
    let diff = world.diff(at(0, 0), at(0, 2)).await;
    let of = |change| diff.sheets.iter().find(|sheet| sheet.change == change).unwrap();
    let cells: Vec<_> =
        of(SheetChange::Added).cells.iter().map(|cell| (cell.row, cell.after.text())).collect();
    assert_eq!(cells, [(0, "5".into()), (9, "0".into()), (19, "1".to_owned())]);
    assert_eq!(of(SheetChange::Deleted).sheet, SheetId::FIRST);
    let back = world.diff(at(0, 2), at(0, 0)).await;
    let gone = back.sheets.iter().find(|sheet| sheet.change == SheetChange::Deleted).unwrap();
    assert_eq!(gone.deleted_cells.len(), 3);

    // An edited import stays. After the edit is undone, the import can be undone, and the first
    // sheet is back.
    let refused = world.edit(3, at(0, 2), undo(at(0, 1))).await;
    assert_eq!(refused.results[0].rejection, None, "the first sheet comes back");
    assert_eq!(world.shown().await, ["5", "0", "1"]);
    let sheets = |metadata: &cellar_sheet::metadata::WorkbookMetadata| metadata.tabs.order().len();
    let view = world.another().open_view(log(), None, None).await.unwrap();
    assert_eq!(sheets(&view.metadata), 2);
}

#[tokio::test]
async fn an_unedited_import_is_undone() {
    let (world, _) = World::imported().await;
    let undone = world.edit(2, at(0, 1), undo(at(0, 1))).await;
    assert_eq!(undone.results[0].rejection, None);
    let view = world.another().open_view(log(), None, None).await.unwrap();
    let [only] = view.metadata.tabs.order() else { panic!("{:?}", view.metadata.tabs) };
    assert_ne!(*only, SHEET);
    assert_eq!(view.metadata.tabs.name(*only), Some(cellar_sheet::operation::FIRST_SHEET_NAME));
}
