//! The grid's cursor, scroll position and text input, and how keys change them.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use cellar_sheet::cell::typed_cell;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

use super::key::Key;
use super::text_input::TextInput;

const FIRST_CELL: CellName = CellName { row: 0, column: 0 };

#[derive(Debug, Clone, PartialEq)]
pub(super) enum GridAction {
    None,
    Edit(Operation),
    Undo,
    SwitchSheet(SheetDirection),
    Quit,
}

/// In tab order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SheetDirection {
    Next,
    Previous,
}

/// Both numbers are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VisibleSize {
    pub(super) rows: u32,
    pub(super) columns: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typing {
    Cell(TextInput),
    GoTo(TextInput),
}

impl Typing {
    fn input_mut(&mut self) -> &mut TextInput {
        match self {
            Self::Cell(input) | Self::GoTo(input) => input,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) sheet: SheetId,
    pub(super) cursor: CellName,
    pub(super) top_left: CellName,
    pub(super) typing: Option<Typing>,
    /// Column in which the user started to press Tab. Enter returns to this column, in the next
    /// row.
    tab_start_column: Option<u32>,
    /// Message that is shown until the next key press.
    pub(super) notice: Option<String>,
}

impl Grid {
    pub(super) fn new(sheet: SheetId) -> Self {
        Self {
            sheet,
            cursor: FIRST_CELL,
            top_left: FIRST_CELL,
            typing: None,
            tab_start_column: None,
            notice: None,
        }
    }

    pub(super) fn visible_cells(&self, size: VisibleSize) -> Rectangle {
        let last_visible = CellName {
            row: last_visible_index(self.top_left.row, size.rows).min(MAX_ROWS - 1),
            column: last_visible_index(self.top_left.column, size.columns).min(MAX_COLUMNS - 1),
        };
        Rectangle { first: self.top_left, last: last_visible }
    }

    pub(super) fn switch_to_sheet(&mut self, sheet: SheetId) {
        *self = Self::new(sheet);
    }

    /// `cell_text` is the text to edit of the cell under the cursor: its formula, or its displayed
    /// value.
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
            Key::Character(character) => self.start_typing_cell(&character.to_string()),
            Key::Enter | Key::EditCell => self.start_typing_cell(cell_text),
            Key::GoTo => self.typing = Some(Typing::GoTo(TextInput::new(""))),
            Key::Backspace | Key::Delete => return self.set_cell_action(""),
            Key::InsertRow => return self.insert_row_action(),
            Key::DeleteRow => return self.delete_row_action(),
            Key::Undo => return GridAction::Undo,
            Key::NextSheet => return GridAction::SwitchSheet(SheetDirection::Next),
            Key::PreviousSheet => return GridAction::SwitchSheet(SheetDirection::Previous),
            Key::Quit => return GridAction::Quit,
            Key::Escape => {}
            move_key => self.move_cursor(move_key, size),
        }
        GridAction::None
    }

    fn start_typing_cell(&mut self, initial_text: &str) {
        self.typing = Some(Typing::Cell(TextInput::new(initial_text)));
    }

    fn press_in_input(&mut self, mut typing: Typing, key: Key, size: VisibleSize) -> GridAction {
        match key {
            Key::Escape => GridAction::None,
            Key::Quit => GridAction::Quit,
            Key::Enter => self.finish_typing(&typing, Key::NextRow, size),
            Key::NextRow | Key::Tab | Key::BackTab | Key::Up | Key::Down => {
                self.finish_typing(&typing, key, size)
            }
            text_key => {
                typing.input_mut().press(text_key);
                self.typing = Some(typing);
                GridAction::None
            }
        }
    }

    /// Applies the typed text. A typed value is stored in the cell under the cursor, and the cursor
    /// then moves as `move_key` does. A typed cell name moves the cursor to that cell.
    fn finish_typing(&mut self, typing: &Typing, move_key: Key, size: VisibleSize) -> GridAction {
        match typing {
            Typing::Cell(input) => {
                let action = self.set_cell_action(&input.text());
                self.move_cursor(move_key, size);
                action
            }
            Typing::GoTo(input) => {
                self.go_to(&input.text());
                GridAction::None
            }
        }
    }

    fn set_cell_action(&self, text: &str) -> GridAction {
        let cell = CellEdit::typed(self.cursor, typed_cell(text));
        let set = SetCells { sheet: self.sheet, cells: vec![cell] };
        GridAction::Edit(Operation::SetCells(set))
    }

    fn insert_row_action(&self) -> GridAction {
        let insert = InsertBefore { sheet: self.sheet, before: self.cursor.row, count: 1 };
        GridAction::Edit(Operation::InsertRows(insert))
    }

    fn delete_row_action(&self) -> GridAction {
        let delete = DeleteSpans { sheet: self.sheet, spans: Spans::one(self.cursor.row, 1) };
        GridAction::Edit(Operation::DeleteRows(delete))
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
        let CellName { mut row, mut column } = self.cursor;
        let tab_start_column = self.tab_start_column.take();
        match key {
            Key::NextRow => {
                row = row.saturating_add(1);
                column = tab_start_column.unwrap_or(column);
            }
            Key::Tab => {
                self.tab_start_column = tab_start_column.or(Some(column));
                column = column.saturating_add(1);
            }
            Key::Up => row = row.saturating_sub(1),
            Key::Down => row = row.saturating_add(1),
            Key::Left | Key::BackTab => column = column.saturating_sub(1),
            Key::Right => column = column.saturating_add(1),
            Key::PageUp => row = row.saturating_sub(size.rows),
            Key::PageDown => row = row.saturating_add(size.rows),
            Key::Home => column = 0,
            Key::End => column = last_visible_index(self.top_left.column, size.columns),
            Key::FirstCell => {
                row = 0;
                column = 0;
            }
            _ => {}
        }
        self.cursor = CellName { row: row.min(MAX_ROWS - 1), column: column.min(MAX_COLUMNS - 1) };
    }

    /// Scrolls as little as necessary.
    pub(super) fn scroll_to_cursor(&mut self, size: VisibleSize) {
        let Self { top_left, cursor, .. } = self;
        top_left.row = scrolled_start(top_left.row, cursor.row, size.rows);
        top_left.column = scrolled_start(top_left.column, cursor.column, size.columns);
    }
}

/// `visible_count` must be at least 1.
fn last_visible_index(first_visible: u32, visible_count: u32) -> u32 {
    first_visible.saturating_add(visible_count - 1)
}

fn scrolled_start(first_visible: u32, cursor: u32, visible_count: u32) -> u32 {
    if cursor < first_visible {
        return cursor;
    }
    if cursor > last_visible_index(first_visible, visible_count) {
        return cursor - (visible_count - 1);
    }
    first_visible
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
    fn typed_formulas_are_set_without_a_value() {
        let (_, actions) = pressed(new(), &[typed("=b2*2"), vec![Key::Enter]].concat());
        let edit = CellEdit::typed(at("A1"), typed_cell("=b2*2"));
        assert_eq!((edit.value.as_ref(), edit.formula.is_some()), (Some(&Value::Empty), true));
        let set = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
        assert_eq!(actions, [GridAction::Edit(Operation::SetCells(set))]);
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
        assert_eq!(
            actions,
            [
                GridAction::SwitchSheet(SheetDirection::Next),
                GridAction::SwitchSheet(SheetDirection::Previous),
                GridAction::Quit
            ]
        );
        assert_eq!(pressed(new(), &[Key::Character('x'), Key::Quit]).1, [GridAction::Quit]);
    }
}
