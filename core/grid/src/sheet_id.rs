//! Numbers of sheets.

use serde::{Deserialize, Serialize};

/// Number of a sheet within its spreadsheet, as returned by `GET …/sheets`. Numbers are never
/// reused.
///
/// A new spreadsheet has one sheet, whose number is 0. An import into a new spreadsheet replaces
/// sheet 0 with a sheet whose number is 1. Undoing the import restores the old sheet under a new
/// number.
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
