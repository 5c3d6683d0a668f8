//! Reactions to appended events.

use async_trait::async_trait;
use cellar_catalog::feed::Span;

use crate::ports::PortError;

/// Updates data that is derived from events. Reactions run before the events are indexed, so that
/// feed consumers see their results. A reaction may run late, repeatedly, or concurrently with
/// itself.
#[async_trait]
pub trait Reactions: Send + Sync {
    /// Reacts to the events in these spans.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`]. In this case, the events are not indexed, and are redelivered later.
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
