//! What work costs: CPU time of all threads of this process, and its greatest memory.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds that this process has used so far, all threads together.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs work. Gives what it gave, and its CPU seconds.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = cpu_s();
    let done = work();
    (done, cpu_s() - begin)
}

/// The median CPU seconds of some repetitions.
pub(crate) fn median_s<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> =
        (0..repeats).map(|_| timed(|| std::hint::black_box(work())).1).collect();
    times.sort_by(f64::total_cmp);
    times.get(repeats / 2).copied().unwrap_or_default()
}

/// Adds up the CPU time of parts of a work, without what prepares them.
#[derive(Default)]
pub(crate) struct Stopwatch {
    total_s: f64,
}

impl Stopwatch {
    pub(crate) fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (done, cpu_s) = timed(work);
        self.total_s += cpu_s;
        done
    }

    pub(crate) fn total_s(&self) -> f64 {
        self.total_s
    }
}

/// The greatest memory of this process from a moment on, above what it had then. Linux only.
pub(crate) struct PeakMemory {
    before_kib: f64,
}

impl PeakMemory {
    /// From now on; `None` where the system does not tell.
    pub(crate) fn begin() -> Option<Self> {
        // 5 resets the greatest resident size (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(Self { before_kib: status_kib("VmRSS:")? })
    }

    /// Megabytes so far.
    pub(crate) fn mb(&self) -> Option<f64> {
        Some((status_kib("VmHWM:")? - self.before_kib).max(0.0) * 1_024.0 / 1e6)
    }
}

fn status_kib(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
