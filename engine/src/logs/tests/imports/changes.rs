//! Undo and diff of imports, and of edits of imported sheets.

use cellar_sheet::operation::{AddSheet, DeleteSheet, InsertBefore, RejectionReason, Revert, Undo};
use cellar_sheet::workbook::{ReversalCounts, ReversalReport, SheetChange, WorkbookDiff};

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

    pub(super) async fn edit(&self, id: u64, base: Position, operation: Operation) -> Appended {
        let mutations = vec![NewMutation { id, base, operation }];
        let request =
            Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, id - 1, mutations)
                .unwrap();
        self.another().append(request).await.unwrap()
    }

    async fn sheet_names(&self) -> Vec<String> {
        let view = self.another().open_view(log(), None, None).await.unwrap();
        let tabs = &view.metadata.tabs;
        tabs.order().iter().map(|sheet| tabs.name(*sheet).unwrap().to_owned()).collect()
    }

    async fn texts_of_only_sheet(&self) -> Vec<String> {
        texts(&self.another(), None).await
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
async fn the_history_of_a_cell_begins_with_its_import() {
    let (world, _) = World::imported().await;
    world.edit(2, at(0, 1), set_number(ROWS - 1, 77.0)).await;
    let query = super::super::cell_history::query("A10");
    let history = world.another().cell_history(log(), &query).await.unwrap();
    let lines: Vec<_> = history.changes.iter().map(super::super::cell_history::line).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("0.2 ") && lines[0].ends_with("A10 \"0\" -> \"77\""), "{lines:?}");
    assert!(lines[1].starts_with("0.1 ") && lines[1].ends_with("SheetImported"), "{lines:?}");
    assert_eq!(history.next, None);
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

    // An edited import stays as a whole. After the edit is undone, the import can be undone, and
    // the first sheet is back.
    let refused = world.edit(3, at(0, 2), undo(at(0, 1))).await;
    let rejection = refused.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::ChangedSince);
    assert!(rejection.detail.contains("`Imported`"), "{}", rejection.detail);
    for part in ["changed since (1 cell)", "the newest at 0.2, then undo 0.1 again"] {
        assert!(rejection.detail.contains(part), "{}", rejection.detail);
    }
    assert_eq!(world.shown().await, ["5", "0", "1"]);
    assert_eq!(world.sheet_names().await, ["Imported"]);
    world.edit(4, at(0, 3), undo(at(0, 2))).await;
    let undone = world.edit(5, at(0, 4), undo(at(0, 1))).await;
    assert_eq!(undone.results[0].rejection, None);
    let restored = ReversalCounts { cells: 1, sheets: 2, ..ReversalCounts::default() };
    let report = ReversalReport { restored, ..ReversalReport::default() };
    assert_eq!(undone.results[0].reversal, Some(report), "the import states that it has one cell");
    assert_eq!(world.sheet_names().await, ["Sheet1"]);
}

#[tokio::test]
async fn an_undone_import_is_redone_from_its_chunks() {
    let (world, sheet) = World::imported().await;
    world.edit(2, at(0, 1), set_number(0, 5.0)).await;
    let insert = InsertBefore { sheet: SHEET, before: 1, count: 1 };
    world.edit(3, at(0, 2), Operation::InsertRows(insert)).await;
    // Another import replaces the sheet, and is undone.
    let Operation::ImportSheet(import) = sheet.operation_for(SheetId(2)) else { panic!() };
    let import = ImportSheet { replaces: Some(SHEET), name: "New".to_owned(), ..import };
    world.edit(4, at(0, 3), Operation::ImportSheet(import)).await;
    let undone = world.edit(5, at(0, 4), undo(at(0, 4))).await;
    let committed = undone.results[0].committed.clone().unwrap();
    let imports = |operations: &[Operation]| {
        operations.iter().filter(|operation| matches!(operation, Operation::ImportSheet(_))).count()
    };
    assert_eq!(imports(&committed), 1, "{committed:?}");
    assert_eq!(world.sheet_names().await, ["Imported"]);
    assert_eq!(world.texts_of_only_sheet().await, ["5", "0", "1"], "with the edit before");
    assert_eq!(world.diff(at(0, 3), at(0, 5)).await.sheets, []);
    // A revert to the unedited import uses the chunks as well, and a redo of the revert.
    let reverted = world.edit(6, at(0, 5), Operation::Revert(Revert::whole(at(0, 1)))).await;
    assert_eq!(reverted.results[0].rejection, None);
    assert_eq!(world.texts_of_only_sheet().await, sheet.numbers());
    let redone = world.edit(7, at(0, 6), undo(at(0, 6))).await;
    assert_eq!(redone.results[0].rejection, None);
    assert_eq!(world.texts_of_only_sheet().await, ["5", "0", "1"]);
}

#[tokio::test]
async fn edits_are_redone_after_the_import_of_their_sheet() {
    let (world, sheet) = World::imported().await;
    // The last row of the first tile contains an imported number.
    world.edit(2, at(0, 1), set_number(ROWS - 1, 5.0)).await;
    let insert = InsertBefore { sheet: SHEET, before: 1, count: 1 };
    world.edit(3, at(0, 2), Operation::InsertRows(insert)).await;
    // Undoes the insertion, the edit and the import, and redoes them.
    for (id, target) in (4..).zip([3, 2, 1, 6, 5, 4]) {
        let done = world.edit(id, at(0, u32::try_from(id).unwrap() - 1), undo(at(0, target))).await;
        assert_eq!(done.results[0].rejection, None, "{target}");
        let expected = match target {
            3..=5 => ["5".to_owned(), "1".to_owned()].to_vec(),
            1 => Vec::new(),
            _ => sheet.numbers(),
        };
        assert_eq!(world.texts_of_only_sheet().await, expected, "{target}");
    }
    assert_eq!(world.diff(at(0, 3), at(0, 9)).await.sheets, []);
}

