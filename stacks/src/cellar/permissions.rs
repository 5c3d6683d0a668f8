//! Statements that more than one role has.

use serde_json::json;

use crate::config::Config;
use crate::constructs::{Bucket, LogGroup, Role, Statement, Table};
use crate::expression::Expression;
use crate::stack::Handle;

/// The objects of a bucket whose keys begin so.
pub(super) fn below(bucket: &Handle<Bucket>, prefix: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{prefix}*").into()])
}

/// The objects of a bucket whose keys are like this; `*` stands for anything.
pub(super) fn like(bucket: &Handle<Bucket>, pattern: &str) -> Expression {
    Expression::concatenation([bucket.arn(), format!("/{pattern}").into()])
}

/// Without the right to list, S3 answers 403 to a request for what is not there, and not 404.
pub(super) fn tell_missing(bucket: &Handle<Bucket>, prefixes: &[&str]) -> Statement {
    let prefixes: Vec<String> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
    Statement::allow("TellMissing", ["s3:ListBucket"], [bucket.arn()])
        .only_if(json!({ "StringLike": { "s3:prefix": prefixes } }))
}

/// What Lambda reads a table's stream with.
pub(super) fn read_stream(id: &str, table: &Handle<Table>) -> Statement {
    let read = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
    Statement::allow(id, read, [table.stream_arn()])
}

/// What Lambda finds streams with.
pub(super) fn list_streams() -> Statement {
    Statement::allow_on_any_resource(
        "ListStreams",
        ["dynamodb:ListStreams"],
        "Lambda asks for it to read a stream, and the action accepts only *.",
    )
}

/// Lines in a function's own log group.
pub(super) fn own_logs(logs: &Handle<LogGroup>) -> Statement {
    // The ARN of a log group ends in `:*`, which covers its own streams.
    Statement::allow("OwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [logs.arn()])
}

/// Lets a function's calls be traced, if they are to be.
pub(super) fn allow_traces(role: Role, config: &Config) -> Role {
    if !config.tracing {
        return role;
    }
    let traces = Statement::allow_on_any_resource(
        "Traces",
        ["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
        "X-Ray has no resources to name: these actions accept only *.",
    );
    role.policy("traces", [traces])
}
