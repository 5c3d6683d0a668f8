//! A clock that tests move.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::ports::Clock;

/// A clock that stands still until it is moved; whoever waits moves it.
#[derive(Debug)]
pub struct ManualClock {
    now_ms: AtomicU64,
}

impl ManualClock {
    /// A clock that shows this time, Unix milliseconds.
    #[must_use]
    pub fn at(now_ms: u64) -> Self {
        Self { now_ms: AtomicU64::new(now_ms) }
    }

    /// Moves it forward.
    pub fn advance_ms(&self, by_ms: u64) {
        self.now_ms.fetch_add(by_ms, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        self.advance_ms(delay_ms);
        // Others must get their turn, as they would while one waits.
        tokio::task::yield_now().await;
    }
}
