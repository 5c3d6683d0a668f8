//! Keys of the grid.

/// A key press in the grid, independent of the terminal encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character to type.
    Character(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    /// Moves to the first cell of the sheet.
    FirstCell,
    PageUp,
    PageDown,
    Enter,
    Tab,
    BackTab,
    /// Moves to the next row, in the column in which tabbing started.
    NextRow,
    Escape,
    Backspace,
    Delete,
    /// Edits a cell's value instead of replacing it.
    EditCell,
    GoTo,
    InsertRow,
    DeleteRow,
    Undo,
    NextSheet,
    PreviousSheet,
    Quit,
}
