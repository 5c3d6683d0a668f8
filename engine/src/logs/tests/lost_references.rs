//! Undos and reverts restore references of other formulas to deleted cells.

use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_UNDO_FORMULAS};
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{DeleteSpans, Revert, Spans, Undo};
use cellar_sheet::workbook::ReversalReport;

use super::changes::mutation;
use super::*;

/// A log with edits of one author.
struct EditedLog {
    logs: Logs,
    tail: Position,
    edits: u64,
}

impl EditedLog {
    async fn new() -> Self {
        let logs = logs(&Arc::new(MemoryTables::default()));
        logs.create(log(), None).await.unwrap();
        Self { logs, tail: Position::FIRST, edits: 0 }
    }

    async fn append(&mut self, operation: Operation) -> (Position, Option<ReversalReport>) {
        self.edits += 1;
        let edit = mutation(1, self.edits, self.tail, operation);
        let appended = self.logs.append(edit).await.unwrap();
        assert_eq!(appended.results[0].rejection, None);
        self.tail = appended.tail;
        (self.tail, appended.results[0].reversal)
    }

    async fn undo(&mut self, position: Position) -> ReversalReport {
        self.append(Operation::Undo(Undo { position })).await.1.unwrap()
    }

    async fn formula(&self, cell: &str) -> String {
        let name: CellName = cell.parse().unwrap();
        let read = self.logs.cells(log(), &everything(None)).await.unwrap();
        let found = read.cells.into_iter().find(|found| found.name() == name);
        found.and_then(|found| found.cell.formula).unwrap_or_default()
    }
}

fn formulas(cells: impl Iterator<Item = (u32, String)>) -> Operation {
    let edit = |(row, text)| {
        let (value, formula) = (Some(Value::Empty), Some(text));
        CellEdit { row, column: 2, value, formula, format: None }
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: cells.map(edit).collect() })
}

