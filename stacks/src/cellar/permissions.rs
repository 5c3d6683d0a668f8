//! Policy statements shared by several roles.

use serde_json::json;

use crate::config::Config;
use crate::constructs::{Bucket, Handle, LogGroup, Role, Statement, Table};
use crate::expression::Expression;

/// Returns an ARN pattern for objects whose keys start with `prefix`.
pub(super) fn objects_with_prefix(bucket: &Handle<Bucket>, prefix: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{prefix}*").into()])
}

/// Returns an ARN pattern for objects whose keys match `pattern`, in which `*` matches any text.
pub(super) fn objects_matching(bucket: &Handle<Bucket>, pattern: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{pattern}").into()])
}

/// Allows listing keys that start with one of the prefixes. Without this permission, S3 responds to
/// requests for missing objects with 403 instead of 404.
pub(super) fn detect_missing_objects(bucket: &Handle<Bucket>, prefixes: &[&str]) -> Statement {
    let prefixes: Vec<String> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
    Statement::allow("TellMissing", ["s3:ListBucket"], [bucket.arn()])
        .only_if(json!({ "StringLike": { "s3:prefix": prefixes } }))
}

/// Allows Lambda to read a table's change stream.
pub(super) fn read_stream(id: &str, table: &Handle<Table>) -> Statement {
    let read = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
    Statement::allow(id, read, [table.stream_arn()])
}

/// Allows Lambda to list change streams, as event sources require.
pub(super) fn list_streams() -> Statement {
    Statement::allow_on_any_resource(
        "ListStreams",
        ["dynamodb:ListStreams"],
        "Lambda requires this action to read a change stream, and the action accepts only *.",
    )
}

/// Allows a function to write to its own log group.
pub(super) fn own_logs(logs: &Handle<LogGroup>) -> Statement {
    // A log group ARN ends with `:*`, which also matches the log streams of the group.
    Statement::allow("OwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [logs.arn()])
}

/// Allows a function to write X-Ray traces. No-op unless tracing is enabled.
pub(super) fn allow_traces(role: Role, config: &Config) -> Role {
    if !config.tracing {
        return role;
    }
    let traces = Statement::allow_on_any_resource(
        "Traces",
        ["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
        "These actions of X-Ray do not support resource ARNs and accept only *.",
    );
    role.policy("traces", [traces])
}
