//! `synth logs --local`: shows the log of a local stack that runs in the background.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cellar::text::escape;
use serde::Serialize;
use tokio::time::sleep;

use crate::cli::{LogsArguments, Output};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

const TAIL_BYTES_MAX: u64 = 16 * 1_024 * 1_024;
const POLL_INTERVAL: Duration = Duration::from_millis(300);
const FAULT_LEVELS: [&str; 2] = [" ERROR ", " WARN "];
/// Number of bytes at the start of a line within which the log level is searched for.
const LEVEL_BYTES: usize = 48;

#[derive(Debug, Serialize)]
struct LocalLine<'a> {
    /// `None` if the line continues the previous message.
    at: Option<&'a str>,
    message: &'a str,
}

struct LogFile {
    path: PathBuf,
    offset: u64,
    /// The incomplete last line of the file, to which the stack is still writing.
    partial_line: Vec<u8>,
}

pub(super) async fn show_local_logs(
    config_selection: ConfigSelection<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let path = Project::find_or_use_defaults(config_selection)?.local_log();
    let mut log_file = LogFile { path, offset: 0, partial_line: Vec::new() };
    let Some(log_text) = log_file.read_new_lines()? else {
        output.print_note(&format!(
            "{} does not exist: `synth deploy --local --detach` runs the local stack in the background and \
             writes this log.",
            log_file.path.display()
        ));
        return Ok(());
    };
    print_newest_lines(&log_text, arguments, output);
    if arguments.follow { log_file.follow(arguments, output).await } else { Ok(()) }
}

fn print_newest_lines(log_text: &str, arguments: &LogsArguments, output: &Output) {
    let start = SystemTime::now().checked_sub(arguments.since).unwrap_or(SystemTime::UNIX_EPOCH);
    let selected_lines: Vec<&str> =
        lines_since(log_text, start).filter(|line| is_selected(line, arguments)).collect();
    let line_limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let hidden_count = selected_lines.len().saturating_sub(line_limit);
    if hidden_count > 0 {
        output.print_note(&format!("{hidden_count} older lines are not shown: see --limit."));
    }
    for line in selected_lines.into_iter().skip(hidden_count) {
        print_line(line, output);
    }
}

impl LogFile {
    /// Returns only if an error occurs.
    async fn follow(
        &mut self,
        arguments: &LogsArguments,
        output: &Output,
    ) -> Result<(), SynthError> {
        loop {
            sleep(POLL_INTERVAL).await;
            let new_lines = self.read_new_lines()?.unwrap_or_default();
            for line in new_lines.lines().filter(|line| is_selected(line, arguments)) {
                print_line(line, output);
            }
        }
    }

    /// Returns `None` if the file does not exist. Reads at most the last [`TAIL_BYTES_MAX`] bytes.
    fn read_new_lines(&mut self) -> Result<Option<String>, SynthError> {
        let read_error =
            |cause| SynthError::Io { operation: "read", path: self.path.clone(), cause };
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read_error(error)),
        };
        let file_length = file.metadata().map_err(read_error)?.len();
        let was_recreated = file_length < self.offset;
        if was_recreated {
            self.offset = 0;
            self.partial_line.clear();
        }
        let tail_start = file_length.saturating_sub(TAIL_BYTES_MAX);
        let is_gap = tail_start > self.offset;
        if is_gap {
            self.offset = tail_start;
            self.partial_line.clear();
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(read_error)?;
        let mut new_bytes = Vec::new();
        file.take(TAIL_BYTES_MAX).read_to_end(&mut new_bytes).map_err(read_error)?;
        self.offset += u64::try_from(new_bytes.len()).unwrap_or(u64::MAX);
        if is_gap {
            // Drop the first line, which may be incomplete because reading may have started in its
            // middle.
            let first_line_end = new_bytes.iter().position(|byte| *byte == b'\n');
            new_bytes.drain(..first_line_end.map_or(new_bytes.len(), |end| end + 1));
        }
        self.partial_line.extend(new_bytes);
        Ok(Some(self.take_complete_lines()))
    }

    fn take_complete_lines(&mut self) -> String {
        let last_newline = self.partial_line.iter().rposition(|byte| *byte == b'\n');
        let Some(last_newline) = last_newline else { return String::new() };
        let complete_lines: Vec<u8> = self.partial_line.drain(..=last_newline).collect();
        String::from_utf8_lossy(&complete_lines).into_owned()
    }
}

