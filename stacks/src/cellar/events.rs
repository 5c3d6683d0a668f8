//! The stack's queues, and the relay function, which reads the Entry table's change stream.

use cellar_api::environment;
use cellar_base::limits::SNAPSHOT_RECEIVES;
use cellar_base::table_attributes::{EXTERNAL, TYPE, UPLOADS_PREFIX};
use cellar_log::records::entry::{EDITS, IMPORT, SNAPSHOT};
use cellar_snapshot::relay::INSERT;
use serde_json::{Value, json};

use super::functions::{self, FunctionContext};
use super::key::{self, KeyUse};
use super::permissions::{self, arn_of_objects_with_prefix};
use super::storage::Storage;
use super::suppressions;
use crate::config::Config;
use crate::constructs::{
    Function, Handle, LogGroup, Queue, QueuePolicy, Role, Service, Statement, StreamFilter,
    StreamSource,
};
use crate::stack::{Stack, SynthesisError};

/// The relay's memory in MB. The relay needs little memory, because it mostly waits for SQS and S3.
const RELAY_MEMORY_MB: u32 = 256;
/// The relay's timeout in seconds. One invocation processes one batch of records.
const RELAY_TIMEOUT_S: u32 = 60;
/// Visibility timeout of the snapshot queue, in timeouts of the snapshot function. Lambda recommends
/// six. A job whose invocation was throttled is hidden for this time.
const VISIBILITY_TIMEOUTS: u32 = 6;

pub(super) struct Queues {
    /// The dead-letter queue for change stream records that the relay, the indexer or the webhook
    /// could not process. Each message contains the ARN of the change stream.
    pub(super) change_stream_dead_letters: Handle<Queue>,
    pub(super) snapshot_jobs: Handle<Queue>,
    pub(super) snapshot_dead_letters: Handle<Queue>,
}

pub(super) fn add_queues(stack: &mut Stack, config: &Config) -> Result<Queues, SynthesisError> {
    let snapshot_dead_letters = add_queue(stack, "SnapshotDeadLetters", config, Queue::new())?;
    let job_queue = Queue::new()
        .visibility_s(VISIBILITY_TIMEOUTS * config.snapshots.timeout_s)
        .dead_letters(&snapshot_dead_letters, SNAPSHOT_RECEIVES);
    let snapshot_jobs = add_queue(stack, "SnapshotQueue", config, job_queue)?;
    let change_stream_dead_letters =
        add_queue(stack, "ChangeStreamDeadLetters", config, Queue::new())?;
    Ok(Queues { change_stream_dead_letters, snapshot_jobs, snapshot_dead_letters })
}

pub(super) fn add_relay(
    stack: &mut Stack,
    context: FunctionContext<'_>,
    queues: &Queues,
) -> Result<Handle<Function>, SynthesisError> {
    let FunctionContext { config, storage, .. } = context;
    let log_group = functions::add_log_group(stack, "RelayLogGroup", config)?;
    let base_role = relay_role(storage, queues, &log_group);
    let traced_role = permissions::with_trace_policy(base_role, config);
    let role = key::with_key_policy(traced_role, config, &[KeyUse::Stream, KeyUse::Queues]);
    let role = stack.add("RelayRole", role)?;
    let description = "Starts snapshot jobs and confirms uploaded bodies for new entries.";
    let function = context
        .create_function(description, &role, &log_group)
        .memory_mb(RELAY_MEMORY_MB)
        .timeout_s(RELAY_TIMEOUT_S)
        .environment(environment::FUNCTION, environment::FUNCTION_RELAY)
        .environment(environment::SNAPSHOT_QUEUE, queues.snapshot_jobs.url())
        .environment(environment::DEAD_LETTER_QUEUE, queues.change_stream_dead_letters.url())
        .environment(environment::BUCKET, storage.bucket.name());
    let relay = stack.add("RelayFunction", function)?;
    let event_source = relay_event_source(storage, &relay, &queues.change_stream_dead_letters);
    stack.add("RelaySource", event_source)?;
    suppressions::suppress_stream_function_rules(stack, &relay);
    Ok(relay)
}

#[track_caller]
fn add_queue(
    stack: &mut Stack,
    logical_id: &str,
    config: &Config,
    definition: Queue,
) -> Result<Handle<Queue>, SynthesisError> {
    let kms_key = config.encryption.key();
    let queue = stack.add(logical_id, definition.encrypted_with(kms_key))?;
    stack.add(&format!("{logical_id}Policy"), QueuePolicy::tls_only(&queue))?;
    suppressions::suppress_queue_rules(stack, &queue, kms_key.is_some());
    Ok(queue)
}

/// Returns the event source that invokes the relay for new Snapshot entries and for new entries
/// with an external body.
///
/// Updated entries do not invoke the relay. A Snapshot entry is updated when its snapshot is
/// finished, and this update must not start the same snapshot again.
fn relay_event_source(
    storage: &Storage,
    relay: &Handle<Function>,
    dead_letters: &Handle<Queue>,
) -> StreamSource {
    let snapshot_entry = json!({ TYPE: { "S": [SNAPSHOT] } });
    let entry_with_external_body = json!({
        TYPE: { "S": [EDITS, IMPORT] },
        EXTERNAL: { "S": [{ "exists": true }] },
    });
    StreamSource::new(&storage.entries, relay, dead_letters)
        .filter(inserted_items(&snapshot_entry))
        .filter(inserted_items(&entry_with_external_body))
}

/// The filter does not select updated items.
fn inserted_items(item_pattern: &Value) -> StreamFilter {
    StreamFilter::new(json!({ "eventName": [INSERT], "dynamodb": { "NewImage": item_pattern } }))
}

fn relay_role(storage: &Storage, queues: &Queues, log_group: &Handle<LogGroup>) -> Role {
    let read_stream = permissions::allow_stream_reads("EntryStream", &storage.entries);
    let message_queues = [queues.snapshot_jobs.arn(), queues.change_stream_dead_letters.arn()];
    let send_messages = Statement::allow("Queues", ["sqs:SendMessage"], message_queues);
    let untag_uploads = Statement::allow(
        "UploadTags",
        ["s3:DeleteObjectTagging"],
        [arn_of_objects_with_prefix(&storage.bucket, UPLOADS_PREFIX)],
    );
    Role::assumed_by(Service::Lambda)
        .policy("stream", [read_stream, permissions::allow_stream_listing()])
        .policy("queues", [send_messages])
        .policy(
            "bucket",
            [
                untag_uploads,
                permissions::allow_missing_object_detection(&storage.bucket, &[UPLOADS_PREFIX]),
            ],
        )
        .policy("logs", [permissions::allow_log_writes(log_group)])
}
