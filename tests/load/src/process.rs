//! Resource usage of a process, from `/proc`.

use std::fs;

/// Clock ticks per second in `/proc`, on all supported architectures.
const TICKS_PER_S: u64 = 100;
/// Bytes of a kilobyte in `/proc`.
const KILOBYTE: u64 = 1_024;
/// Indexes of user and system ticks among the fields of `/proc/PID/stat` after the name.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;

/// Resource usage of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Resident memory, in bytes.
    pub(crate) resident_bytes: u64,
    /// Processor time since the start, in milliseconds.
    pub(crate) cpu_ms: u64,
}

/// Returns the usage of a process; `None` if the process does not exist, or without `/proc`.
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
    // The name is in brackets and may contain any character.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let ticks = |field| behind_name.split_whitespace().nth(field)?.parse::<u64>().ok();
    let ticks = ticks(USER_TICKS)?.saturating_add(ticks(SYSTEM_TICKS)?);
    Some(ticks.saturating_mul(1_000) / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_parsed() {
        let status = "Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n";
        assert_eq!(resident(status), Some(1_234 * 1_024));
        assert_eq!(resident("Name:\tx\n"), None);
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 1 2 3";
        assert_eq!(cpu(stat), Some(3_000));
        assert_eq!(cpu("7 (a) S"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_running_process_has_a_usage() {
        assert!(usage(std::process::id()).is_some_and(|usage| usage.resident_bytes > 0));
        assert_eq!(usage(u32::MAX), None);
    }
}
