//! Numbers of sheets.

use serde::{Deserialize, Serialize};

/// Number of a sheet within its spreadsheet, assigned once and never reused.
///
/// `GET …/sheets` lists the numbers. The sheet of a new spreadsheet is 0. An import into a new
/// spreadsheet replaces that sheet and gets number 1: sheet 0 keeps its number, so that an undo of
/// the import can recover it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetId(pub u32);

impl SheetId {
    /// The sheet of a new spreadsheet.
    pub const FIRST: Self = Self(0);
}

/// Name of the sheet of a new spreadsheet.
pub const FIRST_SHEET_NAME: &str = "Sheet1";
