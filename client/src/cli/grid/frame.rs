//! Renders the grid as text lines.

use std::collections::{BTreeMap, BTreeSet};

use cellar_sheet::a1::{CellName, column_name};
use console::{Alignment, measure_text_width, pad_str, truncate_str};

use super::state::{Grid, Typing, VisibleSize};
use crate::text::escape;

/// Number of screen lines besides the rows: title, column letters and input line.
const OTHER_LINES: u16 = 3;
const HELP: &str = "type to set · Enter edit cell · ^G go to · ^O insert row · ^K delete row · ^Z undo · \
                    ^PgDn next sheet · ^Q quit";
const CUT: &str = "…";

/// Style of a part of a line. Uses no colors, so that the text is readable on any background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Labels around the cells.
    Dim,
    /// The cell under the cursor, and messages.
    Selected,
    /// Cells recently changed by other users.
    Changed,
}

/// A screen line as parts from left to right.
pub(super) type FrameLine = Vec<(String, Style)>;

/// Screen contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<FrameLine>,
    /// Column and line of the text cursor.
    pub(super) text_cursor: Option<(u16, u16)>,
}

/// Terminal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) lines: u16,
}

/// The part of a spreadsheet that the grid shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pub(super) sheet_name: String,
    /// Texts of the visible cells, each with a right-alignment flag.
    pub(super) cells: BTreeMap<CellName, (String, bool)>,
    /// Visible cells that other users have changed since the last key press.
    pub(super) changed: BTreeSet<CellName>,
    pub(super) status: String,
}

impl Contents {
    /// Returns the initial text of the input when the user edits a cell.
    pub(super) fn cell_text(&self, name: CellName) -> &str {
        self.cells.get(&name).map_or("", |(text, _)| text)
    }
}

/// Layout of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    size: Size,
    column_width: usize,
}

impl Layout {
    pub(super) fn new(size: Size, column_width: u16) -> Self {
        Self { size, column_width: usize::from(column_width) }
    }

    /// Returns the numbers of rows and columns that fit on the screen, starting at `first_row`.
    pub(super) fn visible_size(&self, first_row: u32) -> VisibleSize {
        let rows = u32::from(self.size.lines.saturating_sub(OTHER_LINES)).max(1);
        let width = usize::from(self.size.columns).saturating_sub(gutter_width(first_row, rows));
        let columns = width.checked_div(self.column_width).unwrap_or(1);
        VisibleSize { rows, columns: u32::try_from(columns).unwrap_or(1).max(1) }
    }

    pub(super) fn frame(&self, grid: &Grid, contents: &Contents) -> Frame {
        let visible = self.visible_size(grid.top_left.row);
        let gutter = gutter_width(grid.top_left.row, visible.rows);
        let mut lines =
            vec![self.title(grid, contents), self.column_letters(grid, visible, gutter)];
        let rows = grid.top_left.row..grid.top_left.row.saturating_add(visible.rows);
        lines.extend(rows.map(|row| self.row(grid, contents, row, gutter)));
        let (input_line, text_cursor) = self.input_line(grid);
        lines.push(input_line);
        lines.truncate(usize::from(self.size.lines));
        Frame { lines, text_cursor }
    }

    fn width(&self) -> usize {
        usize::from(self.size.columns)
    }

    fn title(&self, grid: &Grid, contents: &Contents) -> FrameLine {
        let sheet = escape(&contents.sheet_name);
        let cell = escape(contents.cell_text(grid.cursor));
        let status = truncate_str(&contents.status, self.width(), CUT).into_owned();
        let width = self.width().saturating_sub(measure_text_width(&status) + 1);
        let text = format!("{sheet}  {}  {cell}", grid.cursor);
        let text = pad_str(&text, width, Alignment::Left, Some(CUT)).into_owned();
        vec![(text, Style::Plain), (format!(" {status}"), Style::Dim)]
    }

