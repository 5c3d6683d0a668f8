//! `synth logs`: shows the logs of the functions in AWS. For a local stack, `logs_local` shows the
//! log.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::sleep;

use super::logs_local;
use super::observed::{ObservedStack, StackLocation};
use crate::aws::{AwsError, LogCompleteness, LogEvent, LogQuery, PAGES_MAX, quoted_pattern};
use crate::cli::{FunctionArgument, LogsArguments, Output};
use crate::error::SynthError;
use crate::log_lines::{FAULT_WORDS, LogLine, Newest, SeenLines, is_fault, is_platform_line};
use crate::moment::format_utc_ms;
use crate::project::ConfigSelection;

/// CloudWatch Logs accepts only a few requests per second.
const POLL_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum time, in milliseconds, that a new line takes to appear in CloudWatch Logs. With
/// `--follow`, a line that takes longer is not shown.
const INGESTION_DELAY_MS: u64 = 60_000;
const MAX_FOLLOWED_LINES: usize = 100_000;
const MAX_FAILED_READS: u32 = 10;

/// For each function: its command-line argument, its name, and the logical id of its log group.
const FUNCTION_LOG_GROUPS: [(FunctionArgument, &str, &str); 5] = [
    (FunctionArgument::Api, "api", "ApiLogGroup"),
    (FunctionArgument::Relay, "relay", "RelayLogGroup"),
    (FunctionArgument::Indexer, "indexer", "IndexerLogGroup"),
    (FunctionArgument::Webhook, "webhook", "WebhookLogGroup"),
    (FunctionArgument::Snapshot, "snapshot", "SnapshotLogGroup"),
];

