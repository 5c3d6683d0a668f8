//! Intent of an operation, expressed with the ids of the rows, columns and sheets that its author
//! saw.

use super::{LineId, PlainSheet, PlainWorkbook, Tag};
use crate::axis_map::Axis;
use crate::operation::{
    AddSheet, CellEdit, DeleteSheet, ImportSheet, InsertBefore, Operation, RenameSheet, SetFormat,
    SheetId, Span, Spans,
};

/// An operation expressed with ids instead of coordinates. A sheet is identified by the tag of the
/// mutation that added it.
#[derive(Debug, Clone)]
pub struct Intent {
    sheet: Option<Tag>,
    action: IntendedAction,
}

/// Effect of an operation on a sheet, expressed with line ids (rows or columns).
#[derive(Debug, Clone)]
enum IntendedAction {
    Nothing,
    Set(Vec<((LineId, LineId), CellEdit)>),
    Clear(Vec<LineId>, Vec<LineId>),
    Format(FormattedLines, FormattedLines, String),
    Insert {
        axis: Axis,
        /// All lines (rows or columns) after the insertion point when the operation was created.
        following: Vec<LineId>,
        count: u32,
        tag: Tag,
    },
    Delete {
        axis: Axis,
        ids: Vec<LineId>,
    },
    Add {
        number: SheetId,
        name: String,
        tag: Tag,
    },
    /// `replaces` is the tag of the mutation that added the replaced sheet.
    Import {
        import: ImportSheet,
        replaces: Option<Tag>,
        tag: Tag,
    },
    Rename(String),
    Remove,
}

/// Rows (or columns) of a range format: the whole axis, or the line ids in each span.
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
        let ids = |span: Span| {
            let span = Spans::one(span.first, span.count);
            if axis == Axis::Rows { sheet.rows_of(&span) } else { sheet.columns_of(&span) }
        };
        Self::Spans(spans.iter().map(ids).collect())
    }

    /// Returns the current spans, each from its first to its last remaining line (row or column).
    fn spans(&self, sheet: &PlainSheet, axis: Axis) -> Spans {
        let Self::Spans(spans) = self else { return Spans::all(axis) };
        let current_spans = spans.iter().filter_map(|ids| {
            let places = ids.iter().filter_map(|id| sheet.place(axis, *id));
            let places: Vec<u32> = places.collect();
            let (first, last) = (*places.first()?, *places.last()?);
            Some(Span { first, count: last - first + 1 })
        });
        Spans::from_sorted(current_spans.collect())
    }
}

impl Intent {
    /// Returns the intent of an operation whose author saw the state `view`.
    pub fn of(view: &PlainWorkbook, operation: &Operation, tag: Tag) -> Self {
        let number = operation.sheet();
        let sheet = view.sheets.iter().find(|sheet| Some(sheet.number) == number);
        let action = match (operation, sheet) {
            (Operation::AddSheet(AddSheet { sheet, name }), _) => {
                IntendedAction::Add { number: *sheet, name: name.clone(), tag }
            }
            (Operation::ImportSheet(import), _) => {
                let replaced = view.sheets.iter().find(|s| Some(s.number) == import.replaces);
                let replaces = replaced.map(|sheet| sheet.tag);
                IntendedAction::Import { import: import.clone(), replaces, tag }
            }
            (operation, Some(sheet)) => IntendedAction::of(sheet, operation, tag),
            _ => IntendedAction::Nothing,
        };
        Self { sheet: sheet.map(|sheet| sheet.tag), action }
    }

