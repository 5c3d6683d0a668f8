//! Reactions to appended events.

use async_trait::async_trait;
use cellar_catalog::feed::Span;

use crate::ports::PortError;

/// Updates data that is derived from events, such as spreadsheet lists. This happens before the
/// events are added to the feed, so that readers of the feed see the updated data. An update may be
/// late, repeated, or concurrent with another update for the same events.
#[async_trait]
pub trait Reactions: Send + Sync {
    /// Updates derived data after the events in `spans` were appended.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if an update fails. The events are then not added to the feed, and the
    /// update is repeated later.
    async fn react(&self, spans: &[Span]) -> Result<(), PortError>;
}

/// Reactions that do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoReactions;

#[async_trait]
impl Reactions for NoReactions {
    async fn react(&self, _: &[Span]) -> Result<(), PortError> {
        Ok(())
    }
}
