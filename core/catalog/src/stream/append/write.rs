//! Writes to an event stream.

use crate::stream::etag::Etag;
use crate::stream::event::StreamEvent;
use crate::stream::name::StreamName;
use crate::stream::tip::{EventBatch, Tip};

/// One write. A repetition is identical, so that it takes effect at most once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Put the first tip of a stream, unless it exists.
    First(Tip),
    /// Append to the tip if it has the expected etag.
    Update(Update),
    /// Put the event batch if its key is free, and replace the tip by one with only the new events if it
    /// has the expected etag: both or nothing.
    SplitOff {
        /// Earlier events.
        batch: EventBatch,
        /// New tip.
        update: Update,
    },
}

/// Update of a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Expected etag.
    pub expected: Etag,
    /// The complete new tip.
    pub tip: Tip,
    /// Appended events: the last ones of the tip.
    pub appended: Vec<StreamEvent>,
}

impl Write {
    /// Returns the tip after the write.
    #[must_use]
    pub fn tip(&self) -> &Tip {
        match self {
            Self::First(tip) => tip,
            Self::Update(update) | Self::SplitOff { update, .. } => &update.tip,
        }
    }

    /// Returns the name of the stream.
    #[must_use]
    pub fn name(&self) -> &StreamName {
        &self.tip().name
    }

    /// Returns the expected etag; `None` if there must be no tip.
    #[must_use]
    pub fn expected(&self) -> Option<Etag> {
        match self {
            Self::First(_) => None,
            Self::Update(update) | Self::SplitOff { update, .. } => Some(update.expected),
        }
    }
}
