//! The alarms: ten, because the eleventh of an account costs money every month; a stack with a webhook has that one. What each means and what to do, `templates/runbook/` says.

use super::events::Events;
use super::storage::Storage;
use super::suppressions;
use crate::config::Config;
use crate::constructs::{Alarm, Function, Metric, Topic, Watched};
use crate::expression::Expression;
use crate::stack::{Handle, Place, Stack, SynthesisError};

/// Records are relayed within seconds; after this many milliseconds something stands still.
const ITERATOR_AGE_MS_MAX: u32 = 10 * 60 * 1_000;
/// A job may wait for earlier snapshots of its log; after this many seconds they do not get done.
const JOB_AGE_S_MAX: u32 = 6 * 60 * 60;
/// Requests that fail within a period without an alarm: a client repeats a request that fails up to
/// 5 times, so that one fault is more than this, and a writer that lost races for a moment is not.
const FAILURES_MAX: u32 = 4;

/// End of each alarm's description.
pub const SEE_RUNBOOK: &str = " See `synth runbook`.";

/// What is watched.
pub(super) struct Parts<'a> {
    pub(super) api: &'a Handle<Function>,
    pub(super) snapshot: &'a Handle<Function>,
    pub(super) indexer: &'a Handle<Function>,
    /// The delivery of the feed, if there is one.
    pub(super) webhook: Option<&'a Handle<Function>>,
    pub(super) storage: &'a Storage,
    pub(super) events: &'a Events,
}

/// Adds all of them, and whom they tell.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    parts: &Parts<'_>,
) -> Result<(), SynthesisError> {
    let told = told(stack, config)?;
    let alarms = of_api(config, parts).into_iter().chain(of_streams(parts));
    for (id, description, alarm) in alarms.chain(of_snapshots(parts)) {
        let description = format!("{description}{SEE_RUNBOOK}");
        let Watch { metric, watched, above, periods, made_in } = alarm;
        let alarm = Alarm::new(&description, metric, watched, above, periods).tell(&told);
        stack.add_made_in(made_in, &format!("{id}Alarm"), alarm)?;
    }
    Ok(())
}

/// The topics of the configuration: one of ours for an address, and the customer's own.
fn told(stack: &mut Stack, config: &Config) -> Result<Vec<Expression>, SynthesisError> {
    let mut told: Vec<Expression> = Vec::new();
    if let Some(email) = &config.alarms.email {
        let key = config.encryption.key();
        let topic = stack.add("AlarmTopic", Topic::to_email(email).encrypted_with(key))?;
        suppressions::for_topic(stack, &topic, key.is_some());
        told.push(topic.arn());
    }
    told.extend(config.alarms.topic_arn.iter().map(|arn| arn.as_str().into()));
    Ok(told)
}

/// The metric, and from when on it is too much.
struct Watch {
    metric: Metric,
    watched: Watched,
    above: u32,
    periods: u32,
    /// The line of the lists below.
    made_in: Place,
}

/// Name, meaning, and what is watched.
type Named = (&'static str, &'static str, Watch);

#[track_caller]
fn watch(metric: Metric, watched: Watched, above: u32, periods: u32) -> Watch {
    Watch { metric, watched, above, periods, made_in: Place::caller() }
}

fn of_api(config: &Config, parts: &Parts<'_>) -> Vec<Named> {
    let api = || Watched::function(parts.api);
    let entries = Watched::table(&parts.storage.entries);
    let (requests, units) =
        (config.alarms.requests_per_5_minutes, config.alarms.write_units_per_5_minutes);
    vec![
        (
            "ApiErrors",
            "The API returns 5xx errors.",
            watch(Metric::UrlFailures, api(), FAILURES_MAX, 1),
        ),
        ("ApiThrottles", "The API is throttled (429).", watch(Metric::Throttles, api(), 0, 3)),
        (
            "ApiRequests",
            "More API requests than alarms.requests_per_5_minutes.",
            watch(Metric::UrlRequests, api(), requests, 1),
        ),
        (
            "EntryWriteUnits",
            "More write units than alarms.write_units_per_5_minutes.",
            watch(Metric::WriteUnits, entries, units, 1),
        ),
    ]
}

/// Whatever keeps the relay and the indexer from their records, errors and throttling included, shows in
/// the records' age; what they gave up is in one queue.
fn of_streams(parts: &Parts<'_>) -> Vec<Named> {
    let Events { relay, change_stream_dead_letters, .. } = parts.events;
    let age = |function| (Metric::IteratorAge, Watched::function(function));
    let (relays, indexers) = (age(relay), age(parts.indexer));
    let webhook = parts.webhook.map(|webhook| {
        let (metric, watched) = age(webhook);
        (
            "WebhookIteratorAge",
            "Webhook deliveries have failed for over 10 minutes.",
            watch(metric, watched, ITERATOR_AGE_MS_MAX, 1),
        )
    });
    let always = [
        (
            "RelayIteratorAge",
            "The relay is over 10 minutes behind: snapshots are delayed.",
            watch(relays.0, relays.1, ITERATOR_AGE_MS_MAX, 1),
        ),
        (
            "IndexerIteratorAge",
            "The indexer is over 10 minutes behind: feed and spreadsheet lists are stale.",
            watch(indexers.0, indexers.1, ITERATOR_AGE_MS_MAX, 1),
        ),
        (
            "ChangeStreamDeadLetter",
            "Relay, indexer or webhook failed permanently on a record.",
            watch(Metric::Messages, Watched::queue(change_stream_dead_letters), 0, 1),
        ),
    ];
    always.into_iter().chain(webhook).collect()
}

/// Whatever keeps the worker from its jobs, throttling included, shows in their age.
fn of_snapshots(parts: &Parts<'_>) -> Vec<Named> {
    let Events { snapshots, snapshot_dead_letters, .. } = parts.events;
    vec![
        (
            "SnapshotErrors",
            "The snapshot function returns errors.",
            watch(Metric::Errors, Watched::function(parts.snapshot), 0, 1),
        ),
        (
            "SnapshotQueueAge",
            "A snapshot job has waited for over 6 hours.",
            watch(Metric::OldestMessage, Watched::queue(snapshots), JOB_AGE_S_MAX, 1),
        ),
        (
            "SnapshotDeadLetter",
            "A snapshot job failed permanently.",
            watch(Metric::Messages, Watched::queue(snapshot_dead_letters), 0, 1),
        ),
    ]
}
