//! Shared values whose hash is computed only once, not in every state that contains them.

use std::collections::hash_map::DefaultHasher;
use std::fmt::{self, Debug, Write};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A shared value with a fingerprint of its contents.
///
/// The state machines of core contain cell values, which do not implement `Hash`. Therefore, the
/// fingerprint is a hash of the `Debug` output, which contains every field in a fixed order and no
/// memory addresses.
pub struct Hashed<T> {
    value: Arc<T>,
    fingerprint: u64,
}

struct HashedText(DefaultHasher);

impl Write for HashedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl<T: Debug> Hashed<T> {
    /// Wraps `value` and computes its fingerprint.
    #[must_use]
    pub fn new(value: Arc<T>) -> Self {
        let mut text = HashedText(DefaultHasher::new());
        // Writing to a hasher never fails.
        let _ = write!(text, "{value:?}");
        Self { value, fingerprint: text.0.finish() }
    }
}

impl<T> Hashed<T> {
    /// Returns the shared value.
    #[must_use]
    pub fn shared(&self) -> &Arc<T> {
        &self.value
    }
}

impl<T> Clone for Hashed<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), fingerprint: self.fingerprint }
    }
}

impl<T> Deref for Hashed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> PartialEq for Hashed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl<T> Eq for Hashed<T> {}

impl<T> PartialOrd for Hashed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Hashed<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.fingerprint.cmp(&other.fingerprint)
    }
}

impl<T> Hash for Hashed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint);
    }
}

impl<T: Debug> Debug for Hashed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(values: &[f64]) -> Hashed<Vec<f64>> {
        Hashed::new(Arc::new(values.to_vec()))
    }

    #[test]
    fn different_values_have_different_fingerprints() {
        assert_eq!(hashed(&[1.0, 2.0]), hashed(&[1.0, 2.0]));
        let others: [&[f64]; 5] = [&[], &[1.0], &[1.0, 2.0], &[2.0, 1.0], &[12.0]];
        for (index, one) in others.iter().enumerate() {
            for other in &others[index + 1..] {
                assert_ne!(hashed(one), hashed(other));
            }
        }
    }
}
