//! Samples the memory and the processor time of the local stack, across all restarts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::memory::Sample;
use crate::process::{Usage, read_usage};

/// The samples of the stack's process.
pub(crate) struct Watch(Mutex<WatchState>);

struct WatchState {
    pid: u32,
    samples: Vec<Sample>,
    /// Last known processor time of each of the stack's processes, in milliseconds.
    cpu_ms_by_pid: BTreeMap<u32, u64>,
}

impl Watch {
    pub(crate) fn new(pid: u32) -> Self {
        let watch = Self(Mutex::new(WatchState {
            pid,
            samples: Vec::new(),
            cpu_ms_by_pid: BTreeMap::new(),
        }));
        watch.sample(Duration::ZERO);
        watch
    }

    /// Continues with another process after a restart of the stack.
    pub(crate) fn follow(&self, pid: u32) {
        self.lock().pid = pid;
    }

    /// Takes a sample. Returns the resident memory, if known.
    pub(crate) fn sample(&self, elapsed: Duration) -> Option<u64> {
        let mut state = self.lock();
        let pid = state.pid;
        let Usage { resident_bytes, cpu_ms } = read_usage(pid)?;
        state.cpu_ms_by_pid.insert(pid, cpu_ms);
        let at_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        state.samples.push(Sample { at_ms, resident_bytes });
        Some(resident_bytes)
    }

    /// Returns the memory samples, which are empty if the memory is unknown.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.lock().samples.clone()
    }

    /// Returns the processor time in milliseconds, or `None` if it is unknown.
    pub(crate) fn cpu_ms(&self) -> Option<u64> {
        let state = self.lock();
        if state.cpu_ms_by_pid.is_empty() {
            return None;
        }
        Some(state.cpu_ms_by_pid.values().sum())
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