fn delete(first: u32, count: u32) -> Operation {
    let spans = Spans::one(first, count);
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

#[tokio::test]
async fn a_formula_that_lost_a_reference_differs() {
    let mut edited = EditedLog::new().await;
    let texts = ["=A9*2", "=SUM(A8:A9)", "=A20"].map(str::to_owned);
    edited.append(formulas((0..).zip(texts))).await;
    let before = edited.tail;
    let (deleted, _) = edited.append(delete(8, 1)).await;
    // The other formulas only follow their cells.
    for (from, to) in [(before, deleted), (deleted, before)] {
        let diff = edited.logs.diff(log(), from, to).await.unwrap();
        let [sheet] = diff.sheets.as_slice() else { panic!("{diff:?}") };
        let [cell] = sheet.cells.as_slice() else { panic!("{diff:?}") };
        let mut formulas = [&cell.before, &cell.after].map(|cell| cell.formula.clone().unwrap());
        formulas.sort_unstable();
        assert_eq!(formulas, ["=#REF!*2", "=A9*2"], "{from} {to}");
        assert!(!diff.formulas_incomplete);
    }
    edited.undo(deleted).await;
    assert_eq!(edited.logs.diff(log(), before, edited.tail).await.unwrap().sheets, []);
}

#[tokio::test]
async fn the_revert_of_a_replaced_sheet_restores_references_of_other_sheets() {
    let mut edited = super::sheet_order::Edited::three_sheets().await;
    edited.append(formulas([(0, "=B!A2*2".to_owned())].into_iter())).await;
    let sheet = SheetId(1);
    let Operation::SetCells(cells) = set(1, "x") else { panic!() };
    edited.append(Operation::SetCells(SetCells { sheet, ..cells })).await;
    let complete = edited.tail;
    let formula = async |edited: &super::sheet_order::Edited| {
        let read = edited.logs.cells(log(), &everything(None)).await.unwrap();
        read.cells[0].cell.formula.clone().unwrap()
    };
    edited.delete("B").await;
    edited.add("B", None).await;
    assert_eq!(formula(&edited).await, "=#REF!*2");
    let diff = edited.logs.diff(log(), complete, edited.tail).await.unwrap();
    assert!(diff.sheets.iter().any(|sheet| sheet.sheet == SheetId::FIRST), "{diff:?}");
    edited.revert(Some(sheet), complete).await;
    assert_eq!(formula(&edited).await, "=B!A2*2");
    assert_eq!(edited.logs.diff(log(), complete, edited.tail).await.unwrap().sheets, []);
}

#[tokio::test]
async fn a_limited_number_of_formulas_is_restored() {
    for (count, is_complete) in [(MAX_UNDO_FORMULAS, true), (MAX_UNDO_FORMULAS + 1, false)] {
        let mut log = EditedLog::new().await;
        let rows = u32::try_from(count).unwrap();
        log.append(formulas((0..rows).map(|row| (row, "=$A$9000".to_owned())))).await;
        let (deletion, _) = log.append(delete(8_999, 1)).await;
        assert_eq!(log.formula("C1").await, "=#REF!");
        let diff = log.logs.diff(super::log(), at(0, 1), deletion).await.unwrap();
        assert_eq!(diff.sheets[0].cells.len(), MAX_UNDO_FORMULAS);
        assert_eq!(diff.formulas_incomplete, !is_complete);
        let report = log.undo(deletion).await;
        assert_eq!(report.restored.formulas, u64::try_from(MAX_UNDO_FORMULAS).unwrap());
        assert_eq!(report.formulas_incomplete, !is_complete);
        let last = log.formula(&format!("C{count}")).await;
        assert_eq!(last, if is_complete { "=$A$9000" } else { "=#REF!" });
    }
}

/// Returns formulas whose texts have `bytes` bytes together.
fn long_formulas(bytes: usize) -> Operation {
    const LONGEST: usize = 8_000;
    let lengths = (0..bytes.div_ceil(LONGEST)).map(|index| LONGEST.min(bytes - index * LONGEST));
    let text = |length: usize| {
        let start = "=A900&\"";
        format!("{start}{}\"", "x".repeat(length - start.len() - 1))
    };
    formulas((0..).zip(lengths.map(text)))
}

#[tokio::test]
async fn formulas_that_do_not_fit_into_the_entry_are_left() {
    let largest = MAX_ENTRY_BODY_BYTES - 4_000;
    for (bytes, is_restored) in [(largest, true), (MAX_ENTRY_BODY_BYTES + 4_000, false)] {
        let mut log = EditedLog::new().await;
        for half in [0, 1] {
            let Operation::SetCells(mut set) = long_formulas(bytes / 2) else { panic!() };
            set.cells.iter_mut().for_each(|edit| edit.row += half * 100);
            log.append(Operation::SetCells(set)).await;
        }
        let (deletion, _) = log.append(delete(899, 1)).await;
        let report = log.undo(deletion).await;
        assert_eq!(report.formulas_incomplete, !is_restored);
        assert_eq!(report.restored.rows, 1);
        assert!(report.restored.formulas > 0 && log.formula("C1").await.starts_with("=A900&"));
        let start = if is_restored { "=A900&" } else { "=#REF!&" };
        assert!(log.formula("C101").await.starts_with(start));
    }
    // The formulas would fit alone, but not with the cells of the deleted row.
    let mut log = EditedLog::new().await;
    log.append(long_formulas(MAX_ENTRY_BODY_BYTES / 2)).await;
    let Operation::SetCells(mut set) = long_formulas(MAX_ENTRY_BODY_BYTES * 2 / 3) else {
        panic!()
    };
    for (column, edit) in (10..).zip(&mut set.cells) {
        (edit.row, edit.column) = (899, column);
    }
    log.append(Operation::SetCells(set)).await;
    let (deletion, _) = log.append(delete(899, 1)).await;
    let report = log.undo(deletion).await;
    assert!(report.formulas_incomplete && report.restored.cells > 0);
    assert_eq!(report.restored.formulas, 0);
    assert!(log.formula("C1").await.starts_with("=#REF!&"));
    assert!(log.formula("K900").await.starts_with("=A900&"));
}

#[tokio::test]
async fn a_revert_restores_lost_references() {
    let mut log = EditedLog::new().await;
    let texts = ["=A50", "=SUM(A1:A50)"].map(str::to_owned);
    let (before, _) = log.append(formulas((0..).zip(texts))).await;
    log.append(delete(49, 1)).await;
    log.append(delete(0, 1)).await;
    assert_eq!(log.formula("C1").await, "=SUM(A1:A48)");
    let (_, report) = log.append(Operation::Revert(Revert::whole(before))).await;
    assert_eq!(
        (log.formula("C1").await, log.formula("C2").await),
        ("=A50".into(), "=SUM(A1:A50)".into())
    );
    assert_eq!(report.unwrap().restored.formulas, 1);
}

#[tokio::test]
async fn deletions_are_undone_one_after_the_other() {
    let mut log = EditedLog::new().await;
    let texts = ["=SUM(A1:A50)", "=SUM(A49:A50)", "=A49"].map(str::to_owned);
    log.append(formulas((0..).zip(texts.clone()))).await;
    let (first, _) = log.append(delete(49, 1)).await;
    let (second, _) = log.append(delete(48, 1)).await;
    assert_eq!(log.undo(second).await.restored.formulas, 3);
    let report = log.undo(first).await;
    assert_eq!((report.restored.formulas, report.left.formulas), (2, 0));
    for (cell, text) in ["C1", "C2", "C3"].into_iter().zip(texts) {
        assert_eq!(log.formula(cell).await, text);
    }
}
