//! Cells as a table for a terminal, with column letters and row numbers.
//!
//! Whatever a cell holds, the table stays a table: what could move the cursor, hide text or turn
//! its direction is shown escaped.

mod escape;
mod fit;
mod json;

pub use escape::escape;
pub use json::to_json;

use std::collections::BTreeMap;

use cellar_api::wire::CellAt;
use cellar_sheet::a1::{CellName, column_name};
use cellar_sheet::cell::Value;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Columns between the widths of two columns: a border and a space on either side.
const BETWEEN_COLUMNS: usize = 3;

/// Characters of a cell in a table whose lines have no bound: one long text would make every line
/// as long.
pub const MAX_CELL_CHARACTERS: usize = 200;

/// The part of a sheet that a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The top left cell.
    pub first: CellName,
    /// How many rows.
    pub rows: u32,
    /// How many columns.
    pub columns: u32,
}

/// A rendered table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The lines, without a newline at the end.
    pub text: String,
    /// How many of the window's columns are shown; the others had no room.
    pub columns: u32,
}

/// Renders the cells of a window, at most `width` characters wide; with `None` lines have no
/// bound, and only cells beyond [`MAX_CELL_CHARACTERS`] are cut. Cells outside the window are left
/// out.
#[must_use]
pub fn render(cells: &[CellAt], window: Window, width: Option<usize>) -> Rendered {
    let grid = Grid::new(cells, window);
    let row_header = (u64::from(window.first.row) + u64::from(window.rows)).to_string().len();
    let natural = grid.widths();
    let widths = match width {
        Some(width) => fit::fit(&natural, width.saturating_sub(row_header + BETWEEN_COLUMNS + 1)),
        None => natural.into_iter().map(|width| width.min(MAX_CELL_CHARACTERS)).collect(),
    };
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(grid.header(&widths));
    for row in 0..window.rows {
        table.add_row(grid.row(row, &widths));
    }
    let text = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    Rendered { text, columns: u32::try_from(widths.len()).unwrap_or(u32::MAX) }
}

/// What is shown of a cell.
struct Shown {
    text: String,
    alignment: CellAlignment,
}

/// The cells of a window, by row and column within it.
struct Grid {
    window: Window,
    cells: BTreeMap<(u32, u32), Shown>,
}

impl Grid {
    fn new(cells: &[CellAt], window: Window) -> Self {
        let place = |placed: &CellAt| {
            let row = placed.row.checked_sub(window.first.row)?;
            let column = placed.column.checked_sub(window.first.column)?;
            let inside = row < window.rows && column < window.columns;
            inside.then(|| ((row, column), Shown::of(placed)))
        };
        Self { window, cells: cells.iter().filter_map(place).collect() }
    }

    fn letters(&self, column: u32) -> String {
        column_name(self.window.first.column.saturating_add(column))
    }

    /// The width of each column that shows everything in it.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> =
            (0..self.window.columns).map(|column| self.letters(column).len()).collect();
        for ((_, column), shown) in &self.cells {
            let width = usize::try_from(*column).ok().and_then(|column| widths.get_mut(column));
            if let Some(width) = width {
                *width = (*width).max(console::measure_text_width(&shown.text));
            }
        }
        widths
    }

    fn header(&self, widths: &[usize]) -> Vec<comfy_table::Cell> {
        let letters = (0..self.window.columns).zip(widths).map(|(column, _)| {
            comfy_table::Cell::new(self.letters(column)).set_alignment(CellAlignment::Center)
        });
        std::iter::once(comfy_table::Cell::new("")).chain(letters).collect()
    }

    fn row(&self, row: u32, widths: &[usize]) -> Vec<comfy_table::Cell> {
        let number = u64::from(self.window.first.row) + u64::from(row) + 1;
        let number = comfy_table::Cell::new(number).set_alignment(CellAlignment::Right);
        let cells = (0..self.window.columns).zip(widths).map(|(column, width)| {
            let Some(shown) = self.cells.get(&(row, column)) else {
                return comfy_table::Cell::new("");
            };
            let text = console::truncate_str(&shown.text, *width, "…");
            comfy_table::Cell::new(text).set_alignment(shown.alignment)
        });
        std::iter::once(number).chain(cells).collect()
    }
}

