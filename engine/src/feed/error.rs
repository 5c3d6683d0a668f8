//! Errors of the feed.

use cellar_catalog::feed::{Checkpoint, IndexingFault};

use crate::ports::PortError;

/// Error returned when the feed cannot be read, indexed or audited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The checkpoint belongs to another generation of the feed.
    #[error(
        "the checkpoint belongs to an earlier build of the feed; start again from the beginning"
    )]
    AnotherFeed,
    /// The checkpoint is past the end of the feed.
    #[error("the checkpoint is after the end of the feed")]
    Beyond,
    /// An item is missing.
    #[error("the feed is damaged at {at}; rebuild it with `synth feed rebuild`")]
    Damaged {
        /// Checkpoint of the missing item.
        at: Checkpoint,
    },
    /// The indexing state machine failed. This error does not occur when the feed is only read.
    #[error(transparent)]
    Indexing(#[from] IndexingFault),
    /// A store request failed.
    #[error(transparent)]
    Store(#[from] PortError),
}

impl FeedError {
    /// Whether a retry may succeed.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Indexing(fault) => {
                matches!(fault, IndexingFault::Contention | IndexingFault::Store)
            }
            Self::Store(error) => error.temporary,
            Self::AnotherFeed | Self::Beyond | Self::Damaged { .. } => false,
        }
    }
}
