//! Words on arrows.

/// Says what the box at the start of an arrow does with the box at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    Starts,
    Calls,
    Reads,
    Writes,
    Sends,
    /// A function knows the name of a resource, and its role does not mention the resource.
    RefersTo,
    FailedBatches,
    FailedMessages,
}

impl Verb {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Starts => "starts",
            Self::Calls => "calls",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Sends => "sends",
            Self::RefersTo => "refers to",
            Self::FailedBatches => "failed batches",
            Self::FailedMessages => "failed messages",
        }
    }
}
