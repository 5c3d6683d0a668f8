//! Formats cells as a table for a terminal, with column letters and row numbers.
//!
//! Characters that could move the cursor, hide text or change the text direction are escaped, so
//! that a cell's text cannot break the table.

mod fit;

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::wire::CellAt;
use cellar_sheet::a1::{CellName, column_name};
use cellar_sheet::cell::Value;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::describe::row_number;
use crate::text::escape;

/// Width of the separator between two columns, including the spaces on both sides.
const COLUMN_SEPARATOR_WIDTH: usize = 3;

/// Maximum width of a column in characters, if the table has no maximum width. Without this limit,
/// a single long text would widen every line.
pub const MAX_CELL_CHARACTERS: usize = 200;

/// Follows the value of a formula that was not calculated.
const STALE_MARK: &str = " *";

/// A rectangle of cells to show in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The top-left cell.
    pub first: CellName,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl Window {
    fn contains(&self, cell: &CellAt) -> bool {
        let is_inside = |index: u32, first: u32, count: u32| {
            index.checked_sub(first).is_some_and(|offset| offset < count)
        };
        is_inside(cell.row, self.first.row, self.rows)
            && is_inside(cell.column, self.first.column, self.columns)
    }
}

/// A table as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedTable {
    /// The lines of the table, without a trailing newline.
    pub text: String,
    /// Number of columns shown in the table. The remaining columns of the window were too wide.
    pub columns: u32,
}

/// Renders a window of cells as a table whose lines have at most `max_width` characters.
///
/// If `max_width` is `None`, only cell texts longer than [`MAX_CELL_CHARACTERS`] are truncated.
/// Cells outside the window are ignored.
#[must_use]
pub fn render_table(cells: &[CellAt], window: Window, max_width: Option<usize>) -> RenderedTable {
    let Window { first, rows, columns } = window;
    let grid = Grid {
        rows: (first.row..first.row.saturating_add(rows)).collect(),
        columns: (first.column..first.column.saturating_add(columns)).collect(),
        cells: text_of_cells(cells.iter().filter(|cell| window.contains(cell))),
    };
    grid.render(max_width)
}

/// Renders some rows of a sheet as a table, like [`render_table`]. `rows` are the indices of the rows.
/// Columns without cells are left out.
#[must_use]
pub fn render_rows(cells: &[CellAt], rows: &[u32], max_width: Option<usize>) -> RenderedTable {
    let columns: BTreeSet<u32> = cells.iter().map(|cell| cell.column).collect();
    let grid = Grid {
        rows: rows.to_vec(),
        columns: columns.into_iter().collect(),
        cells: text_of_cells(cells.iter()),
    };
    grid.render(max_width)
}

/// Marks the value of a formula that was not calculated.
#[must_use]
pub fn mark_stale(text: &str) -> String {
    format!("{text}{STALE_MARK}")
}

struct CellText {
    text: String,
    alignment: CellAlignment,
}

/// The shown rows and columns, with their indices in the sheet.
struct Grid {
    rows: Vec<u32>,
    columns: Vec<u32>,
    cells: BTreeMap<(u32, u32), CellText>,
}

fn text_of_cells<'a>(cells: impl Iterator<Item = &'a CellAt>) -> BTreeMap<(u32, u32), CellText> {
    cells.map(|cell| ((cell.row, cell.column), CellText::of_cell(cell))).collect()
}

impl Grid {
    fn render(&self, max_width: Option<usize>) -> RenderedTable {
        let widths = self.column_widths(max_width);
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.header_row(widths.len()));
        for row in &self.rows {
            table.add_row(self.cell_row(*row, &widths));
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        let shown_columns = u32::try_from(widths.len()).unwrap_or(u32::MAX);
        RenderedTable { text: lines.join("\n"), columns: shown_columns }
    }

    fn column_widths(&self, max_table_width: Option<usize>) -> Vec<usize> {
        let natural_widths = self.natural_widths();
        match max_table_width {
            Some(max_table_width) => {
                let available_width = max_table_width.saturating_sub(self.row_header_width());
                fit::fit_columns(&natural_widths, available_width)
            }
            None => {
                natural_widths.into_iter().map(|width| width.min(MAX_CELL_CHARACTERS)).collect()
            }
        }
    }

    fn row_header_width(&self) -> usize {
        let last_row = self.rows.last().copied().unwrap_or_default();
        row_number(last_row).len() + COLUMN_SEPARATOR_WIDTH + 1
    }

    fn natural_widths(&self) -> Vec<usize> {
        let mut widths: BTreeMap<u32, usize> =
            self.columns.iter().map(|column| (*column, column_name(*column).len())).collect();
        for ((_, column), cell) in &self.cells {
            if let Some(width) = widths.get_mut(column) {
                *width = (*width).max(console::measure_text_width(&cell.text));
            }
        }
        widths.into_values().collect()
    }

    fn header_row(&self, column_count: usize) -> Vec<comfy_table::Cell> {
        let mut header = vec![comfy_table::Cell::new("")];
        for column in self.columns.iter().take(column_count) {
            let letters = comfy_table::Cell::new(column_name(*column));
            header.push(letters.set_alignment(CellAlignment::Center));
        }
        header
    }

    fn cell_row(&self, row: u32, widths: &[usize]) -> Vec<comfy_table::Cell> {
        let mut table_row =
            vec![comfy_table::Cell::new(row_number(row)).set_alignment(CellAlignment::Right)];
        for (column, width) in self.columns.iter().zip(widths) {
            table_row.push(match self.cells.get(&(row, *column)) {
                None => comfy_table::Cell::new(""),
                Some(cell) => {
                    let visible_text = console::truncate_str(&cell.text, *width, "…");
                    comfy_table::Cell::new(visible_text).set_alignment(cell.alignment)
                }
            });
        }
        table_row
    }
}

