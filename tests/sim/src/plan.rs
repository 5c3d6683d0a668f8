//! The fault plan of a run, which determines how often each fault happens.

use crate::random::{Rate, SimRandom};

const MINUTE_MS: u64 = 60_000;

/// The faults of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultPlan {
    /// Probability that a call is throttled.
    pub throttled: Rate,
    /// Probability that a call never arrives.
    pub never: Rate,
    /// Probability that a call is executed but its response is lost.
    pub reply_lost: Rate,
    /// Probability that a call is executed after its caller has given up.
    pub late: Rate,
    /// Maximum delay of a call that is executed late, in milliseconds.
    pub late_max_ms: u64,
    /// Probability that a call starts an outage of all services.
    pub outage: Rate,
    /// Maximum duration of an outage, in milliseconds.
    pub outage_max_ms: u64,
    /// Maximum latency of a call in each direction, in milliseconds.
    pub latency_max_ms: u64,
    /// Probability that a replica responds to an eventually consistent read.
    pub stale: Rate,
    /// Maximum replication lag of an item, in milliseconds.
    pub lag_max_ms: u64,
    /// Maximum number of entries per page, or 0 for no limit.
    pub page_entries: u64,
    /// Probability that a process crashes before or after a call.
    pub crash: Rate,
    /// Probability that a process freezes before or after a call.
    pub freeze: Rate,
    /// Maximum duration of a freeze, in milliseconds.
    pub freeze_max_ms: u64,
    /// Maximum clock skew of a process, in milliseconds.
    pub skew_max_ms: u64,
    /// Probability that the bucket refuses a call, in addition to the faults of all calls.
    pub bucket_fails: Rate,
    /// Additional maximum latency of a call to the bucket, in milliseconds.
    pub bucket_slow_ms: u64,
    /// Probability that the queue duplicates a message.
    pub duplicated: Rate,
    /// Probability that the queue delivers a message to two functions concurrently.
    pub given_twice: Rate,
    /// Probability that a message is delayed.
    pub delayed: Rate,
    /// Maximum delay of a message, in milliseconds.
    pub delay_max_ms: u64,
    /// Probability that a message is lost permanently. Queues do not lose messages, but operators
    /// may.
    pub lost: Rate,
    /// Probability that a batch of the stream is delivered again after it succeeded.
    pub repeated: Rate,
}

impl FaultPlan {
    /// Returns a plan without faults. Each call takes one millisecond in each direction.
    #[must_use]
    pub fn none() -> Self {
        Self { latency_max_ms: 1, ..Self::default() }
    }

    /// Returns the plan for the time after the faults have stopped. Only the clock skew remains.
    #[must_use]
    pub fn without_faults(self) -> Self {
        Self { skew_max_ms: self.skew_max_ms, ..Self::none() }
    }

    /// Returns a plan with the highest fault rates of any run.
    #[must_use]
    pub fn worst() -> Self {
        Self {
            throttled: Rate(1_500),
            never: Rate(800),
            reply_lost: Rate(800),
            late: Rate(400),
            late_max_ms: 2 * MINUTE_MS,
            outage: Rate(20),
            outage_max_ms: 2 * MINUTE_MS,
            latency_max_ms: 200,
            stale: Rate(9_000),
            lag_max_ms: 5_000,
            page_entries: 20,
            crash: Rate(80),
            freeze: Rate(80),
            freeze_max_ms: 10 * MINUTE_MS,
            skew_max_ms: 3 * MINUTE_MS,
            bucket_fails: Rate(1_500),
            bucket_slow_ms: 2_000,
            duplicated: Rate(3_000),
            given_twice: Rate(1_500),
            delayed: Rate(5_000),
            delay_max_ms: 10 * MINUTE_MS,
            lost: Rate(0),
            repeated: Rate(1_500),
        }
    }

    /// Draws the faults of a run. The rates of this plan are the maximum. Each run lacks some
    /// faults entirely, because the effects of a single fault are hidden if many faults happen
    /// concurrently.
    #[must_use]
    pub fn draw(&self, random: &SimRandom) -> Self {
        let rate = |worst: Rate| match random.draw_below(3) {
            0 => Rate(0),
            _ => Rate(u16::try_from(random.draw_in(0..=u64::from(worst.0))).unwrap_or(worst.0)),
        };
        let longest =
            |worst: u64| if worst < 2 { worst } else { random.draw_in(worst / 64..=worst) };
        Self {
            throttled: rate(self.throttled),
            never: rate(self.never),
            reply_lost: rate(self.reply_lost),
            late: rate(self.late),
            late_max_ms: longest(self.late_max_ms),
            outage: rate(self.outage),
            outage_max_ms: longest(self.outage_max_ms),
            latency_max_ms: longest(self.latency_max_ms).max(1),
            stale: rate(self.stale),
            lag_max_ms: longest(self.lag_max_ms),
            page_entries: if random.draw_below(2) == 0 {
                0
            } else {
                longest(self.page_entries).max(2)
            },
            crash: rate(self.crash),
            freeze: rate(self.freeze),
            freeze_max_ms: longest(self.freeze_max_ms),
            skew_max_ms: if random.draw_below(2) == 0 { 0 } else { longest(self.skew_max_ms) },
            bucket_fails: rate(self.bucket_fails),
            bucket_slow_ms: longest(self.bucket_slow_ms),
            duplicated: rate(self.duplicated),
            given_twice: rate(self.given_twice),
            delayed: rate(self.delayed),
            delay_max_ms: longest(self.delay_max_ms),
            lost: rate(self.lost),
            repeated: rate(self.repeated),
        }
    }
}