/// Returns the lines of a log, starting with the first line that is not older than `start`.
fn lines_since(log_text: &str, start: SystemTime) -> impl Iterator<Item = &str> {
    let is_older = move |line: &&str| match timestamp(line) {
        Some(timestamp) => humantime::parse_rfc3339(timestamp).is_ok_and(|time| time < start),
        None => true,
    };
    log_text.lines().skip_while(is_older)
}

fn is_selected(line: &str, arguments: &LogsArguments) -> bool {
    if let Some(filter_text) = &arguments.filter
        && !line.contains(filter_text)
    {
        return false;
    }
    if !arguments.errors {
        return true;
    }
    let line_start = line.get(..LEVEL_BYTES.min(line.len())).unwrap_or(line);
    FAULT_LEVELS.into_iter().any(|level| line_start.contains(level))
}

fn timestamp(line: &str) -> Option<&str> {
    let first_word = line.split(' ').next()?;
    humantime::parse_rfc3339(first_word).ok()?;
    Some(first_word)
}

fn print_line(line: &str, output: &Output) {
    let line_timestamp = timestamp(line);
    let message = line_timestamp
        .and_then(|line_timestamp| line.strip_prefix(line_timestamp))
        .unwrap_or(line)
        .trim_start();
    output.print_result(&LocalLine { at: line_timestamp, message }, &escape(line));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use super::*;

    fn log(folder: &Path) -> LogFile {
        LogFile { path: folder.join("log"), offset: 0, partial_line: Vec::new() }
    }

    #[test]
    fn reads_each_complete_line_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        assert_eq!(log.read_new_lines().unwrap(), None);
        fs::write(&log.path, "one\ntw").unwrap();
        assert_eq!(log.read_new_lines().unwrap().unwrap(), "one\n");
        assert_eq!(log.read_new_lines().unwrap().unwrap(), "");
        let mut file = OpenOptions::new().append(true).open(&log.path).unwrap();
        file.write_all("o\nthree\n\u{e4}".as_bytes()).unwrap();
        assert_eq!(log.read_new_lines().unwrap().unwrap(), "two\nthree\n");
        fs::write(&log.path, "new\n").unwrap();
        assert_eq!(log.read_new_lines().unwrap().unwrap(), "new\n");
    }

    #[test]
    fn reads_the_end_of_a_long_log() {
        let folder = tempfile::tempdir().unwrap();
        let max = usize::try_from(TAIL_BYTES_MAX).unwrap();
        for (more, begin) in [(0, "xx"), (1, "last")] {
            let mut log = log(folder.path());
            let text = "x".repeat(max - 6 + more) + "\nlast\n";
            fs::write(&log.path, &text).unwrap();
            assert_eq!(text.len(), max + more);
            let read = log.read_new_lines().unwrap().unwrap();
            assert!(read.starts_with(begin) && read.ends_with("last\n"), "{}", read.len());
        }
    }

    #[test]
    fn returns_lines_since_a_time() {
        let text = "before\n2026-11-22T03:04:05.123456Z  INFO a\nmore of a\n\
                    2026-11-22T03:04:07.000000Z  WARN b\nmore of b\n";
        let at = |text| humantime::parse_rfc3339(text).unwrap();
        assert_eq!(lines_since(text, at("2026-11-22T03:04:05Z")).count(), 4);
        assert_eq!(lines_since(text, at("2026-11-22T03:04:06Z")).count(), 2);
        assert_eq!(lines_since(text, at("2026-11-22T03:04:08Z")).count(), 0);
        assert_eq!(
            timestamp("2026-11-22T03:04:05.123456Z  INFO a"),
            Some("2026-11-22T03:04:05.123456Z")
        );
    }
}
