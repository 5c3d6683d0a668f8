//! The queues and the relay function, which reads the Entry table's change stream.

use cellar_api::environment;
use cellar_base::limits::SNAPSHOT_RECEIVES;
use cellar_base::table_attributes::{EXTERNAL, TYPE, UPLOADS_PREFIX};
use cellar_log::records::entry::{EDITS, IMPORT, SNAPSHOT};
use cellar_snapshot::relay::INSERT;
use serde_json::{Value, json};

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, objects_with_prefix};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, Handle, LogGroup, Queue, QueuePolicy, Role, Service, Statement,
    StreamFilter, StreamSource,
};
use crate::stack::{Stack, SynthesisError};

/// Relay memory in MB. The relay is I/O-bound: it mostly waits for SQS and S3.
const RELAY_MEMORY_MB: u32 = 256;
/// Relay timeout for a batch of records, in seconds.
const RELAY_TIMEOUT_S: u32 = 60;
/// Maximum timeout of the snapshot function in seconds (limit of Lambda).
const SNAPSHOT_TIMEOUT_S_MAX: u32 = 15 * 60;
/// Visibility timeout of the snapshot queue in seconds: six times the function timeout, as Lambda
/// recommends.
const SNAPSHOT_VISIBILITY_S: u32 = 6 * SNAPSHOT_TIMEOUT_S_MAX;

pub(super) struct Events {
    pub(super) relay: Handle<Function>,
    /// Dead-letter queue for change stream records that the relay, the indexer or the webhook could
    /// not process. Each message contains the ARN of its change stream.
    pub(super) change_stream_dead_letters: Handle<Queue>,
    /// Snapshot jobs.
    pub(super) snapshots: Handle<Queue>,
    /// Dead-letter queue for snapshot jobs that exceeded the receive limit.
    pub(super) snapshot_dead_letters: Handle<Queue>,
}

/// Adds the queues with their policies, and the relay with its log group, role and event source.
pub(super) fn add_relay_and_queues(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    code: &FunctionCode,
) -> Result<Events, SynthesisError> {
    let snapshot_dead_letters = add_queue(stack, "SnapshotDeadLetters", config, Queue::new())?;
    let jobs = Queue::new()
        .visibility_s(SNAPSHOT_VISIBILITY_S)
        .dead_letters(&snapshot_dead_letters, SNAPSHOT_RECEIVES);
    let snapshots = add_queue(stack, "SnapshotQueue", config, jobs)?;
    let change_stream_dead_letters =
        add_queue(stack, "ChangeStreamDeadLetters", config, Queue::new())?;
    let logs = functions::add_log_group(stack, "RelayLogGroup", config)?;
    let role = relay_role(storage, &snapshots, &change_stream_dead_letters, &logs);
    let role = permissions::allow_traces(role, config);
    let role = key::allow_key_use(role, config, &[KeyUse::Stream, KeyUse::Queues]);
    let role = stack.add("RelayRole", role)?;
    let description = "Starts snapshot jobs and confirms uploaded bodies for new entries.";
    let relay = Function::new(description, architecture, code.clone(), &role, &logs)
        .memory_mb(RELAY_MEMORY_MB)
        .timeout_s(RELAY_TIMEOUT_S)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_RELAY)
        .environment(environment::SNAPSHOT_QUEUE, snapshots.url())
        .environment(environment::BUCKET, storage.bucket.name());
    let relay = stack.add("RelayFunction", relay)?;
    let source = entry_source(storage, &relay, &change_stream_dead_letters);
    stack.add("RelaySource", source)?;
    suppressions::for_stream_function(stack, &relay);
    Ok(Events { relay, change_stream_dead_letters, snapshots, snapshot_dead_letters })
}

/// Adds a queue with its policy.
#[track_caller]
fn add_queue(
    stack: &mut Stack,
    id: &str,
    config: &Config,
    queue: Queue,
) -> Result<Handle<Queue>, SynthesisError> {
    let key = config.encryption.key();
    let queue = stack.add(id, queue.encrypted_with(key))?;
    stack.add(&format!("{id}Policy"), QueuePolicy::tls_only(&queue))?;
    suppressions::for_queue(stack, &queue, key.is_some());
    Ok(queue)
}

/// Returns the relay's event source, which selects new Snapshot entries and new entries with an
/// external body.
///
/// Updates are excluded: finishing a snapshot updates its entry, which must not start another
/// snapshot.
fn entry_source(
    storage: &Storage,
    relay: &Handle<Function>,
    dead_letters: &Handle<Queue>,
) -> StreamSource {
    let inserted = |image: Value| {
        StreamFilter::new(json!({ "eventName": [INSERT], "dynamodb": { "NewImage": image } }))
    };
    StreamSource::new(&storage.entries, relay, dead_letters)
        .filter(inserted(json!({ TYPE: { "S": [SNAPSHOT] } })))
        .filter(inserted(json!({
            TYPE: { "S": [EDITS, IMPORT] },
            EXTERNAL: { "S": [{ "exists": true }] },
        })))
}

fn relay_role(
    storage: &Storage,
    snapshots: &Handle<Queue>,
    dead_letters: &Handle<Queue>,
    logs: &Handle<LogGroup>,
) -> Role {
    let stream = permissions::read_stream("EntryStream", &storage.entries);
    let send =
        Statement::allow("Queues", ["sqs:SendMessage"], [snapshots.arn(), dead_letters.arn()]);
    let tags = Statement::allow(
        "UploadTags",
        ["s3:DeleteObjectTagging"],
        [objects_with_prefix(&storage.bucket, UPLOADS_PREFIX)],
    );
    Role::assumed_by(Service::Lambda)
        .policy("stream", [stream, permissions::list_streams()])
        .policy("queues", [send])
        .policy(
            "bucket",
            [tags, permissions::detect_missing_objects(&storage.bucket, &[UPLOADS_PREFIX])],
        )
        .policy("logs", [permissions::own_logs(logs)])
}
