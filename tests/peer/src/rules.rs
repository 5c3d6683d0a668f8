//! Where the peer ends with other cells, and why Cellar does not.

/// What the peer does otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An insert in front of a line that was deleted is dropped.
    LosesInsert,
    /// A clear takes in what was inserted inside.
    ClearGrows,
    /// A new line has the formats of the line behind it.
    CopiesFormat,
    /// An operation is moved past one that is committed after the other.
    StepByStep,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 4] =
        [Self::LosesInsert, Self::ClearGrows, Self::CopiesFormat, Self::StepByStep];

    /// Why Cellar does not follow it.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::LosesInsert => {
                "no transform loses an insert: it lands before the first survivor behind its gap"
            }
            Self::ClearGrows => "a clear spares what its author never saw",
            Self::CopiesFormat => {
                "a new line has a range's format inside of it only, between two lines that have it"
            }
            Self::StepByStep => {
                "where an operation lands depends on what is left, not on how that came about: a \
                 range ends with the last survivor of what its author saw, not with a line that was \
                 inserted before the one behind it was deleted"
            }
        }
    }
}
