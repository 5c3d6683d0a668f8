//! Numbers of sheets.

use serde::{Deserialize, Serialize};

/// Number of a sheet within its spreadsheet. Numbers are never reused.
///
/// `GET …/sheets` returns the numbers. A new spreadsheet has one sheet, whose number is 0. An
/// import into a new spreadsheet replaces sheet 0 by a sheet with number 1. Number 0 still
/// identifies the replaced sheet, so that undoing the import can restore it under a new number.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetId(pub u32);

impl SheetId {
    /// Number of the initial sheet of a new spreadsheet.
    pub const FIRST: Self = Self(0);
}

/// Name of the initial sheet of a new spreadsheet.
pub const FIRST_SHEET_NAME: &str = "Sheet1";
