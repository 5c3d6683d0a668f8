//! What happens after an edit: the relay from the Entry table's stream, and the queue of snapshot
//! jobs.

use cellar_api::environment;
use cellar_base::limits::SNAPSHOT_RECEIVES;
use cellar_base::schema::{EXTERNAL, TYPE, UPLOADS_PREFIX};
use cellar_log::records::entry::{EDITS, IMPORT, SNAPSHOT};
use cellar_snapshot::relay::INSERT;
use serde_json::{Value, json};

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, below};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, LogGroup, Queue, QueuePolicy, Role, Service, Statement, StreamFilter,
    StreamSource,
};
use crate::stack::{Handle, Stack, SynthesisError};

/// Memory of the relay: it only waits for SQS and S3.
const RELAY_MEMORY_MB: u32 = 256;
/// Seconds that a batch of records may take.
const RELAY_TIMEOUT_S: u32 = 60;
/// Seconds that the worker on snapshots may run: the longest that Lambda allows.
const SNAPSHOT_TIMEOUT_S: u32 = 15 * 60;

/// The relay and the queues.
pub(super) struct Events {
    /// The function that reads the stream.
    pub(super) relay: Handle<Function>,
    /// What the functions on streams of tables could not do: a letter names its stream.
    pub(super) change_stream_dead_letters: Handle<Queue>,
    /// The jobs.
    pub(super) snapshots: Handle<Queue>,
    /// Jobs that came back too often.
    pub(super) snapshot_dead_letters: Handle<Queue>,
}

/// Adds the queues with their policies, and the relay with all that belongs to it.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    code: &FunctionCode,
) -> Result<Events, SynthesisError> {
    let snapshot_dead_letters = queue(stack, "SnapshotDeadLetters", config, Queue::new())?;
    let jobs = Queue::new()
        .visibility_s(6 * SNAPSHOT_TIMEOUT_S)
        .dead_letters(&snapshot_dead_letters, SNAPSHOT_RECEIVES);
    let snapshots = queue(stack, "SnapshotQueue", config, jobs)?;
    let change_stream_dead_letters = queue(stack, "ChangeStreamDeadLetters", config, Queue::new())?;
    let logs = functions::log_group(stack, "RelayLogGroup", config)?;
    let role = role(storage, &snapshots, &change_stream_dead_letters, &logs);
    let role = permissions::allow_traces(role, config);
    let role = key::allow(role, config, &[KeyUse::Stream, KeyUse::Queues]);
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
    let source = source(storage, &relay, &change_stream_dead_letters);
    stack.add("RelaySource", source)?;
    suppressions::for_stream_function(stack, &relay);
    Ok(Events { relay, change_stream_dead_letters, snapshots, snapshot_dead_letters })
}

/// Adds a queue and its policy.
#[track_caller]
fn queue(
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

/// New Snapshot entries, and new entries with an external body. Only insertions: the finished
/// snapshot is written back into its entry, which must not make another.
fn source(
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

fn role(
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
        [below(&storage.bucket, UPLOADS_PREFIX)],
    );
    Role::assumed_by(Service::Lambda)
        .policy("stream", [stream, permissions::list_streams()])
        .policy("queues", [send])
        .policy("bucket", [tags, permissions::tell_missing(&storage.bucket, &[UPLOADS_PREFIX])])
        .policy("logs", [permissions::own_logs(logs)])
}
