//! Renders the grid as text lines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use cellar_sheet::a1::{CellName, column_name};
use console::{Alignment, measure_text_width, pad_str, truncate_str};

use super::state::{Grid, Typing, VisibleSize};
use super::text_input::TextInput;
use crate::text::escape;

/// Number of screen lines that do not show cells: the title, the column letters and the input line.
const OTHER_LINES: u16 = 3;
const HELP: &str = "type to set · Enter edit cell · ^G go to · ^O insert row · ^K delete row · ^Z undo · \
                    ^PgDn next sheet · ^Q quit";
const ELLIPSIS: &str = "…";

/// Colors are not used, so that the text is readable on any background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Labels around the cells.
    Dim,
    /// The cell under the cursor, and messages.
    Selected,
    /// A cell that another user has changed since the last key press.
    Changed,
}

pub(super) type FrameLine = Vec<(String, Style)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<FrameLine>,
    /// Column and line of the text cursor, or `None` if it is hidden.
    pub(super) text_cursor: Option<(u16, u16)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) lines: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pub(super) sheet_name: String,
    pub(super) cells: BTreeMap<CellName, VisibleCell>,
    /// Names of the visible cells that other users have changed since the last key press.
    pub(super) changed: BTreeSet<CellName>,
    pub(super) status: String,
}

/// A visible cell that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VisibleCell {
    pub(super) text: String,
    pub(super) formula: Option<String>,
    /// Why the formula was not calculated, or which cells form a cycle.
    pub(super) note: Option<String>,
    pub(super) is_right_aligned: bool,
}

impl Contents {
    pub(super) fn cell_text(&self, name: CellName) -> &str {
        self.cells.get(&name).map_or("", |cell| cell.text.as_str())
    }

    /// Returns the formula of a cell, or its displayed value if it has none.
    pub(super) fn text_to_edit(&self, name: CellName) -> &str {
        let formula = self.cells.get(&name).and_then(|cell| cell.formula.as_deref());
        formula.unwrap_or_else(|| self.cell_text(name))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    size: Size,
    column_width: usize,
}

impl Layout {
    pub(super) fn new(size: Size, column_width: u16) -> Self {
        Self { size, column_width: usize::from(column_width.max(1)) }
    }

    pub(super) fn visible_size(&self, first_row: u32) -> VisibleSize {
        let rows = u32::from(self.size.lines.saturating_sub(OTHER_LINES)).max(1);
        let width_of_cells = self.width().saturating_sub(gutter_width(first_row, rows));
        let columns = u32::try_from(width_of_cells / self.column_width).unwrap_or(1).max(1);
        VisibleSize { rows, columns }
    }

    pub(super) fn render_frame(&self, grid: &Grid, contents: &Contents) -> Frame {
        let visible_size = self.visible_size(grid.top_left.row);
        let gutter = gutter_width(grid.top_left.row, visible_size.rows);
        let visible_columns = visible_columns(grid, visible_size);
        let mut lines = vec![
            self.title_line(grid, contents),
            self.column_letters_line(grid, visible_columns.clone(), gutter),
        ];
        for row in grid.top_left.row..grid.top_left.row.saturating_add(visible_size.rows) {
            lines.push(self.row_line(grid, contents, row, visible_columns.clone(), gutter));
        }
        let (last_line, text_cursor) = match &grid.typing {
            None => (self.message_line(grid), None),
            Some(Typing::Cell(input)) => self.input_line(&grid.cursor.to_string(), input),
            Some(Typing::GoTo(input)) => self.input_line("go to", input),
        };
        lines.push(last_line);
        lines.truncate(usize::from(self.size.lines));
        Frame { lines, text_cursor }
    }

    fn width(&self) -> usize {
        usize::from(self.size.columns)
    }

    fn title_line(&self, grid: &Grid, contents: &Contents) -> FrameLine {
        let sheet_name = escape(&contents.sheet_name);
        let cell_text = escape(contents.text_to_edit(grid.cursor));
        let status = self.truncate(&contents.status);
        let note = contents.cells.get(&grid.cursor).and_then(|cell| cell.note.as_deref());
        let note = note.map_or_else(String::new, |note| format!("  ({})", escape(note)));
        let title = format!("{sheet_name}  {}  {cell_text}{note}", grid.cursor);
        let title_width = self.width().saturating_sub(measure_text_width(&status) + 1);
        let title = pad_str(&title, title_width, Alignment::Left, Some(ELLIPSIS)).into_owned();
        vec![(title, Style::Plain), (format!(" {status}"), Style::Dim)]
    }

    fn truncate(&self, text: &str) -> String {
        truncate_str(text, self.width(), ELLIPSIS).into_owned()
    }

    fn column_letters_line(
        &self,
        grid: &Grid,
        columns: RangeInclusive<u32>,
        gutter: usize,
    ) -> FrameLine {
        let mut line = vec![(" ".repeat(gutter), Style::Dim)];
        for column in columns {
            let letters = self.pad_cell(&column_name(column), Alignment::Center);
            line.push((letters, label_style(column == grid.cursor.column)));
        }
        line
    }

