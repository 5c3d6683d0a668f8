//! Runs a command to its end, and measures its time, processor time and peak memory.

use std::fs;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::ScaleError;

/// Clock ticks per second in `/proc`, which is the same on all supported architectures.
const TICKS_PER_S: f64 = 100.0;
/// Number of bytes per kilobyte in `/proc`.
const KILOBYTE: u64 = 1_024;
/// Indexes of the state, the user ticks and the system ticks among the fields after the name in
/// `/proc/PID/stat`.
const STATE_INDEX: usize = 0;
const USER_TICKS_INDEX: usize = 11;
const SYSTEM_TICKS_INDEX: usize = 12;
/// Interval of the samples in the first second of a process, and after it.
const SHORT_SAMPLE_PERIOD: Duration = Duration::from_millis(1);
const LONG_SAMPLE_PERIOD: Duration = Duration::from_millis(20);
const READ_BUFFER_BYTES: usize = 256 * 1024;

/// A command that has ended.
pub(crate) struct EndedCommand {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) peak_bytes: u64,
}

/// Runs a command. `receive_output` is called with the bytes of its standard output.
pub(crate) fn run_measured(
    mut command: Command,
    receive_output: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<EndedCommand, ScaleError> {
    let program = command.get_program().to_owned();
    let start_error = |source| ScaleError::file(program.as_ref(), source);
    let begun_at = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start_error)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let errors = scope.spawn(move || {
            let mut text = String::new();
            // A command that closes its output ends soon.
            let _ = stderr.map(|mut stderr| stderr.read_to_string(&mut text));
            text
        });
        let output = scope.spawn(move || stdout.map_or(Ok(()), |out| receive(out, receive_output)));
        let (wall_s, cpu_s, peak_bytes) = watch_until_end(&child, begun_at)?;
        let status = child.wait().map_err(start_error)?;
        let _ = output.join();
        let stderr = errors.join().unwrap_or_default();
        Ok(EndedCommand { status, stderr, wall_s, cpu_s, peak_bytes })
    })
}

fn receive(
    mut output: impl Read,
    receive_output: &mut (dyn FnMut(&[u8]) + Send),
) -> io::Result<()> {
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    loop {
        let count = output.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        receive_output(buffer.get(..count).unwrap_or_default());
    }
}

/// Waits until the process has ended. An ended process has no memory any more, but keeps its
/// processor time until its parent waits for it.
fn watch_until_end(child: &Child, begun_at: Instant) -> Result<(f64, f64, u64), ScaleError> {
    let pid = child.id();
    let mut peak_bytes = 0;
    loop {
        let stat = read_stat(pid).ok_or(ScaleError::NoUsage { pid })?;
        let elapsed = begun_at.elapsed();
        if stat.has_ended {
            return Ok((elapsed.as_secs_f64(), stat.cpu_s, peak_bytes));
        }
        peak_bytes = peak_bytes.max(read_peak_bytes(pid).unwrap_or(0));
        let is_new = elapsed < Duration::from_secs(1);
        thread::sleep(if is_new { SHORT_SAMPLE_PERIOD } else { LONG_SAMPLE_PERIOD });
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProcessStat {
    pub(crate) cpu_s: f64,
    pub(crate) has_ended: bool,
}

/// Reads the processor time of a process.
pub(crate) fn read_stat(pid: u32) -> Option<ProcessStat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads the peak of the resident memory of a process.
pub(crate) fn read_peak_bytes(pid: u32) -> Option<u64> {
    parse_peak_bytes(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// Sets the peak of the resident memory of a process to its present memory.
pub(crate) fn reset_peak_bytes(pid: u32) -> Result<(), ScaleError> {
    const RESET_PEAK: &str = "5";
    fs::write(format!("/proc/{pid}/clear_refs"), RESET_PEAK)
        .map_err(|_| ScaleError::NoUsage { pid })
}

fn parse_stat(stat: &str) -> Option<ProcessStat> {
    // The process name is in parentheses and may contain any character.
    let (_, fields_after_name) = stat.rsplit_once(')')?;
    let field = |index| fields_after_name.split_whitespace().nth(index);
    let ticks = |index| field(index)?.parse::<u32>().ok();
    let user_ticks = ticks(USER_TICKS_INDEX)?;
    let cpu_ticks = user_ticks.saturating_add(ticks(SYSTEM_TICKS_INDEX)?);
    let has_ended = matches!(field(STATE_INDEX)?, "Z" | "X");
    Some(ProcessStat { cpu_s: f64::from(cpu_ticks) / TICKS_PER_S, has_ended })
}

fn parse_peak_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(KILOBYTE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_parsed() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 1 2 3";
        assert_eq!(parse_stat(stat), Some(ProcessStat { cpu_s: 3.0, has_ended: false }));
        let ended = stat.replace(") S", ") Z");
        assert_eq!(parse_stat(&ended), Some(ProcessStat { cpu_s: 3.0, has_ended: true }));
        assert_eq!(parse_stat("7 (a) S"), None);
        assert_eq!(parse_peak_bytes("VmRSS:\t1 kB\nVmHWM:\t  9 kB\n"), Some(9 * 1_024));
        assert_eq!(parse_peak_bytes("VmRSS:\t1 kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_is_measured_and_its_output_received() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; sleep 0.05; exit 3"]);
        let mut output = Vec::new();
        let ended = run_measured(command, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
        assert_eq!((output.as_slice(), ended.stderr.as_str()), (b"out\n".as_slice(), "err\n"));
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.wall_s >= 0.05 && ended.peak_bytes > 0, "{}", ended.wall_s);
    }
}
