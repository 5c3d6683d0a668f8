//! The stack's CloudWatch alarms.
//!
//! A stack has ten alarms on one metric each, because CloudWatch does not charge for the first ten
//! metrics that an account watches. A webhook adds one more alarm, and `alarms.event_sources` those
//! on event sources. `templates/runbook/` explains how to respond to each alarm.

use super::events::Queues;
use super::storage::Storage;
use super::suppressions;
use crate::config::Config;
use crate::constructs::{Alarm, Function, Handle, Metric, MonitoredResource, Topic};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};
use crate::template::SourceLine;

/// The age of a change stream record, in milliseconds, above which an alarm triggers. Records are
/// usually processed within seconds.
const MAX_RECORD_AGE_MS: u32 = 10 * 60 * 1_000;
/// The age of a snapshot job, in seconds, above which an alarm triggers. The limit is high, because
/// a job may have to wait for earlier snapshots of the same log.
const MAX_JOB_AGE_S: u32 = 6 * 60 * 60;
/// The number of failed requests per period above which an alarm triggers. A client sends a failing
/// request up to 5 times, so a persistent fault exceeds this number, but a few write conflicts do
/// not.
const MAX_FAILURES: u32 = 4;
const THROTTLED_PERIODS: u32 = 3;
/// The number of snapshots per day that are expected from the writes to the Entry table before an
/// alarm triggers because the relay did not run. Writes may be spread over many logs, each of which
/// starts a snapshot only after many entries.
const UNREAD_SNAPSHOTS: u32 = 10;
/// The write units per day of the EventStream table or the Feed table above which an alarm triggers
/// because their reader did not run. Each change of the catalog invokes the reader. A few changes are
/// ignored, because those at the end of a day may be read on the next day.
const UNREAD_CHANGES: u32 = 10;

/// The sentence that refers operators to the runbook. It ends the description of every alarm.
pub const SEE_RUNBOOK: &str = " See `synth runbook`.";

pub(super) struct StackResources<'a> {
    pub(super) api: &'a Handle<Function>,
    pub(super) snapshot: &'a Handle<Function>,
    pub(super) indexer: &'a Handle<Function>,
    /// The function that delivers the feed to the webhook, or `None` if no webhook is configured.
    pub(super) webhook: Option<&'a Handle<Function>>,
    pub(super) storage: &'a Storage,
    pub(super) relay: &'a Handle<Function>,
    pub(super) queues: &'a Queues,
}

pub(super) fn add_alarms(
    stack: &mut Stack,
    config: &Config,
    resources: &StackResources<'_>,
) -> Result<(), SynthesisError> {
    let topic_arns = add_notification_topic(stack, config)?;
    let mut alarm_specs = api_alarms(config, resources);
    alarm_specs.extend(change_stream_alarms(resources));
    alarm_specs.extend(snapshot_alarms(resources));
    for alarm_spec in alarm_specs {
        let description = format!("{}{SEE_RUNBOOK}", alarm_spec.description);
        let alarm = Alarm::new(
            &description,
            alarm_spec.metric,
            alarm_spec.resource,
            alarm_spec.threshold,
            alarm_spec.periods,
        );
        let logical_id = format!("{}Alarm", alarm_spec.name);
        stack.add_from_source_line(
            alarm_spec.source_line,
            &logical_id,
            alarm.notify(&topic_arns),
        )?;
    }
    if config.alarms.event_sources {
        add_event_source_alarms(stack, config, resources, &topic_arns)?;
    }
    Ok(())
}

/// A disabled event source invokes nothing, so its function publishes neither errors nor the age of
/// its records. The queue of snapshot jobs needs no such alarm, because its jobs grow old.
fn add_event_source_alarms(
    stack: &mut Stack,
    config: &Config,
    resources: &StackResources<'_>,
    topic_arns: &[Expression],
) -> Result<(), SynthesisError> {
    let describe = |reader: &str, changes: &str| {
        format!(
            "{reader} has not run for a day although {changes}: its event source may be \
             disabled.{SEE_RUNBOOK}"
        )
    };
    let storage = resources.storage;
    // Without automatic snapshots, only large entries invoke the relay.
    if config.snapshots.enabled {
        let description = describe("The relay", "many entries were written");
        let write_units = UNREAD_SNAPSHOTS.saturating_mul(config.snapshots.entries);
        let alarm = Alarm::unread(&description, &storage.entries, resources.relay, write_units);
        stack.add("RelaySourceAlarm", alarm.notify(topic_arns))?;
    }
    let description = describe("The indexer", "the catalog was changed");
    let alarm =
        Alarm::unread(&description, &storage.event_streams, resources.indexer, UNREAD_CHANGES);
    stack.add("IndexerSourceAlarm", alarm.notify(topic_arns))?;
    if let Some(webhook) = resources.webhook {
        let description = describe("The webhook", "the feed has new items");
        let alarm = Alarm::unread(&description, &storage.feed, webhook, UNREAD_CHANGES);
        stack.add("WebhookSourceAlarm", alarm.notify(topic_arns))?;
    }
    Ok(())
}

