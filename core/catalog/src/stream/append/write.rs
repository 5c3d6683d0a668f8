//! Writes to an event stream.

use crate::stream::etag::Etag;
use crate::stream::event::StreamEvent;
use crate::stream::name::StreamName;
use crate::stream::tip::{EventBatch, Tip};

/// A conditional write to an event stream. It is retried unchanged, so it takes effect at most
/// once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Put the first tip (the item with the latest events) of a stream, unless the stream already
    /// has a tip.
    First(Tip),
    /// Append events to the tip if it has the expected etag.
    Update(Update),
    /// In one transaction, put an event batch if its key is free and replace the tip if it has the
    /// expected etag.
    SplitOff {
        /// Event batch with the events of the old tip.
        batch: EventBatch,
        /// Update to a tip that contains only the new events.
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
    /// The appended events. They are the last events of `tip`.
    pub appended: Vec<StreamEvent>,
}

impl Write {
    /// Returns the tip that this write produces.
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

    /// Returns the etag that the current tip must have, or `None` if the stream must not exist yet.
    #[must_use]
    pub fn expected(&self) -> Option<Etag> {
        match self {
            Self::First(_) => None,
            Self::Update(update) | Self::SplitOff { update, .. } => Some(update.expected),
        }
    }
}