impl Shown {
    fn of(placed: &CellAt) -> Self {
        let alignment = match placed.cell.value {
            Value::Number(_) => CellAlignment::Right,
            Value::Bool(_) | Value::Error(_) => CellAlignment::Center,
            Value::Empty | Value::Text(_) => CellAlignment::Left,
        };
        Self { text: escape(&placed.cell.text()), alignment }
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;
    use proptest::prelude::*;

    use super::*;

    fn placed(row: u32, column: u32, value: Value) -> CellAt {
        CellAt { row, column, cell: Cell { value, ..Cell::default() } }
    }

    fn text(row: u32, column: u32, text: &str) -> CellAt {
        placed(row, column, Value::Text(text.into()))
    }

    fn window(rows: u32, columns: u32) -> Window {
        Window { first: CellName { row: 0, column: 0 }, rows, columns }
    }

    #[test]
    fn letters_numbers_and_alignment() {
        let cells = [text(0, 0, "name"), text(0, 1, "price"), placed(1, 1, Value::Number(7.0))];
        let rendered = render(&cells, window(2, 2), None);
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
    fn a_window_elsewhere_shows_its_own_letters_and_numbers() {
        let first = CellName { row: 99, column: 26 };
        let cells = [text(99, 26, "in"), text(98, 26, "out"), text(99, 28, "out")];
        let rendered = render(&cells, Window { first, rows: 1, columns: 2 }, None).text;
        for part in ["AA", "AB", "100", "in"] {
            assert!(rendered.contains(part), "{rendered}");
        }
        assert!(!rendered.contains("out"), "{rendered}");
    }

    #[test]
    fn long_text_is_cut_and_columns_without_room_are_counted() {
        let cells = [text(0, 0, &"long ".repeat(100)), text(0, 1, "short")];
        let rendered = render(&cells, window(1, 2), Some(40));
        assert!(rendered.text.contains('…') && rendered.text.contains("short"));
        assert_eq!(rendered.columns, 2);
        assert!(rendered.text.lines().all(|line| console::measure_text_width(line) <= 40));
        let many: Vec<_> = (0..30).map(|column| text(0, column, "something")).collect();
        let rendered = render(&many, window(1, 30), Some(40));
        assert!(rendered.columns < 30 && rendered.columns > 0);
        assert!(rendered.text.lines().all(|line| console::measure_text_width(line) <= 40));
    }

    #[test]
    fn without_a_width_only_very_long_cells_are_cut() {
        let table = |length: usize| {
            let cells = [text(0, 0, &"x".repeat(length)), text(1, 0, "short")];
            render(&cells, window(2, 1), None).text
        };
        assert!(table(MAX_CELL_CHARACTERS).contains(&"x".repeat(MAX_CELL_CHARACTERS)));
        let cut = table(60_000);
        assert!(cut.contains(&format!("{}…", "x".repeat(MAX_CELL_CHARACTERS - 1))), "{cut}");
        assert!(cut.lines().all(|line| console::measure_text_width(line) < 220));
    }

    proptest! {
        #[test]
        fn hostile_text_never_breaks_the_table(
            texts in proptest::collection::vec("\\PC*|[\\x00-\\x20\\x7f-\\u{a0}\u{202a}-\u{202e}\u{200b}-\u{200f}\u{2066}-\u{2069}a]{0,40}", 1..6),
            width in 20..120_usize,
        ) {
            let rows = u32::try_from(texts.len()).unwrap();
            let cells: Vec<_> = (0..).zip(&texts).map(|(row, t)| text(row, 0, t)).collect();
            let rendered = render(&cells, window(rows, 1), Some(width)).text;
            prop_assert_eq!(rendered.lines().count(), texts.len() + 4);
            for line in rendered.lines() {
                prop_assert!(console::measure_text_width(line) <= width, "{}", line);
                prop_assert!(!line.chars().any(|c| c.is_control()), "{line:?}");
            }
        }
    }
}
