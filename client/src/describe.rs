//! Describes operations in a few words, for messages.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "cli")]
use cellar_api::wire::SheetsReply;
use cellar_base::count::grouped;
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::a1::{CellName, Rectangle, column_name};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::{
    CellEdit, ImportSheet, InsertBefore, Operation, Revert, SheetId, Span, Spans,
};

use crate::text::{escape, escape_shortened};

const MAX_TEXT_CHARACTERS: usize = 40;
/// Maximum number of phrases in a description, and of spans in a phrase. Further phrases or spans
/// are only counted.
const MAX_LISTED: usize = 4;

/// The names of sheets, for descriptions. A description names the sheet of cells, rows and columns if
/// the spreadsheet has several sheets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SheetNames {
    names: BTreeMap<SheetId, String>,
    /// The names of deleted sheets, which a later edit may recover.
    former: BTreeMap<SheetId, String>,
    /// Name the sheet even if it is the only known one.
    always_named: bool,
}

#[cfg(feature = "cli")]
impl SheetNames {
    pub(crate) fn of_new_spreadsheet() -> Self {
        let first_name = cellar_sheet::operation::FIRST_SHEET_NAME.to_owned();
        Self { names: BTreeMap::from([(SheetId::FIRST, first_name)]), ..Self::default() }
    }

    /// Returns the name of a sheet that the user has named in the command.
    pub(crate) fn of_argument(sheet: SheetId, name: &str) -> Self {
        let names = BTreeMap::from([(sheet, name.to_owned())]);
        Self { names, always_named: true, ..Self::default() }
    }

    pub(crate) fn record_added(&mut self, operation: &Operation) {
        match operation {
            Operation::AddSheet(add) => self.names.insert(add.sheet, add.name.clone()),
            Operation::ImportSheet(import) => self.names.insert(import.sheet, import.name.clone()),
            _ => None,
        };
    }

    pub(crate) fn record_renamed_or_deleted(&mut self, operation: &Operation) {
        match operation {
            Operation::RenameSheet(rename) => {
                self.names.insert(rename.sheet, rename.name.clone());
            }
            Operation::DeleteSheet(delete) => self.record_deleted(delete.sheet),
            Operation::ImportSheet(ImportSheet { replaces: Some(replaced), .. }) => {
                self.record_deleted(*replaced);
            }
            _ => {}
        }
    }

    /// A revert recovers a deleted sheet as a new one with the same name.
    pub(crate) fn record_recovered(&mut self, operation: &Operation, committed: &[Operation]) {
        let Operation::Revert(Revert { sheet: Some(sheet), .. }) = operation else { return };
        let recovered = committed.iter().find_map(|operation| match operation {
            Operation::AddSheet(add) => Some(&add.name),
            _ => None,
        });
        if let Some(name) = recovered {
            self.former.insert(*sheet, name.clone());
        }
    }

    fn record_deleted(&mut self, sheet: SheetId) {
        if let Some(name) = self.names.remove(&sheet) {
            self.former.insert(sheet, name);
        }
    }
}

impl SheetNames {
    /// The name is in backticks. If it is unknown, the sheet is called by its number, such as
    /// `number 2`.
    fn name_or_number(&self, sheet: SheetId) -> String {
        match self.names.get(&sheet).or_else(|| self.former.get(&sheet)) {
            Some(name) => format!("`{}`", shorten(name)),
            None => format!("number {}", sheet.0),
        }
    }

    fn shown_name(&self, sheet: SheetId) -> Option<String> {
        let is_shown = self.always_named || self.names.len() > 1;
        self.names.get(&sheet).filter(|_| is_shown).map(|name| shorten(name))
    }

    /// Returns the beginning of the name of cells, such as `Costs!`.
    pub(crate) fn prefix(&self, sheet: SheetId) -> String {
        self.shown_name(sheet).map(|name| format!("{name}!")).unwrap_or_default()
    }

    /// Returns the end of a description of rows or columns, such as `` of sheet `Costs` ``.
    pub(crate) fn suffix(&self, sheet: SheetId) -> String {
        self.shown_name(sheet).map(|name| format!(" of sheet `{name}`")).unwrap_or_default()
    }
}

