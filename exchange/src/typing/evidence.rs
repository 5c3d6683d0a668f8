//! Detects a column's type from its fields.

use super::choice::TypeChoice;
use super::column::{ColumnKind, ColumnTyping};
use super::recognise::{Number, RecognisedValue, fixed_format, recognise};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum CommonType {
    #[default]
    Unknown,
    Booleans,
    Dates(&'static str),
    Numbers {
        /// Whether the `General` format displays every number as it is written in the file.
        is_general: bool,
        /// Number of decimals in the number format that displays every number as it is written in
        /// the file. `None` if there is no such format.
        decimals: Option<usize>,
    },
    Text,
}

impl CommonType {
    fn of_field(field: Option<RecognisedValue>) -> Self {
        match field {
            None => Self::Text,
            Some(RecognisedValue::Bool(_)) => Self::Booleans,
            Some(RecognisedValue::Date { format, .. }) => Self::Dates(format),
            Some(RecognisedValue::Number(Number { decimals, is_general, is_fixed, .. })) => {
                let decimals = if is_fixed { Some(decimals) } else { None };
                Self::Numbers { is_general, decimals }
            }
        }
    }

    fn common_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known_type) | (known_type, Self::Unknown) => known_type,
            (Self::Booleans, Self::Booleans) => Self::Booleans,
            (Self::Dates(format), Self::Dates(other_format)) if format == other_format => {
                Self::Dates(format)
            }
            (
                Self::Numbers { is_general, decimals },
                Self::Numbers { is_general: other_is_general, decimals: other_decimals },
            ) => Self::Numbers {
                is_general: is_general && other_is_general,
                decimals: if decimals == other_decimals { decimals } else { None },
            },
            _ => Self::Text,
        }
    }

    /// Returns `None` for text and if there are no fields.
    fn column_kind(self) -> Option<ColumnKind> {
        match self {
            Self::Unknown | Self::Text => None,
            Self::Booleans => Some(ColumnKind::Boolean),
            Self::Dates(format) => Some(ColumnKind::Date { format: format.to_owned() }),
            Self::Numbers { is_general: true, .. } => Some(ColumnKind::General),
            Self::Numbers { decimals, .. } => Some(match decimals.and_then(fixed_format) {
                Some(format) => ColumnKind::Decimals { format: format.to_owned() },
                None => ColumnKind::MixedNumbers,
            }),
        }
    }
}

/// The field in the first row is tracked separately, because it may be a heading.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    chosen: Option<TypeChoice>,
    first_row: CommonType,
    other_rows: CommonType,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExaminedField {
    /// `None` if the field is text or its column contains text.
    pub(crate) recognised_value: Option<RecognisedValue>,
    pub(crate) changed_evidence: bool,
}

impl Evidence {
    /// If the caller chose a type, no type is detected.
    pub(crate) fn new(chosen: Option<TypeChoice>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// The same field may be examined repeatedly, in different passes over the file.
    pub(crate) fn examine_field(&mut self, text: &str, in_first_row: bool) -> ExaminedField {
        if let Some(chosen_type) = self.chosen {
            let recognised_value = recognise(text).filter(|value| chosen_type.accepts(*value));
            return ExaminedField { recognised_value, changed_evidence: false };
        }
        if in_first_row {
            let recognised_value = recognise(text);
            let field_type = CommonType::of_field(recognised_value);
            let changed_evidence = self.first_row != field_type;
            self.first_row = field_type;
            return ExaminedField { recognised_value, changed_evidence };
        }
        // Do not parse the fields of a column that contains text. Its type cannot change any more,
        // and parsing is expensive.
        if self.other_rows == CommonType::Text {
            return ExaminedField { recognised_value: None, changed_evidence: false };
        }
        let recognised_value = recognise(text);
        let common_type = self.other_rows.common_with(CommonType::of_field(recognised_value));
        let changed_evidence = self.other_rows != common_type;
        self.other_rows = common_type;
        ExaminedField { recognised_value, changed_evidence }
    }

    /// If the first field is the only one that does not match the type of the others, it is a
    /// heading.
    pub(crate) fn typing(self) -> ColumnTyping {
        if let Some(choice) = self.chosen {
            return ColumnTyping { kind: ColumnKind::Chosen(choice), heading: false };
        }
        if let Some(kind) = self.first_row.common_with(self.other_rows).column_kind() {
            return ColumnTyping { kind, heading: false };
        }
        match self.other_rows.column_kind() {
            Some(kind) => ColumnTyping { kind, heading: self.first_row != CommonType::Unknown },
            None => ColumnTyping::TEXT,
        }
    }
}
