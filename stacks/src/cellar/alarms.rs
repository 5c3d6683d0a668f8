//! CloudWatch alarms of the stack. There are ten, the number that is free in each account; a stack
//! with a webhook has an eleventh. `templates/runbook/` describes each alarm and the response to
//! it.

use super::events::Events;
use super::storage::Storage;
use super::suppressions;
use crate::config::Config;
use crate::constructs::{Alarm, Function, Handle, Metric, Topic, Watched};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};
use crate::template::Place;

/// Alarm threshold for the age of a change stream record, in milliseconds. Records are usually
/// processed within seconds.
const ITERATOR_AGE_MS_MAX: u32 = 10 * 60 * 1_000;
/// Alarm threshold for the age of a snapshot job, in seconds. A job may have to wait for earlier
/// snapshots of the same log.
const JOB_AGE_S_MAX: u32 = 6 * 60 * 60;
/// Alarm threshold for failed requests per period. Clients retry up to 5 times, so a persistent
/// fault exceeds the threshold, but a writer that loses a few races does not.
const FAILURES_MAX: u32 = 4;

/// Suffix of every alarm description.
pub const SEE_RUNBOOK: &str = " See `synth runbook`.";

/// Resources monitored by the alarms and the dashboard.
pub(super) struct Parts<'a> {
    pub(super) api: &'a Handle<Function>,
    pub(super) snapshot: &'a Handle<Function>,
    pub(super) indexer: &'a Handle<Function>,
    /// Webhook function, which delivers the feed; `None` if no webhook is configured.
    pub(super) webhook: Option<&'a Handle<Function>>,
    pub(super) storage: &'a Storage,
    pub(super) events: &'a Events,
}

/// Adds all alarms and the SNS topic that they notify.
pub(super) fn add_alarms(
    stack: &mut Stack,
    config: &Config,
    parts: &Parts<'_>,
) -> Result<(), SynthesisError> {
    let topics = notification_topics(stack, config)?;
    let mut specs = api_alarms(config, parts);
    specs.extend(change_stream_alarms(parts));
    specs.extend(snapshot_alarms(parts));
    for spec in specs {
        let description = format!("{}{SEE_RUNBOOK}", spec.description);
        let alarm =
            Alarm::new(&description, spec.metric, spec.watched, spec.threshold, spec.periods);
        let logical_id = format!("{}Alarm", spec.name);
        stack.add_at(spec.place, &logical_id, alarm.notify(&topics))?;
    }
    Ok(())
}

/// Returns the ARNs of the topics to notify: a new topic if an email address is configured, and the
/// customer's own topic if configured.
fn notification_topics(
    stack: &mut Stack,
    config: &Config,
) -> Result<Vec<Expression>, SynthesisError> {
    let mut topics: Vec<Expression> = Vec::new();
    if let Some(email) = &config.alarms.email {
        let kms_key = config.encryption.key();
        let topic = stack.add("AlarmTopic", Topic::to_email(email).encrypted_with(kms_key))?;
        suppressions::for_topic(stack, &topic, kms_key.is_some());
        topics.push(topic.arn());
    }
    topics.extend(config.alarms.topic_arn.iter().map(|arn| arn.as_str().into()));
    Ok(topics)
}

/// Definition of an alarm to add to the stack.
struct AlarmSpec {
    /// Logical id without the `Alarm` suffix.
    name: &'static str,
    description: &'static str,
    metric: Metric,
    watched: Watched,
    threshold: u32,
    /// Number of consecutive periods above the threshold that trigger the alarm.
    periods: u32,
    /// Source line that defines the alarm.
    place: Place,
}

impl AlarmSpec {
    /// Defines an alarm that triggers when `metric` exceeds 0 in one period.
    #[track_caller]
    fn new(name: &'static str, metric: Metric, watched: Watched) -> Self {
        let place = Place::caller();
        Self { name, description: "", metric, watched, threshold: 0, periods: 1, place }
    }

    fn description(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    fn threshold(self, threshold: u32) -> Self {
        Self { threshold, ..self }
    }

    fn periods(self, periods: u32) -> Self {
        Self { periods, ..self }
    }
}

fn api_alarms(config: &Config, parts: &Parts<'_>) -> Vec<AlarmSpec> {
    let api = || Watched::function(parts.api);
    let entries = Watched::table(&parts.storage.entries);
    vec![
        AlarmSpec::new("ApiErrors", Metric::UrlServerErrors, api())
            .description("The API returns 5xx errors.")
            .threshold(FAILURES_MAX),
        AlarmSpec::new("ApiThrottles", Metric::Throttles, api())
            .description("The API is throttled (429).")
            .periods(3),
        AlarmSpec::new("ApiRequests", Metric::UrlRequests, api())
            .description("More API requests than alarms.requests_per_5_minutes.")
            .threshold(config.alarms.requests_per_5_minutes),
        AlarmSpec::new("EntryWriteUnits", Metric::WriteUnits, entries)
            .description("More write units than alarms.write_units_per_5_minutes.")
            .threshold(config.alarms.write_units_per_5_minutes),
    ]
}

/// Returns the alarms for the functions that read change streams.
///
/// A failing or throttled function shows up as an increasing record age, so failures need no
/// separate alarms. Records that exhaust their retries are sent to a shared dead-letter queue.
fn change_stream_alarms(parts: &Parts<'_>) -> Vec<AlarmSpec> {
    let relay = Watched::function(&parts.events.relay);
    let indexer = Watched::function(parts.indexer);
    let dead_letters = Watched::queue(&parts.events.change_stream_dead_letters);
    let mut specs = vec![
        AlarmSpec::new("RelayIteratorAge", Metric::IteratorAge, relay)
            .description("The relay is over 10 minutes behind: snapshots are delayed.")
            .threshold(ITERATOR_AGE_MS_MAX),
        AlarmSpec::new("IndexerIteratorAge", Metric::IteratorAge, indexer)
            .description(
                "The indexer is over 10 minutes behind: feed and spreadsheet lists are stale.",
            )
            .threshold(ITERATOR_AGE_MS_MAX),
        AlarmSpec::new("ChangeStreamDeadLetter", Metric::VisibleMessages, dead_letters)
            .description("Relay, indexer or webhook failed permanently on a record."),
    ];
    if let Some(webhook) = parts.webhook {
        let webhook = Watched::function(webhook);
        let spec = AlarmSpec::new("WebhookIteratorAge", Metric::IteratorAge, webhook)
            .description("Webhook deliveries have failed for over 10 minutes.")
            .threshold(ITERATOR_AGE_MS_MAX);
        specs.push(spec);
    }
    specs
}

/// Returns the alarms for the snapshot function. Throttling increases the job age, so it needs no
/// separate alarm.
fn snapshot_alarms(parts: &Parts<'_>) -> Vec<AlarmSpec> {
    let snapshot = Watched::function(parts.snapshot);
    let jobs = Watched::queue(&parts.events.snapshots);
    let dead_letters = Watched::queue(&parts.events.snapshot_dead_letters);
    vec![
        AlarmSpec::new("SnapshotErrors", Metric::Errors, snapshot)
            .description("The snapshot function returns errors."),
        AlarmSpec::new("SnapshotQueueAge", Metric::OldestMessage, jobs)
            .description("A snapshot job has waited for over 6 hours.")
            .threshold(JOB_AGE_S_MAX),
        AlarmSpec::new("SnapshotDeadLetter", Metric::VisibleMessages, dead_letters)
            .description("A snapshot job failed permanently."),
    ]
}
