//! What a process uses, as the system tells.

use std::fs;

/// Ticks a second in which Linux tells programs of time, on each processor that Cellar is built for.
const TICKS_PER_S: u64 = 100;
/// Bytes of the kilobytes in `/proc`.
const KILOBYTE: u64 = 1_024;
/// Which fields of `/proc/PID/stat` behind the name are the ticks in programs and in the system.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;

/// What a process uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Resident memory.
    pub(crate) resident_bytes: u64,
    /// Time on processors since it began.
    pub(crate) cpu_ms: u64,
}

/// What the process uses now; none if it is gone, or where there is no `/proc`.
pub(crate) fn usage(pid: u32) -> Option<Usage> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    Some(Usage { resident_bytes: resident(&read("status")?)?, cpu_ms: cpu(&read("stat")?)? })
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(KILOBYTE))
}

fn cpu(stat: &str) -> Option<u64> {
    // The name is in brackets and may have any character.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let ticks = |field| behind_name.split_whitespace().nth(field)?.parse::<u64>().ok();
    let ticks = ticks(USER_TICKS)?.saturating_add(ticks(SYSTEM_TICKS)?);
    Some(ticks.saturating_mul(1_000) / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_writes_is_read() {
        let status = "Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n";
        assert_eq!(resident(status), Some(1_234 * 1_024));
        assert_eq!(resident("Name:\tx\n"), None);
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 1 2 3";
        assert_eq!(cpu(stat), Some(3_000));
        assert_eq!(cpu("7 (a) S"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_runs_uses_something_and_one_that_does_not_is_unknown() {
        assert!(usage(std::process::id()).is_some_and(|usage| usage.resident_bytes > 0));
        assert_eq!(usage(u32::MAX), None);
    }
}
