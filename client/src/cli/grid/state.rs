//! Grid state (cursor, scroll position and text input) and key handling.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use cellar_sheet::cell::typed_or_text;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

use super::key::Key;
use super::text_input::TextInput;

/// An action that a key requests and that the caller must perform.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GridAction {
    None,
    Edit(Operation),
    Undo,
    /// Switches to the next or the previous sheet.
    SwitchSheet {
        forward: bool,
    },
    Quit,
}

/// Number of rows and columns on the screen, each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VisibleSize {
    pub(super) rows: u32,
    pub(super) columns: u32,
}

/// Text input in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typing {
    Cell(TextInput),
    GoTo(TextInput),
}

/// Grid state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) sheet: SheetId,
    pub(super) cursor: CellName,
    /// The first visible cell.
    pub(super) top_left: CellName,
    pub(super) typing: Option<Typing>,
    /// The column in which tabbing started.
    tabbed_from: Option<u32>,
    /// A message that is shown until the next key press.
    pub(super) notice: Option<String>,
}

impl Grid {
    pub(super) fn new(sheet: SheetId) -> Self {
        let first = CellName { row: 0, column: 0 };
        Self {
            sheet,
            cursor: first,
            top_left: first,
            typing: None,
            tabbed_from: None,
            notice: None,
        }
    }

    /// Returns the visible cells.
    pub(super) fn visible_cells(&self, size: VisibleSize) -> Rectangle {
        let last = |first: u32, count: u32, max: u32| {
            first.saturating_add(count.saturating_sub(1)).min(max.saturating_sub(1))
        };
        let row = last(self.top_left.row, size.rows, MAX_ROWS);
        let column = last(self.top_left.column, size.columns, MAX_COLUMNS);
        Rectangle { first: self.top_left, last: CellName { row, column } }
    }

    /// Shows another sheet from its first cell.
    pub(super) fn switch_to_sheet(&mut self, sheet: SheetId) {
        *self = Self::new(sheet);
    }

    /// Handles a key. `cell_text` is the text of the cell under the cursor.
    pub(super) fn press(
        mut self,
        key: Key,
        size: VisibleSize,
        cell_text: &str,
    ) -> (Self, GridAction) {
        self.notice = None;
        let action = match self.typing.take() {
            None => self.press_in_grid(key, size, cell_text),
            Some(typing) => self.press_in_input(typing, key, size),
        };
        self.scroll_to_cursor(size);
        (self, action)
    }

    fn press_in_grid(&mut self, key: Key, size: VisibleSize, cell_text: &str) -> GridAction {
        match key {
            Key::Character(character) => {
                self.typing = Some(Typing::Cell(TextInput::new(&character.to_string())));
            }
            Key::Enter | Key::EditCell => {
                self.typing = Some(Typing::Cell(TextInput::new(cell_text)));
            }
            Key::GoTo => self.typing = Some(Typing::GoTo(TextInput::new(""))),
            Key::Backspace | Key::Delete => return self.set_cell(""),
            Key::InsertRow => {
                let insert = InsertBefore { sheet: self.sheet, before: self.cursor.row, count: 1 };
                return GridAction::Edit(Operation::InsertRows(insert));
            }
            Key::DeleteRow => {
                let spans = Spans::one(self.cursor.row, 1);
                return GridAction::Edit(Operation::DeleteRows(DeleteSpans {
                    sheet: self.sheet,
                    spans,
                }));
            }
            Key::Undo => return GridAction::Undo,
            Key::NextSheet => return GridAction::SwitchSheet { forward: true },
            Key::PreviousSheet => return GridAction::SwitchSheet { forward: false },
            Key::Quit => return GridAction::Quit,
            Key::Escape => {}
            move_key => self.move_cursor(move_key, size),
        }
        GridAction::None
    }

    fn press_in_input(&mut self, typing: Typing, key: Key, size: VisibleSize) -> GridAction {
        let (mut input, is_cell) = match typing {
            Typing::Cell(input) => (input, true),
            Typing::GoTo(input) => (input, false),
        };
        let move_key = match key {
            Key::Escape => return GridAction::None,
            Key::Quit => return GridAction::Quit,
            Key::Enter => Some(Key::NextRow),
            Key::NextRow | Key::Tab | Key::BackTab | Key::Up | Key::Down => Some(key),
            key => {
                input.press(key);
                None
            }
        };
        match move_key {
            None => {
                self.typing = Some(if is_cell { Typing::Cell(input) } else { Typing::GoTo(input) });
                GridAction::None
            }
            Some(_) if !is_cell => {
                self.go_to(&input.text());
                GridAction::None
            }
            Some(move_key) => {
                let action = self.set_cell(&input.text());
                self.move_cursor(move_key, size);
                action
            }
        }
    }

