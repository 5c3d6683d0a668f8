//! Stored encoding of the definitions of names in log entries.

use serde::{Deserialize, Serialize};

use super::stored::{checked_sheet_name, checked_text};
use super::{SetName, UnreadableOperation};
use cellar_base::limits::{MAX_DEFINED_NAME_BYTES, MAX_FORMULA_BYTES, MAX_FORMULA_REFERENCES};
use cellar_grid::SheetId;

/// Stored encoding of [`SetName`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredName {
    name: String,
    formula: Option<String>,
    /// Names of sheets in the formula, and their numbers.
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_FORMULA_REFERENCES>")]
    sheets: Vec<(String, u32)>,
}

impl From<&SetName> for StoredName {
    fn from(set: &SetName) -> Self {
        let sheets = set.sheets.iter().map(|(label, number)| (label.clone(), number.0));
        Self { name: set.name.clone(), formula: set.formula.clone(), sheets: sheets.collect() }
    }
}

impl StoredName {
    pub(super) fn into_set_name(self) -> Result<SetName, UnreadableOperation> {
        let checked_formula = |formula| checked_text(formula, MAX_FORMULA_BYTES);
        let checked_sheet =
            |(label, number): (String, u32)| Ok((checked_sheet_name(label)?, SheetId(number)));
        Ok(SetName {
            name: checked_text(self.name, MAX_DEFINED_NAME_BYTES)?,
            formula: self.formula.map(checked_formula).transpose()?,
            sheets: self.sheets.into_iter().map(checked_sheet).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Operation, StoredOperation};
    use super::*;
    use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;

    #[test]
    fn decoding_limits_names_formulas_and_sheets() {
        let stored = |name: usize, formula: usize, label: usize, sheets: usize| StoredName {
            name: "x".repeat(name),
            formula: Some("=".repeat(formula)),
            sheets: (0..sheets).map(|_| ("s".repeat(label), 1)).collect(),
        };
        let (name, formula) = (MAX_DEFINED_NAME_BYTES, MAX_FORMULA_BYTES);
        let (label, sheets) = (MAX_SHEET_NAME_CHARACTERS, MAX_FORMULA_REFERENCES);
        let is_read = |stored: StoredName| {
            let bytes = postcard::to_allocvec(&StoredOperation::SetName(stored)).unwrap();
            postcard::from_bytes(&bytes)
                .is_ok_and(|stored: StoredOperation| Operation::try_from(stored).is_ok())
        };
        assert!(is_read(stored(name, formula, label, sheets)));
        assert!(!is_read(stored(name + 1, formula, label, sheets)));
        assert!(!is_read(stored(name, formula + 1, label, sheets)));
        assert!(!is_read(stored(name, formula, label + 1, sheets)));
        assert!(!is_read(stored(name, formula, label, sheets + 1)));
        assert!(!is_read(stored(name, formula, 0, sheets)));
    }
}
