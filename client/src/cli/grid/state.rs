//! Where one is in the grid, what is being typed, and what a key does: no terminal, no spreadsheet.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use cellar_sheet::cell::typed_or_text;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

use super::line::Line;

/// A key, whatever a terminal sends for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Something to type.
    Character(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    /// To the first cell.
    Beginning,
    PageUp,
    PageDown,
    Enter,
    Tab,
    BackTab,
    /// To the next row, where the first of the cells was that one has tabbed through.
    NextRow,
    Escape,
    Backspace,
    Delete,
    /// Change what is there instead of replacing it.
    Change,
    GoTo,
    InsertRow,
    DeleteRow,
    Undo,
    NextSheet,
    PreviousSheet,
    Quit,
}

/// What a key asks for beyond the grid itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    Nothing,
    /// An edit, and what to say of it if it is none that one sees.
    Edit(Operation),
    Undo,
    /// The next sheet, or the one before.
    Sheet {
        forward: bool,
    },
    Quit,
}

/// How many rows and columns fit the screen; at least one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) rows: u32,
    pub(super) columns: u32,
}

/// What is typed, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typing {
    Cell(Line),
    GoTo(Line),
}

/// The state of the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) sheet: SheetId,
    /// The cell that one is in.
    pub(super) place: CellName,
    /// The first cell that is shown.
    pub(super) corner: CellName,
    pub(super) typing: Option<Typing>,
    /// The column where one began to tab.
    tabbed_from: Option<u32>,
    /// Said until the next key.
    pub(super) notice: Option<String>,
}

impl Grid {
    pub(super) fn new(sheet: SheetId) -> Self {
        let first = CellName { row: 0, column: 0 };
        Self { sheet, place: first, corner: first, typing: None, tabbed_from: None, notice: None }
    }

    /// The cells that are shown.
    pub(super) fn rectangle(&self, room: Room) -> Rectangle {
        let last = |first: u32, count: u32, max: u32| {
            first.saturating_add(count.saturating_sub(1)).min(max.saturating_sub(1))
        };
        let row = last(self.corner.row, room.rows, MAX_ROWS);
        let column = last(self.corner.column, room.columns, MAX_COLUMNS);
        Rectangle { first: self.corner, last: CellName { row, column } }
    }

    /// Another sheet, from its first cell.
    pub(super) fn turn_to(&mut self, sheet: SheetId) {
        *self = Self::new(sheet);
    }

    /// What a key does. `held` is the text of the cell that one is in.
    pub(super) fn press(mut self, key: Key, room: Room, held: &str) -> (Self, Asked) {
        self.notice = None;
        let asked = match self.typing.take() {
            None => self.press_moving(key, room, held),
            Some(typing) => self.press_typing(typing, key, room),
        };
        self.follow(room);
        (self, asked)
    }

    fn press_moving(&mut self, key: Key, room: Room, held: &str) -> Asked {
        match key {
            Key::Character(character) => {
                self.typing = Some(Typing::Cell(Line::of(&character.to_string())));
            }
            Key::Enter | Key::Change => self.typing = Some(Typing::Cell(Line::of(held))),
            Key::GoTo => self.typing = Some(Typing::GoTo(Line::of(""))),
            Key::Backspace | Key::Delete => return self.set(""),
            Key::InsertRow => {
                let insert = InsertBefore { sheet: self.sheet, before: self.place.row, count: 1 };
                return Asked::Edit(Operation::InsertRows(insert));
            }
            Key::DeleteRow => {
                let spans = Spans::one(self.place.row, 1);
                return Asked::Edit(Operation::DeleteRows(DeleteSpans {
                    sheet: self.sheet,
                    spans,
                }));
            }
            Key::Undo => return Asked::Undo,
            Key::NextSheet => return Asked::Sheet { forward: true },
            Key::PreviousSheet => return Asked::Sheet { forward: false },
            Key::Quit => return Asked::Quit,
            Key::Escape => {}
            moves => self.go(moves, room),
        }
        Asked::Nothing
    }