#[cfg(feature = "cli")]
impl From<&SheetsReply> for SheetNames {
    fn from(reply: &SheetsReply) -> Self {
        let names = reply.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone())).collect();
        Self { names, ..Self::default() }
    }
}

#[cfg(feature = "cli")]
pub(crate) fn needs_sheet_names(operation: &Operation) -> bool {
    match operation {
        Operation::AddSheet(_)
        | Operation::Undo(_)
        | Operation::Rejected(_)
        | Operation::SetName(_) => false,
        Operation::Revert(revert) => revert.sheet.is_some(),
        Operation::ImportSheet(import) => import.replaces.is_some(),
        _ => true,
    }
}

/// Describes an operation, such as `B2 = "new"`, `B2 cleared` or `3 cells B2:C3`.
pub(crate) fn describe_operation(operation: &Operation) -> String {
    describe_operations(std::iter::once(operation), &SheetNames::default())
}

/// All edits of single cells of a sheet are described together. Every other operation is described
/// separately.
pub(crate) fn describe_operations<'a>(
    operations: impl Iterator<Item = &'a Operation>,
    sheet_names: &SheetNames,
) -> String {
    let mut cell_edits = BTreeMap::<SheetId, Vec<&CellEdit>>::new();
    let mut other_phrases = Vec::new();
    for operation in operations {
        match operation {
            Operation::SetCells(set) => cell_edits.entry(set.sheet).or_default().extend(&set.cells),
            other => other_phrases.push(describe_with_sheet_names(other, sheet_names)),
        }
    }
    let describe = |(sheet, edits): (&SheetId, &Vec<&CellEdit>)| {
        describe_cell_edits(edits, &sheet_names.prefix(*sheet))
    };
    let mut phrases: Vec<String> = cell_edits.iter().filter_map(describe).collect();
    phrases.extend(other_phrases);
    if phrases.is_empty() {
        return "nothing".to_owned();
    }
    let phrase_count = phrases.len();
    join_first(phrases.into_iter(), phrase_count)
}

/// Sheets that are renamed, deleted or replaced are called by their current names.
fn describe_with_sheet_names(operation: &Operation, sheet_names: &SheetNames) -> String {
    match operation {
        Operation::SetCells(set) => {
            let edits = set.cells.iter().collect::<Vec<_>>();
            describe_cell_edits(&edits, &sheet_names.prefix(set.sheet)).unwrap_or_default()
        }
        Operation::ClearRange(clear) => {
            let suffix = sheet_names.suffix(clear.sheet);
            format!("cleared {}{suffix}", range_name(&clear.rows, &clear.columns))
        }
        Operation::SetFormat(set) => {
            let range = range_name(&set.rows, &set.columns);
            let suffix = sheet_names.suffix(set.sheet);
            format!("{range}{suffix} formatted as {}", shorten(&set.format))
        }
        Operation::InsertRows(insert) => {
            describe_insertion(Axis::Rows, *insert) + &sheet_names.suffix(insert.sheet)
        }
        Operation::InsertColumns(insert) => {
            describe_insertion(Axis::Columns, *insert) + &sheet_names.suffix(insert.sheet)
        }
        Operation::DeleteRows(delete) => {
            let suffix = sheet_names.suffix(delete.sheet);
            format!("deleted {}{suffix}", row_list(&delete.spans))
        }
        Operation::DeleteColumns(delete) => {
            let suffix = sheet_names.suffix(delete.sheet);
            format!("deleted {}{suffix}", column_list(&delete.spans))
        }
        Operation::AddSheet(add) => format!("added sheet `{}`", shorten(&add.name)),
        Operation::RenameSheet(rename) => {
            let old_name = sheet_names.name_or_number(rename.sheet);
            format!("renamed sheet {old_name} to `{}`", shorten(&rename.name))
        }
        Operation::DeleteSheet(delete) => {
            format!("deleted sheet {}", sheet_names.name_or_number(delete.sheet))
        }
        Operation::ImportSheet(import) => describe_import(import, sheet_names),
        Operation::Undo(undo) => format!("undid {}", undo.position),
        Operation::Revert(revert) => describe_revert(*revert, sheet_names),
        Operation::SetName(set) => match &set.formula {
            Some(formula) => format!("named {} {}", shorten(formula), shorten(&set.name)),
            None => format!("deleted name {}", shorten(&set.name)),
        },
        Operation::Rejected(rejection) => format!("rejected: {}", escape(&rejection.detail)),
    }
}

