//! The snapshot function with its role.

use cellar_api::environment;
use cellar_base::table_attributes::{
    EXTERNAL, OFFLOADED_PREFIX, PARTITION_KEY, SHEETS_PREFIX, SORT_KEY, TYPE, UPLOADS_PREFIX,
};
use serde_json::json;

use super::functions::{self, FunctionContext};
use super::key::{self, KeyUse};
use super::permissions::{self, arn_of_objects_with_prefix};
use super::storage::Storage;
use super::suppressions;
use crate::constructs::{
    Bucket, Function, Handle, LogGroup, Queue, QueueSource, Role, Service, Statement,
};
use crate::stack::{Stack, SynthesisError};

/// Maximum number of concurrent snapshot jobs. New AWS accounts can run ten functions at once, so
/// this leaves six for API requests and change streams.
const MAX_CONCURRENCY: u32 = 4;

pub(super) fn add_snapshot_function(
    stack: &mut Stack,
    context: FunctionContext<'_>,
    jobs: &Handle<Queue>,
) -> Result<Handle<Function>, SynthesisError> {
    let FunctionContext { config, storage, .. } = context;
    let log_group = functions::add_log_group(stack, "SnapshotLogGroup", config)?;
    let key_uses = [KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let base_role = snapshot_role(storage, jobs, &log_group);
    let traced_role = permissions::with_trace_policy(base_role, config);
    let role = stack.add("SnapshotRole", key::with_key_policy(traced_role, config, &key_uses))?;
    let description = "Builds snapshots.";
    let function = context
        .create_function(description, &role, &log_group)
        .memory_mb(config.snapshots.memory_mb)
        .timeout_s(config.snapshots.timeout_s)
        .environment(environment::FUNCTION, environment::FUNCTION_SNAPSHOT)
        .environment(environment::ENTRY_TABLE, storage.entries.name())
        .environment(environment::SEGMENT_TABLE, storage.segments.name())
        .environment(environment::PENDING_SNAPSHOTS_TABLE, storage.pending_snapshots.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::SNAPSHOT_QUEUE, jobs.url());
    // Lambda must allow recursion, because a worker that finishes a snapshot sends the next job of
    // the log to the queue that invokes it. The chain has one invocation for each pending snapshot
    // of the log.
    let function = stack.add("SnapshotFunction", function.allow_recursion())?;
    stack.add("SnapshotSource", QueueSource::new(jobs, &function, MAX_CONCURRENCY))?;
    suppressions::suppress_snapshot_function_rules(stack, &function);
    Ok(function)
}

/// The function reads logs, writes snapshot objects and records of pending snapshots, and records
/// finished snapshots in the log tables. It cannot modify edits.
fn snapshot_role(storage: &Storage, jobs: &Handle<Queue>, log_group: &Handle<LogGroup>) -> Role {
    let read_actions = ["dynamodb:GetItem", "dynamodb:Query"];
    let read_entries = Statement::allow("ReadEntries", read_actions, [storage.entries.arn()]);
    // The snapshot root is the only attribute of an entry that the function may change. The policy
    // also lists the keys and the type, because the condition of the update reads them.
    let set_root = Statement::allow("SetRoot", ["dynamodb:UpdateItem"], [storage.entries.arn()])
        .only_if(json!({ "ForAllValues:StringEquals": {
            "dynamodb:Attributes": [EXTERNAL, SORT_KEY, PARTITION_KEY, TYPE],
        }}));
    let update_actions = ["dynamodb:GetItem", "dynamodb:UpdateItem"];
    let update_segments =
        Statement::allow("SegmentTable", update_actions, [storage.segments.arn()]);
    let write_actions = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"];
    let write_pending_snapshots =
        Statement::allow("PendingSnapshotsTable", write_actions, [storage.pending_snapshots.arn()]);
    let receive_jobs = Statement::allow(
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
        .policy("tables", [read_entries, set_root, update_segments, write_pending_snapshots])
        .policy("bucket", bucket_statements(&storage.bucket))
        .policy("queue", [receive_jobs])
        .policy("logs", [permissions::allow_log_writes(log_group)])
}

fn bucket_statements(bucket: &Handle<Bucket>) -> [Statement; 4] {
    let write_sheets = Statement::allow(
        "Sheets",
        ["s3:GetObject", "s3:PutObject"],
        [arn_of_objects_with_prefix(bucket, SHEETS_PREFIX)],
    );
    let read_uploads = Statement::allow(
        "Uploads",
        ["s3:GetObject"],
        [arn_of_objects_with_prefix(bucket, UPLOADS_PREFIX)],
    );
    // A job that rebuilds a snapshot from scratch reads the entire log, including offloaded
    // segments.
    let read_offloaded_segments = Statement::allow(
        "Offload",
        ["s3:GetObject"],
        [arn_of_objects_with_prefix(bucket, OFFLOADED_PREFIX)],
    );
    let readable_prefixes = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let find_missing_objects =
        permissions::allow_missing_object_detection(bucket, &readable_prefixes);
    [write_sheets, read_uploads, read_offloaded_segments, find_missing_objects]
}
