//! Operations that add, rename and delete sheets.

use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;
use cellar_grid::{FIRST_SHEET_NAME, SheetId};

/// Adds a sheet after the last sheet, or before another sheet.
///
/// The author chooses an unused number. If another author has used it concurrently, the new sheet
/// gets the next unused number, and later mutations of the author are adapted. No sheet is added if
/// the number had already been used at the base of the mutation, or if it is too far above the next
/// unused number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddSheet {
    /// Number of the new sheet.
    pub sheet: SheetId,
    /// Name of the new sheet. A number is appended if another sheet has this name.
    pub name: String,
    /// Number of the sheet before which the new sheet is added. If it is absent or that sheet does
    /// not exist, the new sheet becomes the last sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<SheetId>,
}

/// Renames a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RenameSheet {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// New name of the sheet. A number is appended if another sheet has this name.
    pub name: String,
}

/// Deletes a sheet with its contents. The only sheet of a spreadsheet cannot be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSheet {
    /// Number of the sheet.
    pub sheet: SheetId,
}

impl AddSheet {
    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_number(self.sheet)?;
        check_name(&self.name)?;
        Ok(self)
    }
}

impl RenameSheet {
    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_name(&self.name)?;
        Ok(self)
    }
}

/// `u32::MAX` is not allowed, so every number has a successor.
pub(super) fn check_number(sheet: SheetId) -> Result<(), InvalidOperation> {
    if sheet == SheetId::FIRST || sheet.0 == u32::MAX {
        return Err(InvalidOperation::SheetNumber { sheet: sheet.0 });
    }
    Ok(())
}

/// Characters that sheet names must not contain, in addition to control characters.
const FORBIDDEN: &str = r"[]:*?/\";

/// Maximum number of characters of an invalid name that an error message contains.
const MAX_SHOWN_CHARACTERS: usize = 40;

fn is_forbidden(character: char) -> bool {
    character.is_control() || FORBIDDEN.contains(character)
}

/// Validates a sheet name according to the rules of Excel, so that workbooks can be exported.
pub(super) fn check_name(name: &str) -> Result<(), InvalidOperation> {
    let reason = if name.trim().is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_SHEET_NAME_CHARACTERS {
        "it has more than 31 characters"
    } else if name.chars().any(is_forbidden) {
        r"it contains one of [ ] : * ? / \ or a control character"
    } else if name.starts_with('\'') || name.ends_with('\'') {
        "it begins or ends with an apostrophe"
    } else {
        return Ok(());
    };
    let shown_name = name.chars().take(MAX_SHOWN_CHARACTERS).collect();
    Err(InvalidOperation::SheetName { name: shown_name, reason })
}

/// Converts text such as a file name to a valid sheet name. Characters that are not allowed are
/// replaced. The text is truncated, and spaces and apostrophes at its ends are removed.
#[must_use]
pub fn sheet_name_from(text: &str) -> String {
    let replace_forbidden = |character: char| if is_forbidden(character) { '_' } else { character };
    let is_trimmed = |character: char| character == '\'' || character.is_whitespace();
    let allowed_characters = text.trim_matches(is_trimmed).chars().map(replace_forbidden);
    let truncated_name: String = allowed_characters.take(MAX_SHEET_NAME_CHARACTERS).collect();
    let trimmed_name = truncated_name.trim_matches(is_trimmed);
    if trimmed_name.is_empty() { FIRST_SHEET_NAME.to_owned() } else { trimmed_name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_names_that_excel_accepts() {
        for good in ["Budget", "Q1 – Ümsätze", "it's", &"x".repeat(MAX_SHEET_NAME_CHARACTERS)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "x".repeat(MAX_SHEET_NAME_CHARACTERS + 1);
        for bad in ["", "  ", "a/b", "a:b", "[x]", "'a", "a'", "a\nb", &long] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn converts_any_text_to_a_valid_name() {
        let longest = "x".repeat(MAX_SHEET_NAME_CHARACTERS);
        let shorter = "x".repeat(MAX_SHEET_NAME_CHARACTERS - 1);
        for (text, expected) in [
            ("Budget", "Budget"),
            (" Q1/2 [new]: ", "Q1_2 _new__"),
            ("'quoted'", "quoted"),
            ("tab\there", "tab_here"),
            ("", FIRST_SHEET_NAME),
            ("' '", FIRST_SHEET_NAME),
            (&format!("{longest}y"), &longest),
            (&format!("{shorter}' b"), &shorter),
        ] {
            assert_eq!(sheet_name_from(text), expected);
            assert_eq!(check_name(&sheet_name_from(text)), Ok(()), "{text}");
        }
    }

    #[test]
    fn rejects_reserved_sheet_numbers() {
        let add =
            |sheet| AddSheet { sheet: SheetId(sheet), name: "a".into(), before: None }.validated();
        assert!(add(1).is_ok() && add(u32::MAX - 1).is_ok());
        assert!(add(0).is_err() && add(u32::MAX).is_err());
    }
}
