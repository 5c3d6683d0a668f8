//! The snapshot function with its role.

use cellar_api::environment;
use cellar_base::table_attributes::{
    EXTERNAL, OFFLOADED_PREFIX, PARTITION_KEY, SHEETS_PREFIX, SORT_KEY, TYPE, UPLOADS_PREFIX,
};
use serde_json::json;

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, objects_with_prefix};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, Handle, LogGroup, Queue, QueueSource, Role, Service, Statement,
};
use crate::stack::{Stack, SynthesisError};

/// Maximum number of concurrent snapshot jobs: high enough for a busy stack, but low enough to
/// leave concurrency for API requests in an account with a low limit.
const MAX_CONCURRENCY: u32 = 10;

/// Adds the snapshot function with its log group, role and event source.
pub(super) fn add_snapshot_function(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    jobs: &Handle<Queue>,
    code: &FunctionCode,
) -> Result<Handle<Function>, SynthesisError> {
    let logs = functions::add_log_group(stack, "SnapshotLogGroup", config)?;
    let uses = [KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let role = permissions::allow_traces(snapshot_role(storage, jobs, &logs), config);
    let role = key::allow_key_use(role, config, &uses);
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
    stack.add("SnapshotSource", QueueSource::new(jobs, &function, MAX_CONCURRENCY))?;
    suppressions::for_snapshot_function(stack, &function);
    Ok(function)
}

/// Returns the execution role of the snapshot function.
///
/// The function reads logs, writes snapshot objects and pending snapshots, and records finished
/// snapshots in the log tables. It cannot modify edits.
fn snapshot_role(storage: &Storage, jobs: &Handle<Queue>, logs: &Handle<LogGroup>) -> Role {
    let read = ["dynamodb:GetItem", "dynamodb:Query"];
    let entries = Statement::allow("ReadEntries", read, [storage.entries.arn()]);
    // The function may update only an entry's root. The keys and the type are included because the
    // update condition reads them.
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
        [objects_with_prefix(&storage.bucket, SHEETS_PREFIX)],
    );
    let uploads = Statement::allow(
        "Uploads",
        ["s3:GetObject"],
        [objects_with_prefix(&storage.bucket, UPLOADS_PREFIX)],
    );
    // A job that rebuilds a snapshot from scratch reads the entire log, including offloaded
    // segments.
    let offload = Statement::allow(
        "Offload",
        ["s3:GetObject"],
        [objects_with_prefix(&storage.bucket, OFFLOADED_PREFIX)],
    );
    let prefixes = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let missing = permissions::detect_missing_objects(&storage.bucket, &prefixes);
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
