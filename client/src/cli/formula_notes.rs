//! Prints formulas in the output of `cellar get`, and notes on formulas that were not calculated.

use std::borrow::Cow;

use cellar_api::wire::CellAt;
use cellar_sheet::cell::Value;

use super::args;
use super::output::{Output, count};
use crate::text::escape;

/// Maximum number of notes to print. Any further notes are only counted.
const MAX_NOTES: usize = 5;

impl args::Get {
    /// Returns the cells to print. With `--formulas`, each formula replaces its value.
    pub(super) fn shown<'a>(&self, cells: &'a [CellAt]) -> Cow<'a, [CellAt]> {
        if !self.formulas {
            return Cow::Borrowed(cells);
        }
        Cow::Owned(cells.iter().map(with_formula).collect())
    }
}

fn with_formula(cell: &CellAt) -> CellAt {
    let Some(formula) = &cell.cell.formula else { return cell.clone() };
    let mut shown = CellAt::new(cell.row, cell.column, cell.cell.clone());
    shown.cell.value = Value::Text(formula.clone());
    shown.cell.format = None;
    shown
}

/// Prints the notes of cells. A note says why a formula was not calculated or which cells form a
/// cycle.
pub(super) fn print_notes_of_cells(output: &Output, cells: &[CellAt]) {
    for line in note_lines(cells) {
        output.print_note(line);
    }
}

fn note_lines(cells: &[CellAt]) -> Vec<String> {
    let line = |cell: &CellAt| {
        let note = cell.note.as_deref()?;
        let mark = if cell.stale { "* " } else { "" };
        Some(format!("{mark}{}: {}", cell.name(), escape(note)))
    };
    let mut lines: Vec<String> = cells.iter().filter_map(line).collect();
    let others = lines.len().saturating_sub(MAX_NOTES);
    if others > 0 {
        lines.truncate(MAX_NOTES);
        let others = u64::try_from(others).unwrap_or(u64::MAX);
        lines.push(format!("… and {}.", count(others, "other note", "other notes")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;

    use super::*;

    fn noted(row: u32, stale: bool) -> CellAt {
        let note = Some("why".to_owned());
        CellAt { stale, note, ..CellAt::new(row, 0, Cell::default()) }
    }

    #[test]
    fn notes_name_their_cells() {
        let cells = [noted(0, true), noted(1, false), CellAt::new(2, 0, Cell::default())];
        assert_eq!(note_lines(&cells), ["* A1: why", "A2: why"]);
        let many: Vec<CellAt> = (0..7).map(|row| noted(row, true)).collect();
        let lines = note_lines(&many);
        assert_eq!((lines.len(), lines[5].as_str()), (6, "… and 2 other notes."));
    }

    #[test]
    fn a_formula_takes_the_place_of_its_value() {
        let cell = Cell {
            value: Value::Number(2.0),
            formula: Some("=1+1".into()),
            format: Some("0.0".into()),
        };
        let stale = CellAt { stale: true, ..CellAt::new(0, 0, cell) };
        let shown = with_formula(&stale);
        assert_eq!((shown.text(), shown.stale), ("=1+1".to_owned(), false));
    }
}
