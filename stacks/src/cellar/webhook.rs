//! The webhook function, which delivers the feed to the configured URL.

use cellar_api::environment;
use cellar_base::table_attributes::{PARTITION_BYTES, WEBHOOK_PREFIX, WEBHOOK_SECRETS_KEY};
use serde_json::json;

use super::functions::{self, FunctionContext};
use super::key::{self, KeyUse};
use super::permissions::{self, arn_of_objects_matching};
use super::storage::Storage;
use super::suppressions;
use crate::config::Webhook;
use crate::constructs::{
    Function, Handle, LogGroup, Queue, Role, Service, Statement, StreamFilter, StreamSource,
};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};

/// The webhook function's memory in MB. The function needs little memory, because it mostly waits
/// for DynamoDB and the receiver.
const MEMORY_MB: u32 = 256;
/// The webhook function's timeout in seconds. It allows for several deliveries to a slow receiver.
const TIMEOUT_S: u32 = 60;

/// Records that cannot be delivered are sent to `dead_letters`. No-op if no webhook is configured.
pub(super) fn add_webhook(
    stack: &mut Stack,
    context: FunctionContext<'_>,
    dead_letters: &Handle<Queue>,
) -> Result<Option<Handle<Function>>, SynthesisError> {
    let FunctionContext { config, storage, .. } = context;
    let Some(webhook) = &config.webhook else { return Ok(None) };
    let log_group = functions::add_log_group(stack, "WebhookLogGroup", config)?;
    let base_role = webhook_role(webhook, storage, dead_letters, &log_group);
    let traced_role = permissions::with_trace_policy(base_role, config);
    let key_uses = [KeyUse::Stream, KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let role = stack.add("WebhookRole", key::with_key_policy(traced_role, config, &key_uses))?;
    let description = "Delivers the feed to the webhook URL.";
    let mut function = context
        .create_function(description, &role, &log_group)
        .memory_mb(MEMORY_MB)
        .timeout_s(TIMEOUT_S)
        .environment(environment::FUNCTION, environment::FUNCTION_WEBHOOK)
        .environment(environment::EVENT_STREAM_TABLE, storage.event_streams.name())
        .environment(environment::FEED_TABLE, storage.feed.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::STACK, Expression::stack_name())
        .environment(environment::WEBHOOK_URL, webhook.url.as_str());
    if webhook.payloads {
        function = function.environment(environment::WEBHOOK_EVENTS, "true");
    }
    function = functions::with_incarnation(function, config);
    let function = stack.add("WebhookFunction", function)?;
    // A receiver may be unavailable for hours. Therefore, retries are limited by the age of a
    // record, and not by the number of attempts.
    let event_source = StreamSource::new(&storage.feed, &function, dead_letters)
        .retried_until_too_old()
        .filter(feed_items());
    stack.add("WebhookSource", event_source)?;
    suppressions::suppress_stream_function_rules(stack, &function);
    Ok(Some(function))
}

/// The Feed table also contains other items, such as spreadsheet lists.
fn feed_items() -> StreamFilter {
    let item_pattern = json!({ PARTITION_BYTES: { "N": [{ "exists": true }] } });
    StreamFilter::new(json!({ "dynamodb": { "NewImage": item_pattern } }))
}

/// The function reads the feed, and stores its progress and its secrets. It can read event streams
/// only if deliveries include payloads.
fn webhook_role(
    webhook: &Webhook,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    log_group: &Handle<LogGroup>,
) -> Role {
    let read_stream = permissions::allow_stream_reads("IndexStream", &storage.feed);
    let write_actions = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let mut table_statements =
        vec![Statement::allow("FeedTable", write_actions, [storage.feed.arn()])];
    if webhook.payloads {
        let read_actions = ["dynamodb:GetItem", "dynamodb:Query"];
        table_statements.push(Statement::allow(
            "ReadStreams",
            read_actions,
            [storage.event_streams.arn()],
        ));
    }
    let access_secrets = Statement::allow(
        "Secrets",
        ["s3:GetObject", "s3:PutObject"],
        [arn_of_objects_matching(&storage.bucket, WEBHOOK_SECRETS_KEY)],
    );
    let find_missing_objects =
        permissions::allow_missing_object_detection(&storage.bucket, &[WEBHOOK_PREFIX]);
    let send_messages = Statement::allow("DeadLetters", ["sqs:SendMessage"], [dead_letters.arn()]);
    Role::assumed_by(Service::Lambda)
        .policy("stream", [read_stream, permissions::allow_stream_listing()])
        .policy("tables", table_statements)
        .policy("bucket", [access_secrets, find_missing_objects])
        .policy("queues", [send_messages])
        .policy("logs", [permissions::allow_log_writes(log_group)])
}
