//! In-memory implementation of the pending tags of uploaded objects.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::ports::{PendingTags, PortError};

/// Whether each object has the pending tag, by object key.
#[derive(Debug, Default)]
pub struct MemoryPendingTags {
    objects: Mutex<BTreeMap<String, bool>>,
}

impl MemoryPendingTags {
    /// Adds a pending object.
    pub fn upload(&self, key: &str) {
        self.lock().insert(key.to_owned(), true);
    }

    /// Returns whether an object has the pending tag, or `None` if the object does not exist.
    #[must_use]
    pub fn is_pending(&self, key: &str) -> Option<bool> {
        self.lock().get(key).copied()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl PendingTags for MemoryPendingTags {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        match self.lock().get_mut(key) {
            Some(is_pending) => {
                *is_pending = false;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tag_is_removed_permanently() {
        let tags = MemoryPendingTags::default();
        assert_eq!(tags.remove_pending_tag("a").await, Ok(false));
        tags.upload("a");
        for _ in 0..2 {
            assert_eq!(tags.remove_pending_tag("a").await, Ok(true));
            assert_eq!(tags.is_pending("a"), Some(false));
        }
    }
}