fn describe_revert(revert: Revert, sheet_names: &SheetNames) -> String {
    let position = revert.position;
    let Some(sheet) = revert.sheet else { return format!("reverted to {position}") };
    let sheet = sheet_names.name_or_number(sheet);
    match revert.range() {
        None => format!("reverted sheet {sheet} to {position}"),
        Some((rows, columns)) => {
            format!("reverted {} of sheet {sheet} to {position}", range_name(&rows, &columns))
        }
    }
}

fn describe_insertion(axis: Axis, insert: InsertBefore) -> String {
    let inserted = inserted_count(axis, insert);
    match axis {
        Axis::Rows => {
            let next_row = row_number(insert.before);
            format!("inserted {} before row {next_row}", count_of(inserted, "row"))
        }
        Axis::Columns => {
            let next_column = column_name(insert.before);
            format!("inserted {} before column {next_column}", count_of(inserted, "column"))
        }
    }
}

fn describe_import(import: &ImportSheet, sheet_names: &SheetNames) -> String {
    let cells = count_of(u32::try_from(import.cells).unwrap_or(u32::MAX), "cell");
    let addition = format!("imported sheet `{}`, {cells}", shorten(&import.name));
    match import.replaces {
        None => addition,
        Some(replaced) => {
            format!("{addition}, replacing sheet {}", sheet_names.name_or_number(replaced))
        }
    }
}

/// Rows or columns that would exceed the maximum size of a sheet are not added.
pub(crate) fn inserted_count(axis: Axis, insert: InsertBefore) -> u32 {
    let axis_length = match axis {
        Axis::Rows => MAX_ROWS,
        Axis::Columns => MAX_COLUMNS,
    };
    insert.count.min(axis_length.saturating_sub(insert.before))
}

fn count_of(count: u32, singular: &str) -> String {
    let suffix = if count == 1 { "" } else { "s" };
    format!("{} {singular}{suffix}", grouped(count as usize))
}

pub(crate) fn row_number(row: u32) -> String {
    (u64::from(row) + 1).to_string()
}

fn range_name(row_spans: &Spans, column_spans: &Spans) -> String {
    if let Some(rectangle) = single_rectangle(row_spans, column_spans) {
        return rectangle.to_string();
    }
    match (row_spans.is_all(Axis::Rows), column_spans.is_all(Axis::Columns)) {
        (true, true) => "all cells".to_owned(),
        (true, false) => column_list(column_spans),
        (false, true) => row_list(row_spans),
        (false, false) => format!("{} of {}", row_list(row_spans), column_list(column_spans)),
    }
}

/// Returns `None` if there are several spans on an axis, or if all rows or all columns are
/// included.
fn single_rectangle(row_spans: &Spans, column_spans: &Spans) -> Option<Rectangle> {
    if row_spans.is_all(Axis::Rows) || column_spans.is_all(Axis::Columns) {
        return None;
    }
    if row_spans.len() != 1 || column_spans.len() != 1 {
        return None;
    }
    let (rows, columns) = (row_spans.iter().next()?, column_spans.iter().next()?);
    Some(Rectangle {
        first: CellName { row: rows.first, column: columns.first },
        last: CellName { row: last_index(rows), column: last_index(columns) },
    })
}

fn last_index(span: Span) -> u32 {
    span.end().saturating_sub(1)
}

/// Returns the names of rows, such as `row 3` or `rows 3:5, 9`.
pub(crate) fn row_list(spans: &Spans) -> String {
    let noun = if is_single(spans) { "row" } else { "rows" };
    format!("{noun} {}", list_spans(spans, row_number))
}

/// Returns the names of columns, such as `column C` or `columns A, C:D`.
pub(crate) fn column_list(spans: &Spans) -> String {
    let noun = if is_single(spans) { "column" } else { "columns" };
    format!("{noun} {}", list_spans(spans, column_name))
}

fn is_single(spans: &Spans) -> bool {
    spans.len() == 1 && spans.iter().all(|span| span.count == 1)
}

/// Formats a list of spans, such as `3`, `3:5` or `3:5, 9 and 7 more`.
fn list_spans(spans: &Spans, index_name: fn(u32) -> String) -> String {
    let span_names = spans.iter().map(|span| span_name(span, index_name));
    join_first(span_names, spans.len())
}

