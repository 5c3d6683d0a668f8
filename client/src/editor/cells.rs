//! Sets single cells, which are identified by references such as `Sheet2!B3`.

use cellar_sheet::a1::{CellName, Range};
use cellar_sheet::cell::{TypedText, Value, typed_cell};
use cellar_sheet::operation::{CellEdit, Operation, SetCells};

use super::{AppliedEdit, Editor, EditorError};
use crate::Spreadsheet;
use crate::client::LastSeen;
use crate::files::FileError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellReference {
    pub(crate) sheet: Option<String>,
    pub(crate) cell: CellName,
}

impl CellReference {
    /// Parses a reference such as `B3`, `Sheet2!B3` or `'My sheet'!$B$3`. The error states why the
    /// text is not a reference to a single cell.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let range: Range = text.parse().map_err(|error: cellar_sheet::a1::NotARange| {
            format!("not a cell: {}", error.reason)
        })?;
        if range.rectangle.first != range.rectangle.last {
            return Err("a range, not one cell".to_owned());
        }
        Ok(Self { sheet: range.sheet, cell: range.rectangle.first })
    }
}

impl Spreadsheet {
    /// Sets a cell to a text, which is interpreted as if a user had typed it. `42`, `2.50`,
    /// `2026-03-01` and `TRUE` become numbers, dates and booleans. A text that starts with `=`
    /// becomes a formula. An empty text clears the cell, and any other text stays a text. `cell` is
    /// a reference such as `B3` or `Sheet2!B3`.
    ///
    /// The reference is based on the newest state that the program has read through this handle,
    /// for example with [`Spreadsheet::cells`] or [`Spreadsheet::sheets`]. If other clients have
    /// inserted rows since then, the edit still applies to the row that was read. If the handle was
    /// not used before, the reference is based on the newest state on the server.
    ///
    /// The edit is committed exactly once, even if responses are lost, because it is saved before
    /// it is sent and resent unchanged. If the error is [`EditorError::Kept`], the outcome is
    /// unknown, and the next edit resends this edit first. An edit is resent after the process has
    /// ended only if the client has a folder ([`Client::with_folder`](crate::Client::with_folder)).
    ///
    /// # Errors
    ///
    /// Returns [`EditorError::InvalidCell`] if `cell` is not a cell reference. Returns another
    /// [`EditorError`], whose variant states whether the edit was committed, if the edit fails.
    pub async fn set(&self, cell: &str, text: &str) -> Result<AppliedEdit, EditorError> {
        self.set_typed(cell, typed_cell(text)).await
    }

    /// Like [`Spreadsheet::set`], but sets the value as given, without interpreting it as typed
    /// text.
    ///
    /// # Errors
    ///
    /// Returns [`EditorError::InvalidCell`] if `cell` is not a cell reference. Returns another
    /// [`EditorError`], whose variant states whether the edit was committed, if the edit fails.
    pub async fn set_value(&self, cell: &str, value: Value) -> Result<AppliedEdit, EditorError> {
        self.set_typed(cell, TypedText::of_value(value)).await
    }

    async fn set_typed(&self, cell: &str, typed: TypedText) -> Result<AppliedEdit, EditorError> {
        let reference = CellReference::parse(cell)
            .map_err(|why| EditorError::InvalidCell { cell: cell.to_owned(), why })?;
        let editor = self.editor()?;
        editor.base_on_last_seen(self.last_seen()).await?;
        let sheet = editor.sheet(reference.sheet.as_deref()).await?;
        let edit = CellEdit::typed(reference.cell, typed);
        let applied =
            editor.apply(Operation::SetCells(SetCells { sheet, cells: vec![edit] })).await?;
        self.set_last_seen(LastSeen::Edited);
        Ok(applied)
    }

    /// Returns an editor whose state is stored in the client's folder.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the client has no folder and a temporary folder cannot be
    /// created.
    pub fn editor(&self) -> Result<Editor, FileError> {
        Ok(Editor::new(self.clone(), self.client().folder()?))
    }
}

impl Editor {
    /// Bases the next edit on the newest state that the program has read or edited through the
    /// handle. If it has done neither, the next edit is based on the newest position.
    async fn base_on_last_seen(&self, last_seen: LastSeen) -> Result<(), EditorError> {
        match last_seen {
            LastSeen::Nothing => self.newest_sheets().await.map(|_| ()),
            LastSeen::Edited => Ok(()),
            LastSeen::Read(head) => match self.record_seen(head.head, head.incarnation, None) {
                // The state is locked because another process is sending an edit. The server's
                // response to that edit contains a newer position.
                Err(FileError::InUse { .. }) => Ok(()),
                result => Ok(result?),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_references_to_one_cell() {
        let parse = CellReference::parse;
        let cell = CellName { row: 2, column: 1 };
        assert_eq!(parse("$B$3"), Ok(CellReference { sheet: None, cell }));
        let sheet = Some("My sheet".to_owned());
        assert_eq!(parse("'My sheet'!b3"), Ok(CellReference { sheet, cell }));
        for text in ["", "A1:B2", "A:A", "3:3", "A0", "42"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
