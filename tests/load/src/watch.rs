//! Sampling of the cloud's process: memory, and processor time over all restarts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::memory::Sample;
use crate::process::usage;

/// The samples of the cloud's process.
pub(crate) struct Watch(Mutex<Seen>);

struct Seen {
    pid: u32,
    samples: Vec<Sample>,
    /// Last known processor time of each process of the cloud, in milliseconds.
    cpu_ms: BTreeMap<u32, u64>,
}

impl Watch {
    pub(crate) fn new(pid: u32) -> Self {
        let watch = Self(Mutex::new(Seen { pid, samples: Vec::new(), cpu_ms: BTreeMap::new() }));
        watch.sample(Duration::ZERO);
        watch
    }

    /// Continues with another process, after a restart of the cloud.
    pub(crate) fn follow(&self, pid: u32) {
        self.seen().pid = pid;
    }

    /// Takes a sample; returns the resident memory if known.
    pub(crate) fn sample(&self, elapsed: Duration) -> Option<u64> {
        let mut seen = self.seen();
        let pid = seen.pid;
        let usage = usage(pid)?;
        seen.cpu_ms.insert(pid, usage.cpu_ms);
        let at_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        seen.samples.push(Sample { at_ms, resident_bytes: usage.resident_bytes });
        Some(usage.resident_bytes)
    }

    /// Returns the memory samples; none if unknown.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.seen().samples.clone()
    }

    /// Returns the processor time in milliseconds; `None` if unknown.
    pub(crate) fn cpu_ms(&self) -> Option<u64> {
        let seen = self.seen();
        (!seen.cpu_ms.is_empty()).then(|| seen.cpu_ms.values().sum())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
