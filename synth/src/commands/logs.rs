//! `synth logs` of a stack in AWS; `logs_local` is the one on this machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::sleep;

use super::logs_local;
use super::watched::{Place, Watched};
use crate::aws::{AwsError, LogEvent, PAGES_MAX, Wish, pattern_of};
use crate::cli::{FunctionArgument, LogsArguments, Output};
use crate::error::SynthError;
use crate::log_lines::{FAULT_WORDS, Line, Newest, Seen, is_fault, is_of_lambda, moment};
use crate::project::Named;

/// How often a log that is followed is read: the service allows few requests a second.
const POLL: Duration = Duration::from_secs(3);
/// How late a line may come to be told by who follows.
const OVERLAP_MS: u64 = 60_000;
/// Lines of one read of a log that is followed.
const FOLLOWED_LINES: usize = 100_000;
/// How often in a row AWS may not answer who follows.
const MAX_SILENCES: u32 = 10;

/// Shows what the functions log.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let work = async {
        match Place::of(config, &arguments.place)? {
            Place::Local => logs_local::run(config, arguments, output).await,
            Place::Aws => Box::pin(aws(config, arguments, output)).await,
        }
    };
    if !arguments.follow {
        return work.await;
    }
    tokio::select! {
        ended = work => ended,
        // Who follows has no other way to end it.
        Ok(()) = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// A function and where it logs.
struct Group {
    function: &'static str,
    name: String,
}

async fn aws(
    config: Named<'_>,
    arguments: &LogsArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.place.endpoint_url.as_deref();
    let watched = Watched::find(config, endpoint_url).await?;
    let groups = groups(&watched, &arguments.functions);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let from = now.saturating_sub(arguments.since);
    let reader = Reader { watched: &watched, groups: &groups, arguments, output };
    let from_ms = u64::try_from(from.as_millis()).unwrap_or_default();
    let (limit, mut seen) =
        (usize::try_from(arguments.limit).unwrap_or(usize::MAX), Seen::default());
    let shown = reader.show(from_ms, limit, &mut seen).await?;
    if arguments.follow {
        return reader.follow(from_ms, &mut seen).await;
    }
    if shown == 0 {
        let since = humantime::format_duration(arguments.since);
        output.note(&format!("No such line in the last {since}; --since looks further back."));
    }
    Ok(())
}

/// Log groups by the ids that the template gives them.
fn groups(watched: &Watched, functions: &[FunctionArgument]) -> Vec<Group> {
    let all = [
        (FunctionArgument::Api, "api", "ApiLogGroup"),
        (FunctionArgument::Relay, "relay", "RelayLogGroup"),
        (FunctionArgument::Indexer, "indexer", "IndexerLogGroup"),
        (FunctionArgument::Webhook, "webhook", "WebhookLogGroup"),
        (FunctionArgument::Snapshot, "snapshot", "SnapshotLogGroup"),
    ];
    let wanted = all.iter().filter(|(id, ..)| functions.is_empty() || functions.contains(id));
    let groups = wanted.filter_map(|(_, function, logical_id)| {
        let name = watched.physical_id(logical_id)?.to_owned();
        Some(Group { function, name })
    });
    groups.collect()
}

struct Reader<'a> {
    watched: &'a Watched,
    groups: &'a [Group],
    arguments: &'a LogsArguments,
    output: &'a Output,
}

impl Reader<'_> {
    /// Shows what was logged from then on and was not shown before. Says how many lines that were.
    async fn show(&self, from_ms: u64, limit: usize, seen: &mut Seen) -> Result<usize, AwsError> {
        let mut newest = Newest::new(limit);
        for group in self.groups {
            let wish = Wish {
                log_group_name: group.name.clone(),
                start_time: from_ms,
                filter_pattern: self.pattern(),
            };
            let take = |events: Vec<LogEvent>| {
                for event in events {
                    self.take(group, event, &mut newest, seen);
                }
            };
            let is_all = self.watched.aws.log_events(&wish, take).await?;
            if !is_all {
                self.output.note(&format!(
                    "The log of {} was not read to its end, but for {PAGES_MAX} pages: give a \
                     shorter --since.",
                    group.function
                ));
            }
        }
        if newest.left_out() > 0 {
            let left_out = newest.left_out();
            self.output.note(&format!("{left_out} older lines are not shown: see --limit."));
        }
        let mut shown = 0;
        let width = self.groups.iter().map(|group| group.function.len()).max().unwrap_or_default();
        for line in newest.into_sorted() {
            self.output.result(&line, &line.text(width));
            shown += 1;
        }
        Ok(shown)
    }

    fn take(&self, group: &Group, event: LogEvent, newest: &mut Newest<Line>, seen: &mut Seen) {
        let (at_ms, fault) = (event.timestamp, is_fault(&event.message));
        let wanted = if self.arguments.errors {
            fault
        } else {
            // What Lambda says of a call that was cut off, nobody else says.
            self.arguments.all || fault || !is_of_lambda(&event.message)
        };
        // A filter may not look at capitals and order.
        let text = self.arguments.filter.as_ref();
        if !wanted || text.is_some_and(|text| !event.message.contains(text)) {
            return;
        }
        // Which function's: ids are of a log group.
        let id = event.event_id.as_ref().unwrap_or(&event.message);
        let id = format!("{} {} {id}", group.function, event.log_stream_name);
        // Only who follows reads a line twice.
        if self.arguments.follow && !seen.is_new(at_ms, id) {
            return;
        }
        let (message, stream) = (event.message, event.log_stream_name);
        let line = Line { at: moment(at_ms), function: group.function, message, stream };
        newest.push(at_ms, line);
    }

    /// What the service is to look for. It knows no "all of these and any of those": with a text, faults
    /// are looked for here, as they are in an emulator, which knows no "any" at all.
    fn pattern(&self) -> Option<String> {
        match &self.arguments.filter {
            Some(text) => Some(pattern_of(text)),
            None if self.arguments.errors && !self.watched.aws.is_emulator() => {
                Some(FAULT_WORDS.map(|word| format!("?{word}")).join(" "))
            }
            None => None,
        }
    }

    /// Shows what comes, until somebody ends it.
    async fn follow(&self, from_ms: u64, seen: &mut Seen) -> Result<(), SynthError> {
        let poll = self.watched.aws.poll_interval(POLL);
        let (mut from_ms, mut silences) = (from_ms, 0);
        loop {
            sleep(poll).await;
            from_ms = seen.go_on(from_ms, OVERLAP_MS);
            match self.show(from_ms, FOLLOWED_LINES, seen).await {
                Ok(_) => silences = 0,
                Err(AwsError::Unreachable { .. }) if silences < MAX_SILENCES => silences += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
