//! Undos of edits in sheets that were deleted and recovered since.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::{
    AddSheet, DeleteSheet, DeleteSpans, InsertBefore, Rejection, RenameSheet, Spans, Undo,
};
use cellar_sheet::workbook::Workbook;
use proptest::collection::vec;
use proptest::prelude::*;

use super::changes::mutation;
use super::sheet_order::Edited;
use super::*;

/// Returns an edit of one cell of the first column.
fn set_in(sheet: SheetId, row: u32, content: &str) -> Operation {
    let formula = content.starts_with('=').then(|| content.to_owned());
    let value = match &formula {
        Some(_) => Value::Empty,
        None => Value::Text(content.to_owned()),
    };
    let cells = vec![CellEdit { row, column: 0, value: Some(value), formula, format: None }];
    Operation::SetCells(SetCells { sheet, cells })
}

/// The sheets in tab order, each with its name and its displayed cells.
type Shown = Vec<(String, Vec<(u32, u32, String)>)>;

/// All lost references are equal.
fn content(cell: &Cell) -> String {
    match &cell.formula {
        Some(formula) if formula.ends_with("#REF!") => "=#REF!".to_owned(),
        Some(formula) => formula.clone(),
        None => cell.text(),
    }
}

fn shown(workbook: &Workbook) -> Shown {
    let sheets = workbook.sheets().map(|(number, sheet)| {
        let cells = sheet.cells_in(Rectangle::EVERYTHING).map(|((row, column), cell)| {
            (row, column, format!("{} {:?}", content(&cell), cell.format))
        });
        (workbook.tabs().name(number).unwrap().to_owned(), cells.collect())
    });
    sheets.collect()
}

impl Edited {
    async fn shown(&self) -> Shown {
        shown(&self.logs.workbook(log(), None, None).await.unwrap().workbook)
    }

    async fn number(&self, name: &str) -> SheetId {
        self.tabs().await.named(name).unwrap()
    }

    async fn set(&mut self, sheet: &str, row: u32, content: &str) -> Position {
        let sheet = self.number(sheet).await;
        self.append(set_in(sheet, row, content)).await
    }

    /// Returns the position of the undo, or `None` if there was nothing to undo.
    async fn try_undo(&mut self, position: Position) -> Option<Position> {
        self.undo_or_reject(position).await.ok()
    }

    async fn undo_or_reject(&mut self, position: Position) -> Result<Position, Rejection> {
        let undo = Operation::Undo(Undo { position });
        let request = mutation(1, self.next_id, self.tail, undo);
        let appended = self.logs.append(request).await.unwrap();
        (self.tail, self.next_id) = (appended.tail, self.next_id + 1);
        appended.results[0].rejection.clone().map_or(Ok(appended.tail), Err)
    }

    async fn refused_undo(&mut self, position: Position) -> Rejection {
        self.undo_or_reject(position).await.unwrap_err()
    }

    /// Returns the cells of the first column.
    async fn column(&self, sheet: &str) -> Vec<(u32, String)> {
        let number = self.number(sheet).await;
        let workbook = self.logs.workbook(log(), None, None).await.unwrap().workbook;
        let cells = workbook.sheet(number).unwrap().cells_in(Rectangle::EVERYTHING);
        cells.map(|((row, _), cell)| (row, content(&cell))).collect()
    }
}

fn cells<const N: usize>(cells: [(u32, &str); N]) -> Vec<(u32, String)> {
    cells.map(|(row, content)| (row, content.to_owned())).to_vec()
}

#[tokio::test]
async fn undos_are_redone_one_after_the_other_in_a_recovered_sheet() {
    let mut edited = Edited::three_sheets().await;
    let added = edited.add("T", None).await;
    let set = edited.set("T", 0, "1").await;
    let set_undone = edited.undo(set).await;
    let add_undone = edited.undo(added).await;
    edited.undo(add_undone).await;
    assert_eq!(edited.column("T").await, []);
    let redone = edited.undo(set_undone).await;
    assert_eq!(edited.column("T").await, cells([(0, "1")]));
    // And undone again: the redo, and the addition.
    edited.undo(redone).await;
    assert_eq!(edited.column("T").await, []);
}

