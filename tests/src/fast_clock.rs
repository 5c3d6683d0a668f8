//! A clock that runs faster than real time, for a local cloud in a separate process: a worker's
//! lease expires soon after the cloud was killed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cellar_engine::ports::Clock;
use cellar_engine::system::SystemClock;
use cellar_local::Ports;

/// Environment variable with the start time, in Unix milliseconds. All processes share it, so that
/// time continues when one of them is killed.
pub const FAST_SINCE_MS: &str = "CELLAR_TEST_FAST_SINCE_MS";
/// Speed relative to real time.
pub const SPEED: u64 = 30;

struct FastClock {
    since_ms: u64,
}

#[async_trait]
impl Clock for FastClock {
    fn now_ms(&self) -> u64 {
        let passed_ms = SystemClock.now_ms().saturating_sub(self.since_ms);
        self.since_ms + passed_ms * SPEED
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        tokio::time::sleep(Duration::from_millis(delay_ms.div_ceil(SPEED))).await;
    }
}

/// Returns the ports of a local cloud, with a fast clock if the environment variable is set.
pub fn ports() -> Ports {
    let since_ms = std::env::var(FAST_SINCE_MS).ok().and_then(|text| text.parse().ok());
    match since_ms {
        Some(since_ms) => Ports { clock: Arc::new(FastClock { since_ms }), ..Ports::default() },
        None => Ports::default(),
    }
}
