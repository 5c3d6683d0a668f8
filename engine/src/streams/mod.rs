//! Event streams in the EventStream table. Runs the state machines of `cellar-catalog`.

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
pub use transact::{CachedTip, Transacted};

use std::sync::Arc;

use cellar_base::backoff::full_jitter_ms;
use cellar_catalog::stream::SplitPolicy;
use cellar_log::append::Inputs;

use crate::ports::{Clock, Random, Streams};

/// Reads and writes the event streams of one table.
#[derive(Clone)]
pub struct StreamStore {
    streams: Arc<dyn Streams>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    policy: SplitPolicy,
}

impl StreamStore {
    /// Creates a store with the default policy for moving events to batches.
    #[must_use]
    pub fn new(streams: Arc<dyn Streams>, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { streams, clock, random, policy: SplitPolicy::default() }
    }

    /// Sets the policy for moving events from the latest item of a stream to event batches.
    #[must_use]
    pub fn with_split_policy(self, policy: SplitPolicy) -> Self {
        Self { policy, ..self }
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }

    /// The delay grows exponentially and has full jitter. `attempt` is 1 before the first retry.
    async fn pause_before_retry(&self, attempt: u32) {
        self.clock.sleep_ms(full_jitter_ms(attempt, self.random.next())).await;
    }
}