#[tokio::test]
async fn an_edit_is_undone_in_a_recovered_sheet_whose_rows_have_moved() {
    for by_undo in [true, false] {
        let mut edited = Edited::three_sheets().await;
        edited.set("B", 2, "old").await;
        let target = edited.set("B", 2, "new").await;
        let sheet = edited.number("B").await;
        edited.append(Operation::InsertRows(InsertBefore { sheet, before: 1, count: 2 })).await;
        edited.set("C", 0, "=B!A5").await;
        let deleted = edited.delete("B").await;
        if by_undo {
            edited.undo(deleted).await;
        } else {
            let before = at(0, deleted.entry_number() - 1);
            edited.revert(None, before).await;
        }
        let sheet = edited.number("B").await;
        let spans = Spans::one(0, 1);
        edited.append(Operation::DeleteRows(DeleteSpans { sheet, spans })).await;
        edited.set("B", 7, "other").await;
        edited.undo(target).await;
        assert_eq!(edited.column("B").await, cells([(3, "old"), (7, "other")]), "{by_undo}");
        assert_eq!(edited.column("C").await, cells([(0, "=B!A4")]), "{by_undo}");
    }
}

#[tokio::test]
async fn a_later_edit_of_a_recovered_sheet_is_kept() {
    let mut edited = Edited::three_sheets().await;
    edited.set("B", 0, "a").await;
    let target = edited.set("B", 0, "b").await;
    let deleted = edited.delete("B").await;
    edited.undo(deleted).await;
    edited.set("B", 0, "theirs").await;
    let rejection = edited.refused_undo(target).await;
    assert!(rejection.detail.ends_with("changed again since: 1 cell"), "{rejection:?}");
    assert_eq!(edited.column("B").await, cells([(0, "theirs")]));
}

#[tokio::test]
async fn an_undo_in_a_deleted_sheet_names_the_deletion() {
    let mut edited = Edited::three_sheets().await;
    let target = edited.set("B", 0, "a").await;
    let deleted = edited.delete("B").await;
    let rejection = edited.refused_undo(target).await;
    let expected = format!(
        "the sheet `B`, which the entry at {target} changed, was deleted at {deleted}; undo {deleted} \
         first, which recovers the sheet"
    );
    assert_eq!(rejection.detail, expected);
    edited.undo(deleted).await;
    edited.undo(target).await;
    assert_eq!(edited.column("B").await, []);
}

#[tokio::test]
async fn a_sheet_is_followed_through_several_deletions() {
    let mut edited = Edited::three_sheets().await;
    edited.set("B", 0, "a").await;
    let target = edited.set("B", 0, "b").await;
    for _ in 0..3 {
        let deleted = edited.delete("B").await;
        edited.undo(deleted).await;
    }
    edited.undo(target).await;
    assert_eq!(edited.column("B").await, cells([(0, "a")]));
}

#[tokio::test]
async fn another_sheet_of_the_same_name_is_not_the_recovered_one() {
    let mut edited = Edited::three_sheets().await;
    let target = edited.set("B", 0, "a").await;
    let first_deleted = edited.delete("B").await;
    edited.add("B", None).await;
    edited.set("B", 0, "a").await;
    let second_deleted = edited.delete("B").await;
    edited.undo(second_deleted).await;
    // The edit was in the sheet that is still deleted.
    let sheet = edited.number("B").await;
    edited.append(Operation::RenameSheet(RenameSheet { sheet, name: "B2".to_owned() })).await;
    edited.undo(first_deleted).await;
    edited.undo(target).await;
    assert_eq!(edited.column("B").await, []);
    assert_eq!(edited.column("B2").await, cells([(0, "a")]));
}

