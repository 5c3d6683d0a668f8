//! Which faults a run has, and how often each.

use crate::random::{Rate, SimRandom};

/// Milliseconds in a minute.
const MINUTE_MS: u64 = 60_000;

/// The faults of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultPlan {
    /// A call is refused as there are too many.
    pub throttled: Rate,
    /// A call never arrives.
    pub never: Rate,
    /// A call is done, and its reply is lost.
    pub reply_lost: Rate,
    /// A call is done after its caller has given up.
    pub late: Rate,
    /// How late, milliseconds at most.
    pub late_max_ms: u64,
    /// A call finds that no service answers anybody.
    pub outage: Rate,
    /// For how long, milliseconds at most.
    pub outage_max_ms: u64,
    /// How long a call takes each way, milliseconds at most.
    pub latency_max_ms: u64,
    /// An eventually consistent read is answered by the replica.
    pub stale: Rate,
    /// How far an item of the replica lags behind, milliseconds at most.
    pub lag_max_ms: u64,
    /// Entries of one page at most; all if 0.
    pub page_entries: u64,
    /// A process dies, at a call or behind one.
    pub crash: Rate,
    /// A process stands still, at a call or behind one.
    pub freeze: Rate,
    /// For how long, milliseconds at most.
    pub freeze_max_ms: u64,
    /// How far a process's clock is off, milliseconds at most.
    pub skew_max_ms: u64,
    /// A call to the bucket is refused, beside what fails anyway.
    pub bucket_fails: Rate,
    /// How much longer a call to the bucket takes, milliseconds at most.
    pub bucket_slow_ms: u64,
    /// The queue gives a message twice.
    pub duplicated: Rate,
    /// The queue gives one message to two functions at once.
    pub given_twice: Rate,
    /// A message arrives late.
    pub delayed: Rate,
    /// How late, milliseconds at most.
    pub delay_max_ms: u64,
    /// A message is lost for good. Queues do not do that; operators do.
    pub lost: Rate,
    /// A batch of the stream is given again though it was done.
    pub repeated: Rate,
}

impl FaultPlan {
    /// Nothing fails, and every call takes a millisecond each way.
    #[must_use]
    pub fn none() -> Self {
        Self { latency_max_ms: 1, ..Self::default() }
    }

    /// What stays of a plan once its faults have stopped.
    #[must_use]
    pub fn healed(self) -> Self {
        Self { skew_max_ms: self.skew_max_ms, ..Self::none() }
    }

    /// As bad as any run may be.
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

    /// Draws the faults of a run, none of them worse than here. Some runs lack some faults altogether:
    /// many faults at once hide what one of them alone would show.
    #[must_use]
    pub fn draw(&self, random: &SimRandom) -> Self {
        let rate = |worst: Rate| match random.below(3) {
            0 => Rate(0),
            _ => Rate(u16::try_from(random.within(0..=u64::from(worst.0))).unwrap_or(worst.0)),
        };
        let longest =
            |worst: u64| if worst < 2 { worst } else { random.within(worst / 64..=worst) };
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
            page_entries: if random.below(2) == 0 { 0 } else { longest(self.page_entries).max(2) },
            crash: rate(self.crash),
            freeze: rate(self.freeze),
            freeze_max_ms: longest(self.freeze_max_ms),
            skew_max_ms: if random.below(2) == 0 { 0 } else { longest(self.skew_max_ms) },
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
