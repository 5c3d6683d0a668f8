//! What stands for the bucket in a build that has no adapter for it.

use async_trait::async_trait;
use cellar_engine::ports::{PendingTags, PortError};

/// A bucket that cannot be reached: each tag that should go is an error, so that its record ends
/// among the dead letters and not in silence.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBucket;

#[async_trait]
impl PendingTags for NoBucket {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        Err(PortError::permanent(format!("this build cannot reach the bucket that has `{key}`")))
    }
}
