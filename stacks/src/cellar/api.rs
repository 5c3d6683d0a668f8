//! The API function with its role and URL.

use cellar_api::environment;
use cellar_base::table_attributes::{
    CHUNKS_PATTERN, OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX,
};

use super::functions::{self, FunctionContext};
use super::key::{self, KeyUse};
use super::permissions::{self, arn_of_objects_matching, arn_of_objects_with_prefix};
use super::storage::{CORS_MAX_AGE_S, Storage};
use super::suppressions;
use crate::config::Config;
use crate::constructs::{
    Bucket, Function, FunctionUrl, FunctionUrlCors, Handle, LogGroup, Permission, Role, Service,
    Statement,
};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};

pub(super) struct Api {
    pub(super) function: Handle<Function>,
    pub(super) url: Handle<FunctionUrl>,
}

pub(super) fn add_api(
    stack: &mut Stack,
    context: FunctionContext<'_>,
) -> Result<Api, SynthesisError> {
    let FunctionContext { config, storage, .. } = context;
    let log_group = functions::add_log_group(stack, "ApiLogGroup", config)?;
    let role = stack.add("ApiRole", define_role(config, storage, &log_group))?;
    let function = define_function(context, &role, &log_group);
    let function = stack.add("ApiFunction", function)?;
    let url = stack.add("ApiUrl", define_url(config, &function))?;
    stack.add("ApiUrlPermission", Permission::public_url(&function))?;
    stack.add("ApiInvokePermission", Permission::invocation_through_url(&function))?;
    suppressions::suppress_api_function_rules(stack, &function);
    suppressions::suppress_api_url_rules(stack, &url);
    Ok(Api { function, url })
}

fn define_function(
    context: FunctionContext<'_>,
    role: &Handle<Role>,
    log_group: &Handle<LogGroup>,
) -> Function {
    let FunctionContext { config, storage, .. } = context;
    let description = "Serves the HTTP API.";
    let mut function = context
        .create_function(description, role, log_group)
        .memory_mb(config.api.memory_mb)
        .timeout_s(config.api.timeout_s)
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
    function = with_token_settings(function, config);
    function = functions::with_incarnation(function, config);
    if let Some(log_policy) = config.snapshots.log_policy() {
        let log_policy_json = serde_json::json!(log_policy).to_string();
        function = function.environment(environment::UPKEEP, log_policy_json);
    }
    function
}

fn with_token_settings(mut function: Function, config: &Config) -> Function {
    if !config.tokens.oidc.is_empty() {
        function = function.environment(environment::TOKEN_OIDC, config.tokens.oidc_json());
    }
    if let Some(not_before_s) = config.tokens.not_before_s {
        function = function.environment(environment::TOKEN_NOT_BEFORE_S, not_before_s.to_string());
    }
    function
}

/// Returns the request timeout in milliseconds. It is one second shorter than the function timeout,
/// so that the API can return an error before Lambda terminates the invocation.
fn request_timeout_ms(config: &Config) -> u32 {
    const RESPONSE_RESERVE_S: u32 = 1;
    const MS_PER_SECOND: u32 = 1_000;
    config.api.timeout_s.saturating_sub(RESPONSE_RESERVE_S).saturating_mul(MS_PER_SECOND)
}

/// Returns the API's execution role, which grants only the permissions that the API uses.
///
/// The API cannot update or delete log entries and segments, and it cannot delete event streams. In
/// the bucket, it can write only large entries and import chunks. It can read offloaded segments
/// and snapshots.
fn define_role(config: &Config, storage: &Storage, log_group: &Handle<LogGroup>) -> Role {
    let base_role = Role::assumed_by(Service::Lambda)
        .policy("tables", table_statements(storage))
        .policy("bucket", bucket_statements(&storage.bucket))
        .policy("logs", [permissions::allow_log_writes(log_group)]);
    let traced_role = permissions::with_trace_policy(base_role, config);
    key::with_key_policy(traced_role, config, &[KeyUse::Tables, KeyUse::Bucket])
}

fn bucket_statements(bucket: &Handle<Bucket>) -> [Statement; 5] {
    // A presigned upload uses the permissions of the role that signed its URL, so this role needs
    // the permission to tag objects.
    let write_uploads = Statement::allow(
        "Uploads",
        [
            "s3:DeleteObjectTagging",
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        ],
        [arn_of_objects_with_prefix(bucket, UPLOADS_PREFIX)],
    );
    // The API only reads offloaded segments. Operators write them.
    let read_offloaded_segments = Statement::allow(
        "Offload",
        ["s3:GetObject"],
        [arn_of_objects_with_prefix(bucket, OFFLOADED_PREFIX)],
    );
    // The API writes the chunks of an import after it has verified the uploads. It cannot write the
    // root object of a snapshot.
    let write_chunks = Statement::allow(
        "Chunks",
        ["s3:PutObject"],
        [arn_of_objects_matching(bucket, CHUNKS_PATTERN)],
    );
    let read_sheets = Statement::allow(
        "Sheets",
        ["s3:GetObject"],
        [arn_of_objects_with_prefix(bucket, SHEETS_PREFIX)],
    );
    let readable_prefixes = [OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX];
    let find_missing_objects =
        permissions::allow_missing_object_detection(bucket, &readable_prefixes);
    [write_uploads, read_offloaded_segments, write_chunks, read_sheets, find_missing_objects]
}

/// DynamoDB checks the permission for each operation in a transaction.
fn table_statements(storage: &Storage) -> [Statement; 4] {
    let append_actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"];
    let append_entries = Statement::allow("EntryTable", append_actions, [storage.entries.arn()]);
    let append_segments =
        Statement::allow("SegmentTable", append_actions, [storage.segments.arn()]);
    // An append to an event stream updates the newest item of the stream.
    let update_actions =
        ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let append_event_streams =
        Statement::allow("EventStreamTable", update_actions, [storage.event_streams.arn()]);
    // Only the indexer writes the feed.
    let read_feed = Statement::allow("FeedTable", ["dynamodb:Query"], [storage.feed.arn()]);
    [append_entries, append_segments, append_event_streams, read_feed]
}

/// The request headers that web pages from other origins may send: the API's own headers, and the
/// header that the Replicache client adds to push and pull requests.
pub const REQUEST_HEADERS: [&str; 5] =
    ["authorization", "content-type", "if-match", "if-none-match", "x-replicache-requestid"];

fn define_url(config: &Config, function: &Handle<Function>) -> FunctionUrl {
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