#[tokio::test]
async fn a_sheet_that_a_revert_recovered_is_not_recovered_again() {
    let mut edited = Edited::three_sheets().await;
    let complete = edited.set("B", 0, "a").await;
    let sheet = edited.number("B").await;
    let deleted = edited.delete("B").await;
    edited.revert(Some(sheet), complete).await;
    let rejection = edited.refused_undo(deleted).await;
    assert!(rejection.detail.ends_with("has no effects that can be undone"), "{rejection:?}");
    assert_eq!(edited.order().await, ["Sheet1", "B", "C"]);
}

#[tokio::test]
async fn a_revert_edits_a_recovered_sheet_and_keeps_formulas_that_refer_to_it() {
    for (by_undo, is_whole) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut edited = Edited::three_sheets().await;
        edited.set("B", 0, "a").await;
        edited.set("B", 3, "d").await;
        let complete = edited.set("C", 0, "=SUM(B!A1:A4)").await;
        let first_number = edited.number("B").await;
        let deleted = edited.delete("B").await;
        if by_undo {
            edited.undo(deleted).await;
        } else {
            edited.revert(Some(first_number), complete).await;
        }
        let sheet = edited.number("B").await;
        edited.set("B", 0, "x").await;
        edited.append(Operation::InsertRows(InsertBefore { sheet, before: 1, count: 2 })).await;
        assert_eq!(edited.column("C").await, cells([(0, "=SUM(B!A1:A6)")]));
        let reverted = Some(first_number).filter(|_| !is_whole);
        edited.revert(reverted, complete).await;
        assert_eq!(edited.column("B").await, cells([(0, "a"), (3, "d")]));
        assert_eq!(edited.column("C").await, cells([(0, "=SUM(B!A1:A4)")]));
        assert_eq!(edited.number("B").await, sheet, "the sheet was not replaced again");
        let diff = edited.logs.diff(log(), complete, edited.tail).await.unwrap();
        assert_eq!(diff.sheets, []);
    }
}

#[tokio::test]
async fn deleted_rows_come_back_in_their_order_whichever_is_undone_first() {
    for (first, second) in [(1, 0), (0, 0), (2, 0), (2, 1)] {
        for is_oldest_first in [true, false] {
            let mut edited = Edited::three_sheets().await;
            for row in 0..4 {
                edited.set("B", row, &format!("{row}")).await;
            }
            edited.set("C", 0, "=SUM(B!A1:A4)").await;
            let before = edited.shown().await;
            let sheet = edited.number("B").await;
            let mut deletions = Vec::new();
            for row in [first, second] {
                let spans = Spans::one(row, 1);
                let delete = Operation::DeleteRows(DeleteSpans { sheet, spans });
                deletions.push(edited.append(delete).await);
            }
            if !is_oldest_first {
                deletions.reverse();
            }
            for deletion in deletions {
                edited.undo(deletion).await;
            }
            let what = format!("{first}, {second}, {is_oldest_first}");
            assert_eq!(edited.shown().await, before, "{what}");
        }
    }
}

/// A random edit. Numbers select one of the sheets.
#[derive(Debug, Clone)]
enum Edit {
    Set { sheet: usize, row: u32, number: u32 },
    Refer { sheet: usize, row: u32, to: usize, to_row: u32 },
    Insert { sheet: usize, axis: Axis, before: u32 },
    Delete { sheet: usize, axis: Axis, first: u32 },
    Add,
    DeleteSheet(usize),
    Rename { sheet: usize, number: u32 },
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let sheet = || any::<usize>();
    let axis = || prop_oneof![4 => Just(Axis::Rows), 1 => Just(Axis::Columns)];
    prop_oneof![
        6 => (sheet(), 0..6_u32, any::<u32>())
            .prop_map(|(sheet, row, number)| Edit::Set { sheet, row, number }),
        3 => (sheet(), 0..6_u32, sheet(), 0..6_u32)
            .prop_map(|(sheet, row, to, to_row)| Edit::Refer { sheet, row, to, to_row }),
        2 => (sheet(), axis(), 0..6_u32)
            .prop_map(|(sheet, axis, before)| Edit::Insert { sheet, axis, before }),
        2 => (sheet(), axis(), 0..6_u32)
            .prop_map(|(sheet, axis, first)| Edit::Delete { sheet, axis, first }),
        1 => Just(Edit::Add),
        3 => sheet().prop_map(Edit::DeleteSheet),
        1 => (sheet(), 0..4_u32).prop_map(|(sheet, number)| Edit::Rename { sheet, number }),
    ]
}

