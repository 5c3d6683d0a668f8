//! The webhook function, which delivers the feed to the configured URL.

use cellar_api::environment;
use cellar_base::table_attributes::{PARTITION_BYTES, WEBHOOK_PREFIX, WEBHOOK_SECRETS_KEY};
use serde_json::json;

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, objects_matching};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config, Webhook};
use crate::constructs::{
    Function, FunctionCode, Handle, LogGroup, Queue, Role, Service, Statement, StreamFilter,
    StreamSource,
};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};

/// Webhook function memory in MB. The function is I/O-bound: it mostly waits for DynamoDB and the
/// receiver.
const MEMORY_MB: u32 = 256;
/// Invocation timeout in seconds; sufficient for several deliveries to a slow receiver.
const TIMEOUT_S: u32 = 60;

/// Adds the webhook function with its log group, role and event source. No-op unless a webhook is
/// configured. Records that cannot be delivered are sent to `dead_letters`.
pub(super) fn add_webhook(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    code: &FunctionCode,
) -> Result<Option<Handle<Function>>, SynthesisError> {
    let Some(webhook) = &config.webhook else { return Ok(None) };
    let logs = functions::add_log_group(stack, "WebhookLogGroup", config)?;
    let role =
        permissions::allow_traces(webhook_role(webhook, storage, dead_letters, &logs), config);
    let uses = [KeyUse::Stream, KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let role = stack.add("WebhookRole", key::allow_key_use(role, config, &uses))?;
    let description = "Delivers the feed to the webhook URL.";
    let function = Function::new(description, architecture, code.clone(), &role, &logs)
        .memory_mb(MEMORY_MB)
        .timeout_s(TIMEOUT_S)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_WEBHOOK)
        .environment(environment::EVENT_STREAM_TABLE, storage.event_streams.name())
        .environment(environment::FEED_TABLE, storage.feed.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::STACK, Expression::stack_name())
        .environment(environment::WEBHOOK_URL, webhook.url.as_str());
    let function = if webhook.payloads {
        function.environment(environment::WEBHOOK_EVENTS, "true")
    } else {
        function
    };
    let function = functions::in_incarnation(function, config);
    let function = stack.add("WebhookFunction", function)?;
    // A receiver may be down for half a day, so retries are limited by record age, not by the
    // number of attempts.
    let source = StreamSource::new(&storage.feed, &function, dead_letters)
        .retried_until_too_old()
        .filter(feed_items());
    stack.add("WebhookSource", source)?;
    suppressions::for_stream_function(stack, &function);
    Ok(Some(function))
}

/// Selects feed items; the table also contains other items, such as spreadsheet lists.
fn feed_items() -> StreamFilter {
    let item = json!({ PARTITION_BYTES: { "N": [{ "exists": true }] } });
    StreamFilter::new(json!({ "dynamodb": { "NewImage": item } }))
}

/// Returns the execution role of the webhook function, which reads the feed and stores its progress
/// and secrets. Event streams are readable only if deliveries include payloads.
fn webhook_role(
    webhook: &Webhook,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    logs: &Handle<LogGroup>,
) -> Role {
    let stream = permissions::read_stream("IndexStream", &storage.feed);
    let write = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let mut tables = vec![Statement::allow("FeedTable", write, [storage.feed.arn()])];
    if webhook.payloads {
        let read = ["dynamodb:GetItem", "dynamodb:Query"];
        tables.push(Statement::allow("ReadStreams", read, [storage.event_streams.arn()]));
    }
    let secrets = Statement::allow(
        "Secrets",
        ["s3:GetObject", "s3:PutObject"],
        [objects_matching(&storage.bucket, WEBHOOK_SECRETS_KEY)],
    );
    let missing = permissions::detect_missing_objects(&storage.bucket, &[WEBHOOK_PREFIX]);
    let send = Statement::allow("DeadLetters", ["sqs:SendMessage"], [dead_letters.arn()]);
    Role::assumed_by(Service::Lambda)
        .policy("stream", [stream, permissions::list_streams()])
        .policy("tables", tables)
        .policy("bucket", [secrets, missing])
        .policy("queues", [send])
        .policy("logs", [permissions::own_logs(logs)])
}
