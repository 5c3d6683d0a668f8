//! What is written.

use crate::stream::etag::Etag;
use crate::stream::event::StreamEvent;
use crate::stream::name::StreamName;
use crate::stream::tip::{Calf, Tip};

/// One write. Sent again it is the same, so that it is done at most once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Put the first tip of a stream if there is none.
    First(Tip),
    /// Append to the tip if it has the expected etag.
    Update(Update),
    /// Both or nothing: put the calf if its key is free, and update the tip, which then has only the
    /// events of this append, if it has the expected etag.
    Calve {
        /// The events of before.
        calf: Calf,
        /// The new tip.
        update: Update,
    },
}

/// What becomes of a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The etag that it must have.
    pub expected: Etag,
    /// The tip as it is then, whole.
    pub tip: Tip,
    /// The events of this append: the last ones of it.
    pub appended: Vec<StreamEvent>,
}

impl Write {
    /// The stream's tip, once it is done.
    #[must_use]
    pub fn tip(&self) -> &Tip {
        match self {
            Self::First(tip) => tip,
            Self::Update(update) | Self::Calve { update, .. } => &update.tip,
        }
    }

    /// The stream.
    #[must_use]
    pub fn name(&self) -> &StreamName {
        &self.tip().name
    }

    /// The etag that the tip must have; `None` if there must be no tip.
    #[must_use]
    pub fn expected(&self) -> Option<Etag> {
        match self {
            Self::First(_) => None,
            Self::Update(update) | Self::Calve { update, .. } => Some(update.expected),
        }
    }
}
