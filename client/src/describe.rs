//! Operations in a few words, for people.

use std::collections::BTreeMap;

use cellar_api::wire::SheetsReply;
use cellar_base::count::grouped;
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::a1::{CellName, Rectangle, column_name};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::{
    CellEdit, FIRST_SHEET_NAME, InsertBefore, Operation, SheetId, Span, Spans,
};

use crate::table::escape;

/// Characters of a text that are shown.
const SHOWN_CHARACTERS: usize = 40;
/// Phrases, and spans of a phrase, that are shown.
const SHOWN_PHRASES: usize = 4;

/// The names of sheets, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SheetNames(BTreeMap<SheetId, String>);

impl SheetNames {
    /// Those of a spreadsheet that was just created.
    pub(crate) fn at_the_beginning() -> Self {
        Self(BTreeMap::from([(SheetId::FIRST, FIRST_SHEET_NAME.to_owned())]))
    }

    pub(crate) fn add(&mut self, operation: &Operation) {
        let (sheet, name) = match operation {
            Operation::AddSheet(add) => (add.sheet, &add.name),
            Operation::ImportSheet(import) => (import.sheet, &import.name),
            _ => return,
        };
        self.0.insert(sheet, name.clone());
    }

    pub(crate) fn rename(&mut self, operation: &Operation) {
        if let Operation::RenameSheet(rename) = operation {
            self.0.insert(rename.sheet, rename.name.clone());
        }
    }

    /// `Costs`, or number 2 if its name is not known.
    fn of(&self, sheet: SheetId) -> String {
        let number = || format!("number {}", sheet.0);
        self.0.get(&sheet).map_or_else(number, |name| format!("`{}`", cut(name)))
    }
}

impl From<&SheetsReply> for SheetNames {
    fn from(reply: &SheetsReply) -> Self {
        Self(reply.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone())).collect())
    }
}

/// Whether an operation is described by the name of a sheet that it does not have itself.
pub(crate) fn needs_names(operation: &Operation) -> bool {
    match operation {
        Operation::RenameSheet(_) | Operation::DeleteSheet(_) => true,
        Operation::ImportSheet(import) => import.replaces.is_some(),
        _ => false,
    }
}

/// One operation: `B2 = "new"`, `B2 cleared` or `3 cells B2:C3`.
pub(crate) fn operation(operation: &Operation) -> String {
    operations(std::iter::once(operation), &SheetNames::default())
}

/// Several operations together: the cells that are set in one phrase, the rest one by one.
pub(crate) fn operations<'a>(
    operations: impl Iterator<Item = &'a Operation>,
    names: &SheetNames,
) -> String {
    let (mut edits, mut phrases) = (Vec::<&CellEdit>::new(), Vec::new());
    for operation in operations {
        match operation {
            Operation::SetCells(set) => edits.extend(&set.cells),
            other => phrases.push(phrase(other, names)),
        }
    }
    match edits.as_slice() {
        [] => {}
        [edit] => phrases.insert(0, one(edit)),
        edits => phrases.insert(0, format!("{} cells {}", grouped(edits.len()), around(edits))),
    }
    let more = phrases.len().saturating_sub(SHOWN_PHRASES);
    phrases.truncate(SHOWN_PHRASES);
    match (phrases.is_empty(), more) {
        (true, _) => "nothing".to_owned(),
        (false, 0) => phrases.join(", "),
        (false, more) => format!("{} and {} more", phrases.join(", "), grouped(more)),
    }
}

