//! Sheets of a workbook.

use serde::{Deserialize, Serialize};

use super::{FIRST_SHEET_NAME, InvalidOperation, SheetId};
use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;

/// Adds a sheet behind the others.
///
/// Its author gives it a number above all that it has ever seen; if another got the number first,
/// the sheet takes the next and the author's later mutations follow it. A number that was used, or
/// that is far above all that were, adds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddSheet {
    /// Its number.
    pub sheet: SheetId,
    /// Its name; if another sheet has it, a number is put behind it.
    pub name: String,
}

/// Gives a sheet another name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RenameSheet {
    /// The sheet.
    pub sheet: SheetId,
    /// Its new name; if another sheet has it, a number is put behind it.
    pub name: String,
}

/// Deletes a sheet with all it holds. The last sheet of a spreadsheet stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSheet {
    /// The sheet.
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

/// The number of a new sheet. The greatest is left free, so that there is always a next.
pub(super) fn check_number(sheet: SheetId) -> Result<(), InvalidOperation> {
    if sheet == SheetId::FIRST || sheet.0 == u32::MAX {
        return Err(InvalidOperation::SheetNumber { sheet: sheet.0 });
    }
    Ok(())
}

/// Characters that no name has, besides control characters.
const FORBIDDEN: &str = r"[]:*?/\";

/// What Excel refuses, so that every workbook can be exported.
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

/// The name of a sheet that is as near to `text` as can be: that of a file, or of another program's
/// sheet.
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
