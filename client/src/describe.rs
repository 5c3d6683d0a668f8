//! Operations in a few words, for people.

use cellar_core::a1::{CellName, Rectangle};
use cellar_core::cell::{Cell, Value};
use cellar_core::count::grouped;
use cellar_core::operation::{CellEdit, Operation};

use crate::table::escape;

/// Characters of a text that are shown.
const SHOWN_CHARACTERS: usize = 40;

/// One operation: `B2 = "new"`, `B2 cleared` or `3 cells B2:C3`.
pub(crate) fn operation(operation: &Operation) -> String {
    operations(std::iter::once(operation))
}

/// Several operations together, in the same words.
pub(crate) fn operations<'a>(operations: impl Iterator<Item = &'a Operation>) -> String {
    let edits: Vec<&CellEdit> = operations
        .flat_map(|operation| match operation {
            Operation::SetCells(set) => &set.cells,
        })
        .collect();
    match edits.as_slice() {
        [] => "nothing".to_owned(),
        [edit] => one(edit),
        edits => {
            format!("{} cells {}", grouped(edits.len()), around(edits))
        }
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
    use cellar_core::operation::{SetCells, SheetId};

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
}
