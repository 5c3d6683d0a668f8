//! Operations on sheets of a workbook.

use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use crate::sheet_id::{FIRST_SHEET_NAME, SheetId};
use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;

/// Adds a sheet after the last one.
///
/// Its author assigns a number above all that it has seen. If another sheet already has the number,
/// this sheet gets the next one, and the author's later mutations follow it. A number that was used
/// before, or is too far above the next free one, adds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddSheet {
    /// Number of the new sheet.
    pub sheet: SheetId,
    /// Name; a number is appended if the name is taken.
    pub name: String,
}

/// Renames a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RenameSheet {
    /// Sheet id.
    pub sheet: SheetId,
    /// New name; a number is appended if the name is taken.
    pub name: String,
}

/// Deletes a sheet and its contents. The last sheet of a spreadsheet cannot be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSheet {
    /// Sheet id.
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

/// Checks the number of a new sheet. The largest number is reserved, so that there is always a next
/// one.
pub(super) fn check_number(sheet: SheetId) -> Result<(), InvalidOperation> {
    if sheet == SheetId::FIRST || sheet.0 == u32::MAX {
        return Err(InvalidOperation::SheetNumber { sheet: sheet.0 });
    }
    Ok(())
}

/// Characters that a sheet name must not contain, besides control characters.
const FORBIDDEN: &str = r"[]:*?/\";

/// Checks a sheet name by Excel's rules, so that every workbook can be exported.
pub(super) fn check_name(name: &str) -> Result<(), InvalidOperation> {
    let why = if name.trim().is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_SHEET_NAME_CHARACTERS {
        "it has more than 31 characters"
    } else if name.chars().any(|character| character.is_control() || FORBIDDEN.contains(character))
    {
        r"it has one of [ ] : * ? / \ or a control character"
    } else if name.starts_with('\'') || name.ends_with('\'') {
        "it begins or ends with an apostrophe"
    } else {
        return Ok(());
    };
    Err(InvalidOperation::SheetName { name: name.chars().take(40).collect(), why })
}

/// Returns the valid sheet name closest to `text`, such as a file name or another program's sheet
/// name.
#[must_use]
pub fn sheet_name_from(text: &str) -> String {
    let allowed = |character: char| {
        let refused = character.is_control() || FORBIDDEN.contains(character);
        if refused { '_' } else { character }
    };
    let at_an_end = |character: char| character == '\'' || character.is_whitespace();
    let name: String = text.trim_matches(at_an_end).chars().map(allowed).collect();
    let name: String = name.chars().take(MAX_SHEET_NAME_CHARACTERS).collect();
    let name = name.trim_matches(at_an_end);
    if name.is_empty() { FIRST_SHEET_NAME.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_excel_takes() {
        for good in ["Budget", "Q1 – Ümsätze", "it's", &"x".repeat(MAX_SHEET_NAME_CHARACTERS)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "x".repeat(MAX_SHEET_NAME_CHARACTERS + 1);
        for bad in ["", "  ", "a/b", "a:b", "[x]", "'a", "a'", "a\nb", &long] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn any_text_becomes_a_name_near_it() {
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
    fn a_new_sheet_has_a_number_of_its_own() {
        let add = |sheet| AddSheet { sheet: SheetId(sheet), name: "a".into() }.validated();
        assert!(add(1).is_ok() && add(u32::MAX - 1).is_ok());
        assert!(add(0).is_err() && add(u32::MAX).is_err());
    }
}
