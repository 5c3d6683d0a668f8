//! A process's clock and random numbers.

use async_trait::async_trait;
use cellar_engine::ports::{Clock, Random};

use crate::process::Process;

#[async_trait]
impl Clock for Process {
    fn now_ms(&self) -> u64 {
        self.to_process_time_ms(self.world().time.now_ms())
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        self.world().sleep_ms(delay_ms).await;
        self.wait_until_running().await;
    }
}

impl Random for Process {
    fn next(&self) -> u64 {
        self.random().next()
    }
}
