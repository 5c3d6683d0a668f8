//! A call of a process to a service. It runs as a task of its own, so that it may be executed after
//! its sender has given up or died.

use std::future::Future;
use std::sync::Arc;

use cellar_engine::ports::PortError;

use tokio::time::{Duration, Instant};

use crate::process::Process;
use crate::rare::Rare;

/// Age at which services refuse a signed request. AWS refuses requests that are 5 to 15 minutes
/// old, so that a frozen process cannot send a request a day later.
const SIGNATURE_MAX: Duration = Duration::from_secs(15 * 60);
/// Call timeout, in milliseconds.
const CALL_TIMEOUT_MS: u64 = 3_000;

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    Throttled,
    NeverArrives,
    ReplyLost,
    Late,
}

impl Process {
    fn fate(&self) -> Fate {
        let (world, random) = (self.world(), self.random());
        let plan = world.plan();
        if random.happens(plan.outage) {
            world.begin_outage(random.mostly_short(plan.outage_max_ms));
        }
        if world.is_out() {
            return if random.below(2) == 0 { Fate::Throttled } else { Fate::NeverArrives };
        }
        let fates = [
            (plan.throttled, Fate::Throttled),
            (plan.never, Fate::NeverArrives),
            (plan.reply_lost, Fate::ReplyLost),
            (plan.late, Fate::Late),
        ];
        let fate = fates.into_iter().find(|(rate, _)| random.happens(*rate));
        fate.map_or(Fate::Done, |(_, fate)| fate)
    }

    fn way_ms(&self) -> u64 {
        self.random().within(1..=self.world().plan().latency_max_ms.max(1))
    }

    /// Calls a service. `effect` is the service's work, executed when the call arrives.
    ///
    /// # Errors
    /// A temporary [`PortError`] if no reply arrived: the call may have been executed, or may be
    /// executed later or never.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        what: String,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, PortError> {
        let signed = Instant::now();
        self.step().await;
        let (fate, world) = (self.fate(), self.world());
        if signed.elapsed() > SIGNATURE_MAX {
            world.count(Rare::SignatureExpired);
            self.event(format_args!("{what}: its signature has expired"));
            world.sleep_ms(self.way_ms()).await;
            return Err(PortError::temporary("the signature has expired"));
        }
        self.event(format_args!("{what} {fate:?}"));
        let result = match fate {
            Fate::Done => {
                let done = self.travel(self.way_ms(), false, effect).await;
                world.sleep_ms(self.way_ms()).await;
                done.ok_or_else(|| PortError::permanent("the service panicked"))
            }
            Fate::Throttled => {
                world.count(Rare::Throttled);
                world.sleep_ms(self.way_ms()).await;
                Err(PortError::temporary("throttled"))
            }
            Fate::NeverArrives => {
                world.count(Rare::NeverArrived);
                world.sleep_ms(CALL_TIMEOUT_MS).await;
                Err(PortError::temporary("no reply"))
            }
            Fate::ReplyLost => {
                world.count(Rare::ReplyLost);
                drop(tokio::spawn(self.travel(self.way_ms(), false, effect)));
                world.sleep_ms(CALL_TIMEOUT_MS).await;
                Err(PortError::temporary("no reply"))
            }
            Fate::Late => {
                let late_ms = self.random().mostly_short(world.plan().late_max_ms);
                drop(tokio::spawn(self.travel(CALL_TIMEOUT_MS + late_ms, true, effect)));
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
    /// Same as [`Self::call`].
    pub(crate) async fn call_bucket<T: Send + 'static>(
        &self,
        what: String,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, PortError> {
        let (world, plan) = (Arc::clone(self.world()), self.world().plan());
        if self.random().happens(plan.bucket_fails) {
            self.step().await;
            world.count(Rare::BucketFailed);
            self.event(format_args!("{what}: the bucket asks to slow down"));
            world.sleep_ms(self.way_ms()).await;
            return Err(PortError::temporary("slow down"));
        }
        let slow_ms = self.random().mostly_short(plan.bucket_slow_ms);
        let slowly = async move {
            world.sleep_ms(slow_ms).await;
            effect.await
        };
        self.call(what, slowly).await
    }

    /// Executes a call after `way_ms`, even if its sender has died; returns `None` if the service
    /// panicked.
    fn travel<T: Send + 'static>(
        &self,
        way_ms: u64,
        is_late: bool,
        effect: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let process = self.clone();
        let travels = tokio::spawn(async move {
            let world = process.world();
            world.sleep_ms(way_ms).await;
            if process.is_dead() {
                world.count(Rare::EffectAfterCrash);
                process.event(format_args!("a call arrives after its end"));
            }
            if is_late {
                world.count(Rare::LateEffect);
                process.event(format_args!("a call arrives late"));
            }
            effect.await
        });
        let process = self.clone();
        async move {
            let arrived = travels.await;
            if let Err(error) = &arrived {
                process.world().violated(format_args!("a service panicked: {error}"));
            }
            arrived.ok()
        }
    }
}