fn phrase(operation: &Operation, names: &SheetNames) -> String {
    match operation {
        Operation::SetCells(_) => String::new(),
        Operation::ClearRange(clear) => {
            format!("cleared {}", range(&clear.rows, &clear.columns))
        }
        Operation::SetFormat(set) => {
            format!("{} shown as {}", range(&set.rows, &set.columns), cut(&set.format))
        }
        Operation::InsertRows(insert) => {
            let count = inserted(Axis::Rows, *insert);
            format!("inserted {} before row {}", things(count, "row"), row(insert.before))
        }
        Operation::InsertColumns(insert) => {
            let before = column_name(insert.before);
            let count = inserted(Axis::Columns, *insert);
            format!("inserted {} before column {before}", things(count, "column"))
        }
        Operation::DeleteRows(delete) => format!("deleted rows {}", rows(&delete.spans)),
        Operation::DeleteColumns(delete) => format!("deleted columns {}", columns(&delete.spans)),
        Operation::AddSheet(add) => format!("added sheet `{}`", cut(&add.name)),
        Operation::RenameSheet(rename) => {
            format!("renamed sheet {} to `{}`", names.of(rename.sheet), cut(&rename.name))
        }
        Operation::DeleteSheet(delete) => format!("deleted sheet {}", names.of(delete.sheet)),
        Operation::ImportSheet(import) => {
            let cells = u32::try_from(import.cells).unwrap_or(u32::MAX);
            let cells = things(cells, "cell");
            match import.replaces {
                None => format!("imported sheet `{}`, {cells}", cut(&import.name)),
                Some(sheet) => format!(
                    "imported sheet `{}`, {cells}, in the place of {}",
                    cut(&import.name),
                    names.of(sheet)
                ),
            }
        }
        Operation::Undo(undo) => format!("took back {}", undo.position),
        Operation::Revert(revert) => format!("took back all behind {}", revert.position),
        Operation::Rejected(rejection) => format!("rejected: {}", cut(&rejection.detail)),
    }
}

/// How many rows or columns an insert makes: what goes over the end of the sheet is none.
pub(crate) fn inserted(axis: Axis, insert: InsertBefore) -> u32 {
    let end = match axis {
        Axis::Rows => MAX_ROWS,
        Axis::Columns => MAX_COLUMNS,
    };
    insert.count.min(end.saturating_sub(insert.before))
}

fn things(count: u32, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(count as usize))
}

fn row(row: u32) -> String {
    (u64::from(row) + 1).to_string()
}

fn range(row_spans: &Spans, column_spans: &Spans) -> String {
    match (row_spans.is_all(Axis::Rows), column_spans.is_all(Axis::Columns)) {
        (true, true) => "everything".to_owned(),
        (true, false) => format!("columns {}", columns(column_spans)),
        (false, true) => format!("rows {}", rows(row_spans)),
        (false, false) => rectangle(row_spans, column_spans).map_or_else(
            || format!("rows {} of columns {}", rows(row_spans), columns(column_spans)),
            |rectangle| rectangle.to_string(),
        ),
    }
}

/// The rectangle of one span of each axis.
fn rectangle(row_spans: &Spans, column_spans: &Spans) -> Option<Rectangle> {
    if (row_spans.len(), column_spans.len()) != (1, 1) {
        return None;
    }
    let (rows, columns) = (row_spans.iter().next()?, column_spans.iter().next()?);
    let last = |span: Span| span.end().saturating_sub(1);
    Some(Rectangle {
        first: CellName { row: rows.first, column: columns.first },
        last: CellName { row: last(rows), column: last(columns) },
    })
}

fn rows(spans: &Spans) -> String {
    listed(spans, row)
}

fn columns(spans: &Spans) -> String {
    listed(spans, column_name)
}

/// `3`, `3:5` or `3:5, 9 and 7 more`.
fn listed(spans: &Spans, name: fn(u32) -> String) -> String {
    let shown = spans.iter().take(SHOWN_PHRASES).map(|span| match span.count {
        1 => name(span.first),
        _ => format!("{}:{}", name(span.first), name(span.end().saturating_sub(1))),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match spans.len().saturating_sub(SHOWN_PHRASES) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more)),
    }
}

fn one(edit: &CellEdit) -> String {
    let name = CellName { row: edit.row, column: edit.column };
    match (&edit.value, &edit.formula, &edit.format) {
        (Some(Value::Empty), None, _) => format!("{name} cleared"),
        (_, Some(formula), _) => format!("{name} {}", cut(formula)),
        (Some(Value::Text(text)), None, _) => format!("{name} = \"{}\"", cut(text)),
        (Some(value), None, format) => {
            let cell = Cell { value: value.clone(), formula: None, format: format.clone() };
            format!("{name} = {}", cut(&cell.text()))
        }
        (None, None, Some(format)) => format!("{name} shown as {}", cut(format)),
        (None, None, None) => format!("{name} unchanged"),
    }
}

