//! The indexer function, which writes the feed and the spreadsheet lists.
//!
//! The indexer reads the EventStream table's change stream. If the feed includes log appends, it
//! also reads the Entry table's change stream.

use cellar_api::environment;
use cellar_base::table_attributes::APPENDED;
use cellar_snapshot::relay::INSERT;
use serde_json::json;

use super::functions::{self, FunctionContext};
use super::key::{self, KeyUse};
use super::permissions;
use super::storage::Storage;
use super::suppressions;
use crate::config::FeedScope;
use crate::constructs::{
    Function, Handle, LogGroup, Queue, Role, Service, Statement, StreamFilter, StreamSource,
};
use crate::stack::{Stack, SynthesisError};

/// The indexer's memory in MB. The indexer needs little memory, because it mostly waits for
/// DynamoDB.
const MEMORY_MB: u32 = 256;
/// The indexer's timeout in seconds. One invocation processes one batch of records.
const TIMEOUT_S: u32 = 60;
/// The number of seconds for which Lambda collects log entries into one batch. Without batching, an
/// invocation per edit would cost more than the edit itself. Each batch becomes one feed item.
const BATCHING_WINDOW_S: u32 = 5;
/// The maximum number of log entries per batch, which is about the number that fits in one feed
/// item. Concurrent batches wait for each other, so a few large batches are faster than many small
/// ones.
const ENTRY_BATCH_SIZE: u32 = 1_000;

/// The function sends malformed records to `dead_letters`, and Lambda sends records there that fail
/// too often.
pub(super) fn add_indexer(
    stack: &mut Stack,
    context: FunctionContext<'_>,
    dead_letters: &Handle<Queue>,
) -> Result<Handle<Function>, SynthesisError> {
    let FunctionContext { config, storage, .. } = context;
    let log_group = functions::add_log_group(stack, "IndexerLogGroup", config)?;
    let indexes_entries = config.feed == FeedScope::Everything;
    let base_role = indexer_role(storage, dead_letters, &log_group, indexes_entries);
    let traced_role = permissions::with_trace_policy(base_role, config);
    let key_uses = [KeyUse::Stream, KeyUse::Tables, KeyUse::Queues];
    let role = stack.add("IndexerRole", key::with_key_policy(traced_role, config, &key_uses))?;
    let description = "Writes the feed and the spreadsheet lists from the event streams.";
    let mut function = context
        .create_function(description, &role, &log_group)
        .memory_mb(MEMORY_MB)
        .timeout_s(TIMEOUT_S)
        .environment(environment::FUNCTION, environment::FUNCTION_INDEXER)
        .environment(environment::EVENT_STREAM_TABLE, storage.event_streams.name())
        .environment(environment::FEED_TABLE, storage.feed.name())
        .environment(environment::DEAD_LETTER_QUEUE, dead_letters.url());
    if indexes_entries {
        function = function.environment(environment::ENTRY_TABLE, storage.entries.name());
    }
    function = functions::with_incarnation(function, config);
    let function = stack.add("IndexerFunction", function)?;
    let event_stream_source = StreamSource::new(&storage.event_streams, &function, dead_letters);
    stack.add("IndexerSource", event_stream_source.filter(appended_tips()))?;
    if indexes_entries {
        let entry_source = StreamSource::new(&storage.entries, &function, dead_letters)
            .filter(new_entries())
            .batch_size(ENTRY_BATCH_SIZE)
            .batching_window_s(BATCHING_WINDOW_S);
        stack.add("IndexerEntrySource", entry_source)?;
    }
    suppressions::suppress_stream_function_rules(stack, &function);
    Ok(function)
}

/// Returns a filter for writes to the newest item of an event stream. Only the newest item has a
/// counter of appended events, so the filter selects items with that counter.
fn appended_tips() -> StreamFilter {
    let tip_pattern = json!({ APPENDED: { "N": [{ "exists": true }] } });
    StreamFilter::new(json!({ "dynamodb": { "NewImage": tip_pattern } }))
}

fn new_entries() -> StreamFilter {
    StreamFilter::new(json!({ "eventName": [INSERT] }))
}

/// The role can read event streams and write the feed, but cannot delete items.
fn indexer_role(
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    log_group: &Handle<LogGroup>,
    indexes_entries: bool,
) -> Role {
    let mut stream_statements =
        vec![permissions::allow_stream_reads("StreamsStream", &storage.event_streams)];
    let read_actions = ["dynamodb:GetItem", "dynamodb:Query"];
    let mut table_statements =
        vec![Statement::allow("ReadStreams", read_actions, [storage.event_streams.arn()])];
    if indexes_entries {
        stream_statements.push(permissions::allow_stream_reads("EntriesStream", &storage.entries));
        table_statements.push(Statement::allow(
            "ReadEntries",
            ["dynamodb:Query"],
            [storage.entries.arn()],
        ));
    }
    stream_statements.push(permissions::allow_stream_listing());
    let write_actions =
        ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    table_statements.push(Statement::allow("FeedTable", write_actions, [storage.feed.arn()]));
    let send_messages = Statement::allow("DeadLetters", ["sqs:SendMessage"], [dead_letters.arn()]);
    Role::assumed_by(Service::Lambda)
        .policy("stream", stream_statements)
        .policy("tables", table_statements)
        .policy("queues", [send_messages])
        .policy("logs", [permissions::allow_log_writes(log_group)])
}