/// Adds an SNS topic for alarm notifications if an email address is configured.
///
/// Returns the ARNs of all topics to notify: the added topic and the topic from the configuration,
/// if they exist.
fn add_notification_topic(
    stack: &mut Stack,
    config: &Config,
) -> Result<Vec<Expression>, SynthesisError> {
    let mut topic_arns: Vec<Expression> = Vec::new();
    if let Some(email) = &config.alarms.email {
        let kms_key = config.encryption.key();
        let topic = stack.add("AlarmTopic", Topic::to_email(email).encrypted_with(kms_key))?;
        suppressions::suppress_topic_rules(stack, &topic, kms_key.is_some());
        topic_arns.push(topic.arn());
    }
    if let Some(customer_topic_arn) = &config.alarms.topic_arn {
        topic_arns.push(customer_topic_arn.as_str().into());
    }
    Ok(topic_arns)
}

struct AlarmSpec {
    /// Logical id without the `Alarm` suffix.
    name: &'static str,
    description: &'static str,
    metric: Metric,
    resource: MonitoredResource,
    threshold: u32,
    /// The number of consecutive periods in which `metric` must exceed the threshold before the
    /// alarm triggers.
    periods: u32,
    source_line: SourceLine,
}

impl AlarmSpec {
    /// Defines an alarm that triggers when `metric` exceeds 0 in one period.
    #[track_caller]
    fn new(name: &'static str, metric: Metric, resource: MonitoredResource) -> Self {
        let source_line = SourceLine::caller();
        Self { name, description: "", metric, resource, threshold: 0, periods: 1, source_line }
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

fn api_alarms(config: &Config, resources: &StackResources<'_>) -> Vec<AlarmSpec> {
    let api_function = || MonitoredResource::function(resources.api);
    let entry_table = MonitoredResource::table(&resources.storage.entries);
    vec![
        AlarmSpec::new("ApiErrors", Metric::UrlServerErrors, api_function())
            .description("The API returns 5xx errors.")
            .threshold(MAX_FAILURES),
        AlarmSpec::new("ApiThrottles", Metric::Throttles, api_function())
            .description("The API is throttled (429).")
            .periods(THROTTLED_PERIODS),
        AlarmSpec::new("ApiRequests", Metric::UrlRequests, api_function())
            .description("The number of API requests exceeds alarms.requests_per_5_minutes.")
            .threshold(config.alarms.requests_per_5_minutes),
        AlarmSpec::new("EntryWriteUnits", Metric::WriteUnits, entry_table)
            .description(
                "The number of consumed write units exceeds alarms.write_units_per_5_minutes.",
            )
            .threshold(config.alarms.write_units_per_5_minutes),
    ]
}

/// Failures and throttling have no alarms of their own, because both increase the age of
/// unprocessed records. Records that exhaust their retries are sent to a shared dead-letter queue.
fn change_stream_alarms(resources: &StackResources<'_>) -> Vec<AlarmSpec> {
    let relay = MonitoredResource::function(resources.relay);
    let indexer = MonitoredResource::function(resources.indexer);
    let dead_letters = MonitoredResource::queue(&resources.queues.change_stream_dead_letters);
    let mut alarm_specs = vec![
        AlarmSpec::new("RelayIteratorAge", Metric::IteratorAge, relay)
            .description("The relay is over 10 minutes behind, so snapshots are delayed.")
            .threshold(MAX_RECORD_AGE_MS),
        AlarmSpec::new("IndexerIteratorAge", Metric::IteratorAge, indexer)
            .description(
                "The indexer is over 10 minutes behind, so the feed and the spreadsheet lists are stale.",
            )
            .threshold(MAX_RECORD_AGE_MS),
        AlarmSpec::new("ChangeStreamDeadLetter", Metric::VisibleMessages, dead_letters)
            .description("The relay, the indexer or the webhook could not process a change stream record."),
    ];
    if let Some(webhook) = resources.webhook {
        let webhook = MonitoredResource::function(webhook);
        let alarm_spec = AlarmSpec::new("WebhookIteratorAge", Metric::IteratorAge, webhook)
            .description("Webhook deliveries have failed for over 10 minutes.")
            .threshold(MAX_RECORD_AGE_MS);
        alarm_specs.push(alarm_spec);
    }
    alarm_specs
}

/// Throttling has no alarm of its own, because throttled jobs wait in the queue and exceed the job
/// age limit.
fn snapshot_alarms(resources: &StackResources<'_>) -> Vec<AlarmSpec> {
    let snapshot = MonitoredResource::function(resources.snapshot);
    let jobs = MonitoredResource::queue(&resources.queues.snapshot_jobs);
    let dead_letters = MonitoredResource::queue(&resources.queues.snapshot_dead_letters);
    vec![
        AlarmSpec::new("SnapshotErrors", Metric::Errors, snapshot)
            .description("The snapshot function returns errors."),
        AlarmSpec::new("SnapshotQueueAge", Metric::OldestMessage, jobs)
            .description("A snapshot job has waited for over 6 hours.")
            .threshold(MAX_JOB_AGE_S),
        AlarmSpec::new("SnapshotDeadLetter", Metric::VisibleMessages, dead_letters)
            .description("A snapshot job failed permanently."),
    ]
}
