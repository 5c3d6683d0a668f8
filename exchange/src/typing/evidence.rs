//! Detects a column's type from its fields.

use super::choice::TypeChoice;
use super::column::{ColumnKind, ColumnTyping};
use super::recognise::{DateForm, Number, RecognisedValue, fixed_format, recognise};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CommonType {
    #[default]
    Unknown,
    Booleans,
    Dates(DateForm),
    Numbers {
        /// Whether the `General` format displays every number as it is written in the file.
        is_general: bool,
        /// Number of decimals in the number format that displays every number as it is written in
        /// the file. `None` if there is no such format.
        decimals: Option<u8>,
    },
    Text,
}

impl CommonType {
    #[inline]
    fn of_field(field: Option<RecognisedValue>) -> Self {
        match field {
            None => Self::Text,
            Some(RecognisedValue::Bool(_)) => Self::Booleans,
            Some(RecognisedValue::Date { form, .. }) => Self::Dates(form),
            Some(RecognisedValue::Number(Number { is_general, fixed_decimals, .. })) => {
                Self::Numbers { is_general, decimals: fixed_decimals }
            }
        }
    }

    #[inline]
    fn common_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known_type) | (known_type, Self::Unknown) => known_type,
            (Self::Booleans, Self::Booleans) => Self::Booleans,
            (Self::Dates(form), Self::Dates(other_form)) if form == other_form => Self::Dates(form),
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
            Self::Dates(form) => Some(ColumnKind::Date { format: form.format().to_owned() }),
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
    #[inline]
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
        if self.has_text() {
            return ExaminedField { recognised_value: None, changed_evidence: false };
        }
        let recognised_value = recognise(text);
        let changed_evidence = self.add_field_of_other_row(recognised_value);
        ExaminedField { recognised_value, changed_evidence }
    }

    /// Whether a field below the first row is text. The fields of such a column are not parsed: its
    /// type cannot change any more, and parsing is expensive.
    pub(crate) fn has_text(&self) -> bool {
        self.chosen.is_none() && self.other_rows == CommonType::Text
    }

    /// Whether every field below the first row is a number, and there is one.
    pub(crate) fn is_numeric(&self) -> bool {
        self.chosen.is_none() && matches!(self.other_rows, CommonType::Numbers { .. })
    }

    /// Returns whether the evidence changed.
    #[inline]
    pub(crate) fn add_field_of_other_row(&mut self, field: Option<RecognisedValue>) -> bool {
        let common_type = self.other_rows.common_with(CommonType::of_field(field));
        let changed_evidence = self.other_rows != common_type;
        self.other_rows = common_type;
        changed_evidence
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
