//! Rules by which the peer produces other cells, and the reasons why Cellar does not follow them.

/// A rule that only the peer follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An insert before a deleted line is dropped.
    LosesInsert,
    /// Clearing a range also clears lines that were inserted inside it.
    ClearGrows,
    /// A new line gets the formats of the next line.
    CopiesFormat,
    /// An operation is transformed past the committed operations one by one.
    StepByStep,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 4] =
        [Self::LosesInsert, Self::ClearGrows, Self::CopiesFormat, Self::StepByStep];

    /// Returns the reason why Cellar does not follow the rule.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::LosesInsert => {
                "no transform drops an insert: it moves before the next line that still exists"
            }
            Self::ClearGrows => "a clear does not affect cells that its author never saw",
            Self::CopiesFormat => {
                "a new line gets a range's format only between two lines that have the format"
            }
            Self::StepByStep => {
                "the place of an operation depends on the lines that remain, not on the history: a \
                 range ends with the last remaining line that its author saw, not with an inserted \
                 line whose successor was deleted later"
            }
        }
    }
}
