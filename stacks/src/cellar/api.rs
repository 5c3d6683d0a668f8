//! The API function with its role and URL.

use cellar_api::environment;
use cellar_base::table_attributes::{
    CHUNKS_PATTERN, OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX,
};

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, objects_matching, objects_with_prefix};
use super::storage::{CORS_MAX_AGE_S, Storage};
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{
    Function, FunctionCode, FunctionUrl, FunctionUrlCors, Handle, LogGroup, Permission, Role,
    Service, Statement,
};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};

pub(super) struct Api {
    pub(super) function: Handle<Function>,
    pub(super) url: Handle<FunctionUrl>,
}

/// Adds the function with its log group, role and URL, and the two permissions required to call the
/// URL.
pub(super) fn add_api(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    code: &FunctionCode,
) -> Result<Api, SynthesisError> {
    let logs = functions::add_log_group(stack, "ApiLogGroup", config)?;
    let role = stack.add("ApiRole", api_role(config, storage, &logs))?;
    let function = Function::new("Serves the HTTP API.", architecture, code.clone(), &role, &logs)
        .memory_mb(config.api.memory_mb)
        .timeout_s(config.api.timeout_s)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_API)
        .environment(environment::ENTRY_TABLE, storage.entries.name())
        .environment(environment::SEGMENT_TABLE, storage.segments.name())
        .environment(environment::EVENT_STREAM_TABLE, storage.event_streams.name())
        .environment(environment::FEED_TABLE, storage.feed.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::STACK, Expression::stack_name())
        .environment(environment::REQUEST_TIMEOUT_MS, request_timeout_ms(config).to_string())
        .environment(environment::TOKEN_ISSUER, config.tokens.issuer.as_str())
        .environment(environment::TOKEN_AUDIENCE, config.tokens.audience.as_str())
        .environment(environment::TOKEN_KEYS, config.tokens.keys_json());
    let function = with_token_settings(config, function);
    let function = functions::in_incarnation(function, config);
    let function = match config.snapshots.log_policy() {
        Some(policy) => {
            function.environment(environment::UPKEEP, serde_json::json!(policy).to_string())
        }
        None => function,
    };
    let function = stack.add("ApiFunction", function)?;
    let url = stack.add("ApiUrl", function_url(config, &function))?;
    stack.add("ApiUrlPermission", Permission::public_url(&function))?;
    stack.add("ApiInvokePermission", Permission::invocation_through_url(&function))?;
    suppressions::for_api_function(stack, &function);
    suppressions::for_api_url(stack, &url);
    Ok(Api { function, url })
}

/// Sets the environment variables for optional token settings: `OpenID Connect` issuers and the
/// earliest issue time.
fn with_token_settings(config: &Config, mut function: Function) -> Function {
    if !config.tokens.oidc.is_empty() {
        function = function.environment(environment::TOKEN_OIDC, config.tokens.oidc_json());
    }
    if let Some(not_before_s) = config.tokens.not_before_s {
        function = function.environment(environment::TOKEN_NOT_BEFORE_S, not_before_s.to_string());
    }
    function
}

/// Returns the request timeout in milliseconds: one second less than the function timeout, so that
/// the API returns an error before Lambda terminates the invocation.
fn request_timeout_ms(config: &Config) -> u32 {
    config.api.timeout_s.saturating_sub(1).saturating_mul(1_000)
}

/// Returns the execution role of the API, which grants only the permissions that the API uses.
///
/// The API cannot update or delete entries and segments, and cannot delete event streams. In the
/// bucket, it can write only large entries and import chunks; it can read but not write offloaded
/// segments and snapshots.
fn api_role(config: &Config, storage: &Storage, logs: &Handle<LogGroup>) -> Role {
    // A presigned upload runs with the permissions of the role that signed its URL, so the role
    // must be allowed to tag the object.
    let uploads = Statement::allow(
        "Uploads",
        [
            "s3:DeleteObjectTagging",
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        ],
        [objects_with_prefix(&storage.bucket, UPLOADS_PREFIX)],
    );
    // The API reads offloaded segments; only operators write them.
    let offload = Statement::allow(
        "Offload",
        ["s3:GetObject"],
        [objects_with_prefix(&storage.bucket, OFFLOADED_PREFIX)],
    );
    // The API publishes uploaded chunks once verified. It cannot write roots.
    let chunks = Statement::allow(
        "Chunks",
        ["s3:PutObject"],
        [objects_matching(&storage.bucket, CHUNKS_PATTERN)],
    );
    let sheets = Statement::allow(
        "Sheets",
        ["s3:GetObject"],
        [objects_with_prefix(&storage.bucket, SHEETS_PREFIX)],
    );
    let readable = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let missing = permissions::detect_missing_objects(&storage.bucket, &readable);
    let role = Role::assumed_by(Service::Lambda)
        .policy("tables", table_statements(storage))
        .policy("bucket", [uploads, offload, chunks, sheets, missing])
        .policy("logs", [permissions::own_logs(logs)]);
    let role = permissions::allow_traces(role, config);
    key::allow_key_use(role, config, &[KeyUse::Tables, KeyUse::Bucket])
}

/// Returns the table policy statements. A transaction requires the permissions for each of its
/// operations.
fn table_statements(storage: &Storage) -> [Statement; 4] {
    let actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"];
    let entries = Statement::allow("EntryTable", actions, [storage.entries.arn()]);
    let segments = Statement::allow("SegmentTable", actions, [storage.segments.arn()]);
    // An append updates the tip (newest item) of the event stream.
    let actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let event_streams =
        Statement::allow("EventStreamTable", actions, [storage.event_streams.arn()]);
    // Only the indexer writes the feed.
    let feed = Statement::allow("FeedTable", ["dynamodb:Query"], [storage.feed.arn()]);
    [entries, segments, event_streams, feed]
}

/// Request headers allowed from other origins: the API headers, and the header that the Replicache
/// client adds to each push and pull.
pub const REQUEST_HEADERS: [&str; 5] =
    ["authorization", "content-type", "if-match", "if-none-match", "x-replicache-requestid"];

fn function_url(config: &Config, function: &Handle<Function>) -> FunctionUrl {
    let url = FunctionUrl::new(function);
    if config.cors_origins.is_empty() {
        return url;
    }
    let to_strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    url.cors(FunctionUrlCors {
        origins: config.cors_origins.clone(),
        methods: to_strings(&["DELETE", "GET", "PATCH", "POST", "PUT"]),
        request_headers: to_strings(&REQUEST_HEADERS),
        exposed_headers: to_strings(&["cellar-cost", "etag", "retry-after"]),
        max_age_s: CORS_MAX_AGE_S,
    })
}
