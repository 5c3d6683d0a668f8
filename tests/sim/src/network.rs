//! Calls from a process to a service. Each call runs as a separate task, so that it may be executed
//! after the calling process has given up or crashed.

use std::future::Future;
use std::sync::Arc;

use cellar_engine::ports::PortError;

use tokio::time::{Duration, Instant};

use crate::process::Process;
use crate::rare::RareEvent;

/// Age above which services refuse a signed request. AWS refuses requests that are 5 to 15 minutes
/// old, which prevents a frozen process from sending a request a day later.
const SIGNATURE_MAX: Duration = Duration::from_secs(15 * 60);
/// Call timeout, in milliseconds.
const CALL_TIMEOUT_MS: u64 = 3_000;

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallOutcome {
    Executed,
    Throttled,
    NeverArrives,
    ReplyLost,
    Late,
}

impl Process {
    fn draw_outcome(&self) -> CallOutcome {
        let world = self.world();
        let random = self.random();
        let plan = world.plan();
        if random.happens(plan.outage) {
            world.begin_outage(random.draw_mostly_small(plan.outage_max_ms));
        }
        if world.is_out() {
            return if random.draw_below(2) == 0 {
                CallOutcome::Throttled
            } else {
                CallOutcome::NeverArrives
            };
        }
        for (rate, fault) in [
            (plan.throttled, CallOutcome::Throttled),
            (plan.never, CallOutcome::NeverArrives),
            (plan.reply_lost, CallOutcome::ReplyLost),
            (plan.late, CallOutcome::Late),
        ] {
            if random.happens(rate) {
                return fault;
            }
        }
        CallOutcome::Executed
    }

    fn draw_latency_ms(&self) -> u64 {
        self.random().draw_in(1..=self.world().plan().latency_max_ms.max(1))
    }

    /// Calls a service. `effect` is the work of the service, which is executed when the call
    /// arrives.
    ///
    /// # Errors
    /// Returns a temporary [`PortError`] if no response arrives. The call may have been executed,
    /// may be executed later, or may never be executed.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        what: String,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, PortError> {
        let signed = Instant::now();
        self.step().await;
        let (outcome, world) = (self.draw_outcome(), self.world());
        if signed.elapsed() > SIGNATURE_MAX {
            world.count(RareEvent::SignatureExpired);
            self.event(format_args!("{what}: its signature has expired"));
            world.sleep_ms(self.draw_latency_ms()).await;
            return Err(PortError::temporary("the signature has expired"));
        }
        self.event(format_args!("{what} {outcome:?}"));
        let result = match outcome {
            CallOutcome::Executed => {
                let done = self.execute_after(self.draw_latency_ms(), false, effect).await;
                world.sleep_ms(self.draw_latency_ms()).await;
                done.ok_or_else(|| PortError::permanent("the service panicked"))
            }
            CallOutcome::Throttled => {
                world.count(RareEvent::Throttled);
                world.sleep_ms(self.draw_latency_ms()).await;
                Err(PortError::temporary("throttled"))
            }
            CallOutcome::NeverArrives => {
                world.count(RareEvent::NeverArrived);
                world.sleep_ms(CALL_TIMEOUT_MS).await;
                Err(PortError::temporary("no reply"))
            }
            CallOutcome::ReplyLost => {
                world.count(RareEvent::ReplyLost);
                drop(tokio::spawn(self.execute_after(self.draw_latency_ms(), false, effect)));
                world.sleep_ms(CALL_TIMEOUT_MS).await;
                Err(PortError::temporary("no reply"))
            }
            CallOutcome::Late => {
                let late_ms = self.random().draw_mostly_small(world.plan().late_max_ms);
                drop(tokio::spawn(self.execute_after(CALL_TIMEOUT_MS + late_ms, true, effect)));
                world.sleep_ms(CALL_TIMEOUT_MS).await;
                Err(PortError::temporary("no reply"))
            }
        };
        self.step().await;
        result
    }

    /// Calls the bucket, which has additional failures and delays.
    ///
    /// # Errors
    /// Returns the same errors as [`Self::call`].
    pub(crate) async fn call_bucket<T: Send + 'static>(
        &self,
        what: String,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, PortError> {
        let world = Arc::clone(self.world());
        let plan = world.plan();
        if self.random().happens(plan.bucket_fails) {
            self.step().await;
            world.count(RareEvent::BucketFailed);
            self.event(format_args!("{what}: the bucket asks to slow down"));
            world.sleep_ms(self.draw_latency_ms()).await;
            return Err(PortError::temporary("slow down"));
        }
        let slow_ms = self.random().draw_mostly_small(plan.bucket_slow_ms);
        let slow_effect = async move {
            world.sleep_ms(slow_ms).await;
            effect.await
        };
        self.call(what, slow_effect).await
    }

    /// Executes a call after `delay_ms` milliseconds, even if the calling process has crashed.
    /// Returns `None` if the service panicked.
    fn execute_after<T: Send + 'static>(
        &self,
        delay_ms: u64,
        is_late: bool,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let sender = self.clone();
        let service_task = tokio::spawn(async move {
            let world = sender.world();
            world.sleep_ms(delay_ms).await;
            if sender.is_dead() {
                world.count(RareEvent::EffectAfterCrash);
                sender.event(format_args!("a call arrives after the process crashed"));
            }
            if is_late {
                world.count(RareEvent::LateEffect);
                sender.event(format_args!("a call arrives late"));
            }
            effect.await
        });
        let sender = self.clone();
        async move {
            match service_task.await {
                Ok(reply) => Some(reply),
                Err(error) => {
                    sender.world().report_violation(format_args!("a service panicked: {error}"));
                    None
                }
            }
        }
    }
}
