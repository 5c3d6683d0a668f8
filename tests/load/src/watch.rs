//! The process of the cloud, looked at while it runs: its memory, and its time on processors over all its
//! lives.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::memory::Sample;
use crate::process::usage;

/// What was seen of the process.
pub(crate) struct Watch(Mutex<Seen>);

struct Seen {
    pid: u32,
    samples: Vec<Sample>,
    /// Of each process that it was, the last that was seen, milliseconds.
    cpu_ms: BTreeMap<u32, u64>,
}

impl Watch {
    pub(crate) fn new(pid: u32) -> Self {
        let watch = Self(Mutex::new(Seen { pid, samples: Vec::new(), cpu_ms: BTreeMap::new() }));
        watch.look(Duration::ZERO);
        watch
    }

    /// The cloud is another process now.
    pub(crate) fn follow(&self, pid: u32) {
        self.seen().pid = pid;
    }

    /// Looks at it; its memory, if that is known.
    pub(crate) fn look(&self, elapsed: Duration) -> Option<u64> {
        let mut seen = self.seen();
        let pid = seen.pid;
        let usage = usage(pid)?;
        seen.cpu_ms.insert(pid, usage.cpu_ms);
        let at_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        seen.samples.push(Sample { at_ms, resident_bytes: usage.resident_bytes });
        Some(usage.resident_bytes)
    }

    /// Its memory over time; nothing where that is not known.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.seen().samples.clone()
    }

    /// Its time on processors, milliseconds; none where that is not known.
    pub(crate) fn cpu_ms(&self) -> Option<u64> {
        let seen = self.seen();
        (!seen.cpu_ms.is_empty()).then(|| seen.cpu_ms.values().sum())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
