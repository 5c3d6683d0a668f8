//! References to a sheet that an import replaces.

use cellar_base::limits::MAX_UNDO_FORMULAS;
use cellar_sheet::operation::{AddSheet, InsertBefore, Rejection, Revert, SetName, Undo};

use super::*;

const OTHER: SheetId = SheetId(2);

impl World {
    /// Creates a spreadsheet with an imported sheet, and a formula on another sheet and a name that refer
    /// to it. The last position is 0.4.
    async fn referred() -> Self {
        let (world, sheet) = (Self::new().await, Sheet::new(1, 2, FLAT));
        world.upload_all(&sheet).await;
        world.append(vec![sheet.operation()]).await.unwrap();
        let added = AddSheet { sheet: OTHER, name: "Other".to_owned(), before: None };
        world.edit(2, at(0, 1), Operation::AddSheet(added)).await;
        world.edit(3, at(0, 2), set_formula(OTHER, "=Imported!A10*2")).await;
        let sheets = [("Imported".to_owned(), SHEET)].into();
        let formula = Some("=Imported!$A$1".to_owned());
        let name = SetName { name: "FIRST".to_owned(), formula, sheets };
        world.edit(4, at(0, 3), Operation::SetName(name)).await;
        world
    }

    /// Imports a sheet with the same name in place of another.
    async fn replace(&self, number: SheetId, replaced: SheetId, base: Position) -> Appended {
        let Operation::ImportSheet(import) = Sheet::new(1, 2, FLAT).operation_for(number) else {
            panic!()
        };
        let import = ImportSheet { replaces: Some(replaced), ..import };
        self.edit_as(9, base, Operation::ImportSheet(import)).await
    }

    async fn edit_as(&self, client: u8, base: Position, operation: Operation) -> Appended {
        let mutations = vec![NewMutation { id: 1, base, operation }];
        let client = ClientKey([client; 8]);
        let request = Request::new(log(), client, None, FIRST_INCARNATION, 0, mutations).unwrap();
        self.another().append(request).await.unwrap()
    }

    /// Undoes the entry at a position, with a client of its own.
    async fn undo(&self, target: Position) -> Option<Rejection> {
        let head = self.another().head(log(), None).await.unwrap().head;
        let client = 20 + u8::try_from(head.entry_number()).unwrap();
        let undo = Operation::Undo(Undo { position: target });
        self.edit_as(client, head, undo).await.results[0].rejection.clone()
    }

    /// Returns the formulas in `A1` of the other sheet and of the name.
    async fn formulas(&self) -> (String, String) {
        let workbook = self.another().workbook(log(), None, None).await.unwrap().workbook;
        let formula = workbook.sheet(OTHER).unwrap().cell(0, 0).formula.unwrap();
        (formula, workbook.names().get("FIRST").unwrap().formula(workbook.tabs()))
    }
}

fn set_formula(sheet: SheetId, formula: &str) -> Operation {
    let (value, formula) = (Some(Value::Number(1.0)), Some(formula.to_owned()));
    let cells = vec![CellEdit { row: 0, column: 0, value, formula, format: None }];
    Operation::SetCells(SetCells { sheet, cells })
}

fn formulas(cell: &str, name: &str) -> (String, String) {
    (cell.to_owned(), name.to_owned())
}

#[tokio::test]
async fn references_follow_an_import_that_replaces_their_sheet() {
    let world = World::referred().await;
    let before = formulas("=Imported!A10*2", "=Imported!$A$1");
    assert_eq!(world.formulas().await, before);
    let replaced = world.replace(SheetId(3), SHEET, at(0, 4)).await;
    let report = replaced.results[0].reversal.unwrap();
    assert_eq!((report.restored.formulas, report.restored.defined_names), (1, 1));
    assert!(report.left.is_zero() && !report.formulas_incomplete, "{report:?}");
    assert_eq!(world.formulas().await, before);
    let diff = world.another().diff(log(), at(0, 4), at(0, 5)).await.unwrap();
    assert!(diff.sheets.is_empty() && diff.names.is_empty(), "{diff:?}");

    // The references are those of the imported sheet: they follow its rows.
    let insert = InsertBefore { sheet: SheetId(3), before: 0, count: 1 };
    world.edit_as(10, at(0, 5), Operation::InsertRows(insert)).await;
    let moved = formulas("=Imported!A11*2", "=Imported!$A$2");
    assert_eq!(world.formulas().await, moved);

    // While the import cannot be undone, references stay.
    let refused = world.undo(at(0, 5)).await.unwrap();
    assert!(refused.detail.contains("changed since (1 row)"), "{}", refused.detail);
    assert_eq!(world.formulas().await, moved);
    // An undo, a redo and another undo take the references along.
    for target in [6, 5, 9, 10] {
        assert_eq!(world.undo(at(0, target)).await, None, "{target}");
        assert_eq!(world.formulas().await, before, "{target}");
    }
}

