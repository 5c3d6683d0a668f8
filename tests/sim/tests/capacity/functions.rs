//! The functions of an account: concurrency, invocations per second, and new environments.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;

use super::bucket::Bucket;
use super::limits::{Limit, Limits};
use super::region::{Process, Region};

/// Time of the function for a request besides its waits: an append takes 1.3 ms of a processor
/// (`docs/measurements.md`), and a function of 512 MB has 512 of 1,769 parts of one.
const HANDLER_US: u64 = 1_300 * 1_769 / 512;
/// Start of a new environment: 14 ms of the binary and 10 ms for connections
/// (`docs/measurements.md`), and 200 ms that are assumed for Lambda, which publishes no figure.
const COLD_START_MS: u64 = 224;
const API_MEMORY_MB: f64 = 512.0;

struct State {
    /// Free environments, the one that was used last at the end.
    idle: Vec<Process>,
    running: u32,
    environments: u32,
    most_running: u32,
    invocations: Bucket,
    starts: Bucket,
    /// The highest number of running functions in each second.
    running_by_s: Vec<u32>,
}

pub(super) struct Functions {
    limits: Limits,
    state: Mutex<State>,
}

/// An environment that handles a request.
pub(super) struct Invocation {
    pub(super) process: Process,
    begun_s: f64,
}

impl Functions {
    pub(super) fn new(limits: &Limits) -> Self {
        let state = State {
            idle: Vec::new(),
            running: 0,
            environments: 0,
            most_running: 0,
            invocations: Bucket::of_one_second(limits.invocations_per_s()),
            starts: Bucket::new(limits.starts_per_s, limits.starts_at_once.into()),
            running_by_s: Vec::new(),
        };
        Self { limits: *limits, state: Mutex::new(state) }
    }

    pub(super) fn begin_measuring(&self) {
        let mut state = self.state.lock().unwrap();
        (state.most_running, state.environments) = (state.running, 0);
    }

    pub(super) fn most_running(&self) -> u32 {
        self.state.lock().unwrap().most_running
    }

    /// Returns the number of environments that started since the start of the measurement.
    pub(super) fn environments(&self) -> u32 {
        self.state.lock().unwrap().environments
    }

    pub(super) fn running_by_s(&self) -> Vec<u32> {
        self.state.lock().unwrap().running_by_s.clone()
    }
}

impl State {
    fn run_another(&mut self, now_s: f64) {
        self.running += 1;
        self.most_running = self.most_running.max(self.running);
        let second = whole(now_s);
        if self.running_by_s.len() <= second {
            self.running_by_s.resize(second + 1, 0);
        }
        let most = &mut self.running_by_s[second];
        *most = self.running.max(*most);
    }
}

fn whole(seconds: f64) -> usize {
    usize::try_from(Duration::from_secs_f64(seconds).as_secs()).unwrap()
}

impl Region {
    /// Invokes the API function, or returns the limit that throttles the request.
    pub(super) async fn invoke(self: &Arc<Self>) -> Result<Invocation, Limit> {
        let begun_s = self.now_s();
        let process = self.take_environment(begun_s).inspect_err(|limit| {
            self.count_throttle(*limit);
        })?;
        let process = match process {
            Some(process) => process,
            None => {
                sleep(Duration::from_millis(COLD_START_MS)).await;
                self.new_process()
            }
        };
        sleep(Duration::from_micros(HANDLER_US)).await;
        self.meters().api_invocations += 1;
        Ok(Invocation { process, begun_s })
    }

    /// Returns a free environment, or `None` if a new one must start.
    fn take_environment(&self, now_s: f64) -> Result<Option<Process>, Limit> {
        let functions = &self.functions;
        let mut state = functions.state.lock().unwrap();
        if !state.invocations.take(now_s, 1.0) {
            return Err(Limit::Invocations);
        }
        if state.running >= functions.limits.functions {
            return Err(Limit::Functions);
        }
        let process = state.idle.pop();
        if process.is_none() {
            if !state.starts.take(now_s, 1.0) {
                return Err(Limit::Starts);
            }
            state.environments += 1;
        }
        state.run_another(now_s);
        Ok(process)
    }

    /// Ends an invocation of the API.
    pub(super) fn finish(&self, invocation: Invocation) {
        self.meters().megabyte_seconds += API_MEMORY_MB * (self.now_s() - invocation.begun_s);
        let mut state = self.functions.state.lock().unwrap();
        state.running -= 1;
        state.idle.push(invocation.process);
    }

    /// Runs a function that reads a queue or a change stream. It waits until the account has a free
    /// one. Returns the seconds that it ran.
    pub(super) async fn run_in_background(&self, work: impl Future<Output = ()>) -> f64 {
        const THROTTLED_WAIT_MS: u64 = 1_000;
        while !self.begin_in_background() {
            self.count_throttle(Limit::Functions);
            sleep(Duration::from_millis(THROTTLED_WAIT_MS)).await;
        }
        let begun_s = self.now_s();
        work.await;
        self.functions.state.lock().unwrap().running -= 1;
        self.now_s() - begun_s
    }

    fn begin_in_background(&self) -> bool {
        let now_s = self.now_s();
        let mut state = self.functions.state.lock().unwrap();
        let is_free =
            state.running < self.functions.limits.functions && state.invocations.take(now_s, 1.0);
        if is_free {
            state.run_another(now_s);
        }
        is_free
    }
}