impl Edit {
    /// Returns `None` if the edit is not possible.
    async fn operation(&self, edited: &Edited) -> Option<Operation> {
        let tabs = edited.tabs().await;
        let chosen = |number: &usize| tabs.order()[number % tabs.order().len()];
        Some(match self {
            Self::Set { sheet, row, number } => set_in(chosen(sheet), *row, &number.to_string()),
            Self::Refer { sheet, row, to, to_row } => {
                let (name, to_row) = (tabs.name(chosen(to)).unwrap(), to_row + 1);
                set_in(chosen(sheet), *row, &format!("='{name}'!A{to_row}"))
            }
            Self::Insert { sheet, axis, before } => {
                let insert = InsertBefore { sheet: chosen(sheet), before: *before, count: 2 };
                match axis {
                    Axis::Rows => Operation::InsertRows(insert),
                    Axis::Columns => Operation::InsertColumns(insert),
                }
            }
            Self::Delete { sheet, axis, first } => {
                let spans = Spans::one(*first, 2);
                let delete = DeleteSpans { sheet: chosen(sheet), spans };
                match axis {
                    Axis::Rows => Operation::DeleteRows(delete),
                    Axis::Columns => Operation::DeleteColumns(delete),
                }
            }
            Self::Add => {
                let sheet = tabs.next_sheet();
                let name = format!("S{}", sheet.0);
                Operation::AddSheet(AddSheet { sheet, name, before: None })
            }
            Self::DeleteSheet(sheet) => {
                let sheet = Some(chosen(sheet)).filter(|_| tabs.order().len() > 1)?;
                Operation::DeleteSheet(DeleteSheet { sheet })
            }
            Self::Rename { sheet, number } => {
                let (sheet, name) = (chosen(sheet), format!("N{number}"));
                Operation::RenameSheet(RenameSheet { sheet, name })
            }
        })
    }
}

/// Makes edits, undoes all from the newest to the oldest, and redoes all by undoing the undos.
async fn check_redos(edits: &[Edit]) {
    let mut edited = Edited::three_sheets().await;
    let mut states = vec![edited.shown().await];
    let mut done = Vec::new();
    for edit in edits {
        if let Some(operation) = edit.operation(&edited).await {
            done.push(edited.append(operation).await);
            states.push(edited.shown().await);
        }
    }
    let mut undos = Vec::new();
    for (position, state) in done.iter().zip(&states).rev() {
        undos.push(edited.try_undo(*position).await);
        assert_eq!(edited.shown().await, *state, "after the undo of {position}");
    }
    for (undo, state) in undos.iter().rev().zip(&states[1..]) {
        if let Some(undo) = undo {
            edited.try_undo(*undo).await;
        }
        assert_eq!(edited.shown().await, *state, "after the redo of {undo:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_undos_are_redone_whatever_sheets_they_delete_and_recover(
        edits in vec(any_edit(), 1..10),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check_redos(&edits));
    }

    #[test]
    fn all_deletions_of_rows_are_undone_in_any_order(
        deletions in vec((0..6_u32, 1..4_u32), 1..5),
        order in any::<[usize; 4]>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut edited = Edited::three_sheets().await;
            for row in 0..8 {
                edited.set("B", row, &format!("{row}")).await;
            }
            let before = edited.shown().await;
            let sheet = edited.number("B").await;
            let mut remaining = Vec::new();
            for (first, count) in deletions {
                let spans = Spans::one(first, count);
                let delete = Operation::DeleteRows(DeleteSpans { sheet, spans });
                remaining.push(edited.append(delete).await);
            }
            for choice in order {
                if !remaining.is_empty() {
                    let deletion = remaining.remove(choice % remaining.len());
                    edited.undo(deletion).await;
                }
            }
            assert_eq!(edited.shown().await, before);
        });
    }
}