impl CellText {
    fn of_cell(cell: &CellAt) -> Self {
        let alignment = match cell.cell.value {
            Value::Number(_) => CellAlignment::Right,
            Value::Bool(_) | Value::Error(_) => CellAlignment::Center,
            Value::Empty | Value::Text(_) => CellAlignment::Left,
        };
        let text = escape(&cell.cell.text());
        Self { text: if cell.stale { mark_stale(&text) } else { text }, alignment }
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;
    use proptest::prelude::*;

    use super::*;

    fn placed(row: u32, column: u32, value: Value) -> CellAt {
        CellAt::new(row, column, Cell { value, ..Cell::default() })
    }

    fn text(row: u32, column: u32, text: &str) -> CellAt {
        placed(row, column, Value::Text(text.into()))
    }

    fn window(rows: u32, columns: u32) -> Window {
        Window { first: CellName { row: 0, column: 0 }, rows, columns }
    }

    #[test]
    fn renders_letters_numbers_and_alignment() {
        let cells = [text(0, 0, "name"), text(0, 1, "price"), placed(1, 1, Value::Number(7.0))];
        let rendered = render_table(&cells, window(2, 2), None);
        let expected = [
            "┌───┬──────┬───────┐",
            "│   ┆   A  ┆   B   │",
            "╞═══╪══════╪═══════╡",
            "│ 1 ┆ name ┆ price │",
            "│ 2 ┆      ┆     7 │",
            "└───┴──────┴───────┘",
        ];
        assert_eq!(rendered.text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn marks_values_that_were_not_calculated() {
        let stale = CellAt { stale: true, ..placed(0, 0, Value::Number(7.0)) };
        let none = CellAt { stale: true, ..placed(1, 0, Value::Empty) };
        let rendered =
            render_table(&[stale, none, placed(2, 0, Value::Number(7.0))], window(3, 1), None);
        let lines: Vec<&str> = rendered.text.lines().skip(3).take(3).collect();
        assert_eq!(lines, ["│ 1 ┆ 7 * │", "│ 2 ┆  *  │", "│ 3 ┆   7 │"]);
    }

    #[test]
    fn renders_letters_and_numbers_of_the_window() {
        let first = CellName { row: 99, column: 26 };
        let cells = [text(99, 26, "in"), text(98, 26, "out"), text(99, 28, "out")];
        let rendered = render_table(&cells, Window { first, rows: 1, columns: 2 }, None).text;
        for part in ["AA", "AB", "100", "in"] {
            assert!(rendered.contains(part), "{rendered}");
        }
        assert!(!rendered.contains("out"), "{rendered}");
    }

    #[test]
    fn renders_rows_that_are_far_apart() {
        let cells = [text(2, 3, "TX"), text(2, 26, "a"), text(1_000, 3, "TX")];
        let rendered = render_rows(&cells, &[2, 1_000], None);
        let expected = [
            "┌──────┬────┬────┐",
            "│      ┆  D ┆ AA │",
            "╞══════╪════╪════╡",
            "│    3 ┆ TX ┆ a  │",
            "│ 1001 ┆ TX ┆    │",
            "└──────┴────┴────┘",
        ];
        assert_eq!(rendered.text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn truncates_long_text_and_omits_columns_that_do_not_fit() {
        let cells = [text(0, 0, &"long ".repeat(100)), text(0, 1, "short")];
        let rendered = render_table(&cells, window(1, 2), Some(40));
        assert!(rendered.text.contains('…') && rendered.text.contains("short"));
        assert_eq!(rendered.columns, 2);
        assert!(rendered.text.lines().all(|line| console::measure_text_width(line) <= 40));
        let many: Vec<_> = (0..30).map(|column| text(0, column, "something")).collect();
        let rendered = render_table(&many, window(1, 30), Some(40));
        assert!(rendered.columns < 30 && rendered.columns > 0);
        assert!(rendered.text.lines().all(|line| console::measure_text_width(line) <= 40));
    }

    #[test]
    fn without_a_limit_only_very_long_cells_are_truncated() {
        let table = |length: usize| {
            let cells = [text(0, 0, &"x".repeat(length)), text(1, 0, "short")];
            render_table(&cells, window(2, 1), None).text
        };
        assert!(table(MAX_CELL_CHARACTERS).contains(&"x".repeat(MAX_CELL_CHARACTERS)));
        let cut = table(60_000);
        assert!(cut.contains(&format!("{}…", "x".repeat(MAX_CELL_CHARACTERS - 1))), "{cut}");
        assert!(cut.lines().all(|line| console::measure_text_width(line) < 220));
    }

    proptest! {
        #[test]
        fn unsafe_text_never_breaks_the_table(
            texts in proptest::collection::vec("\\PC*|[\\x00-\\x20\\x7f-\\u{a0}\u{202a}-\u{202e}\u{200b}-\u{200f}\u{2066}-\u{2069}a]{0,40}", 1..6),
            width in 20..120_usize,
        ) {
            let rows = u32::try_from(texts.len()).unwrap();
            let cells: Vec<_> = (0..).zip(&texts).map(|(row, t)| text(row, 0, t)).collect();
            let rendered = render_table(&cells, window(rows, 1), Some(width)).text;
            prop_assert_eq!(rendered.lines().count(), texts.len() + 4);
            for line in rendered.lines() {
                prop_assert!(console::measure_text_width(line) <= width, "{}", line);
                prop_assert!(!line.chars().any(|c| c.is_control()), "{line:?}");
            }
        }
    }
}
