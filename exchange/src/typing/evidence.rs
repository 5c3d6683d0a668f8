//! What is known of a column after some of its fields.

use super::recognise::{Number, Recognised, fixed_format};
use super::{ColumnKind, ColumnTyping, TypeChoice};

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
    chosen: Option<TypeChoice>,
    first: Common,
    others: Common,
}

/// What a field adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Looked {
    /// What it is, if it is more than text and its column may be, too.
    pub(crate) found: Option<Recognised>,
    /// Something else is known of its column than before.
    pub(crate) news: bool,
}

impl Evidence {
    /// Nothing yet, of a column of which the caller may have said what it is.
    pub(crate) fn of(chosen: Option<TypeChoice>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// Looks at a field that is not empty. It is in the first row that has any, or below. A field that
    /// was looked at before is no news.
    pub(crate) fn look(&mut self, text: &str, in_first_row: bool) -> Looked {
        if let Some(choice) = self.chosen {
            let found = super::recognise(text).filter(|found| choice.takes(*found));
            return Looked { found, news: false };
        }
        let known = if in_first_row { &mut self.first } else { &mut self.others };
        // Nothing changes any more: most texts are not even looked at.
        if !in_first_row && *known == Common::Text {
            return Looked { found: None, news: false };
        }
        let found = super::recognise(text);
        let more = Common::of(found);
        let news = *known != more && {
            let both = if in_first_row { more } else { known.and(more) };
            std::mem::replace(known, both) != both
        };
        Looked { found, news }
    }

    /// What the column is. Its first field is a heading if without it the column has a type, and with
    /// it it has none.
    pub(crate) fn typing(self) -> ColumnTyping {
        if let Some(choice) = self.chosen {
            return ColumnTyping { kind: ColumnKind::Chosen(choice), heading: false };
        }
        if let Some(kind) = self.first.and(self.others).kind() {
            return ColumnTyping { kind, heading: false };
        }
        match self.others.kind() {
            Some(kind) => ColumnTyping { kind, heading: self.first != Common::Nothing },
            None => ColumnTyping::TEXT,
        }
    }
}
