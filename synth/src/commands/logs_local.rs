//! `synth logs --local`: what the local cloud in the background has logged.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cellar::table::escape;
use serde::Serialize;
use tokio::time::sleep;

use crate::cli::{LogsArguments, Output};
use crate::error::SynthError;
use crate::project::{Named, Project};

/// Bytes at the end of the log that are looked at.
const TAIL_BYTES_MAX: u64 = 16 * 1_024 * 1_024;
/// How often a log that is followed is read.
const POLL: Duration = Duration::from_millis(300);
/// Levels that tell of a fault.
const FAULTS: [&str; 2] = [" ERROR ", " WARN "];

/// A line of it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// When; lines that go on with the one before have none.
    at: Option<&'a str>,
    message: &'a str,
}

/// The log, and how far it was read.
struct Log {
    path: PathBuf,
    read: u64,
    /// The begin of a line that had no end yet.
    begun: Vec<u8>,
}

/// Shows it.
pub(super) async fn run(
    config: Named<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let path = Project::find_folder(config)?.local_log();
    let mut log = Log { path, read: 0, begun: Vec::new() };
    let Some(text) = log.more()? else {
        output.note(&format!(
            "There is no {}: `synth deploy --local --detach` runs the local cloud in the background, \
             and writes it.",
            log.path.display()
        ));
        return Ok(());
    };
    let since = SystemTime::now().checked_sub(arguments.since).unwrap_or(SystemTime::UNIX_EPOCH);
    let lines: Vec<&str> = from(&text, since).filter(|line| is_wanted(line, arguments)).collect();
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let left_out = lines.len().saturating_sub(limit);
    if left_out > 0 {
        output.note(&format!("{left_out} older lines are not shown: see --limit."));
    }
    lines.into_iter().skip(left_out).for_each(|line| show(line, output));
    if arguments.follow { log.follow(arguments, output).await } else { Ok(()) }
}

impl Log {
    /// Shows what comes, until somebody ends it.
    async fn follow(
        &mut self,
        arguments: &LogsArguments,
        output: &Output,
    ) -> Result<(), SynthError> {
        loop {
            sleep(POLL).await;
            let text = self.more()?.unwrap_or_default();
            let lines = text.lines().filter(|line| is_wanted(line, arguments));
            lines.for_each(|line| show(line, output));
        }
    }

    /// The whole lines since the last call, of the first call those at its end. `None`: there is no log.
    fn more(&mut self) -> Result<Option<String>, SynthError> {
        let failed = |cause| SynthError::Io { what: "read", path: self.path.clone(), cause };
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let length = file.metadata().map_err(failed)?.len();
        if length < self.read {
            // Somebody has deleted it, and it was begun anew.
            (self.read, self.begun) = (0, Vec::new());
        }
        let skip = self.read.max(length.saturating_sub(TAIL_BYTES_MAX));
        let cut = skip > self.read;
        file.seek(SeekFrom::Start(skip)).map_err(failed)?;
        let mut bytes = if cut { Vec::new() } else { std::mem::take(&mut self.begun) };
        let read = file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        self.read = skip.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if cut {
            let first =
                bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..first);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.begun = bytes.split_off(whole);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The lines from the first one that is not older.
fn from(text: &str, since: SystemTime) -> impl Iterator<Item = &str> {
    let is_older = move |line: &&str| match time(line) {
        Some(at) => humantime::parse_rfc3339(at).is_ok_and(|at| at < since),
        None => true,
    };
    text.lines().skip_while(is_older)
}

fn is_wanted(line: &str, arguments: &LogsArguments) -> bool {
    let has_text = arguments.filter.as_ref().is_none_or(|text| line.contains(text));
    let level = |level: &str| line.get(..48.min(line.len())).unwrap_or(line).contains(level);
    has_text && (!arguments.errors || FAULTS.into_iter().any(level))
}

/// `2026-11-22T03:04:05.123456Z`, if the line begins with one.
fn time(line: &str) -> Option<&str> {
    let first = line.split(' ').next()?;
    humantime::parse_rfc3339(first).ok().map(|_| first)
}

fn show(line: &str, output: &Output) {
    let at = time(line);
    let message = at.and_then(|at| line.strip_prefix(at)).unwrap_or(line).trim_start();
    output.result(&Line { at, message }, &escape(line));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use super::*;

    fn log(folder: &Path) -> Log {
        Log { path: folder.join("log"), read: 0, begun: Vec::new() }
    }

    #[test]
    fn only_whole_lines_are_read_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        assert_eq!(log.more().unwrap(), None);
        fs::write(&log.path, "one\ntw").unwrap();
        assert_eq!(log.more().unwrap().unwrap(), "one\n");
        assert_eq!(log.more().unwrap().unwrap(), "");
        let mut file = OpenOptions::new().append(true).open(&log.path).unwrap();
        file.write_all("o\nthree\n\u{e4}".as_bytes()).unwrap();
        assert_eq!(log.more().unwrap().unwrap(), "two\nthree\n");
        fs::write(&log.path, "new\n").unwrap();
        assert_eq!(log.more().unwrap().unwrap(), "new\n");
    }

    #[test]
    fn of_a_long_log_the_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let max = usize::try_from(TAIL_BYTES_MAX).unwrap();
        for (more, begin) in [(0, "xx"), (1, "last")] {
            let mut log = log(folder.path());
            let text = "x".repeat(max - 6 + more) + "\nlast\n";
            fs::write(&log.path, &text).unwrap();
            assert_eq!(text.len(), max + more);
            let read = log.more().unwrap().unwrap();
            assert!(read.starts_with(begin) && read.ends_with("last\n"), "{}", read.len());
        }
    }

    #[test]
    fn lines_are_shown_from_a_time_on() {
        let text = "before\n2026-11-22T03:04:05.123456Z  INFO a\nmore of a\n\
                    2026-11-22T03:04:07.000000Z  WARN b\nmore of b\n";
        let at = |text| humantime::parse_rfc3339(text).unwrap();
        assert_eq!(from(text, at("2026-11-22T03:04:05Z")).count(), 4);
        assert_eq!(from(text, at("2026-11-22T03:04:06Z")).count(), 2);
        assert_eq!(from(text, at("2026-11-22T03:04:08Z")).count(), 0);
        assert_eq!(
            time("2026-11-22T03:04:05.123456Z  INFO a"),
            Some("2026-11-22T03:04:05.123456Z")
        );
    }
}
