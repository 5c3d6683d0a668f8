//! A simulated process with its own ports, clock and random numbers. The process may crash, or
//! freeze and resume.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::limits::{LEASE_S, TRIM_FENCE_S};
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant};

use crate::random::SimRandom;
use crate::rare::RareEvent;
use crate::world::World;

/// Which faults of the plan affect a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mortality {
    /// The process crashes and freezes according to the plan.
    Mortal,
    /// The process's calls fail, but it neither crashes nor freezes. Used for observers and
    /// operators.
    Spared,
}

/// A handle to a process. The `ports` module implements all ports for this type.
#[derive(Clone)]
pub struct Process {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    world: Arc<World>,
    random: SimRandom,
    mortality: Mortality,
    /// Absolute clock skew in milliseconds. `is_ahead` is the sign.
    skew_ms: u64,
    is_ahead: bool,
    is_dead: AtomicBool,
    frozen_until: Mutex<Option<Instant>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

/// The process crashed before the work was done, or the work panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Died;

impl Process {
    /// Creates a process in a world.
    #[must_use]
    pub fn new(world: &Arc<World>, name: impl Into<String>, mortality: Mortality) -> Self {
        let random = world.random.fork();
        let skew_ms = random.draw_in(0..=world.plan().skew_max_ms);
        let (name, is_ahead) = (name.into(), random.draw_below(2) == 0);
        let (is_dead, frozen_until) = (AtomicBool::new(false), Mutex::default());
        let (world, tasks) = (Arc::clone(world), Mutex::default());
        let inner = Inner {
            name,
            world,
            random,
            mortality,
            skew_ms,
            is_ahead,
            is_dead,
            frozen_until,
            tasks,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the name of the process.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the world in which the process runs.
    #[must_use]
    pub fn world(&self) -> &Arc<World> {
        &self.inner.world
    }

    /// Returns the process's source of random numbers.
    #[must_use]
    pub fn random(&self) -> &SimRandom {
        &self.inner.random
    }

    /// Returns whether the process has crashed.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.inner.is_dead.load(Ordering::SeqCst)
    }

    /// Converts true time to the time shown by the process's clock, in Unix milliseconds.
    #[must_use]
    pub fn to_process_time_ms(&self, true_ms: u64) -> u64 {
        match self.inner.is_ahead {
            true => true_ms.saturating_add(self.inner.skew_ms),
            false => true_ms.saturating_sub(self.inner.skew_ms),
        }
    }

    /// Adds an event of this process to the trace.
    pub fn event(&self, what: fmt::Arguments<'_>) {
        self.inner.world.event(&self.inner.name, what);
    }

    /// Runs `work` in the process until `work` completes or the process crashes.
    ///
    /// # Errors
    /// Returns [`Died`] if the process crashed or `work` panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Died> {
        if self.is_dead() {
            return Err(Died);
        }
        let task = tokio::spawn(work);
        self.remember(task.abort_handle());
        match task.await {
            Ok(value) => Ok(value),
            Err(error) => {
                if error.is_panic() {
                    self.inner
                        .world
                        .report_violation(format_args!("{} panicked: {error}", self.name()));
                }
                Err(Died)
            }
        }
    }

    fn remember(&self, task: AbortHandle) {
        let mut tasks = self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Crashes the process. Its tasks are aborted, but requests that it has already sent still
    /// arrive.
    pub fn die(&self) {
        if self.inner.is_dead.swap(true, Ordering::SeqCst) {
            return;
        }
        self.inner.world.count(RareEvent::Crashed);
        self.event(format_args!("crashes"));
        let tasks = self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().for_each(AbortHandle::abort);
    }

    /// Freezes the process for `frozen_ms` milliseconds.
    pub fn freeze(&self, frozen_ms: u64) {
        let world = &self.inner.world;
        world.count(RareEvent::Froze);
        if frozen_ms > LEASE_S * 1_000 {
            world.count(RareEvent::FrozePastLease);
        }
        self.event(format_args!("freezes for {frozen_ms} ms"));
        let until = Instant::now() + Duration::from_millis(frozen_ms);
        let mut frozen = self.inner.frozen_until.lock().unwrap_or_else(PoisonError::into_inner);
        *frozen = (*frozen).max(Some(until));
    }

    /// Waits while the process is frozen. If the process has crashed, waits forever.
    pub async fn wait_until_running(&self) {
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
        let began = Instant::now();
        while let Some(until) = self.frozen_until() {
            tokio::time::sleep_until(until).await;
        }
        let fence = Duration::from_secs(TRIM_FENCE_S);
        if began.elapsed() > fence && self.inner.world.rare.has(RareEvent::Trimmed) {
            self.inner.world.count(RareEvent::ZombieWoke);
            self.event(format_args!("wakes up after {} s", began.elapsed().as_secs()));
        }
    }

    fn frozen_until(&self) -> Option<Instant> {
        let until = *self.inner.frozen_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > Instant::now())
    }

    /// Returns whether the process is frozen.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.frozen_until().is_some()
    }

    /// May crash or freeze the process, at the rates of the plan. Returns once the process runs
    /// again.
    pub(crate) async fn step(&self) {
        let (world, random) = (&self.inner.world, &self.inner.random);
        if self.inner.mortality == Mortality::Mortal {
            let plan = world.plan();
            if random.happens(plan.crash) {
                self.die();
            }
            if random.happens(plan.freeze) {
                self.freeze(random.draw_mostly_small(plan.freeze_max_ms));
            }
        }
        self.wait_until_running().await;
    }
}
