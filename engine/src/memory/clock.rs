//! A clock for tests.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::ports::Clock;

/// A clock whose time changes only when a test advances it or a task sleeps.
#[derive(Debug)]
pub struct ManualClock {
    now_ms: AtomicU64,
}

impl ManualClock {
    /// Creates a clock that shows the given time, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn at(now_ms: u64) -> Self {
        Self { now_ms: AtomicU64::new(now_ms) }
    }

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
        // Let other tasks run, as they would during a real sleep.
        tokio::task::yield_now().await;
    }
}
