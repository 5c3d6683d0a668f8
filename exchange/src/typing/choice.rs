//! What the caller says that columns are.

use std::collections::BTreeMap;
use std::str::FromStr;

use cellar_sheet::a1::CellName;

use super::Recognised;

/// The type of a column, as the caller has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeChoice {
    /// Every field stays text.
    Text,
    /// Fields that are numbers become numbers, even if others in the column are not.
    Number,
    /// Fields that are dates become dates, even if others in the column are not.
    Date,
    /// `TRUE` and `FALSE` become booleans, even if other fields in the column are not.
    Boolean,
}

impl TypeChoice {
    pub(super) fn takes(self, found: Recognised) -> bool {
        matches!(
            (self, found),
            (Self::Number, Recognised::Number(_))
                | (Self::Date, Recognised::Date { .. })
                | (Self::Boolean, Recognised::Bool(_))
        )
    }
}

/// Types that the caller gives; other columns are what their fields are. Still, nothing of a field
/// is lost: one that its type cannot show again stays text.
///
/// ```
/// use cellar_exchange::{ColumnTypes, TypeChoice};
/// let types: ColumnTypes = "A=text,C=number".parse().unwrap();
/// assert_eq!(types.columns[&2], TypeChoice::Number);
/// let all_text: ColumnTypes = "text".parse().unwrap();
/// assert_eq!(all_text.others, Some(TypeChoice::Text));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnTypes {
    /// By column, from 0.
    pub columns: BTreeMap<u32, TypeChoice>,
    /// All other columns; `None` looks at their fields.
    pub others: Option<TypeChoice>,
}

impl ColumnTypes {
    /// What the caller says of a column.
    #[must_use]
    pub fn of(&self, column: u32) -> Option<TypeChoice> {
        self.columns.get(&column).copied().or(self.others)
    }
}

/// Text that names no types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not the type of a column: write A=text,C=number with text, number, date or \
     boolean, or one type alone for all columns"
)]
pub struct NotColumnTypes {
    /// The part that was not understood.
    pub text: String,
}

impl FromStr for ColumnTypes {
    type Err = NotColumnTypes;

    fn from_str(text: &str) -> Result<Self, NotColumnTypes> {
        let mut types = Self::default();
        for part in text.split(',') {
            let fault = || NotColumnTypes { text: part.to_owned() };
            let (column, name) = match part.split_once('=') {
                Some((column, name)) => (Some(column), name),
                None => (None, part),
            };
            let choice = match name {
                "text" => TypeChoice::Text,
                "number" => TypeChoice::Number,
                "date" => TypeChoice::Date,
                "boolean" => TypeChoice::Boolean,
                _ => return Err(fault()),
            };
            match column {
                None => types.others = Some(choice),
                Some(letters) => {
                    let cell: CellName = format!("{letters}1").parse().map_err(|_| fault())?;
                    let letters_only = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
                    if !letters_only || types.columns.insert(cell.column, choice).is_some() {
                        return Err(fault());
                    }
                }
            }
        }
        Ok(types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_in_text() {
        let types: ColumnTypes = "A=text,AA=boolean,date".parse().unwrap();
        assert_eq!(types.of(0), Some(TypeChoice::Text));
        assert_eq!(types.of(26), Some(TypeChoice::Boolean));
        assert_eq!(types.of(5), Some(TypeChoice::Date));
        for wrong in ["", "A", "A=", "=text", "A1=text", "A=text,A=date", "A=words", "$A=text"] {
            assert!(wrong.parse::<ColumnTypes>().is_err(), "{wrong}");
        }
    }
}
