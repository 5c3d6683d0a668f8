//! Reactions to appended events.

use async_trait::async_trait;
use cellar_catalog::feed::Span;

use crate::ports::PortError;

/// Updates data that is derived from events. Reactions run before the events are indexed, so every
/// indexed event was reacted to. A reaction may run repeatedly, late, or concurrently with itself.
#[async_trait]
pub trait Reactions: Send + Sync {
    /// Reacts to these events.
    ///
    /// # Errors
    /// Returns [`PortError`]; the events are then not indexed, and delivered again.
    async fn react(&self, spans: &[Span]) -> Result<(), PortError>;
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoReactions;

#[async_trait]
impl Reactions for NoReactions {
    async fn react(&self, _: &[Span]) -> Result<(), PortError> {
        Ok(())
    }
}
