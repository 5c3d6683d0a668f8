//! Intents: operations that identify rows, columns and sheets by id instead of by position.

use super::formula::IntendedFormula;
use super::{LineId, PlainSheet, PlainWorkbook, Tag};
use crate::axis_map::Axis;
use crate::operation::{
    AddSheet, CellEdit, ClearRange, DeleteSheet, DeleteSpans, ImportSheet, InsertBefore, Operation,
    RenameSheet, SetCells, SetFormat, SheetId, Span, Spans,
};

/// An operation that identifies rows, columns and sheets by id instead of by position. The id of a
/// sheet is the tag of the mutation that added it.
#[derive(Debug, Clone)]
pub struct Intent {
    sheet: Option<Tag>,
    action: IntendedAction,
}

/// The intended change to a sheet, expressed with ids of rows and columns.
#[derive(Debug, Clone)]
enum IntendedAction {
    Nothing,
    Set(Vec<IntendedEdit>),
    Clear(Vec<LineId>, Vec<LineId>),
    Format(FormattedLines, FormattedLines, String),
    Insert {
        axis: Axis,
        /// All rows or columns that followed the insertion point when the author created the
        /// operation.
        following: Vec<LineId>,
        count: u32,
        tag: Tag,
    },
    Delete {
        axis: Axis,
        ids: Vec<LineId>,
    },
    /// `before` is the tag of the mutation that added the next sheet.
    Add {
        number: SheetId,
        name: String,
        before: Option<Tag>,
        tag: Tag,
    },
    /// `replaces` is the tag of the mutation that added the sheet to be replaced.
    Import {
        import: ImportSheet,
        replaces: Option<Tag>,
        tag: Tag,
    },
    Rename(String),
    Remove,
}

#[derive(Debug, Clone)]
struct IntendedEdit {
    cell: (LineId, LineId),
    edit: CellEdit,
    formula: Option<IntendedFormula>,
}

#[derive(Debug, Clone)]
enum FormattedLines {
    All,
    Spans(Vec<Vec<LineId>>),
}

impl FormattedLines {
    fn of(sheet: &PlainSheet, axis: Axis, spans: &Spans) -> Self {
        if spans.is_all(axis) {
            return Self::All;
        }
        let ids_in_span = |span: Span| sheet.line_ids(axis, &Spans::one(span.first, span.count));
        Self::Spans(spans.iter().map(ids_in_span).collect())
    }

    /// Each span extends from the first to the last of its original rows or columns that still
    /// exist.
    fn spans(&self, sheet: &PlainSheet, axis: Axis) -> Spans {
        let Self::Spans(spans) = self else { return Spans::all(axis) };
        let current_spans = spans.iter().filter_map(|ids| {
            let indices: Vec<u32> = ids.iter().filter_map(|id| sheet.index_of(axis, *id)).collect();
            let first = *indices.first()?;
            let last = *indices.last()?;
            Some(Span { first, count: last - first + 1 })
        });
        Spans::from_sorted(current_spans.collect())
    }
}

impl Intent {
    /// Converts an operation to an intent. `seen_state` is the workbook that the author saw.
    pub fn of(seen_state: &PlainWorkbook, operation: &Operation, tag: Tag) -> Self {
        let sheet = operation.sheet().and_then(|number| seen_state.sheet(number));
        let action = match (operation, sheet) {
            (Operation::AddSheet(add), _) => {
                let next_sheet = add.before.and_then(|number| seen_state.sheet(number));
                let before = next_sheet.map(|sheet| sheet.tag);
                IntendedAction::Add { number: add.sheet, name: add.name.clone(), before, tag }
            }
            (Operation::ImportSheet(import), _) => {
                let replaced_sheet = import.replaces.and_then(|number| seen_state.sheet(number));
                let replaces = replaced_sheet.map(|sheet| sheet.tag);
                IntendedAction::Import { import: import.clone(), replaces, tag }
            }
            (Operation::SetCells(set), Some(sheet)) => {
                IntendedAction::set(seen_state, sheet, &set.cells)
            }
            (operation, Some(sheet)) => IntendedAction::in_sheet(sheet, operation, tag),
            (_, None) => IntendedAction::Nothing,
        };
        Self { sheet: sheet.map(|sheet| sheet.tag), action }
    }

