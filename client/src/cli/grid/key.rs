//! Keys of the grid.

/// A key press, independent of how the terminal encodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    FirstCell,
    PageUp,
    PageDown,
    Enter,
    Tab,
    BackTab,
    /// If the user has pressed Tab before, returns to the column in which the first Tab was
    /// pressed.
    NextRow,
    Escape,
    Backspace,
    Delete,
    /// Starts editing the current value of the cell, instead of typing a new one.
    EditCell,
    GoTo,
    InsertRow,
    DeleteRow,
    Undo,
    NextSheet,
    PreviousSheet,
    Quit,
}
