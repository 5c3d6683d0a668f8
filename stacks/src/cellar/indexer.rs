//! The indexer: from the EventStream table's stream, and the Entry table's if that is wanted, to the index of
//! everything that was appended.

use cellar_api::environment;
use cellar_base::schema::APPENDED;
use cellar_snapshot::relay::INSERT;
use serde_json::json;

use super::functions;
use super::key::{self, KeyUse};
use super::permissions;
use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config, FeedScope};
use crate::constructs::{
    Function, FunctionCode, LogGroup, Queue, Role, Service, Statement, StreamFilter, StreamSource,
};
use crate::stack::{Handle, Stack, SynthesisError};

/// Memory of the indexer: it waits for DynamoDB.
const MEMORY_MB: u32 = 256;
/// Seconds that a batch of records may take.
const TIMEOUT_S: u32 = 60;
/// Seconds that entries of logs are waited for, so that a batch is one item of the feed: a call for each edit
/// would cost more than the edit.
const BATCHING_WINDOW_S: u32 = 5;
/// Entries of a batch: about as many as one item of the feed may name. Each batch that is put at the same time as
/// another one waits, so that few large ones are sooner there than many small ones.
const ENTRIES: u32 = 1_000;

/// Adds the function with its log group, its role and its source; what it cannot index goes to
/// `dead_letters`.
pub(super) fn add(
    stack: &mut Stack,
    config: &Config,
    architecture: Architecture,
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    code: &FunctionCode,
) -> Result<Handle<Function>, SynthesisError> {
    let logs = functions::log_group(stack, "IndexerLogGroup", config)?;
    let has_entries = config.feed == FeedScope::Everything;
    let role = role(storage, dead_letters, &logs, has_entries);
    let role = permissions::allow_traces(role, config);
    let role = key::allow(role, config, &[KeyUse::Stream, KeyUse::Tables, KeyUse::Queues]);
    let role = stack.add("IndexerRole", role)?;
    let description = "Writes the feed and the spreadsheet lists from the event streams.";
    let function = Function::new(description, architecture, code.clone(), &role, &logs)
        .memory_mb(MEMORY_MB)
        .timeout_s(TIMEOUT_S)
        .traced(config.tracing)
        .environment(environment::FUNCTION, environment::FUNCTION_INDEXER)
        .environment(environment::EVENT_STREAM_TABLE, storage.streams.name())
        .environment(environment::FEED_TABLE, storage.index.name());
    let function = match has_entries {
        true => function.environment(environment::ENTRY_TABLE, storage.entries.name()),
        false => function,
    };
    let function = functions::in_incarnation(function, config);
    let function = stack.add("IndexerFunction", function)?;
    let source = StreamSource::new(&storage.streams, &function, dead_letters).filter(appends());
    stack.add("IndexerSource", source)?;
    if has_entries {
        let source = StreamSource::new(&storage.entries, &function, dead_letters);
        let source = source.filter(puts()).batch_size(ENTRIES).batching_window_s(BATCHING_WINDOW_S);
        stack.add("IndexerEntrySource", source)?;
    }
    suppressions::for_stream_function(stack, &function);
    Ok(function)
}

/// Tips, which say how many events the write appended; not the event batches that were in a tip before.
fn appends() -> StreamFilter {
    let appended = json!({ APPENDED: { "N": [{ "exists": true }] } });
    StreamFilter::new(json!({ "dynamodb": { "NewImage": appended } }))
}

/// Entries that were put; not what was added to one later.
fn puts() -> StreamFilter {
    StreamFilter::new(json!({ "eventName": [INSERT] }))
}

/// It reads streams and writes the index, and deletes nothing.
fn role(
    storage: &Storage,
    dead_letters: &Handle<Queue>,
    logs: &Handle<LogGroup>,
    has_entries: bool,
) -> Role {
    let mut stream = vec![permissions::read_stream("StreamsStream", &storage.streams)];
    let read = ["dynamodb:GetItem", "dynamodb:Query"];
    let mut tables = vec![Statement::allow("ReadStreams", read, [storage.streams.arn()])];
    if has_entries {
        stream.push(permissions::read_stream("EntriesStream", &storage.entries));
        tables.push(Statement::allow("ReadEntries", ["dynamodb:Query"], [storage.entries.arn()]));
    }
    stream.push(permissions::list_streams());
    let write = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];
    tables.push(Statement::allow("FeedTable", write, [storage.index.arn()]));
    let send = Statement::allow("DeadLetters", ["sqs:SendMessage"], [dead_letters.arn()]);
    Role::assumed_by(Service::Lambda)
        .policy("stream", stream)
        .policy("tables", tables)
        .policy("queues", [send])
        .policy("logs", [permissions::own_logs(logs)])
}