pub(crate) fn span_name(span: Span, index_name: fn(u32) -> String) -> String {
    if span.count == 1 {
        return index_name(span.first);
    }
    format!("{}:{}", index_name(span.first), index_name(last_index(span)))
}

/// Joins at most `MAX_LISTED` items and counts the others, such as `a, b, c, d and 7 more`.
/// `item_count` is the total number of items.
pub(crate) fn join_first(items: impl Iterator<Item = String>, item_count: usize) -> String {
    let listed = items.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
    if item_count <= MAX_LISTED {
        return listed;
    }
    format!("{listed} and {} more", grouped(item_count - MAX_LISTED))
}

/// A single edit is described in full. For several edits, returns their number and range, or the names
/// of a few cells that do not fill their range. Returns `None` if there are no edits. `prefix` comes before names of cells.
fn describe_cell_edits(edits: &[&CellEdit], prefix: &str) -> Option<String> {
    if let [edit] = edits {
        return Some(format!("{prefix}{}", describe_cell_edit(edit)));
    }
    let range = bounding_rectangle(edits)?;
    let edit_count = u64::try_from(edits.len()).unwrap_or(u64::MAX);
    if edits.len() > MAX_LISTED || range.area() == edit_count {
        return Some(format!("{} cells {prefix}{range}", grouped(edits.len())));
    }
    let names: BTreeSet<(u32, u32)> = edits.iter().map(|edit| (edit.row, edit.column)).collect();
    let names = names.into_iter().map(|(row, column)| CellName { row, column }.to_string());
    Some(format!("cells {prefix}{}", names.collect::<Vec<_>>().join(", ")))
}

fn describe_cell_edit(edit: &CellEdit) -> String {
    let cell_name = CellName { row: edit.row, column: edit.column };
    match (&edit.value, &edit.formula, &edit.format) {
        (Some(Value::Empty), None, _) => format!("{cell_name} cleared"),
        (_, Some(formula), _) => format!("{cell_name} {}", shorten(formula)),
        (Some(Value::Text(text)), None, _) => format!("{cell_name} = \"{}\"", shorten(text)),
        (Some(value), None, format) => {
            let cell = Cell { value: value.clone(), formula: None, format: format.clone() };
            format!("{cell_name} = {}", shorten(&cell.text()))
        }
        (None, None, Some(format)) => format!("{cell_name} formatted as {}", shorten(format)),
        (None, None, None) => format!("{cell_name} unchanged"),
    }
}

fn shorten(text: &str) -> String {
    escape_shortened(text, MAX_TEXT_CHARACTERS)
}

