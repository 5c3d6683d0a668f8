//! The function that serves the API, and what it may do.

use cellar_api::environment;
use cellar_base::schema::{CHUNKS_PATTERN, OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX};

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, below, like};
use super::storage::{CORS_MAX_AGE_S, Storage};
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, FunctionUrl, FunctionUrlCors, LogGroup, Permission, Role, Service,
    Statement,
};
use crate::expression::Expression;
use crate::stack::{Handle, Stack, SynthesisError};

/// The API of a stack.
pub(super) struct Api {
    /// The function.
    pub(super) function: Handle<Function>,
    /// Its URL.
    pub(super) url: Handle<FunctionUrl>,
}

/// Adds the function with its log group, its role, its URL and both permissions to call it.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    code: &FunctionCode,
) -> Result<Api, SynthesisError> {
    let logs = functions::log_group(stack, "ApiLogGroup", config)?;
    let role = stack.add("ApiRole", role(config, storage, &logs))?;
    let function = Function::new("Serves the HTTP API.", architecture, code.clone(), &role, &logs)
        .memory_mb(config.api.memory_mb)
        .timeout_s(config.api.timeout_s)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_API)
        .environment(environment::ENTRY_TABLE, storage.entries.name())
        .environment(environment::SEGMENT_TABLE, storage.segments.name())
        .environment(environment::EVENT_STREAM_TABLE, storage.streams.name())
        .environment(environment::FEED_TABLE, storage.index.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::STACK, Expression::stack_name())
        .environment(environment::REQUEST_TIMEOUT_MS, request_timeout_ms(config).to_string())
        .environment(environment::TOKEN_ISSUER, config.tokens.issuer.as_str())
        .environment(environment::TOKEN_AUDIENCE, config.tokens.audience.as_str())
        .environment(environment::TOKEN_KEYS, config.tokens.keys_json());
    let function = other_tokens(config, function);
    let function = functions::in_incarnation(function, config);
    let function = match config.snapshots.upkeep() {
        Some(policy) => {
            function.environment(environment::UPKEEP, serde_json::json!(policy).to_string())
        }
        None => function,
    };
    let function = stack.add("ApiFunction", function)?;
    let url = stack.add("ApiUrl", url(config, &function))?;
    stack.add("ApiUrlPermission", Permission::public_url(&function))?;
    stack.add("ApiInvokePermission", Permission::invocation_through_url(&function))?;
    suppressions::for_api_function(stack, &function);
    suppressions::for_api_url(stack, &url);
    Ok(Api { function, url })
}

/// Issuers besides the stack's own keys, and from when on tokens are accepted.
fn other_tokens(config: &Config, function: Function) -> Function {
    let function = match config.tokens.oidc.is_empty() {
        true => function,
        false => function.environment(environment::TOKEN_OIDC, config.tokens.oidc_json()),
    };
    match config.tokens.not_before_s {
        Some(moment_s) => {
            function.environment(environment::TOKEN_NOT_BEFORE_S, moment_s.to_string())
        }
        None => function,
    }
}

/// A second before Lambda ends the request without an answer.
fn request_timeout_ms(config: &Config) -> u32 {
    config.api.timeout_s.saturating_sub(1).saturating_mul(1_000)
}

/// What the API does today, and no more: no update or delete in the tables of logs, no delete of a stream,
/// and in the bucket only large entries and chunks of imports; it reads offloaded segments and snapshots.
fn role(config: &Config, storage: &Storage, logs: &Handle<LogGroup>) -> Role {
    // A presigned upload has the rights of whoever signed it, the tag included.
    let uploads = Statement::allow(
        "Uploads",
        [
            "s3:DeleteObjectTagging",
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        ],
        [below(&storage.bucket, UPLOADS_PREFIX)],
    );
    // Only an operator offloads: the API reads what was purged from the table.
    let offload =
        Statement::allow("Offload", ["s3:GetObject"], [below(&storage.bucket, OFFLOADED_PREFIX)]);
    // The API publishes chunks that it has verified; clients upload elsewhere. It writes no root.
    let chunks =
        Statement::allow("Chunks", ["s3:PutObject"], [like(&storage.bucket, CHUNKS_PATTERN)]);
    let sheets =
        Statement::allow("Sheets", ["s3:GetObject"], [below(&storage.bucket, SHEETS_PREFIX)]);
    let readable = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let missing = permissions::tell_missing(&storage.bucket, &readable);
    let role = Role::assumed_by(Service::Lambda)
        .policy("tables", in_tables(storage))
        .policy("bucket", [uploads, offload, chunks, sheets, missing])
        .policy("logs", [permissions::own_logs(logs)]);
    let role = permissions::allow_traces(role, config);
    key::allow(role, config, &[KeyUse::Tables, KeyUse::Bucket])
}

/// A transaction needs the actions of its parts.
fn in_tables(storage: &Storage) -> [Statement; 4] {
    let actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"];
    let entries = Statement::allow("EntryTable", actions, [storage.entries.arn()]);
    let segments = Statement::allow("SegmentTable", actions, [storage.segments.arn()]);
    // An append updates the tip of its stream.
    let actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let streams = Statement::allow("EventStreamTable", actions, [storage.streams.arn()]);
    // What the indexer wrote.
    let index = Statement::allow("FeedTable", ["dynamodb:Query"], [storage.index.arn()]);
    [entries, segments, streams, index]
}

/// The headers that scripts of other origins may send: ours, and what Replicache's client adds to each
/// push and pull.
pub const REQUEST_HEADERS: [&str; 5] =
    ["authorization", "content-type", "if-match", "if-none-match", "x-replicache-requestid"];

fn url(config: &Config, function: &Handle<Function>) -> FunctionUrl {
    let url = FunctionUrl::new(function);
    if config.cors_origins.is_empty() {
        return url;
    }
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    url.cors(FunctionUrlCors {
        origins: config.cors_origins.clone(),
        methods: owned(&["DELETE", "GET", "PATCH", "POST", "PUT"]),
        request_headers: owned(&REQUEST_HEADERS),
        exposed_headers: owned(&["cellar-cost", "etag", "retry-after"]),
        max_age_s: CORS_MAX_AGE_S,
    })
}