    /// Applies the intent to the current state of the workbook.
    pub fn apply(&self, workbook: &mut PlainWorkbook) {
        match &self.action {
            IntendedAction::Nothing => {}
            IntendedAction::Add { number, name, before, tag } => {
                let next_sheet = before.and_then(|tag| workbook.sheet_with_tag(tag));
                let add = AddSheet {
                    sheet: workbook.free_number_from(*number),
                    name: name.clone(),
                    before: next_sheet.map(|sheet| sheet.number),
                };
                workbook.apply(&Operation::AddSheet(add), *tag);
            }
            IntendedAction::Import { import, replaces, tag } => {
                let replaced_sheet = replaces.and_then(|tag| workbook.sheet_with_tag(tag));
                let import = ImportSheet {
                    sheet: workbook.free_number_from(import.sheet),
                    replaces: replaced_sheet.map(|sheet| sheet.number),
                    ..import.clone()
                };
                workbook.apply(&Operation::ImportSheet(import), *tag);
            }
            action_in_sheet => {
                let sheet = self.sheet.and_then(|tag| workbook.sheet_with_tag(tag));
                let operation = sheet.and_then(|sheet| action_in_sheet.operation(sheet, workbook));
                if let Some(operation) = operation {
                    workbook.apply(&operation, action_in_sheet.tag());
                }
            }
        }
    }
}

impl IntendedAction {
    fn in_sheet(sheet: &PlainSheet, operation: &Operation, tag: Tag) -> Self {
        match operation {
            Operation::ClearRange(clear) => Self::Clear(
                sheet.line_ids(Axis::Rows, &clear.rows),
                sheet.line_ids(Axis::Columns, &clear.columns),
            ),
            Operation::SetFormat(set_format) => Self::Format(
                FormattedLines::of(sheet, Axis::Rows, &set_format.rows),
                FormattedLines::of(sheet, Axis::Columns, &set_format.columns),
                set_format.format.clone(),
            ),
            Operation::InsertRows(insert) => Self::insert(sheet, Axis::Rows, *insert, tag),
            Operation::InsertColumns(insert) => Self::insert(sheet, Axis::Columns, *insert, tag),
            Operation::DeleteRows(delete) => Self::delete(sheet, Axis::Rows, &delete.spans),
            Operation::DeleteColumns(delete) => Self::delete(sheet, Axis::Columns, &delete.spans),
            Operation::RenameSheet(rename) => Self::Rename(rename.name.clone()),
            Operation::DeleteSheet(_) => Self::Remove,
            Operation::SetCells(_)
            | Operation::AddSheet(_)
            | Operation::ImportSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_)
            | Operation::SetName(_) => Self::Nothing,
        }
    }

    fn set(seen_state: &PlainWorkbook, sheet: &PlainSheet, edits: &[CellEdit]) -> Self {
        let edit_with_ids = |edit: &CellEdit| IntendedEdit {
            cell: sheet.cell_id(edit.row, edit.column),
            edit: edit.clone(),
            formula: edit
                .formula
                .as_deref()
                .map(|text| IntendedFormula::of(text, sheet, seen_state)),
        };
        Self::Set(edits.iter().map(edit_with_ids).collect())
    }

    fn insert(sheet: &PlainSheet, axis: Axis, insert: InsertBefore, tag: Tag) -> Self {
        let following_lines = sheet.lines(axis).iter().skip(insert.before as usize);
        let following = following_lines.map(|line| line.id).collect();
        Self::Insert { axis, following, count: insert.count, tag }
    }

    fn delete(sheet: &PlainSheet, axis: Axis, spans: &Spans) -> Self {
        Self::Delete { axis, ids: sheet.line_ids(axis, spans) }
    }

    /// Returns `None` if the intent is not a change to an existing sheet, or if no row or column of
    /// a range format exists anymore.
    fn operation(&self, sheet: &PlainSheet, workbook: &PlainWorkbook) -> Option<Operation> {
        let number = sheet.number;
        match self {
            Self::Set(edits) => Some(set_operation(workbook, sheet, edits)),
            Self::Clear(row_ids, column_ids) => {
                let rows = sheet.spans_of(Axis::Rows, row_ids);
                let columns = sheet.spans_of(Axis::Columns, column_ids);
                Some(Operation::ClearRange(ClearRange { sheet: number, rows, columns }))
            }
            Self::Format(rows, columns, format) => format_operation(sheet, rows, columns, format),
            Self::Insert { axis, following, count, .. } => {
                Some(insert_operation(sheet, *axis, following, *count))
            }
            Self::Delete { axis, ids } => {
                let delete = DeleteSpans { sheet: number, spans: sheet.spans_of(*axis, ids) };
                Some(match axis {
                    Axis::Rows => Operation::DeleteRows(delete),
                    Axis::Columns => Operation::DeleteColumns(delete),
                })
            }
            Self::Rename(name) => {
                Some(Operation::RenameSheet(RenameSheet { sheet: number, name: name.clone() }))
            }
            Self::Remove => Some(Operation::DeleteSheet(DeleteSheet { sheet: number })),
            Self::Nothing | Self::Add { .. } | Self::Import { .. } => None,
        }
    }

    /// Returns the tag of the inserted rows or columns or of the added sheet, or 0 if nothing is
    /// added.
    fn tag(&self) -> Tag {
        match self {
            Self::Insert { tag, .. } | Self::Add { tag, .. } | Self::Import { tag, .. } => *tag,
            _ => 0,
        }
    }
}

