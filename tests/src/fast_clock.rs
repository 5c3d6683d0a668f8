//! A clock that runs faster than real time, for a local stack in a separate process. With this
//! clock, a worker's lease expires soon after the stack was killed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cellar_engine::ports::Clock;
use cellar_engine::system::SystemClock;
use cellar_local::Ports;

/// Environment variable that contains the start time in milliseconds since the Unix epoch. All
/// processes share the start time, so that the time continues when a process is killed.
pub const FAST_SINCE_MS: &str = "CELLAR_TEST_FAST_SINCE_MS";
/// Speed of the clock relative to real time.
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

/// Returns the ports of a local stack. The clock is fast if the environment variable is set.
pub fn ports() -> Ports {
    let since_ms = std::env::var(FAST_SINCE_MS).ok().and_then(|text| text.parse().ok());
    match since_ms {
        Some(since_ms) => Ports { clock: Arc::new(FastClock { since_ms }), ..Ports::default() },
        None => Ports::default(),
    }
}