    /// Applies the intent at the current indices of the lines (rows or columns) that the author
    /// saw.
    pub fn apply(&self, to: &mut PlainWorkbook) {
        if let IntendedAction::Add { number, name, tag } = &self.action {
            let free = (number.0..).map(SheetId).find(|number| !to.used.contains(number)).unwrap();
            to.apply(&Operation::AddSheet(AddSheet { sheet: free, name: name.clone() }), *tag);
            return;
        }
        if let IntendedAction::Import { import, replaces, tag } = &self.action {
            let mut numbers = (import.sheet.0..).map(SheetId);
            let sheet = numbers.find(|number| !to.used.contains(number)).unwrap();
            let replaced = to.sheets.iter().find(|s| replaces.is_some_and(|tag| s.tag == tag));
            let replaces = replaced.map(|sheet| sheet.number);
            let import = ImportSheet { sheet, replaces, ..import.clone() };
            to.apply(&Operation::ImportSheet(import), *tag);
            return;
        }
        let found = to.sheets.iter_mut().find(|sheet| Some(sheet.tag) == self.sheet);
        let Some(sheet) = found else { return };
        let number = sheet.number;
        match &self.action {
            IntendedAction::Nothing
            | IntendedAction::Add { .. }
            | IntendedAction::Import { .. } => {}
            IntendedAction::Set(cells) => {
                for ((row, column), edit) in cells {
                    if sheet.place(Axis::Rows, *row).is_some()
                        && sheet.place(Axis::Columns, *column).is_some()
                    {
                        sheet.set((*row, *column), edit);
                    }
                }
            }
            IntendedAction::Clear(rows, columns) => sheet.clear(rows, columns),
            IntendedAction::Format(rows, columns, format) => {
                let (rows, columns) =
                    (rows.spans(sheet, Axis::Rows), columns.spans(sheet, Axis::Columns));
                if !rows.is_empty() && !columns.is_empty() {
                    let set = SetFormat { sheet: number, rows, columns, format: format.clone() };
                    to.apply(&Operation::SetFormat(set), 0);
                }
            }
            IntendedAction::Insert { axis, following, count, tag } => {
                let before = following.iter().find_map(|id| sheet.place(*axis, *id));
                sheet.insert(*axis, before.unwrap_or(u32::MAX), *count, *tag);
            }
            IntendedAction::Delete { axis, ids } => sheet.delete(*axis, ids),
            IntendedAction::Rename(name) => {
                let rename = RenameSheet { sheet: number, name: name.clone() };
                to.apply(&Operation::RenameSheet(rename), 0);
            }
            IntendedAction::Remove => {
                to.apply(&Operation::DeleteSheet(DeleteSheet { sheet: number }), 0);
            }
        }
    }
}

impl IntendedAction {
    fn of(sheet: &PlainSheet, operation: &Operation, tag: Tag) -> Self {
        let insert = |axis: Axis, insert: &InsertBefore| {
            let lines = sheet.lines(axis).iter().skip(insert.before as usize);
            let following = lines.map(|line| line.id).collect();
            Self::Insert { axis, following, count: insert.count, tag }
        };
        match operation {
            Operation::SetCells(set) => Self::Set(
                set.cells
                    .iter()
                    .map(|edit| {
                        let row = sheet.rows[edit.row as usize].id;
                        ((row, sheet.columns[edit.column as usize].id), edit.clone())
                    })
                    .collect(),
            ),
            Operation::ClearRange(clear) => {
                Self::Clear(sheet.rows_of(&clear.rows), sheet.columns_of(&clear.columns))
            }
            Operation::SetFormat(set) => Self::Format(
                FormattedLines::of(sheet, Axis::Rows, &set.rows),
                FormattedLines::of(sheet, Axis::Columns, &set.columns),
                set.format.clone(),
            ),
            Operation::InsertRows(rows) => insert(Axis::Rows, rows),
            Operation::InsertColumns(columns) => insert(Axis::Columns, columns),
            Operation::DeleteRows(delete) => {
                Self::Delete { axis: Axis::Rows, ids: sheet.rows_of(&delete.spans) }
            }
            Operation::DeleteColumns(delete) => {
                Self::Delete { axis: Axis::Columns, ids: sheet.columns_of(&delete.spans) }
            }
            Operation::RenameSheet(rename) => Self::Rename(rename.name.clone()),
            Operation::DeleteSheet(_) => Self::Remove,
            Operation::AddSheet(_)
            | Operation::ImportSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_) => Self::Nothing,
        }
    }
}

/// Replaces the sheet numbers in a random operation with an existing sheet of `view`, or with the
/// next free number for a new sheet.
pub fn redirect_to_existing_sheet(view: &PlainWorkbook, mut operation: Operation) -> Operation {
    let existing = |wanted: SheetId| {
        let index = wanted.0 as usize % view.sheets.len();
        view.sheets[index].number
    };
    match &mut operation {
        Operation::SetCells(set) => set.sheet = existing(set.sheet),
        Operation::ClearRange(clear) => clear.sheet = existing(clear.sheet),
        Operation::SetFormat(set) => set.sheet = existing(set.sheet),
        Operation::InsertRows(i) | Operation::InsertColumns(i) => i.sheet = existing(i.sheet),
        Operation::DeleteRows(d) | Operation::DeleteColumns(d) => d.sheet = existing(d.sheet),
        Operation::RenameSheet(rename) => rename.sheet = existing(rename.sheet),
        Operation::DeleteSheet(delete) => delete.sheet = existing(delete.sheet),
        Operation::AddSheet(add) => add.sheet = SheetId(view.used.last().unwrap().0 + 1),
        Operation::ImportSheet(import) => {
            import.sheet = SheetId(view.used.last().unwrap().0 + 1);
            import.replaces = import.replaces.map(existing);
        }
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
    }
    operation
}