fn set_operation(
    workbook: &PlainWorkbook,
    sheet: &PlainSheet,
    edits: &[IntendedEdit],
) -> Operation {
    let mut cells = Vec::new();
    for IntendedEdit { cell: (row_id, column_id), edit, formula } in edits {
        if let Some((row, column)) = sheet.coordinates_of(*row_id, *column_id) {
            let formula = formula.as_ref().map(|formula| formula.text(sheet, workbook));
            cells.push(CellEdit { row, column, formula, ..edit.clone() });
        }
    }
    Operation::SetCells(SetCells { sheet: sheet.number, cells })
}

fn format_operation(
    sheet: &PlainSheet,
    rows: &FormattedLines,
    columns: &FormattedLines,
    format: &str,
) -> Option<Operation> {
    let rows = rows.spans(sheet, Axis::Rows);
    let columns = columns.spans(sheet, Axis::Columns);
    if rows.is_empty() || columns.is_empty() {
        return None;
    }
    let format = format.to_owned();
    Some(Operation::SetFormat(SetFormat { sheet: sheet.number, rows, columns, format }))
}

fn insert_operation(
    sheet: &PlainSheet,
    axis: Axis,
    following_ids: &[LineId],
    count: u32,
) -> Operation {
    let first_remaining = following_ids.iter().find_map(|id| sheet.index_of(axis, *id));
    let before = first_remaining.unwrap_or(u32::MAX);
    let insert = InsertBefore { sheet: sheet.number, before, count };
    match axis {
        Axis::Rows => Operation::InsertRows(insert),
        Axis::Columns => Operation::InsertColumns(insert),
    }
}

/// Makes a random operation valid by replacing its sheet numbers. A new sheet gets the next unused
/// number. Any other number is replaced with the number of an existing sheet.
pub fn redirect_to_existing_sheet(workbook: &PlainWorkbook, mut operation: Operation) -> Operation {
    let existing_sheet = |random_number: SheetId| {
        let index = random_number.0 as usize % workbook.sheets.len();
        workbook.sheets[index].number
    };
    let next_number = SheetId(workbook.used_numbers.last().unwrap().0 + 1);
    match &mut operation {
        Operation::AddSheet(add) => {
            add.sheet = next_number;
            add.before = add.before.map(existing_sheet);
        }
        Operation::ImportSheet(import) => {
            import.sheet = next_number;
            import.replaces = import.replaces.map(existing_sheet);
            import.sheets.values_mut().for_each(|sheet| *sheet = existing_sheet(*sheet));
        }
        Operation::SetCells(SetCells { sheet, .. })
        | Operation::ClearRange(ClearRange { sheet, .. })
        | Operation::SetFormat(SetFormat { sheet, .. })
        | Operation::InsertRows(InsertBefore { sheet, .. })
        | Operation::InsertColumns(InsertBefore { sheet, .. })
        | Operation::DeleteRows(DeleteSpans { sheet, .. })
        | Operation::DeleteColumns(DeleteSpans { sheet, .. })
        | Operation::RenameSheet(RenameSheet { sheet, .. })
        | Operation::DeleteSheet(DeleteSheet { sheet }) => *sheet = existing_sheet(*sheet),
        Operation::SetName(set) => {
            set.sheets.values_mut().for_each(|sheet| *sheet = existing_sheet(*sheet));
        }
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
    }
    operation
}
