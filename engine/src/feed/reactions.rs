//! Reactions to appended events.

use async_trait::async_trait;
use cellar_catalog::feed::Span;

use crate::ports::PortError;

/// Updates data that is derived from events. Reactions to an event run before the event is indexed,
/// so a consumer of the feed sees their results. A reaction may run repeatedly, late, or
/// concurrently with another run of itself.
#[async_trait]
pub trait Reactions: Send + Sync {
    /// Reacts to the events of these spans.
    ///
    /// # Errors
    /// Returns [`PortError`]. The events are then not indexed, and are delivered again later.
    async fn react(&self, spans: &[Span]) -> Result<(), PortError>;
}

/// An implementation that ignores all events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoReactions;

#[async_trait]
impl Reactions for NoReactions {
    async fn react(&self, _: &[Span]) -> Result<(), PortError> {
        Ok(())
    }
}
