//! The grid as lines of text: no terminal.

use std::collections::{BTreeMap, BTreeSet};

use cellar_sheet::a1::{CellName, column_name};
use console::{Alignment, measure_text_width, pad_str, truncate_str};

use super::state::{Grid, Room, Typing};
use crate::table::escape;

/// Lines of the screen that are no rows: the title, the letters of the columns, the last.
const OTHER_LINES: u16 = 3;
const HELP: &str = "type to set · enter: change · ^G go to · ^O row above · ^K delete row · ^Z undo · \
                    ^PgDn next sheet · ^Q quit";
const CUT: &str = "…";

/// How a part of a line is shown; without colours, so that it is as readable everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    /// Around the cells.
    Dim,
    /// The cell that one is in.
    Selected,
    /// What others have changed just now.
    New,
}

/// A line: parts one behind the other.
pub(super) type FrameLine = Vec<(String, Look)>;

/// All that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<FrameLine>,
    /// Where one types: column and line.
    pub(super) cursor: Option<(u16, u16)>,
}

/// Columns and lines of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) lines: u16,
}

/// What the grid shows of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pub(super) sheet_name: String,
    /// The texts of the cells that are shown, and whether they stand at the right.
    pub(super) cells: BTreeMap<CellName, (String, bool)>,
    /// Which of them others have changed since the last key.
    pub(super) new: BTreeSet<CellName>,
    /// Where the spreadsheet is, and whether anybody answers.
    pub(super) status: String,
}

impl Contents {
    /// The text of a cell, as it would be changed.
    pub(super) fn held(&self, place: CellName) -> &str {
        self.cells.get(&place).map_or("", |(text, _)| text)
    }
}

/// How the screen is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    size: Size,
    /// Characters of a column of cells.
    column_width: usize,
}

impl Layout {
    pub(super) fn new(size: Size, column_width: u16) -> Self {
        Self { size, column_width: usize::from(column_width) }
    }

    /// How many rows and columns fit, if the rows begin at one.
    pub(super) fn room(&self, first_row: u32) -> Room {
        let rows = u32::from(self.size.lines.saturating_sub(OTHER_LINES)).max(1);
        let left = usize::from(self.size.columns).saturating_sub(gutter(first_row, rows));
        let columns = left.checked_div(self.column_width).unwrap_or(1);
        Room { rows, columns: u32::try_from(columns).unwrap_or(1).max(1) }
    }

    /// The whole screen.
    pub(super) fn frame(&self, grid: &Grid, contents: &Contents) -> Frame {
        let room = self.room(grid.corner.row);
        let gutter = gutter(grid.corner.row, room.rows);
        let mut lines = vec![self.title(grid, contents), self.letters(grid, room, gutter)];
        let rows = grid.corner.row..grid.corner.row.saturating_add(room.rows);
        lines.extend(rows.map(|row| self.row(grid, contents, row, gutter)));
        let (last, cursor) = self.last(grid);
        lines.push(last);
        lines.truncate(usize::from(self.size.lines));
        Frame { lines, cursor }
    }

    fn width(&self) -> usize {
        usize::from(self.size.columns)
    }

    fn title(&self, grid: &Grid, contents: &Contents) -> FrameLine {
        let (name, held) = (escape(&contents.sheet_name), escape(contents.held(grid.place)));
        let status = truncate_str(&contents.status, self.width(), CUT).into_owned();
        let left = self.width().saturating_sub(measure_text_width(&status) + 1);
        let text = format!("{name}  {}  {held}", grid.place);
        let text = pad_str(&text, left, Alignment::Left, Some(CUT)).into_owned();
        vec![(text, Look::Plain), (format!(" {status}"), Look::Dim)]
    }

    fn letters(&self, grid: &Grid, room: Room, gutter: usize) -> FrameLine {
        let mut line = vec![(" ".repeat(gutter), Look::Dim)];
        for column in self.columns(grid, room) {
            let look = if column == grid.place.column { Look::Selected } else { Look::Dim };
            line.push((self.cell(&column_name(column), Alignment::Center), look));
        }
        line
    }

    fn row(&self, grid: &Grid, contents: &Contents, row: u32, gutter: usize) -> FrameLine {
        let number = (u64::from(row) + 1).to_string();
        let number =
            pad_str(&number, gutter.saturating_sub(1), Alignment::Right, None).into_owned();
        let look = if row == grid.place.row { Look::Selected } else { Look::Dim };
        let mut line = vec![(number, look), (" ".to_owned(), Look::Plain)];
        for column in self.columns(grid, self.room(grid.corner.row)) {
            let place = CellName { row, column };
            let (text, right) = contents.cells.get(&place).map_or(("", false), |(t, r)| (t, *r));
            let alignment = if right { Alignment::Right } else { Alignment::Left };
            let look = match place {
                place if place == grid.place => Look::Selected,
                place if contents.new.contains(&place) => Look::New,
                _ => Look::Plain,
            };
            line.push((self.cell(&escape(text), alignment), look));
        }
        line
    }

    fn columns(&self, grid: &Grid, room: Room) -> std::ops::RangeInclusive<u32> {
        let rectangle = grid.rectangle(room);
        rectangle.first.column..=rectangle.last.column
    }

    /// A text as wide as a column, with a blank between it and the next.
    fn cell(&self, text: &str, alignment: Alignment) -> String {
        let width = self.column_width.saturating_sub(1);
        format!("{} ", pad_str(text, width, alignment, Some(CUT)))
    }

