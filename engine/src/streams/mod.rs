//! Streams: drives core's rules over the EventStream table.

mod append;
mod error;
mod history;
mod load;
mod span;
#[cfg(test)]
pub(crate) mod tests;
mod transact;

pub use error::{StreamError, TransactError};
pub use history::Events;
pub use load::Loaded;
pub use transact::{Known, Transacted};

use std::sync::Arc;

use cellar_base::backoff::full_jitter_ms;
use cellar_catalog::stream::SplitPolicy;
use cellar_log::append::Inputs;

use crate::ports::{Clock, Random, Streams};

/// All streams of one table.
#[derive(Clone)]
pub struct StreamStore {
    streams: Arc<dyn Streams>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    policy: SplitPolicy,
}

impl StreamStore {
    /// The streams of a table, whose tips split as usual.
    #[must_use]
    pub fn new(streams: Arc<dyn Streams>, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { streams, clock, random, policy: SplitPolicy::default() }
    }

    /// The same, with another policy.
    #[must_use]
    pub fn with_split_policy(self, policy: SplitPolicy) -> Self {
        Self { policy, ..self }
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }

    /// Waits before attempt `attempt` (the first retry is 1).
    async fn pause(&self, attempt: u32) {
        self.clock.sleep_ms(full_jitter_ms(attempt, self.random.next())).await;
    }
}
