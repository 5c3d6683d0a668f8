//! Where the peer ends with other cells, and why: each rule is one that it follows and Cellar does not.

use crate::Pair;
use crate::cells::Cells;
use crate::ours;

/// What the peer does otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An insert in front of a line that was deleted is dropped.
    LosesInsert,
    /// A clear takes in what was inserted inside.
    ClearGrows,
    /// New lines have the formats of the line behind them.
    CopiesFormat,
    /// What is done is moved past one operation after the other.
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
                "no transform loses an insert: it lands in front of the first survivor behind its gap"
            }
            Self::ClearGrows => "a clear spares what its author never saw",
            Self::CopiesFormat => {
                "a new line has the format of a range only inside of it, between two lines that have it"
            }
            Self::StepByStep => {
                "what an operation is for depends on what is left, not on the order in which it came about"
            }
        }
    }
}

/// The fewest rules with which Cellar would end with the very cells of the peer; none if it does
/// without.
#[must_use]
pub fn explain(pair: &Pair, theirs: &Cells) -> Option<Vec<Rule>> {
    let mut subsets: Vec<Vec<Rule>> = (0..1_u32 << Rule::ALL.len())
        .map(|bits| {
            let chosen = |(at, _): &(usize, Rule)| bits >> at & 1 == 1;
            Rule::ALL.into_iter().enumerate().filter(chosen).map(|(_, rule)| rule).collect()
        })
        .collect();
    subsets.sort_by_key(Vec::len);
    subsets.into_iter().find(|rules| ours::cells(pair, rules) == *theirs)
}