    fn column_letters(&self, grid: &Grid, visible: VisibleSize, gutter: usize) -> FrameLine {
        let mut line = vec![(" ".repeat(gutter), Style::Dim)];
        for column in self.columns(grid, visible) {
            let style = if column == grid.cursor.column { Style::Selected } else { Style::Dim };
            line.push((self.cell(&column_name(column), Alignment::Center), style));
        }
        line
    }

    fn row(&self, grid: &Grid, contents: &Contents, row: u32, gutter: usize) -> FrameLine {
        let number = (u64::from(row) + 1).to_string();
        let number =
            pad_str(&number, gutter.saturating_sub(1), Alignment::Right, None).into_owned();
        let style = if row == grid.cursor.row { Style::Selected } else { Style::Dim };
        let mut line = vec![(number, style), (" ".to_owned(), Style::Plain)];
        for column in self.columns(grid, self.visible_size(grid.top_left.row)) {
            let name = CellName { row, column };
            let (text, right) = contents.cells.get(&name).map_or(("", false), |(t, r)| (t, *r));
            let alignment = if right { Alignment::Right } else { Alignment::Left };
            let style = if name == grid.cursor {
                Style::Selected
            } else if contents.changed.contains(&name) {
                Style::Changed
            } else {
                Style::Plain
            };
            line.push((self.cell(&escape(text), alignment), style));
        }
        line
    }

    fn columns(&self, grid: &Grid, visible: VisibleSize) -> std::ops::RangeInclusive<u32> {
        let cells = grid.visible_cells(visible);
        cells.first.column..=cells.last.column
    }

    /// Pads or truncates a text to the column width and appends a space.
    fn cell(&self, text: &str, alignment: Alignment) -> String {
        let width = self.column_width.saturating_sub(1);
        format!("{} ", pad_str(text, width, alignment, Some(CUT)))
    }

    /// Renders the text input, the message or the help. Returns the text cursor position.
    fn input_line(&self, grid: &Grid) -> (FrameLine, Option<(u16, u16)>) {
        let (label, input) = match &grid.typing {
            None => {
                let (text, style) = match &grid.notice {
                    Some(notice) => (escape(notice), Style::Selected),
                    None => (HELP.to_owned(), Style::Dim),
                };
                return (vec![(truncate_str(&text, self.width(), CUT).into_owned(), style)], None);
            }
            Some(Typing::Cell(input)) => (grid.cursor.to_string(), input),
            Some(Typing::GoTo(input)) => ("go to".to_owned(), input),
        };
        let label = format!("{label}: ");
        let width = self.width().saturating_sub(measure_text_width(&label) + 1);
        // Skip leading text to keep the text cursor visible.
        let before_cursor = escape(input.before_cursor());
        let skipped = skipped_bytes(&before_cursor, width);
        let text = escape(&input.text());
        let visible = text.get(skipped..).unwrap_or_default();
        let visible = truncate_str(visible, width, CUT).into_owned();
        let visible_before_cursor = before_cursor.get(skipped..).unwrap_or_default();
        let column = measure_text_width(&label) + measure_text_width(visible_before_cursor);
        let column = u16::try_from(column).unwrap_or(u16::MAX);
        let text_cursor = (column, self.size.lines.saturating_sub(1));
        (vec![(label, Style::Dim), (visible, Style::Plain)], Some(text_cursor))
    }
}

/// Returns the number of leading bytes of a text to skip so that the rest fits in `width`.
fn skipped_bytes(text: &str, width: usize) -> usize {
    let mut starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    let fits = |start: &usize| measure_text_width(text.get(*start..).unwrap_or_default()) <= width;
    starts.find(fits).unwrap_or(0)
}

