//! What is known of a column after some of its fields.

use super::recognise::{Number, Recognised, fixed_format};
use super::{ColumnKind, ColumnTyping};

/// What the fields so far have in common. A few bytes, however many there are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Common {
    #[default]
    Nothing,
    Booleans,
    Dates(&'static str),
    Numbers {
        general: bool,
        /// Decimals that all have, and under which all are shown as they are written.
        decimals: Option<usize>,
    },
    Text,
}

impl Common {
    fn of(field: Option<Recognised>) -> Self {
        match field {
            None => Self::Text,
            Some(Recognised::Bool(_)) => Self::Booleans,
            Some(Recognised::Date { format, .. }) => Self::Dates(format),
            Some(Recognised::Number(Number { decimals, general, fixed, .. })) => {
                Self::Numbers { general, decimals: fixed.then_some(decimals) }
            }
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Booleans, Self::Booleans) => Self::Booleans,
            (Self::Dates(one), Self::Dates(two)) if one == two => Self::Dates(one),
            (
                Self::Numbers { general: one, decimals },
                Self::Numbers { general: two, decimals: others },
            ) => Self::Numbers {
                general: one && two,
                decimals: decimals.filter(|_| decimals == others),
            },
            _ => Self::Text,
        }
    }

    fn kind(self) -> Option<ColumnKind> {
        match self {
            Self::Nothing | Self::Text => None,
            Self::Booleans => Some(ColumnKind::Boolean),
            Self::Dates(format) => Some(ColumnKind::Date { format: format.to_owned() }),
            Self::Numbers { general: true, .. } => Some(ColumnKind::General),
            Self::Numbers { decimals, .. } => Some(match decimals.and_then(fixed_format) {
                Some(format) => ColumnKind::Decimals { format: format.to_owned() },
                None => ColumnKind::MixedNumbers,
            }),
        }
    }
}

/// Everything that is known of a column: its field in the first row apart from the others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    first: Common,
    others: Common,
}

impl Evidence {
    /// A field that is not empty, in the first row that has any.
    pub(crate) fn add_first(&mut self, text: &str) {
        self.first = Common::of(super::recognise(text));
    }

    /// A field that is not empty, below that.
    pub(crate) fn add(&mut self, text: &str) {
        // Nothing changes any more: most texts are not even looked at.
        if self.others != Common::Text {
            self.others = self.others.and(Common::of(super::recognise(text)));
        }
    }

    /// What the column is. Its first field is a heading if without it the column has a type, and with
    /// it it has none.
    pub(crate) fn typing(self) -> ColumnTyping {
        if let Some(kind) = self.first.and(self.others).kind() {
            return ColumnTyping { kind, heading: false };
        }
        match self.others.kind() {
            Some(kind) => ColumnTyping { kind, heading: self.first != Common::Nothing },
            None => ColumnTyping::TEXT,
        }
    }
}