    fn press_typing(&mut self, typing: Typing, key: Key, room: Room) -> Asked {
        let (mut line, is_cell) = match typing {
            Typing::Cell(line) => (line, true),
            Typing::GoTo(line) => (line, false),
        };
        let ends = match key {
            Key::Escape => return Asked::Nothing,
            Key::Quit => return Asked::Quit,
            Key::Enter => Some(Key::NextRow),
            Key::NextRow | Key::Tab | Key::BackTab | Key::Up | Key::Down => Some(key),
            key => {
                line.press(key);
                None
            }
        };
        match ends {
            None => {
                self.typing = Some(if is_cell { Typing::Cell(line) } else { Typing::GoTo(line) });
                Asked::Nothing
            }
            Some(_) if !is_cell => {
                self.go_to(&line.text());
                Asked::Nothing
            }
            Some(then) => {
                let asked = self.set(&line.text());
                self.go(then, room);
                asked
            }
        }
    }

    /// Sets the cell that one is in.
    fn set(&self, text: &str) -> Asked {
        let typed = typed_or_text(text);
        let CellName { row, column } = self.place;
        let (value, format) = (Some(typed.value), typed.format);
        let cells = vec![CellEdit { row, column, value, formula: None, format }];
        Asked::Edit(Operation::SetCells(SetCells { sheet: self.sheet, cells }))
    }

    fn go_to(&mut self, text: &str) {
        match text.trim().parse::<Range>() {
            Ok(Range { sheet: None, rectangle, .. }) => self.place = rectangle.first,
            Ok(_) => self.notice = Some("another sheet: Ctrl-PageDown goes there".to_owned()),
            Err(fault) => self.notice = Some(fault.to_string()),
        }
    }

