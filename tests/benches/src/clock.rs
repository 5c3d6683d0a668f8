//! CPU time of all threads of this process, and its peak memory.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU seconds that all threads of this process have used.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs `work`. Returns its result and its CPU seconds.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = cpu_s();
    let done = work();
    (done, cpu_s() - begin)
}

/// Awaits `work`. Returns its result and the CPU seconds of the process meanwhile.
pub(crate) async fn timed_until<T>(work: impl Future<Output = T>) -> (T, f64) {
    let begin = cpu_s();
    let done = work.await;
    (done, cpu_s() - begin)
}

/// Returns the median of the CPU seconds of several repetitions.
pub(crate) fn median_s<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> =
        (0..repeats).map(|_| timed(|| std::hint::black_box(work())).1).collect();
    times.sort_by(f64::total_cmp);
    times.get(repeats / 2).copied().unwrap_or_default()
}

/// Sums the CPU time of parts of a work, without their preparation.
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

/// Peak memory of this process since a moment, above its memory at that moment. Linux only.
pub(crate) struct PeakMemory {
    before_kib: f64,
}

impl PeakMemory {
    /// Starts a measurement. Returns `None` if the operating system does not report memory.
    pub(crate) fn begin() -> Option<Self> {
        // Writing 5 resets the peak resident size (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(Self { before_kib: status_kib("VmRSS:")? })
    }

    /// Returns the peak in megabytes.
    pub(crate) fn mb(&self) -> Option<f64> {
        Some((status_kib("VmHWM:")? - self.before_kib).max(0.0) * 1_024.0 / 1e6)
    }
}

fn status_kib(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
