//! The function that makes snapshots, and what it may do.

use cellar_api::environment;
use cellar_base::schema::{
    EXTERNAL, OFFLOADED_PREFIX, PARTITION_KEY, SHEETS_PREFIX, SORT_KEY, TYPE, UPLOADS_PREFIX,
};
use serde_json::json;

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, below};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, LogGroup, Queue, QueueSource, Role, Service, Statement,
};
use crate::stack::{Handle, Stack, SynthesisError};

/// Snapshots that are made at a time: enough for a busy stack, and a small account has functions
/// left for requests.
const CONCURRENCY_MAX: u32 = 10;

/// Adds the function with its log group, its role and its source.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    jobs: &Handle<Queue>,
    code: &FunctionCode,
) -> Result<Handle<Function>, SynthesisError> {
    let logs = functions::log_group(stack, "SnapshotLogGroup", config)?;
    let uses = [KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let role = permissions::allow_traces(role(storage, jobs, &logs), config);
    let role = key::allow(role, config, &uses);
    let role = stack.add("SnapshotRole", role)?;
    let description = "Builds snapshots.";
    let function = Function::new(description, architecture, code.clone(), &role, &logs)
        .memory_mb(config.snapshots.memory_mb)
        .timeout_s(config.snapshots.timeout_s)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_SNAPSHOT)
        .environment(environment::ENTRY_TABLE, storage.entries.name())
        .environment(environment::SEGMENT_TABLE, storage.segments.name())
        .environment(environment::PENDING_SNAPSHOTS_TABLE, storage.pending_snapshots.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::SNAPSHOT_QUEUE, jobs.url());
    let function = stack.add("SnapshotFunction", function)?;
    stack.add("SnapshotSource", QueueSource::new(jobs, &function, CONCURRENCY_MAX))?;
    suppressions::for_snapshot_function(stack, &function);
    Ok(function)
}

/// It reads the log, writes objects of its own and its own records, and says in the log's tables
/// that a snapshot is there: no edit can be changed by it.
fn role(storage: &Storage, jobs: &Handle<Queue>, logs: &Handle<LogGroup>) -> Role {
    let read = ["dynamodb:GetItem", "dynamodb:Query"];
    let entries = Statement::allow("ReadEntries", read, [storage.entries.arn()]);
    // Of an entry, only its root: the keys and the type are named by the condition of the update.
    let root = Statement::allow("SetRoot", ["dynamodb:UpdateItem"], [storage.entries.arn()])
        .only_if(json!({ "ForAllValues:StringEquals": {
            "dynamodb:Attributes": [EXTERNAL, SORT_KEY, PARTITION_KEY, TYPE],
        }}));
    let update = ["dynamodb:GetItem", "dynamodb:UpdateItem"];
    let segments = Statement::allow("SegmentTable", update, [storage.segments.arn()]);
    let write = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"];
    let pending =
        Statement::allow("PendingSnapshotsTable", write, [storage.pending_snapshots.arn()]);
    let sheets = Statement::allow(
        "Sheets",
        ["s3:GetObject", "s3:PutObject"],
        [below(&storage.bucket, SHEETS_PREFIX)],
    );
    let uploads =
        Statement::allow("Uploads", ["s3:GetObject"], [below(&storage.bucket, UPLOADS_PREFIX)]);
    // What is made anew begins with the log, however old.
    let offload =
        Statement::allow("Offload", ["s3:GetObject"], [below(&storage.bucket, OFFLOADED_PREFIX)]);
    let prefixes = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let missing = permissions::tell_missing(&storage.bucket, &prefixes);
    let queue = Statement::allow(
        "Jobs",
        [
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
            "sqs:SendMessage",
        ],
        [jobs.arn()],
    );
    Role::assumed_by(Service::Lambda)
        .policy("tables", [entries, root, segments, pending])
        .policy("bucket", [sheets, uploads, offload, missing])
        .policy("queue", [queue])
        .policy("logs", [permissions::own_logs(logs)])
}