    fn row_line(
        &self,
        grid: &Grid,
        contents: &Contents,
        row: u32,
        columns: RangeInclusive<u32>,
        gutter: usize,
    ) -> FrameLine {
        let row_number = u64::from(row) + 1;
        let number_width = gutter - 1;
        let label = (format!("{row_number:>number_width$}"), label_style(row == grid.cursor.row));
        let mut line = vec![label, (" ".to_owned(), Style::Plain)];
        for column in columns {
            let cell_name = CellName { row, column };
            let alignment = match contents.cells.get(&cell_name) {
                Some(cell) if cell.is_right_aligned => Alignment::Right,
                _ => Alignment::Left,
            };
            let cell_text = escape(contents.cell_text(cell_name));
            let padded_text = self.pad_cell(&cell_text, alignment);
            line.push((padded_text, cell_style(cell_name, grid, contents)));
        }
        line
    }

    /// The last character is always a space.
    fn pad_cell(&self, text: &str, alignment: Alignment) -> String {
        let text_width = self.column_width.saturating_sub(1);
        format!("{} ", pad_str(text, text_width, alignment, Some(ELLIPSIS)))
    }

    fn message_line(&self, grid: &Grid) -> FrameLine {
        match &grid.notice {
            Some(notice) => vec![(self.truncate(&escape(notice)), Style::Selected)],
            None => vec![(self.truncate(HELP), Style::Dim)],
        }
    }

    fn input_line(&self, input_name: &str, input: &TextInput) -> (FrameLine, Option<(u16, u16)>) {
        let label = format!("{input_name}: ");
        let label_width = measure_text_width(&label);
        let input_width = self.width().saturating_sub(label_width + 1);
        // If the text is too long, omit its beginning, so that the text cursor stays visible.
        let before_cursor = escape(input.before_cursor());
        let visible_before_cursor = longest_fitting_suffix(&before_cursor, input_width);
        let text_from_start = format!("{visible_before_cursor}{}", escape(input.after_cursor()));
        let visible_text = truncate_str(&text_from_start, input_width, ELLIPSIS).into_owned();
        let cursor_column = label_width + measure_text_width(visible_before_cursor);
        let last_line = self.size.lines.saturating_sub(1);
        let text_cursor = (u16::try_from(cursor_column).unwrap_or(u16::MAX), last_line);
        (vec![(label, Style::Dim), (visible_text, Style::Plain)], Some(text_cursor))
    }
}

fn visible_columns(grid: &Grid, visible_size: VisibleSize) -> RangeInclusive<u32> {
    let visible_cells = grid.visible_cells(visible_size);
    visible_cells.first.column..=visible_cells.last.column
}

fn label_style(is_at_cursor: bool) -> Style {
    if is_at_cursor { Style::Selected } else { Style::Dim }
}

fn cell_style(cell_name: CellName, grid: &Grid, contents: &Contents) -> Style {
    if cell_name == grid.cursor {
        Style::Selected
    } else if contents.changed.contains(&cell_name) {
        Style::Changed
    } else {
        Style::Plain
    }
}

/// `max_width` is a number of screen columns.
fn longest_fitting_suffix(text: &str, max_width: usize) -> &str {
    let mut suffix = text.chars();
    while measure_text_width(suffix.as_str()) > max_width {
        suffix.next();
    }
    suffix.as_str()
}

/// Includes a trailing space.
fn gutter_width(first_row: u32, row_count: u32) -> usize {
    let last_row_number = u64::from(first_row) + u64::from(row_count);
    last_row_number.to_string().len() + 1
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
        let cell = |row, column, text: &str, is_right_aligned| {
            let text = text.to_owned();
            (
                cell_name(row, column),
                VisibleCell { text, formula: None, note: None, is_right_aligned },
            )
        };
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
        let frame = Layout::new(SIZE, 10).render_frame(&Grid::new(SheetId::FIRST), &contents());
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
    fn the_title_shows_the_formula_of_the_cell() {
        let mut contents = contents();
        let name = cell_name(0, 0);
        let cell = contents.cells.get_mut(&name).unwrap();
        (cell.formula, cell.note) = (Some("=B1*2".to_owned()), Some("a note".to_owned()));
        let frame = Layout::new(SIZE, 10).render_frame(&Grid::new(SheetId::FIRST), &contents);
        let lines = texts(&frame);
        assert!(lines[0].starts_with("Costs  A1  =B1*2  (a note) "), "{lines:?}");
        assert!(lines[2].starts_with("1 rent "), "{lines:?}");
        assert_eq!((contents.text_to_edit(name), contents.cell_text(name)), ("=B1*2", "rent"));
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
                let frame = Layout::new(size, 10).render_frame(&grid, &contents());
                assert!(frame.lines.len() <= usize::from(lines));
            }
        }
        let frame = Layout::new(SIZE, 10).render_frame(&Grid::new(SheetId::FIRST), &contents());
        assert!(texts(&frame).iter().all(|line| measure_text_width(line) <= 34));
    }

    #[test]
    fn the_end_of_a_long_input_stays_visible() {
        let layout = Layout::new(SIZE, 10);
        let type_text = |text: &str| {
            let press = |grid: Grid, c| grid.press(Key::Character(c), layout.visible_size(0), "").0;
            let grid = text.chars().fold(Grid::new(SheetId::FIRST), press);
            let frame = layout.render_frame(&grid, &contents());
            (texts(&frame).pop().unwrap(), frame.text_cursor)
        };
        assert_eq!(type_text("abc"), ("A1: abc".to_owned(), Some((7, 5))));
        let (line, cursor) = type_text(&"0123456789".repeat(4));
        assert_eq!((line.as_str(), cursor), ("A1: 12345678901234567890123456789", Some((33, 5))));
        let (line, cursor) = type_text("日本");
        assert_eq!((line.as_str(), cursor), ("A1: 日本", Some((8, 5))));
    }
}
