//! The webhook: from the Feed table's stream to a URL. Only where one is
//! configured.

use cellar_api::environment;
use cellar_base::schema::{PARTITION_BYTES, WEBHOOK_PREFIX, WEBHOOK_SECRETS_KEY};
use serde_json::json;

use super::functions;
use super::key::{self, KeyUse};
use super::permissions::{self, like};
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config, Webhook};
use crate::constructs::{
    Function, FunctionCode, LogGroup, Queue, Role, Service, Statement, StreamFilter, StreamSource,
};
use crate::expression::Expression;
use crate::stack::{Handle, Stack, SynthesisError};

/// Memory of the function: it waits for DynamoDB and for the receiver.
const MEMORY_MB: u32 = 256;
/// Seconds of a call: several deliveries to a receiver that takes its time.
const TIMEOUT_S: u32 = 60;

/// Adds the function with its log group, its role and its source, if there is a webhook; what it gives up
/// goes to `dead_letters`.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    code: &FunctionCode,
) -> Result<Option<Handle<Function>>, SynthesisError> {
    let Some(webhook) = &config.webhook else { return Ok(None) };
    let logs = functions::log_group(stack, "WebhookLogGroup", config)?;
    let role = permissions::allow_traces(role(webhook, storage, dead_letters, &logs), config);
    let uses = [KeyUse::Stream, KeyUse::Tables, KeyUse::Bucket, KeyUse::Queues];
    let role = stack.add("WebhookRole", key::allow(role, config, &uses))?;
    let description = "Delivers the feed to the webhook URL.";
    let function = Function::new(description, architecture, code.clone(), &role, &logs)
        .memory_mb(MEMORY_MB)
        .timeout_s(TIMEOUT_S)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_WEBHOOK)
        .environment(environment::EVENT_STREAM_TABLE, storage.streams.name())
        .environment(environment::FEED_TABLE, storage.index.name())
        .environment(environment::BUCKET, storage.bucket.name())
        .environment(environment::STACK, Expression::stack_name())
        .environment(environment::WEBHOOK_URL, webhook.url.as_str());
    let function = match webhook.payloads {
        true => function.environment(environment::WEBHOOK_EVENTS, "true"),
        false => function,
    };
    let function = functions::in_incarnation(function, config);
    let function = stack.add("WebhookFunction", function)?;
    // A receiver may be away for half a day: it is asked until then, and not so many times.
    let source = StreamSource::new(&storage.index, &function, dead_letters)
        .retried_until_too_old()
        .filter(items());
    stack.add("WebhookSource", source)?;
    suppressions::for_stream_function(stack, &function);
    Ok(Some(function))
}

/// Items of the feed; not marks, partitions or lists.
fn items() -> StreamFilter {
    let item = json!({ PARTITION_BYTES: { "N": [{ "exists": true }] } });
    StreamFilter::new(json!({ "dynamodb": { "NewImage": item } }))
}

/// It reads the feed, what events say only if it tells, and keeps how far it has come, and its secrets.
fn role(
    webhook: &Webhook,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    logs: &Handle<LogGroup>,
) -> Role {
    let stream = permissions::read_stream("IndexStream", &storage.index);
    let write = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    let mut tables = vec![Statement::allow("FeedTable", write, [storage.index.arn()])];
    if webhook.payloads {
        let read = ["dynamodb:GetItem", "dynamodb:Query"];
        tables.push(Statement::allow("ReadStreams", read, [storage.streams.arn()]));
    }
    let secrets = Statement::allow(
        "Secrets",
        ["s3:GetObject", "s3:PutObject"],
        [like(&storage.bucket, WEBHOOK_SECRETS_KEY)],
    );
    let missing = permissions::tell_missing(&storage.bucket, &[WEBHOOK_PREFIX]);
    let send = Statement::allow("DeadLetters", ["sqs:SendMessage"], [dead_letters.arn()]);
    Role::assumed_by(Service::Lambda)
        .policy("stream", [stream, permissions::list_streams()])
        .policy("tables", tables)
        .policy("bucket", [secrets, missing])
        .policy("queues", [send])
        .policy("logs", [permissions::own_logs(logs)])
}