/// Returns the width of the row numbers, including a trailing space.
fn gutter_width(first_row: u32, rows: u32) -> usize {
    (u64::from(first_row) + u64::from(rows)).to_string().len() + 1
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::SheetId;

    use super::super::key::Key;
    use super::*;

    const SIZE: Size = Size { columns: 34, lines: 6 };

    fn cell_name(row: u32, column: u32) -> CellName {
        CellName { row, column }
    }

    fn contents() -> Contents {
        let cell =
            |row, column, text: &str, right| (cell_name(row, column), (text.to_owned(), right));
        Contents {
            sheet_name: "Costs".to_owned(),
            cells: BTreeMap::from([
                cell(0, 0, "rent", false),
                cell(0, 1, "1250.5", true),
                cell(1, 0, "a text that is too long", false),
                cell(2, 2, "日本語日本語", false),
                cell(1, 1, "\u{1b}[31mred", false),
            ]),
            changed: BTreeSet::from([cell_name(0, 1)]),
            status: "0.7".to_owned(),
        }
    }

    fn texts(frame: &Frame) -> Vec<String> {
        let text = |line: &FrameLine| line.iter().map(|(text, _)| text.as_str()).collect();
        frame.lines.iter().map(text).collect()
    }

    #[test]
    fn cells_are_aligned_with_column_letters_and_row_numbers() {
        let frame = Layout::new(SIZE, 10).frame(&Grid::new(SheetId::FIRST), &contents());
        let expected = [
            "Costs  A1  rent                0.7",
            "      A         B         C     ",
            "1 rent         1250.5           ",
            "2 a text t… \\u{1b}[3…           ",
            "3                     日本語日… ",
            "type to set · Enter edit cell · ^…",
        ];
        let found: Vec<String> =
            texts(&frame).iter().map(|line| line.trim_end().to_owned()).collect();
        let expected = expected.map(|line| line.trim_end().to_owned());
        assert_eq!(found, expected);
        let styles: Vec<Style> = frame.lines[2].iter().map(|(_, style)| *style).collect();
        assert_eq!(
            styles,
            [Style::Selected, Style::Plain, Style::Selected, Style::Changed, Style::Plain]
        );
        assert_eq!(frame.text_cursor, None);
    }

    #[test]
    fn the_frame_fits_the_screen() {
        for (columns, lines) in [(0, 0), (1, 1), (2, 3), (9, 4), (80, 24), (300, 5)] {
            let size = Size { columns, lines };
            for first_row in [0, 95, 999_999, u32::MAX] {
                let mut grid = Grid::new(SheetId::FIRST);
                (grid.top_left, grid.cursor) = (cell_name(first_row, 0), cell_name(first_row, 0));
                let (grid, _) = grid.press(
                    Key::Character('x'),
                    Layout::new(size, 10).visible_size(first_row),
                    "",
                );
                let frame = Layout::new(size, 10).frame(&grid, &contents());
                assert!(frame.lines.len() <= usize::from(lines));
            }
        }
        let frame = Layout::new(SIZE, 10).frame(&Grid::new(SheetId::FIRST), &contents());
        assert!(texts(&frame).iter().all(|line| measure_text_width(line) <= 34));
    }

    #[test]
    fn the_end_of_a_long_input_stays_visible() {
        let layout = Layout::new(SIZE, 10);
        let type_text = |text: &str| {
            let press = |grid: Grid, c| grid.press(Key::Character(c), layout.visible_size(0), "").0;
            let grid = text.chars().fold(Grid::new(SheetId::FIRST), press);
            let frame = layout.frame(&grid, &contents());
            (texts(&frame).pop().unwrap(), frame.text_cursor)
        };
        assert_eq!(type_text("abc"), ("A1: abc".to_owned(), Some((7, 5))));
        let (line, cursor) = type_text(&"0123456789".repeat(4));
        assert_eq!((line.as_str(), cursor), ("A1: 12345678901234567890123456789", Some((33, 5))));
        let (line, cursor) = type_text("日本");
        assert_eq!((line.as_str(), cursor), ("A1: 日本", Some((8, 5))));
    }
}