#[tokio::test]
async fn an_import_that_was_undone_and_redone_is_undone_again() {
    let (world, sheet) = World::imported().await;
    let step = async |id: u64, operation: Operation| {
        let base = at(0, u32::try_from(id).unwrap() - 1);
        world.edit(id, base, operation).await.results[0].rejection.clone()
    };
    // Undone and redone twice, at 0.2 to 0.5.
    for (id, target) in (2..).zip([1, 2, 1, 4]) {
        assert_eq!(step(id, undo(at(0, target))).await, None, "{target}");
    }
    assert_eq!(world.texts_of_only_sheet().await, sheet.numbers());
    let Operation::SetCells(edit) = set_number(0, 5.0) else { panic!() };
    let number = world.another().workbook(log(), None, None).await.unwrap().workbook;
    let number = number.tabs().order()[0];
    let edit = Operation::SetCells(SetCells { sheet: number, ..edit });
    assert_eq!(step(6, edit).await, None);
    let refused = step(7, undo(at(0, 1))).await.unwrap();
    for part in ["`Imported`", "changed since (1 cell)", "the newest at 0.6, then undo 0.1 again"] {
        assert!(refused.detail.contains(part), "{}", refused.detail);
    }
    assert_eq!(step(8, undo(at(0, 6))).await, None);
    assert_eq!(step(9, undo(at(0, 1))).await, None);
    assert_eq!(world.sheet_names().await, ["Sheet1"]);
    assert_eq!(world.texts_of_only_sheet().await, [""; 0]);
}

#[tokio::test]
async fn an_import_that_was_recovered_with_edits_is_undone_after_these() {
    let (world, _) = World::imported().await;
    world.edit(2, at(0, 1), set_number(0, 5.0)).await;
    let added = AddSheet { sheet: SheetId(2), name: "Other".to_owned(), before: None };
    world.edit(3, at(0, 2), Operation::AddSheet(added)).await;
    world.edit(4, at(0, 3), Operation::DeleteSheet(DeleteSheet { sheet: SHEET })).await;
    world.edit(5, at(0, 4), undo(at(0, 4))).await;
    let refused = world.edit(6, at(0, 5), undo(at(0, 1))).await.results[0].rejection.clone();
    let detail = refused.unwrap().detail;
    assert!(detail.contains("(1 cell), so") && detail.contains("newest at 0.2"), "{detail}");
    // The edit is undone in the recovered sheet, and then the import.
    for (id, target) in [(7, 2), (8, 1)] {
        let undone =
            world.edit(id, at(0, u32::try_from(id).unwrap() - 1), undo(at(0, target))).await;
        assert_eq!(undone.results[0].rejection, None, "{target}");
    }
    assert_eq!(world.sheet_names().await, ["Sheet1", "Other"]);
}

#[tokio::test]
async fn an_import_whose_rows_moved_is_not_undone() {
    let (world, _) = World::imported().await;
    let insert = InsertBefore { sheet: SHEET, before: 1, count: 1 };
    world.edit(2, at(0, 1), Operation::InsertRows(insert)).await;
    let refused = world.edit(3, at(0, 2), undo(at(0, 1))).await;
    let rejection = refused.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::ChangedSince);
    assert!(rejection.detail.contains("changed since (1 row)"), "{}", rejection.detail);
    assert_eq!(world.sheet_names().await, ["Imported"]);
}

#[tokio::test]
async fn an_import_that_was_replaced_is_not_undone() {
    let (world, sheet) = World::imported().await;
    let Operation::ImportSheet(import) = sheet.operation_for(SheetId(2)) else { panic!() };
    let import = ImportSheet { replaces: Some(SHEET), ..import };
    world.edit(2, at(0, 1), Operation::ImportSheet(import)).await;
    let refused = world.edit(3, at(0, 2), undo(at(0, 1))).await;
    let rejection = refused.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::ChangedSince);
    assert!(rejection.detail.contains("deleted or replaced since"), "{}", rejection.detail);
    assert_eq!(world.sheet_names().await, ["Imported"]);
    // A revert of the sheet restores the first import at its place.
    let revert = Revert { sheet: Some(SHEET), ..Revert::whole(at(0, 1)) };
    let same = world.edit(4, at(0, 3), Operation::Revert(revert)).await;
    let rejection = same.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::NothingToRevert, "both imports are the same");
    assert_eq!(world.diff(at(0, 1), at(0, 2)).await.sheets, []);
}

#[tokio::test]
async fn an_unedited_import_is_undone() {
    let (world, _) = World::imported().await;
    let calls = world.blobs.faults.requests();
    let undone = world.edit(2, at(0, 1), undo(at(0, 1))).await;
    assert_eq!(world.blobs.faults.requests() - calls, 0, "no tile is read");
    assert_eq!(undone.results[0].rejection, None);
    let view = world.another().open_view(log(), None, None).await.unwrap();
    let [only] = view.metadata.tabs.order() else { panic!("{:?}", view.metadata.tabs) };
    assert_ne!(*only, SHEET);
    assert_eq!(view.metadata.tabs.name(*only), Some(cellar_sheet::operation::FIRST_SHEET_NAME));
}