    /// Returns the edit that sets the cell under the cursor.
    fn set_cell(&self, text: &str) -> GridAction {
        let typed = typed_or_text(text);
        let CellName { row, column } = self.cursor;
        let (value, format) = (Some(typed.value), typed.format);
        let cells = vec![CellEdit { row, column, value, formula: None, format }];
        GridAction::Edit(Operation::SetCells(SetCells { sheet: self.sheet, cells }))
    }

    fn go_to(&mut self, text: &str) {
        match text.trim().parse::<Range>() {
            Ok(Range { sheet: None, rectangle, .. }) => self.cursor = rectangle.first,
            Ok(_) => {
                self.notice = Some("switch sheets with Ctrl-PageUp and Ctrl-PageDown".to_owned());
            }
            Err(fault) => self.notice = Some(fault.to_string()),
        }
    }

    fn move_cursor(&mut self, key: Key, size: VisibleSize) {
        let CellName { row, column } = &mut self.cursor;
        let tabbed_from = self.tabbed_from.take();
        match key {
            Key::NextRow => {
                *row = row.saturating_add(1);
                *column = tabbed_from.unwrap_or(*column);
            }
            Key::Tab => {
                self.tabbed_from = tabbed_from.or(Some(*column));
                *column = column.saturating_add(1);
            }
            Key::Up => *row = row.saturating_sub(1),
            Key::Down => *row = row.saturating_add(1),
            Key::Left | Key::BackTab => *column = column.saturating_sub(1),
            Key::Right => *column = column.saturating_add(1),
            Key::PageUp => *row = row.saturating_sub(size.rows),
            Key::PageDown => *row = row.saturating_add(size.rows),
            Key::Home => *column = 0,
            Key::End => {
                *column = self.top_left.column.saturating_add(size.columns.saturating_sub(1));
            }
            Key::FirstCell => (*row, *column) = (0, 0),
            _ => {}
        }
        self.cursor.row = self.cursor.row.min(MAX_ROWS - 1);
        self.cursor.column = self.cursor.column.min(MAX_COLUMNS - 1);
    }

