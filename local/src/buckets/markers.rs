//! Delete markers. In a versioned S3 bucket, a deleted or expired object leaves a marker, and tag
//! requests for its key return 405 instead of 404.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of markers that a bucket remembers. Further deleted objects look as if they had
/// never existed.
const MAX_DELETE_MARKERS: usize = 10_000;

/// Keys of the objects that were deleted since the server started.
#[derive(Debug, Default)]
pub(super) struct DeleteMarkers {
    keys: Mutex<BTreeSet<String>>,
}

impl DeleteMarkers {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, key: &str) {
        let mut keys = self.lock();
        if keys.len() < MAX_DELETE_MARKERS {
            keys.insert(key.to_owned());
        }
    }

    pub(super) fn remove(&self, key: &str) {
        self.lock().remove(key);
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.lock().contains(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_a_limited_number_of_deleted_keys() {
        let markers = DeleteMarkers::default();
        for number in 0..=MAX_DELETE_MARKERS {
            markers.insert(&number.to_string());
        }
        let last = (MAX_DELETE_MARKERS - 1).to_string();
        assert!(markers.contains(&last));
        assert!(!markers.contains(&MAX_DELETE_MARKERS.to_string()));
        markers.remove(&last);
        assert!(!markers.contains(&last));
    }
}
