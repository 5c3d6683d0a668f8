//! Sheet names in formulas.

use std::borrow::Cow;

use cellar_grid::SheetId;
use cellar_grid::a1::parse_column;

/// The names and numbers of the sheets of a spreadsheet.
pub trait SheetNames {
    /// Returns the number of the sheet with this name, ignoring case, or `None` if there is none.
    fn number(&self, name: &str) -> Option<SheetId>;

    /// Returns the name of a sheet, or `None` if the sheet does not exist.
    fn name(&self, sheet: SheetId) -> Option<&str>;
}

/// An empty list of sheets. A formula that is parsed with it keeps all sheet names in its references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSheets;

impl SheetNames for NoSheets {
    fn number(&self, _: &str) -> Option<SheetId> {
        None
    }

    fn name(&self, _: SheetId) -> Option<&str> {
        None
    }
}

/// Returns a sheet name as it is written before the `!` of a reference. The name is not quoted if
/// it starts with a letter or `_`, consists of letters, digits, `_` and `.`, and does not look like
/// a reference or boolean.
#[must_use]
pub fn quoted_sheet_name(name: &str) -> Cow<'_, str> {
    if needs_quotes(name) {
        Cow::Owned(format!("'{}'", name.replace('\'', "''")))
    } else {
        Cow::Borrowed(name)
    }
}

fn needs_quotes(name: &str) -> bool {
    let has_valid_start =
        name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    let is_plain =
        name.chars().all(|character| character.is_alphanumeric() || "_.".contains(character));
    !has_valid_start || !is_plain || looks_like_a_reference(name)
}

/// Returns whether the name looks like a cell in A1 notation, a reference in R1C1 notation or a
/// boolean. Some of these names need no quotes in programs with smaller sheets, but quotes are
/// always valid.
fn looks_like_a_reference(name: &str) -> bool {
    let digits_start = name.find(|character: char| character.is_ascii_digit());
    let (letters, digits) =
        name.split_at_checked(digits_start.unwrap_or(name.len())).unwrap_or((name, ""));
    let is_cell = parse_column(letters).is_some()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_r1c1 = name.bytes().all(|byte| byte.is_ascii_digit() || b"RCrc".contains(&byte));
    let is_boolean = name.eq_ignore_ascii_case("TRUE") || name.eq_ignore_ascii_case("FALSE");
    is_cell || is_r1c1 || is_boolean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_read_otherwise_are_quoted() {
        for name in ["Sheet1", "Data_2024.old", "Ärger", "_x", "Sheet", "Column9B"] {
            let sheet_name = if name == "Sheet1" { "Sheet12345678" } else { name };
            assert_eq!(quoted_sheet_name(sheet_name), sheet_name);
        }
        for name in ["My sheet", "2024", "A1", "ABCDE12", "RC", "R1C1", "True", "a-b", "a'b", ""] {
            let quoted = quoted_sheet_name(name);
            assert_eq!(quoted, format!("'{}'", name.replace('\'', "''")), "{name}");
        }
    }
}