#[tokio::test]
async fn a_revert_of_another_sheet_keeps_references_to_the_imported_sheet() {
    let world = World::referred().await;
    world.edit(5, at(0, 4), set_number_of_other(1)).await;
    world.replace(SheetId(3), SHEET, at(0, 5)).await;
    let revert = Revert { sheet: Some(OTHER), ..Revert::whole(at(0, 4)) };
    let reverted = world.edit_as(10, at(0, 6), Operation::Revert(revert)).await;
    assert_eq!(reverted.results[0].rejection, None);
    assert_eq!(reverted.results[0].reversal.unwrap().restored.cells, 1);
    assert_eq!(world.formulas().await, formulas("=Imported!A10*2", "=Imported!$A$1"));
}

#[tokio::test]
async fn a_formula_of_a_concurrent_entry_follows_the_import() {
    let world = World::referred().await;
    // The import does not know the newest formula.
    world.edit(5, at(0, 4), set_formula(OTHER, "=Imported!A1")).await;
    let replaced = world.replace(SheetId(3), SHEET, at(0, 4)).await;
    assert_eq!(replaced.results[0].reversal.unwrap().restored.formulas, 1);
    assert_eq!(world.formulas().await.0, "=Imported!A1");
    // A repetition has no further effect.
    let repeated = world.replace(SheetId(3), SHEET, at(0, 4)).await;
    assert!(repeated.results[0].duplicate && repeated.results[0].reversal.is_none());
    assert_eq!(world.formulas().await.0, "=Imported!A1");
}

#[tokio::test]
async fn a_limited_number_of_formulas_follows_an_import() {
    for (count, is_complete) in [(MAX_UNDO_FORMULAS, true), (MAX_UNDO_FORMULAS + 1, false)] {
        let world = World::referred().await;
        let rows = u32::try_from(count).unwrap();
        let cells = (0..rows).map(|row| CellEdit {
            row,
            column: 0,
            value: Some(Value::Empty),
            formula: Some("=Imported!A1".to_owned()),
            format: None,
        });
        let formulas = SetCells { sheet: OTHER, cells: cells.collect() };
        world.edit(5, at(0, 4), Operation::SetCells(formulas)).await;
        let replaced = world.replace(SheetId(3), SHEET, at(0, 5)).await;
        let report = replaced.results[0].reversal.unwrap();
        assert_eq!(report.restored.formulas, u64::try_from(MAX_UNDO_FORMULAS).unwrap());
        assert_eq!(report.formulas_incomplete, !is_complete);
        let workbook = world.another().workbook(log(), None, None).await.unwrap().workbook;
        let last = workbook.sheet(OTHER).unwrap().cell(rows - 1, 0).formula.unwrap();
        assert_eq!(last, if is_complete { "=Imported!A1" } else { "=#REF!" });
    }
}

#[tokio::test]
async fn an_import_into_a_new_spreadsheet_reads_no_references() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 2, FLAT));
    world.upload_all(&sheet).await;
    let Operation::ImportSheet(import) = sheet.operation() else { panic!() };
    let import = ImportSheet { replaces: Some(SheetId::FIRST), ..import };
    let appended = world.append(vec![Operation::ImportSheet(import)]).await.unwrap();
    assert_eq!((appended.results[0].reversal, &appended.results[0].committed), (None, &None));
}

fn set_number_of_other(row: u32) -> Operation {
    let value = Some(Value::Number(5.0));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: OTHER, cells })
}
