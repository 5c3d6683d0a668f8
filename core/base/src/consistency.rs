//! Consistency of table reads.

/// Whether a table read includes all recent writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadConsistency {
    /// The read may miss recent writes. It costs half as much as a strongly consistent read.
    Eventual,
    /// The read includes every write that was acknowledged before the read.
    Strong,
}

impl ReadConsistency {
    /// Whether the read is strongly consistent.
    #[must_use]
    pub fn is_strong(self) -> bool {
        self == Self::Strong
    }
}