    fn go(&mut self, key: Key, room: Room) {
        let CellName { row, column } = &mut self.place;
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
            Key::PageUp => *row = row.saturating_sub(room.rows),
            Key::PageDown => *row = row.saturating_add(room.rows),
            Key::Home => *column = 0,
            Key::End => *column = self.corner.column.saturating_add(room.columns.saturating_sub(1)),
            Key::Beginning => (*row, *column) = (0, 0),
            _ => {}
        }
        self.place.row = self.place.row.min(MAX_ROWS - 1);
        self.place.column = self.place.column.min(MAX_COLUMNS - 1);
    }

    /// Shows the cell that one is in.
    pub(super) fn follow(&mut self, room: Room) {
        let shown = |first: u32, at: u32, count: u32| {
            first.min(at).max(at.saturating_sub(count.saturating_sub(1)))
        };
        self.corner.row = shown(self.corner.row, self.place.row, room.rows);
        self.corner.column = shown(self.corner.column, self.place.column, room.columns);
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;

    use super::*;

    const ROOM: Room = Room { rows: 10, columns: 5 };

    fn pressed(grid: Grid, keys: &[Key]) -> (Grid, Vec<Asked>) {
        let mut all = Vec::new();
        let grid = keys.iter().fold(grid, |grid, key| {
            let (grid, asked) = grid.press(*key, ROOM, "held");
            all.extend(Some(asked).filter(|asked| *asked != Asked::Nothing));
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

    fn set(name: &str, value: Value) -> Asked {
        let CellName { row, column } = at(name);
        let cells = vec![CellEdit { row, column, value: Some(value), formula: None, format: None }];
        Asked::Edit(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells }))
    }

    #[test]
    fn typing_sets_the_cell_and_goes_on_to_the_next() {
        let keys = [
            typed("12"),
            vec![Key::Enter],
            typed("a b"),
            vec![Key::Tab],
            typed("x"),
            vec![Key::Up],
        ];
        let (grid, asked) = pressed(new(), &keys.concat());
        // A table that is pasted stays one.
        let table =
            [typed("1"), vec![Key::Tab, Key::Tab], typed("2"), vec![Key::NextRow], typed("3")];
        let (at_a3, _) = pressed(grid.clone(), &[Key::Down, Key::Down, Key::Left]);
        let (after, set_by_table) = pressed(at_a3, &[table.concat(), vec![Key::NextRow]].concat());
        let number = |name, number| set(name, Value::Number(number));
        assert_eq!(set_by_table, [number("A3", 1.0), number("C3", 2.0), number("A4", 3.0)]);
        assert_eq!(after.place, at("A5"));
        let expected = [
            set("A1", Value::Number(12.0)),
            set("A2", Value::Text("a b".into())),
            set("B2", Value::Text("x".into())),
        ];
        assert_eq!(asked, expected);
        assert_eq!((grid.place, grid.typing), (at("B1"), None));
    }

    #[test]
    fn what_is_typed_can_be_changed_and_given_up() {
        let keys =
            [typed("abc"), vec![Key::Left, Key::Backspace, Key::Character('X'), Key::Escape]];
        let (grid, asked) = pressed(new(), &keys.concat());
        assert_eq!((grid.typing, asked), (None, vec![]));
        let (_, asked) = pressed(new(), &[Key::Change, Key::Home, Key::Character('u'), Key::Enter]);
        assert_eq!(asked, [set("A1", Value::Text("uheld".into()))]);
        let (_, asked) = pressed(new(), &[Key::Delete]);
        assert_eq!(asked, [set("A1", Value::Empty)]);
    }

    #[test]
    fn the_window_follows_and_neither_end_of_the_sheet_is_passed() {
        let (grid, _) =
            pressed(new(), &[Key::Up, Key::Left, Key::PageDown, Key::PageDown, Key::Right]);
        assert_eq!((grid.place, grid.corner), (at("B21"), at("A12")));
        let (grid, _) = pressed(grid, &[Key::PageUp, Key::PageUp, Key::PageUp]);
        assert_eq!((grid.place, grid.corner), (at("B1"), at("A1")));
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        let (grid, _) =
            pressed(Grid { place: last, ..new() }, &[Key::Down, Key::Right, Key::PageDown]);
        assert_eq!((grid.place, grid.rectangle(ROOM).last), (last, last));
        let (grid, _) = pressed(grid, &[Key::Beginning]);
        assert_eq!((grid.place, grid.corner), (at("A1"), at("A1")));
        let (grid, _) = pressed(new(), &[Key::End]);
        assert_eq!(grid.place, at("E1"));
        assert_eq!(pressed(grid, &[Key::Home]).0.place, at("A1"));
    }

    #[test]
    fn a_name_leads_to_its_cell() {
        let go = |text: &str| {
            pressed(new(), &[vec![Key::GoTo], typed(text), vec![Key::Enter]].concat()).0
        };
        assert_eq!(go(" c300 ").place, at("C300"));
        assert_eq!(go("c300").corner, at("A291"));
        for bad in ["x", "Costs!A1", ""] {
            let grid = go(bad);
            assert!(grid.notice.is_some() && grid.place == at("A1"), "{bad}");
        }
    }

    #[test]
    fn rows_are_inserted_and_deleted_where_one_is() {
        let (_, asked) = pressed(new(), &[Key::Down, Key::InsertRow, Key::DeleteRow, Key::Undo]);
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 1, count: 1 };
        let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(1, 1) };
        let expected = [
            Asked::Edit(Operation::InsertRows(insert)),
            Asked::Edit(Operation::DeleteRows(delete)),
            Asked::Undo,
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn it_ends_and_turns_pages() {
        let (_, asked) = pressed(new(), &[Key::NextSheet, Key::PreviousSheet, Key::Quit]);
        let sheet = |forward| Asked::Sheet { forward };
        assert_eq!(asked, [sheet(true), sheet(false), Asked::Quit]);
        assert_eq!(pressed(new(), &[Key::Character('x'), Key::Quit]).1, [Asked::Quit]);
    }
}
