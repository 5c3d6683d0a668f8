//! Time and randomness.

use async_trait::async_trait;

/// A clock that can also wait.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Unix time, milliseconds.
    fn now_ms(&self) -> u64;

    /// Waits.
    async fn sleep_ms(&self, delay_ms: u64);
}

/// A source of random numbers, for jitter only: nothing secret comes from it.
pub trait Random: Send + Sync {
    /// The next random number.
    fn next(&self) -> u64;
}
