//! Consistency of table reads.

/// The consistency of a DynamoDB read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadConsistency {
    /// An eventually consistent read, which may miss recent writes. It costs half as much as a
    /// strongly consistent read.
    Eventual,
    /// A strongly consistent read, which includes every write that was acknowledged before the
    /// read.
    Strong,
}

impl ReadConsistency {
    /// Whether the read is strongly consistent.
    #[must_use]
    pub fn is_strong(self) -> bool {
        self == Self::Strong
    }
}
