//! `synth logs`: shows the function logs in AWS, or the local stack's log with `logs_local`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::sleep;

use super::logs_local;
use super::observed::{ObservedStack, StackLocation};
use crate::aws::{AwsError, LogEvent, LogQuery, PAGES_MAX, text_pattern};
use crate::cli::{FunctionArgument, LogsArguments, Output};
use crate::error::SynthError;
use crate::log_lines::{FAULT_WORDS, LogLine, Newest, SeenLines, is_fault, is_platform_line};
use crate::moment::utc_ms;
use crate::project::ConfigSelection;

/// Polling interval of `--follow`. CloudWatch Logs accepts only a few requests per second.
const POLL: Duration = Duration::from_secs(3);
/// Maximum ingestion delay of a log line that `--follow` still shows, in milliseconds.
const OVERLAP_MS: u64 = 60_000;
/// Maximum number of new lines printed per poll with `--follow`.
const FOLLOWED_LINES: usize = 100_000;
/// Maximum number of consecutive failed polls with `--follow`.
const MAX_FAILED_READS: u32 = 10;

/// Prints the function logs. With `--follow`, runs until Ctrl-C.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let print_logs = async {
        match StackLocation::of(config, &arguments.place)? {
            StackLocation::Local => logs_local::run(config, arguments, output).await,
            StackLocation::Aws => Box::pin(print_aws_logs(config, arguments, output)).await,
        }
    };
    if !arguments.follow {
        return print_logs.await;
    }
    tokio::select! {
        result = print_logs => result,
        Ok(()) = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// A function and its log group name.
struct LogGroup {
    function: &'static str,
    name: String,
}

async fn print_aws_logs(
    config: ConfigSelection<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.place.endpoint_url.as_deref();
    let stack = ObservedStack::find(config, endpoint_url).await?;
    let groups = log_groups(&stack, &arguments.functions);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = now.saturating_sub(arguments.since);
    let start_ms = u64::try_from(start.as_millis()).unwrap_or_default();
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let reader = LogReader { stack: &stack, groups: &groups, arguments, output };
    let mut seen = SeenLines::default();
    let printed = reader.print_lines(start_ms, limit, &mut seen).await?;
    if arguments.follow {
        return reader.follow(start_ms, &mut seen).await;
    }
    if printed == 0 {
        let since = humantime::format_duration(arguments.since);
        output.note(&format!("No matching lines in the last {since}; --since sets the period."));
    }
    Ok(())
}

/// Returns the log groups of the selected functions, or of all functions if none is selected.
fn log_groups(stack: &ObservedStack, selected: &[FunctionArgument]) -> Vec<LogGroup> {
    let functions = [
        (FunctionArgument::Api, "api", "ApiLogGroup"),
        (FunctionArgument::Relay, "relay", "RelayLogGroup"),
        (FunctionArgument::Indexer, "indexer", "IndexerLogGroup"),
        (FunctionArgument::Webhook, "webhook", "WebhookLogGroup"),
        (FunctionArgument::Snapshot, "snapshot", "SnapshotLogGroup"),
    ];
    let mut groups = Vec::new();
    for (argument, function, logical_id) in functions {
        let is_selected = selected.is_empty() || selected.contains(&argument);
        if is_selected && let Some(name) = stack.physical_id(logical_id) {
            groups.push(LogGroup { function, name: name.to_owned() });
        }
    }
    groups
}

struct LogReader<'a> {
    stack: &'a ObservedStack,
    groups: &'a [LogGroup],
    arguments: &'a LogsArguments,
    output: &'a Output,
}