/// With `--follow`, runs until Ctrl-C.
pub(crate) async fn show_logs(
    config_selection: ConfigSelection<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let print_logs = async {
        match StackLocation::selected_by(config_selection, &arguments.location)? {
            StackLocation::Local => {
                logs_local::show_local_logs(config_selection, arguments, output).await
            }
            StackLocation::Aws => {
                Box::pin(print_aws_logs(config_selection, arguments, output)).await
            }
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

struct LogGroup {
    function: &'static str,
    name: String,
}

async fn print_aws_logs(
    config_selection: ConfigSelection<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.location.endpoint_url.as_deref();
    let stack = ObservedStack::find(config_selection, endpoint_url).await?;
    let log_groups = selected_log_groups(&stack, &arguments.functions);
    let start_ms = unix_ms_before_now(arguments.since);
    let line_limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let reader = LogReader { stack: &stack, log_groups: &log_groups, arguments, output };
    let mut seen_lines = SeenLines::default();
    let printed_count = reader.print_lines(start_ms, line_limit, &mut seen_lines).await?;
    if arguments.follow {
        return reader.follow(start_ms, &mut seen_lines).await;
    }
    if printed_count == 0 {
        let period = humantime::format_duration(arguments.since);
        output.print_note(&format!(
            "No matching lines in the last {period}; --since sets the period."
        ));
    }
    Ok(())
}

fn unix_ms_before_now(age: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.saturating_sub(age).as_millis()).unwrap_or_default()
}

/// If no function is selected, returns the log groups of all functions.
fn selected_log_groups(stack: &ObservedStack, selection: &[FunctionArgument]) -> Vec<LogGroup> {
    let mut log_groups = Vec::new();
    for (argument, function, logical_id) in FUNCTION_LOG_GROUPS {
        let is_selected = selection.is_empty() || selection.contains(&argument);
        if is_selected && let Some(name) = stack.physical_id(logical_id) {
            log_groups.push(LogGroup { function, name: name.to_owned() });
        }
    }
    log_groups
}

struct LogReader<'a> {
    stack: &'a ObservedStack,
    log_groups: &'a [LogGroup],
    arguments: &'a LogsArguments,
    output: &'a Output,
}

impl LogReader<'_> {
    /// Skips the lines in `seen_lines`. Returns the number of printed lines.
    async fn print_lines(
        &self,
        start_ms: u64,
        line_limit: usize,
        seen_lines: &mut SeenLines,
    ) -> Result<usize, AwsError> {
        let mut newest_lines = Newest::new(line_limit);
        for log_group in self.log_groups {
            self.read_log_group(log_group, start_ms, &mut newest_lines, seen_lines).await?;
        }
        let hidden_count = newest_lines.evicted_count();
        if hidden_count > 0 {
            self.output
                .print_note(&format!("{hidden_count} older lines are not shown: see --limit."));
        }
        let function_lengths = self.log_groups.iter().map(|log_group| log_group.function.len());
        let function_width = function_lengths.max().unwrap_or_default();
        let mut printed_count = 0;
        for line in newest_lines.into_sorted() {
            self.output.print_result(&line, &line.to_text(function_width));
            printed_count += 1;
        }
        Ok(printed_count)
    }

    async fn read_log_group(
        &self,
        log_group: &LogGroup,
        start_ms: u64,
        newest_lines: &mut Newest<LogLine>,
        seen_lines: &mut SeenLines,
    ) -> Result<(), AwsError> {
        let query = LogQuery {
            log_group_name: log_group.name.clone(),
            start_time: start_ms,
            filter_pattern: self.filter_pattern(),
        };
        let add_page = |events: Vec<LogEvent>| {
            for event in events {
                self.add_event(log_group, event, newest_lines, seen_lines);
            }
        };
        let completeness = self.stack.aws.read_log_pages(&query, add_page).await?;
        if completeness == LogCompleteness::PagesRemain {
            self.output.print_note(&format!(
                "Only the first {PAGES_MAX} pages of the {} log were read: use a shorter --since.",
                log_group.function
            ));
        }
        Ok(())
    }

    fn add_event(
        &self,
        log_group: &LogGroup,
        event: LogEvent,
        newest_lines: &mut Newest<LogLine>,
        seen_lines: &mut SeenLines,
    ) {
        if !self.is_selected(&event.message) {
            return;
        }
        if self.arguments.follow {
            // Event ids are unique only within a log group, and some emulators do not set them.
            let event_id = event.event_id.as_ref().unwrap_or(&event.message);
            let line_id = format!("{} {} {event_id}", log_group.function, event.log_stream_name);
            let is_new = seen_lines.insert(event.timestamp, line_id);
            if !is_new {
                return;
            }
        }
        let line = LogLine {
            at: format_utc_ms(event.timestamp),
            function: log_group.function,
            message: event.message,
            stream: event.log_stream_name,
        };
        newest_lines.push(event.timestamp, line);
    }

    /// CloudWatch Logs filters the lines too, but may return lines that the options exclude.
    fn is_selected(&self, message: &str) -> bool {
        if let Some(filter_text) = &self.arguments.filter
            && !message.contains(filter_text)
        {
            return false;
        }
        let is_fault = is_fault(message);
        if self.arguments.errors {
            return is_fault;
        }
        // A platform line that reports a timeout is a fault and is always shown, because no other
        // line reports the timeout.
        self.arguments.all || is_fault || !is_platform_line(message)
    }

    /// Returns the CloudWatch Logs filter pattern, or `None` to read all lines.
    ///
    /// The pattern may match more lines than the options select. A pattern cannot combine
    /// `--filter` with alternatives, and emulators do not support alternatives at all.
    /// [`Self::is_selected`] excludes the other lines.
    fn filter_pattern(&self) -> Option<String> {
        match &self.arguments.filter {
            Some(filter_text) => Some(quoted_pattern(filter_text)),
            None if self.arguments.errors && !self.stack.aws.is_emulator() => {
                Some(FAULT_WORDS.map(|word| format!("?{word}")).join(" "))
            }
            None => None,
        }
    }

    /// Returns only if an error occurs.
    async fn follow(
        &self,
        first_start_ms: u64,
        seen_lines: &mut SeenLines,
    ) -> Result<(), SynthError> {
        let poll_interval = self.stack.aws.poll_interval(POLL_INTERVAL);
        let mut start_ms = first_start_ms;
        let mut failed_reads = 0;
        loop {
            sleep(poll_interval).await;
            start_ms = seen_lines.next_start_ms(start_ms, INGESTION_DELAY_MS);
            match self.print_lines(start_ms, MAX_FOLLOWED_LINES, seen_lines).await {
                Ok(_) => failed_reads = 0,
                Err(AwsError::Unreachable { .. }) if failed_reads < MAX_FAILED_READS => {
                    failed_reads += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
