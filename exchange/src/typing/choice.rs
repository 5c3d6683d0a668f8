//! Column types that the caller chooses.

use std::collections::BTreeMap;
use std::str::FromStr;

use cellar_sheet::a1::CellName;

use super::recognise::RecognisedValue;

/// A column type that the caller can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeChoice {
    /// All fields stay text.
    Text,
    /// Number fields become numbers; all other fields stay text.
    Number,
    /// Date fields become dates; all other fields stay text.
    Date,
    /// `TRUE` and `FALSE` become booleans; all other fields stay text.
    Boolean,
}

impl TypeChoice {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "number" => Some(Self::Number),
            "date" => Some(Self::Date),
            "boolean" => Some(Self::Boolean),
            _ => None,
        }
    }

    pub(super) fn accepts(self, field: RecognisedValue) -> bool {
        matches!(
            (self, field),
            (Self::Number, RecognisedValue::Number(_))
                | (Self::Date, RecognisedValue::Date { .. })
                | (Self::Boolean, RecognisedValue::Bool(_))
        )
    }
}

/// Column types that the caller chooses. The types of all other columns are detected. A field stays
/// text if its chosen type would not display the field exactly, so no information is lost.
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
    /// Chosen types by zero-based column index.
    pub columns: BTreeMap<u32, TypeChoice>,
    /// Type of the columns that are not in `columns`. If `None`, their types are detected.
    pub others: Option<TypeChoice>,
}

impl ColumnTypes {
    /// Returns the type chosen for a column, or `None` if the type is detected.
    #[must_use]
    pub fn chosen_type(&self, column: u32) -> Option<TypeChoice> {
        self.columns.get(&column).copied().or(self.others)
    }

    /// Adds a part such as `A=text` or `text`.
    fn add_part(&mut self, part: &str) -> Result<(), NotColumnTypes> {
        let invalid_part = || NotColumnTypes { text: part.to_owned() };
        let Some((column_letters, type_name)) = part.split_once('=') else {
            self.others = Some(TypeChoice::from_name(part).ok_or_else(invalid_part)?);
            return Ok(());
        };
        let choice = TypeChoice::from_name(type_name).ok_or_else(invalid_part)?;
        let column = parse_column(column_letters).ok_or_else(invalid_part)?;
        let earlier_choice = self.columns.insert(column, choice);
        if earlier_choice.is_some() {
            return Err(invalid_part());
        }
        Ok(())
    }
}

/// Converts column letters such as `AA` to a zero-based column index.
fn parse_column(letters: &str) -> Option<u32> {
    if !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let first_cell: CellName = format!("{letters}1").parse().ok()?;
    Some(first_cell.column)
}

/// A list of column types is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid column type `{text}`: use a list such as A=text,C=number with the types text, number, \
     date or boolean, or a single type for all columns"
)]
pub struct NotColumnTypes {
    /// The invalid part of the list.
    pub text: String,
}

impl FromStr for ColumnTypes {
    type Err = NotColumnTypes;

    fn from_str(text: &str) -> Result<Self, NotColumnTypes> {
        let mut types = Self::default();
        for part in text.split(',') {
            types.add_part(part)?;
        }
        Ok(types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_lists_of_column_types() {
        let types: ColumnTypes = "A=text,AA=boolean,date".parse().unwrap();
        assert_eq!(types.chosen_type(0), Some(TypeChoice::Text));
        assert_eq!(types.chosen_type(26), Some(TypeChoice::Boolean));
        assert_eq!(types.chosen_type(5), Some(TypeChoice::Date));
        for wrong in ["", "A", "A=", "=text", "A1=text", "A=text,A=date", "A=words", "$A=text"] {
            assert!(wrong.parse::<ColumnTypes>().is_err(), "{wrong}");
        }
    }
}
