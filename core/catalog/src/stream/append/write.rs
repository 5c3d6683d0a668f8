//! Writes to an event stream.

use crate::stream::etag::Etag;
use crate::stream::event::StreamEvent;
use crate::stream::name::StreamName;
use crate::stream::tip::{EventBatch, Tip};

/// A conditional write to an event stream. Retries are identical, so it takes effect at most once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Write the first item of a stream if the stream does not exist.
    First(Tip),
    /// Append events to the newest item if it has the expected etag.
    Update(Update),
    /// In one transaction, move the older events to a batch and replace the newest item. The batch
    /// must not exist, and the newest item must have the expected etag.
    SplitOff {
        batch: EventBatch,
        /// Replacement of the newest item with one that contains only the new events.
        update: Update,
    },
}

/// Update of a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Etag that the current tip must have.
    pub expected: Etag,
    /// The complete new tip.
    pub tip: Tip,
    /// The appended events, which are the last events of `tip`.
    pub appended: Vec<StreamEvent>,
}

impl Write {
    /// Returns the newest item of the stream after this write.
    #[must_use]
    pub fn tip(&self) -> &Tip {
        match self {
            Self::First(tip) => tip,
            Self::Update(update) | Self::SplitOff { update, .. } => &update.tip,
        }
    }

    /// Returns the stream name.
    #[must_use]
    pub fn name(&self) -> &StreamName {
        &self.tip().name
    }

    /// Returns the etag that the newest item must have, or `None` if the stream must not exist.
    #[must_use]
    pub fn expected(&self) -> Option<Etag> {
        match self {
            Self::First(_) => None,
            Self::Update(update) | Self::SplitOff { update, .. } => Some(update.expected),
        }
    }
}