impl LogReader<'_> {
    /// Prints the lines since `start_ms` that are not in `seen`, limited to the newest `limit`
    /// lines. Returns the number of printed lines.
    async fn print_lines(
        &self,
        start_ms: u64,
        limit: usize,
        seen: &mut SeenLines,
    ) -> Result<usize, AwsError> {
        let mut newest = Newest::new(limit);
        for group in self.groups {
            self.read_group(group, start_ms, &mut newest, seen).await?;
        }
        let dropped = newest.dropped();
        if dropped > 0 {
            self.output.note(&format!("{dropped} older lines are not shown: see --limit."));
        }
        let width = self.groups.iter().map(|group| group.function.len()).max().unwrap_or_default();
        let mut printed = 0;
        for line in newest.into_sorted() {
            self.output.print_result(&line, &line.text(width));
            printed += 1;
        }
        Ok(printed)
    }

    /// Adds the selected lines of a log group to `newest`.
    async fn read_group(
        &self,
        group: &LogGroup,
        start_ms: u64,
        newest: &mut Newest<LogLine>,
        seen: &mut SeenLines,
    ) -> Result<(), AwsError> {
        let query = LogQuery {
            log_group_name: group.name.clone(),
            start_time: start_ms,
            filter_pattern: self.filter_pattern(),
        };
        let add_page = |events: Vec<LogEvent>| {
            for event in events {
                self.add_event(group, event, newest, seen);
            }
        };
        let is_complete = self.stack.aws.log_events(&query, add_page).await?;
        if !is_complete {
            self.output.note(&format!(
                "Only the first {PAGES_MAX} pages of the {} log were read: use a shorter --since.",
                group.function
            ));
        }
        Ok(())
    }

    /// Adds an event to `newest` if it is selected by the options and not in `seen`.
    fn add_event(
        &self,
        group: &LogGroup,
        event: LogEvent,
        newest: &mut Newest<LogLine>,
        seen: &mut SeenLines,
    ) {
        if !self.is_selected(&event.message) {
            return;
        }
        let at_ms = event.timestamp;
        if self.arguments.follow {
            // Event ids are unique only per log group, and not set by every emulator.
            let id = event.event_id.as_ref().unwrap_or(&event.message);
            let id = format!("{} {} {id}", group.function, event.log_stream_name);
            if !seen.insert(at_ms, id) {
                return;
            }
        }
        let line = LogLine {
            at: utc_ms(at_ms),
            function: group.function,
            message: event.message,
            stream: event.log_stream_name,
        };
        newest.push(at_ms, line);
    }

    /// Returns whether the options select a line. Needed because the CloudWatch Logs filter is less
    /// exact.
    fn is_selected(&self, message: &str) -> bool {
        if let Some(text) = &self.arguments.filter
            && !message.contains(text)
        {
            return false;
        }
        let is_fault = is_fault(message);
        if self.arguments.errors {
            return is_fault;
        }
        // Timeouts are reported only as platform lines, so these count as faults and are always
        // shown.
        self.arguments.all || is_fault || !is_platform_line(message)
    }

    /// Returns the CloudWatch Logs filter pattern. The pattern may match too many lines, because it
    /// cannot combine a text with alternatives, which emulators do not support at all;
    /// [`Self::is_selected`] removes the excess lines.
    fn filter_pattern(&self) -> Option<String> {
        match &self.arguments.filter {
            Some(text) => Some(text_pattern(text)),
            None if self.arguments.errors && !self.stack.aws.is_emulator() => {
                Some(FAULT_WORDS.map(|word| format!("?{word}")).join(" "))
            }
            None => None,
        }
    }

    /// Prints new lines as they arrive. Returns only if an error occurs.
    async fn follow(&self, start_ms: u64, seen: &mut SeenLines) -> Result<(), SynthError> {
        let poll = self.stack.aws.poll_interval(POLL);
        let (mut start_ms, mut failed_reads) = (start_ms, 0);
        loop {
            sleep(poll).await;
            start_ms = seen.next_start_ms(start_ms, OVERLAP_MS);
            match self.print_lines(start_ms, FOLLOWED_LINES, seen).await {
                Ok(_) => failed_reads = 0,
                Err(AwsError::Unreachable { .. }) if failed_reads < MAX_FAILED_READS => {
                    failed_reads += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