    /// Scrolls to keep the cursor visible.
    pub(super) fn scroll_to_cursor(&mut self, size: VisibleSize) {
        let scroll = |first: u32, at: u32, count: u32| {
            first.min(at).max(at.saturating_sub(count.saturating_sub(1)))
        };
        self.top_left.row = scroll(self.top_left.row, self.cursor.row, size.rows);
        self.top_left.column = scroll(self.top_left.column, self.cursor.column, size.columns);
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;

    use super::*;

    const SIZE: VisibleSize = VisibleSize { rows: 10, columns: 5 };

    fn pressed(grid: Grid, keys: &[Key]) -> (Grid, Vec<GridAction>) {
        let mut all = Vec::new();
        let grid = keys.iter().fold(grid, |grid, key| {
            let (grid, action) = grid.press(*key, SIZE, "old");
            all.extend(Some(action).filter(|action| *action != GridAction::None));
            grid
        });
        (grid, all)
    }

    fn typed(text: &str) -> Vec<Key> {
        text.chars().map(Key::Character).collect()
    }

    fn at(name: &str) -> CellName {
        name.parse::<Range>().unwrap().rectangle.first
    }

    fn new() -> Grid {
        Grid::new(SheetId::FIRST)
    }

    fn set(name: &str, value: Value) -> GridAction {
        let CellName { row, column } = at(name);
        let cells = vec![CellEdit { row, column, value: Some(value), formula: None, format: None }];
        GridAction::Edit(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells }))
    }

    #[test]
    fn typing_sets_the_cell_and_moves_to_the_next() {
        let keys = [
            typed("12"),
            vec![Key::Enter],
            typed("a b"),
            vec![Key::Tab],
            typed("x"),
            vec![Key::Up],
        ];
        let (grid, actions) = pressed(new(), &keys.concat());
        // Returns the keys of a pasted table.
        let table =
            [typed("1"), vec![Key::Tab, Key::Tab], typed("2"), vec![Key::NextRow], typed("3")];
        let (at_a3, _) = pressed(grid.clone(), &[Key::Down, Key::Down, Key::Left]);
        let (after, set_by_table) = pressed(at_a3, &[table.concat(), vec![Key::NextRow]].concat());
        let number = |name, number| set(name, Value::Number(number));
        assert_eq!(set_by_table, [number("A3", 1.0), number("C3", 2.0), number("A4", 3.0)]);
        assert_eq!(after.cursor, at("A5"));
        let expected = [
            set("A1", Value::Number(12.0)),
            set("A2", Value::Text("a b".into())),
            set("B2", Value::Text("x".into())),
        ];
        assert_eq!(actions, expected);
        assert_eq!((grid.cursor, grid.typing), (at("B1"), None));
    }

    #[test]
    fn typed_text_can_be_edited_and_discarded() {
        let keys =
            [typed("abc"), vec![Key::Left, Key::Backspace, Key::Character('X'), Key::Escape]];
        let (grid, actions) = pressed(new(), &keys.concat());
        assert_eq!((grid.typing, actions), (None, vec![]));
        let (_, actions) =
            pressed(new(), &[Key::EditCell, Key::Home, Key::Character('u'), Key::Enter]);
        assert_eq!(actions, [set("A1", Value::Text("uold".into()))]);
        let (_, actions) = pressed(new(), &[Key::Delete]);
        assert_eq!(actions, [set("A1", Value::Empty)]);
    }

    #[test]
    fn the_view_scrolls_with_the_cursor_up_to_the_ends_of_the_sheet() {
        let (grid, _) =
            pressed(new(), &[Key::Up, Key::Left, Key::PageDown, Key::PageDown, Key::Right]);
        assert_eq!((grid.cursor, grid.top_left), (at("B21"), at("A12")));
        let (grid, _) = pressed(grid, &[Key::PageUp, Key::PageUp, Key::PageUp]);
        assert_eq!((grid.cursor, grid.top_left), (at("B1"), at("A1")));
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        let (grid, _) =
            pressed(Grid { cursor: last, ..new() }, &[Key::Down, Key::Right, Key::PageDown]);
        assert_eq!((grid.cursor, grid.visible_cells(SIZE).last), (last, last));
        let (grid, _) = pressed(grid, &[Key::FirstCell]);
        assert_eq!((grid.cursor, grid.top_left), (at("A1"), at("A1")));
        let (grid, _) = pressed(new(), &[Key::End]);
        assert_eq!(grid.cursor, at("E1"));
        assert_eq!(pressed(grid, &[Key::Home]).0.cursor, at("A1"));
    }

    #[test]
    fn go_to_moves_to_a_named_cell() {
        let go = |text: &str| {
            pressed(new(), &[vec![Key::GoTo], typed(text), vec![Key::Enter]].concat()).0
        };
        assert_eq!(go(" c300 ").cursor, at("C300"));
        assert_eq!(go("c300").top_left, at("A291"));
        for bad in ["x", "Costs!A1", ""] {
            let grid = go(bad);
            assert!(grid.notice.is_some() && grid.cursor == at("A1"), "{bad}");
        }
    }

    #[test]
    fn rows_are_inserted_and_deleted_at_the_cursor() {
        let (_, actions) = pressed(new(), &[Key::Down, Key::InsertRow, Key::DeleteRow, Key::Undo]);
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 1, count: 1 };
        let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(1, 1) };
        let expected = [
            GridAction::Edit(Operation::InsertRows(insert)),
            GridAction::Edit(Operation::DeleteRows(delete)),
            GridAction::Undo,
        ];
        assert_eq!(actions, expected);
    }

    #[test]
    fn quits_and_switches_sheets() {
        let (_, actions) = pressed(new(), &[Key::NextSheet, Key::PreviousSheet, Key::Quit]);
        let sheet = |forward| GridAction::SwitchSheet { forward };
        assert_eq!(actions, [sheet(true), sheet(false), GridAction::Quit]);
        assert_eq!(pressed(new(), &[Key::Character('x'), Key::Quit]).1, [GridAction::Quit]);
    }
}
