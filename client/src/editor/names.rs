//! Defines and deletes names, such as `TAX` for `=Sheet1!$B$1`.

use cellar_api::wire::{NameView, SheetsReply};
use cellar_sheet::metadata::{SheetNumbers, Tabs};
use cellar_sheet::operation::{
    InvalidName, InvalidOperation, Operation, SetName, completed_formula,
};

use super::{AppliedEdit, Editor, EditorError};
use crate::{ClientError, Spreadsheet};

impl Spreadsheet {
    /// Returns the names that formulas can use, in alphabetical order.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn names(&self) -> Result<Vec<NameView>, ClientError> {
        Ok(self.sheets().await?.names)
    }

    /// Defines a name, or changes what it stands for. `formula` is a formula such as `=0.19`, or a
    /// range such as `B2:B10` or `Costs!B2:B10`. A range without a sheet is one of the first sheet.
    ///
    /// # Errors
    ///
    /// Returns [`EditorError::Invalid`] if the name or the formula is invalid. Returns another
    /// [`EditorError`], whose variant states whether the edit was committed, if the edit fails.
    pub async fn set_name(&self, name: &str, formula: &str) -> Result<AppliedEdit, EditorError> {
        let editor = self.editor()?;
        let operation = editor.definition(name, formula, None).await?;
        editor.apply(operation).await
    }

    /// Deletes a name. Formulas that use it then give `#NAME?`.
    ///
    /// # Errors
    ///
    /// Returns an [`EditorError`], whose variant states whether the edit was committed, if the edit
    /// fails.
    pub async fn delete_name(&self, name: &str) -> Result<AppliedEdit, EditorError> {
        self.editor()?.apply(Operation::SetName(SetName::delete(name))).await
    }
}

impl Editor {
    /// Returns the operation that defines a name. Ranges in `formula` without a sheet are those of
    /// the sheet named `sheet`, or of the first sheet if `sheet` is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`EditorError::Invalid`] if the name or the formula is invalid, or another variant if
    /// a sheet does not exist, a request fails or a local file cannot be used.
    pub async fn definition(
        &self,
        name: &str,
        formula: &str,
        sheet: Option<&str>,
    ) -> Result<Operation, EditorError> {
        let own_sheet = self.sheet(sheet).await?;
        let sheets = self.sheets().await?;
        let define = |sheets: &SheetsReply| -> Result<SetName, InvalidOperation> {
            let tabs = tabs_of(sheets);
            SetName::define(name, &completed_formula(name, formula, own_sheet, &tabs)?, &tabs)
        };
        let defined = match define(&sheets) {
            // The sheet may have been added after the position that was read last.
            Err(InvalidOperation::Name(InvalidName::NoSuchSheet { .. })) => {
                define(&self.newest_sheets().await?)
            }
            defined => defined,
        };
        defined.map(Operation::SetName).map_err(|fault| EditorError::Invalid { fault })
    }
}

fn tabs_of(sheets: &SheetsReply) -> Tabs {
    let names = sheets.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone()));
    Tabs::from_parts(names.collect(), SheetNumbers::default())
}
