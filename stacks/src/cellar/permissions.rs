//! Policy statements that several roles share.

use serde_json::json;

use crate::config::Config;
use crate::constructs::{Bucket, Handle, LogGroup, Role, Statement, Table};
use crate::expression::Expression;

pub(super) fn arn_of_objects_with_prefix(bucket: &Handle<Bucket>, prefix: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{prefix}*").into()])
}

/// A `*` in `pattern` matches any string.
pub(super) fn arn_of_objects_matching(bucket: &Handle<Bucket>, pattern: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{pattern}").into()])
}

/// Allows a role to list the keys that start with one of `prefixes`. Without this permission, S3
/// responds with 403 instead of 404 if an object does not exist.
///
/// AWS does not document whether a request for an object has the condition key `s3:prefix`, so the
/// statement also applies to requests without this key. They can list names of other objects, but
/// not read their contents.
pub(super) fn allow_missing_object_detection(
    bucket: &Handle<Bucket>,
    prefixes: &[&str],
) -> Statement {
    let key_patterns: Vec<String> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
    Statement::allow("TellMissing", ["s3:ListBucket"], [bucket.arn()])
        .only_if(json!({ "StringLikeIfExists": { "s3:prefix": key_patterns } }))
}

pub(super) fn allow_stream_reads(statement_id: &str, table: &Handle<Table>) -> Statement {
    let read_actions =
        ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
    Statement::allow(statement_id, read_actions, [table.stream_arn()])
}

/// Lambda requires this permission to invoke a function for a change stream.
pub(super) fn allow_stream_listing() -> Statement {
    Statement::allow_on_any_resource(
        "ListStreams",
        ["dynamodb:ListStreams"],
        "Lambda requires this action to read a change stream, and the action accepts only *.",
    )
}

pub(super) fn allow_log_writes(log_group: &Handle<LogGroup>) -> Statement {
    // The ARN of a log group ends with `:*`, so it also matches the log streams in the group.
    Statement::allow("OwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.arn()])
}

/// No-op unless tracing is enabled.
pub(super) fn with_trace_policy(role: Role, config: &Config) -> Role {
    if !config.tracing {
        return role;
    }
    let write_traces = Statement::allow_on_any_resource(
        "Traces",
        ["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
        "These actions of X-Ray do not support resource ARNs and accept only *.",
    );
    role.policy("traces", [write_traces])
}
