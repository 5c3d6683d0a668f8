//! What an author means, by identity: the rows, columns and sheets that it saw.

use super::{LineId, Plain, PlainSheet, Tag};
use crate::axis_map::Axis;
use crate::operation::{
    AddSheet, CellEdit, DeleteSheet, ImportSheet, Operation, RenameSheet, SetFormat, SheetId, Span,
    Spans,
};

/// An operation by identity. Sheets are known by the tag of who added them.
#[derive(Debug, Clone)]
pub struct Intent {
    sheet: Option<Tag>,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Nothing,
    Set(Vec<((LineId, LineId), CellEdit)>),
    Clear(Vec<LineId>, Vec<LineId>),
    Format(Side, Side, String),
    Insert {
        rows: bool,
        behind: Vec<LineId>,
        count: u32,
        tag: Tag,
    },
    Delete {
        rows: bool,
        ids: Vec<LineId>,
    },
    Add {
        number: SheetId,
        name: String,
        tag: Tag,
    },
    /// With the tag of who added the sheet that is replaced.
    Import {
        import: ImportSheet,
        replaces: Option<Tag>,
        tag: Tag,
    },
    Rename(String),
    Remove,
}

/// The rows or columns of a format: all, or each span by its lines.
#[derive(Debug, Clone)]
enum Side {
    All,
    Spans(Vec<Vec<LineId>>),
}

impl Side {
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

    /// From the first to the last survivor of each span.
    fn spans(&self, sheet: &PlainSheet, axis: Axis) -> Spans {
        let Self::Spans(spans) = self else { return Spans::all(axis) };
        let between = spans.iter().filter_map(|ids| {
            let places = ids.iter().filter_map(|id| sheet.place(axis == Axis::Rows, *id));
            let places: Vec<u32> = places.collect();
            let (first, last) = (*places.first()?, *places.last()?);
            Some(Span { first, count: last - first + 1 })
        });
        Spans::from_sorted(between.collect())
    }
}

impl Intent {
    /// What an operation means to an author who sees this.
    pub fn of(view: &Plain, operation: &Operation, tag: Tag) -> Self {
        let number = sheet_of(operation);
        let sheet = view.sheets.iter().find(|sheet| Some(sheet.number) == number);
        let what = match (operation, sheet) {
            (Operation::AddSheet(AddSheet { sheet, name }), _) => {
                What::Add { number: *sheet, name: name.clone(), tag }
            }
            (Operation::ImportSheet(import), _) => {
                let replaced = view.sheets.iter().find(|s| Some(s.number) == import.replaces);
                let replaces = replaced.map(|sheet| sheet.tag);
                What::Import { import: import.clone(), replaces, tag }
            }
            (operation, Some(sheet)) => What::of(sheet, operation, tag),
            _ => What::Nothing,
        };
        Self { sheet: sheet.map(|sheet| sheet.tag), what }
    }

    /// Does it, wherever what its author saw is now.
    pub fn apply(&self, to: &mut Plain) {
        if let What::Add { number, name, tag } = &self.what {
            let free = (number.0..).map(SheetId).find(|number| !to.used.contains(number)).unwrap();
            to.apply(&Operation::AddSheet(AddSheet { sheet: free, name: name.clone() }), *tag);
            return;
        }
        if let What::Import { import, replaces, tag } = &self.what {
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
        match &self.what {
            What::Nothing | What::Add { .. } | What::Import { .. } => {}
            What::Set(cells) => {
                for ((row, column), edit) in cells {
                    if sheet.place(true, *row).is_some() && sheet.place(false, *column).is_some() {
                        sheet.set((*row, *column), edit);
                    }
                }
            }
            What::Clear(rows, columns) => sheet.clear(rows, columns),
            What::Format(rows, columns, format) => {
                let (rows, columns) =
                    (rows.spans(sheet, Axis::Rows), columns.spans(sheet, Axis::Columns));
                if !rows.is_empty() && !columns.is_empty() {
                    let set = SetFormat { sheet: number, rows, columns, format: format.clone() };
                    to.apply(&Operation::SetFormat(set), 0);
                }
            }
            What::Insert { rows, behind, count, tag } => {
                let before = behind.iter().find_map(|id| sheet.place(*rows, *id));
                sheet.insert(*rows, before.unwrap_or(u32::MAX), *count, *tag);
            }
            What::Delete { rows, ids } => sheet.delete(*rows, ids),
            What::Rename(name) => {
                let rename = RenameSheet { sheet: number, name: name.clone() };
                to.apply(&Operation::RenameSheet(rename), 0);
            }
            What::Remove => {
                to.apply(&Operation::DeleteSheet(DeleteSheet { sheet: number }), 0);
            }
        }
    }
}

impl What {
    fn of(sheet: &PlainSheet, operation: &Operation, tag: Tag) -> Self {
        let behind = |rows: bool, before: u32| {
            sheet.lines(rows).iter().skip(before as usize).map(|line| line.id).collect()
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
                Side::of(sheet, Axis::Rows, &set.rows),
                Side::of(sheet, Axis::Columns, &set.columns),
                set.format.clone(),
            ),
            Operation::InsertRows(i) => {
                Self::Insert { rows: true, behind: behind(true, i.before), count: i.count, tag }
            }
            Operation::InsertColumns(i) => {
                Self::Insert { rows: false, behind: behind(false, i.before), count: i.count, tag }
            }
            Operation::DeleteRows(delete) => {
                Self::Delete { rows: true, ids: sheet.rows_of(&delete.spans) }
            }
            Operation::DeleteColumns(delete) => {
                Self::Delete { rows: false, ids: sheet.columns_of(&delete.spans) }
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

fn sheet_of(operation: &Operation) -> Option<SheetId> {
    Some(match operation {
        Operation::SetCells(set) => set.sheet,
        Operation::ClearRange(clear) => clear.sheet,
        Operation::SetFormat(set) => set.sheet,
        Operation::InsertRows(insert) | Operation::InsertColumns(insert) => insert.sheet,
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => delete.sheet,
        Operation::RenameSheet(rename) => rename.sheet,
        Operation::DeleteSheet(delete) => delete.sheet,
        Operation::AddSheet(_)
        | Operation::ImportSheet(_)
        | Operation::Undo(_)
        | Operation::Revert(_)
        | Operation::Rejected(_) => return None,
    })
}

/// An operation as somebody sends it who sees this: on a sheet that is there; a new sheet with the
/// next number.
pub fn sensible(view: &Plain, mut operation: Operation) -> Operation {
    let there = |wanted: SheetId| {
        let index = wanted.0 as usize % view.sheets.len();
        view.sheets[index].number
    };
    match &mut operation {
        Operation::SetCells(set) => set.sheet = there(set.sheet),
        Operation::ClearRange(clear) => clear.sheet = there(clear.sheet),
        Operation::SetFormat(set) => set.sheet = there(set.sheet),
        Operation::InsertRows(i) | Operation::InsertColumns(i) => i.sheet = there(i.sheet),
        Operation::DeleteRows(d) | Operation::DeleteColumns(d) => d.sheet = there(d.sheet),
        Operation::RenameSheet(rename) => rename.sheet = there(rename.sheet),
        Operation::DeleteSheet(delete) => delete.sheet = there(delete.sheet),
        Operation::AddSheet(add) => add.sheet = SheetId(view.used.last().unwrap().0 + 1),
        Operation::ImportSheet(import) => {
            import.sheet = SheetId(view.used.last().unwrap().0 + 1);
            import.replaces = import.replaces.map(there);
        }
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
    }
    operation
}
