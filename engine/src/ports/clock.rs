//! Ports for time and randomness.

use async_trait::async_trait;

/// A clock that can also sleep.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the current time, in milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    async fn sleep_ms(&self, delay_ms: u64);
}

/// Source of random numbers for the delays between retries. Not suitable for secrets.
pub trait Random: Send + Sync {
    fn next(&self) -> u64;
}