fn bounding_rectangle(edits: &[&CellEdit]) -> Option<Rectangle> {
    let rows = edits.iter().map(|edit| edit.row);
    let columns = edits.iter().map(|edit| edit.column);
    Some(Rectangle {
        first: CellName { row: rows.clone().min()?, column: columns.clone().min()? },
        last: CellName { row: rows.max()?, column: columns.max()? },
    })
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{
        AddSheet, ClearRange, DeleteSheet, DeleteSpans, RenameSheet, SetCells,
    };

    use super::*;

    fn edit(row: u32, column: u32, value: Value) -> CellEdit {
        CellEdit { row, column, value: Some(value), formula: None, format: None }
    }

    fn described(cells: Vec<CellEdit>) -> String {
        describe_operation(&Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells }))
    }

    #[test]
    fn describes_one_cell_by_value_and_several_by_range() {
        let text = |text: &str| edit(1, 1, Value::Text(text.into()));
        assert_eq!(described(vec![text("new")]), "B2 = \"new\"");
        assert_eq!(described(vec![text("\u{1b}[2J")]), "B2 = \"\\u{1b}[2J\"");
        assert_eq!(described(vec![text(&"x".repeat(41))]), format!("B2 = \"{}…\"", "x".repeat(40)));
        assert_eq!(described(vec![edit(1, 1, Value::Empty)]), "B2 cleared");
        let format = Some("0.00".to_owned());
        let price = CellEdit { format: format.clone(), ..edit(0, 0, Value::Number(2.5)) };
        assert_eq!(described(vec![price]), "A1 = 2.50");
        let only_format = CellEdit { value: None, format, ..edit(0, 0, Value::Empty) };
        assert_eq!(described(vec![only_format]), "A1 formatted as 0.00");
        let corners = vec![edit(2, 1, Value::Empty), edit(1, 2, Value::Empty)];
        assert_eq!(described(corners), "cells C2, B3");
        let column = |rows: std::ops::Range<u32>| {
            described(rows.map(|row| edit(row, 1, Value::Empty)).collect())
        };
        assert_eq!(column(1..3), "2 cells B2:B3");
        let gap = |count| {
            let rows = (0..count).map(|row| edit(2 * row, 1, Value::Empty));
            described(rows.collect())
        };
        assert_eq!((gap(4).as_str(), gap(5).as_str()), ("cells B1, B3, B5, B7", "5 cells B1:B9"));
    }

    #[test]
    fn counts_only_rows_and_columns_within_the_maximum_size() {
        let rows = |before| {
            let insert = InsertBefore { sheet: SheetId::FIRST, before, count: 5 };
            describe_operation(&Operation::InsertRows(insert))
        };
        assert_eq!(rows(MAX_ROWS - 1), format!("inserted 1 row before row {MAX_ROWS}"));
        assert_eq!(rows(MAX_ROWS - 5), format!("inserted 5 rows before row {}", MAX_ROWS - 4));
        let insert = InsertBefore { sheet: SheetId::FIRST, before: MAX_COLUMNS - 2, count: 5 };
        let columns = describe_operation(&Operation::InsertColumns(insert));
        assert!(columns.starts_with("inserted 2 columns before"), "{columns}");
    }

    #[test]
    fn uses_known_sheet_names() {
        let sheet = SheetId::FIRST;
        let rename = Operation::RenameSheet(RenameSheet { sheet, name: "Costs".into() });
        let delete = Operation::DeleteSheet(DeleteSheet { sheet });
        let mut names = SheetNames::of_new_spreadsheet();
        let described =
            |operation, names: &_| describe_operations(std::iter::once(operation), names);
        assert_eq!(described(&rename, &names), "renamed sheet `Sheet1` to `Costs`");
        names.record_renamed_or_deleted(&rename);
        assert_eq!(described(&delete, &names), "deleted sheet `Costs`");
        assert_eq!(describe_operation(&delete), "deleted sheet number 0");
    }

    #[test]
    fn several_sheets_are_told_apart() {
        let (one, two) = (SheetId::FIRST, SheetId(1));
        let mut names = SheetNames::of_new_spreadsheet();
        let set = |sheet, row| {
            let cells = vec![edit(row, 1, Value::Number(5.0))];
            Operation::SetCells(SetCells { sheet, cells })
        };
        let rows = Spans::one(6, 1);
        let delete = Operation::DeleteRows(DeleteSpans { sheet: one, spans: rows.clone() });
        let columns = Spans::all(Axis::Columns);
        let clear = Operation::ClearRange(ClearRange { sheet: two, rows, columns });
        let all = [delete, set(two, 0), set(one, 4), clear];
        let described = |names: &_, count| describe_operations(all.iter().take(count), names);
        assert_eq!(described(&names, 1), "deleted row 7");
        names.record_added(&Operation::AddSheet(AddSheet {
            sheet: two,
            name: "Costs".into(),
            before: None,
        }));
        assert_eq!(
            described(&names, 4),
            "Sheet1!B5 = 5, Costs!B1 = 5, deleted row 7 of sheet `Sheet1`, cleared row 7 of sheet `Costs`"
        );
        let argument = SheetNames::of_argument(two, "Costs");
        assert_eq!(describe_operations([set(two, 0)].iter(), &argument), "Costs!B1 = 5");
    }

    #[test]
    fn names_ranges_in_a1_notation() {
        let clear = |rows, columns| {
            describe_operation(&Operation::ClearRange(ClearRange {
                sheet: SheetId::FIRST,
                rows,
                columns,
            }))
        };
        let (two, all) = (Spans::one(1, 2), Spans::all(Axis::Rows));
        assert_eq!(clear(two.clone(), two.clone()), "cleared B2:C3");
        assert_eq!(clear(all, two.clone()), "cleared columns B:C");
        assert_eq!(clear(Spans::of([0, 4]), two), "cleared rows 1, 5 of columns B:C");
    }
}
