//! What follows from events.

use async_trait::async_trait;
use cellar_catalog::feed::Span;

use crate::ports::PortError;

/// What follows from events that were appended. It is done before they are indexed, so that whatever the
/// index has was reacted to; and it may be done again, late, or beside another that does the same.
#[async_trait]
pub trait Reactions: Send + Sync {
    /// Does what follows from these events.
    ///
    /// # Errors
    /// [`PortError`]: then the events are not indexed, and are delivered again.
    async fn react(&self, spans: &[Span]) -> Result<(), PortError>;
}

/// Nothing follows from anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoReactions;

#[async_trait]
impl Reactions for NoReactions {
    async fn react(&self, _: &[Span]) -> Result<(), PortError> {
        Ok(())
    }
}