fn cut(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", escape(&start))
}

/// The smallest rectangle that holds all the edits.
fn around(edits: &[&CellEdit]) -> Rectangle {
    let rows = || edits.iter().map(|edit| edit.row);
    let columns = || edits.iter().map(|edit| edit.column);
    let corner = |row: Option<u32>, column: Option<u32>| CellName {
        row: row.unwrap_or(0),
        column: column.unwrap_or(0),
    };
    Rectangle {
        first: corner(rows().min(), columns().min()),
        last: corner(rows().max(), columns().max()),
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{ClearRange, DeleteSheet, RenameSheet, SetCells};

    use super::*;

    fn edit(row: u32, column: u32, value: Value) -> CellEdit {
        CellEdit { row, column, value: Some(value), formula: None, format: None }
    }

    fn described(cells: Vec<CellEdit>) -> String {
        operation(&Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells }))
    }

    #[test]
    fn one_cell_says_what_it_holds_and_several_where_they_are() {
        let text = |text: &str| edit(1, 1, Value::Text(text.into()));
        assert_eq!(described(vec![text("new")]), "B2 = \"new\"");
        assert_eq!(described(vec![text("\u{1b}[2J")]), "B2 = \"\\u{1b}[2J\"");
        assert_eq!(described(vec![text(&"x".repeat(41))]), format!("B2 = \"{}…\"", "x".repeat(40)));
        assert_eq!(described(vec![edit(1, 1, Value::Empty)]), "B2 cleared");
        let format = Some("0.00".to_owned());
        let price = CellEdit { format: format.clone(), ..edit(0, 0, Value::Number(2.5)) };
        assert_eq!(described(vec![price]), "A1 = 2.50");
        let only_format = CellEdit { value: None, format, ..edit(0, 0, Value::Empty) };
        assert_eq!(described(vec![only_format]), "A1 shown as 0.00");
        let corners = vec![edit(2, 1, Value::Empty), edit(1, 2, Value::Empty)];
        assert_eq!(described(corners), "2 cells B2:C3");
    }

    #[test]
    fn an_insert_at_the_end_makes_what_fits() {
        let rows = |before| {
            let insert = InsertBefore { sheet: SheetId::FIRST, before, count: 5 };
            operation(&Operation::InsertRows(insert))
        };
        assert_eq!(rows(MAX_ROWS - 1), format!("inserted 1 row before row {MAX_ROWS}"));
        assert_eq!(rows(MAX_ROWS - 5), format!("inserted 5 rows before row {}", MAX_ROWS - 4));
        let insert = InsertBefore { sheet: SheetId::FIRST, before: MAX_COLUMNS - 2, count: 5 };
        let columns = operation(&Operation::InsertColumns(insert));
        assert!(columns.starts_with("inserted 2 columns before"), "{columns}");
    }

    #[test]
    fn sheets_are_named_as_far_as_they_are_known() {
        let sheet = SheetId::FIRST;
        let rename = Operation::RenameSheet(RenameSheet { sheet, name: "Costs".into() });
        let delete = Operation::DeleteSheet(DeleteSheet { sheet });
        let mut names = SheetNames::at_the_beginning();
        let described = |operation, names: &_| operations(std::iter::once(operation), names);
        assert_eq!(described(&rename, &names), "renamed sheet `Sheet1` to `Costs`");
        names.rename(&rename);
        assert_eq!(described(&delete, &names), "deleted sheet `Costs`");
        assert_eq!(operation(&delete), "deleted sheet number 0");
    }

    #[test]
    fn a_range_is_named_as_people_write_it() {
        let clear = |rows, columns| {
            operation(&Operation::ClearRange(ClearRange { sheet: SheetId::FIRST, rows, columns }))
        };
        let (two, all) = (Spans::one(1, 2), Spans::all(Axis::Rows));
        assert_eq!(clear(two.clone(), two.clone()), "cleared B2:C3");
        assert_eq!(clear(all, two.clone()), "cleared columns B:C");
        assert_eq!(clear(Spans::of([0, 4]), two), "cleared rows 1, 5 of columns B:C");
    }
}