    /// What is typed, what was said, or what the keys are.
    fn last(&self, grid: &Grid) -> (FrameLine, Option<(u16, u16)>) {
        let (label, line) = match &grid.typing {
            None => {
                let (text, look) = match &grid.notice {
                    Some(notice) => (escape(notice), Look::Selected),
                    None => (HELP.to_owned(), Look::Dim),
                };
                return (vec![(truncate_str(&text, self.width(), CUT).into_owned(), look)], None);
            }
            Some(Typing::Cell(line)) => (grid.place.to_string(), line),
            Some(Typing::GoTo(line)) => ("go to".to_owned(), line),
        };
        let label = format!("{label}: ");
        let room = self.width().saturating_sub(measure_text_width(&label) + 1);
        // The end of what stands before the cursor is always seen.
        let before = escape(line.before());
        let skipped = skip(&before, room);
        let all = escape(&line.text());
        let shown = all.get(skipped..).unwrap_or_default();
        let shown = truncate_str(shown, room, CUT).into_owned();
        let seen = before.get(skipped..).unwrap_or_default();
        let column = measure_text_width(&label) + measure_text_width(seen);
        let cursor = (u16::try_from(column).unwrap_or(u16::MAX), self.size.lines.saturating_sub(1));
        (vec![(label, Look::Dim), (shown, Look::Plain)], Some(cursor))
    }
}

/// Bytes at the beginning of a text that are left out so that its end fits.
fn skip(text: &str, room: usize) -> usize {
    let mut rest = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    rest.find(|at| measure_text_width(text.get(*at..).unwrap_or_default()) <= room).unwrap_or(0)
}

/// Characters before the cells: the number of the last row, and a blank.
fn gutter(first_row: u32, rows: u32) -> usize {
    (u64::from(first_row) + u64::from(rows)).to_string().len() + 1
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::SheetId;

    use super::super::state::Key;
    use super::*;

    const SIZE: Size = Size { columns: 34, lines: 6 };

    fn place(row: u32, column: u32) -> CellName {
        CellName { row, column }
    }

    fn contents() -> Contents {
        let cell = |row, column, text: &str, right| (place(row, column), (text.to_owned(), right));
        Contents {
            sheet_name: "Costs".to_owned(),
            cells: BTreeMap::from([
                cell(0, 0, "rent", false),
                cell(0, 1, "1250.5", true),
                cell(1, 0, "a text that is too long", false),
                cell(2, 2, "日本語日本語", false),
                cell(1, 1, "\u{1b}[31mred", false),
            ]),
            new: BTreeSet::from([place(0, 1)]),
            status: "0.7".to_owned(),
        }
    }

    fn texts(frame: &Frame) -> Vec<String> {
        let text = |line: &FrameLine| line.iter().map(|(text, _)| text.as_str()).collect();
        frame.lines.iter().map(text).collect()
    }

    #[test]
    fn cells_stand_below_their_letters_and_beside_their_numbers() {
        let frame = Layout::new(SIZE, 10).frame(&Grid::new(SheetId::FIRST), &contents());
        let expected = [
            "Costs  A1  rent                0.7",
            "      A         B         C     ",
            "1 rent         1250.5           ",
            "2 a text t… \\u{1b}[3…           ",
            "3                     日本語日… ",
            "type to set · enter: change · ^G …",
        ];
        let found: Vec<String> =
            texts(&frame).iter().map(|line| line.trim_end().to_owned()).collect();
        let expected = expected.map(|line| line.trim_end().to_owned());
        assert_eq!(found, expected);
        let looks: Vec<Look> = frame.lines[2].iter().map(|(_, look)| *look).collect();
        assert_eq!(looks, [Look::Selected, Look::Plain, Look::Selected, Look::New, Look::Plain]);
        assert_eq!(frame.cursor, None);
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_none_is_too_many() {
        for (columns, lines) in [(0, 0), (1, 1), (2, 3), (9, 4), (80, 24), (300, 5)] {
            let size = Size { columns, lines };
            for first_row in [0, 95, 999_999, u32::MAX] {
                let mut grid = Grid::new(SheetId::FIRST);
                (grid.corner, grid.place) = (place(first_row, 0), place(first_row, 0));
                let (grid, _) =
                    grid.press(Key::Character('x'), Layout::new(size, 10).room(first_row), "");
                let frame = Layout::new(size, 10).frame(&grid, &contents());
                assert!(frame.lines.len() <= usize::from(lines));
            }
        }
        let frame = Layout::new(SIZE, 10).frame(&Grid::new(SheetId::FIRST), &contents());
        assert!(texts(&frame).iter().all(|line| measure_text_width(line) <= 34));
    }

    #[test]
    fn the_end_of_what_is_typed_is_seen_and_the_cursor_stands_behind_it() {
        let layout = Layout::new(SIZE, 10);
        let type_text = |text: &str| {
            let press = |grid: Grid, c| grid.press(Key::Character(c), layout.room(0), "").0;
            let grid = text.chars().fold(Grid::new(SheetId::FIRST), press);
            let frame = layout.frame(&grid, &contents());
            (texts(&frame).pop().unwrap(), frame.cursor)
        };
        assert_eq!(type_text("abc"), ("A1: abc".to_owned(), Some((7, 5))));
        let (line, cursor) = type_text(&"0123456789".repeat(4));
        assert_eq!((line.as_str(), cursor), ("A1: 12345678901234567890123456789", Some((33, 5))));
        let (line, cursor) = type_text("日本");
        assert_eq!((line.as_str(), cursor), ("A1: 日本", Some((8, 5))));
    }
}
