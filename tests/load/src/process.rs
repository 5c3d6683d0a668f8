//! Reads the resource usage of a process from `/proc`.

use std::fs;

/// Clock ticks per second in `/proc`, which is the same on all supported architectures.
const TICKS_PER_S: u64 = 100;
/// Number of bytes per kilobyte in `/proc`.
const KILOBYTE: u64 = 1_024;
/// Indexes of the user ticks and system ticks among the fields after the name in `/proc/PID/stat`.
const USER_TICKS_INDEX: usize = 11;
const SYSTEM_TICKS_INDEX: usize = 12;

/// Resource usage of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Resident memory, in bytes.
    pub(crate) resident_bytes: u64,
    /// Processor time since the start of the process, in milliseconds.
    pub(crate) cpu_ms: u64,
}

/// Returns the resource usage of a process. Returns `None` if the process or `/proc` does not
/// exist.
pub(crate) fn read_usage(pid: u32) -> Option<Usage> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(Usage { resident_bytes: parse_resident_bytes(&status)?, cpu_ms: parse_cpu_ms(&stat)? })
}

fn parse_resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(KILOBYTE))
}

fn parse_cpu_ms(stat: &str) -> Option<u64> {
    // The process name is in parentheses and may contain any character.
    let (_, fields_after_name) = stat.rsplit_once(')')?;
    let read_ticks =
        |field_index| fields_after_name.split_whitespace().nth(field_index)?.parse::<u64>().ok();
    let ticks = read_ticks(USER_TICKS_INDEX)?.saturating_add(read_ticks(SYSTEM_TICKS_INDEX)?);
    Some(ticks.saturating_mul(1_000) / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_parsed() {
        let status = "Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n";
        assert_eq!(parse_resident_bytes(status), Some(1_234 * 1_024));
        assert_eq!(parse_resident_bytes("Name:\tx\n"), None);
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 1 2 3";
        assert_eq!(parse_cpu_ms(stat), Some(3_000));
        assert_eq!(parse_cpu_ms("7 (a) S"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_running_process_has_a_usage() {
        assert!(read_usage(std::process::id()).is_some_and(|usage| usage.resident_bytes > 0));
        assert_eq!(read_usage(u32::MAX), None);
    }
}
