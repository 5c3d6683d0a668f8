//! The template's queues.

mod queue;
mod server;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_engine::ports::Clock;
use cellar_engine::ports::QueueRules;
use cellar_stacks::template::Template;
use serde_json::{Map, Value};

pub(crate) use queue::ChainedMessage;
pub use queue::LocalQueue;
pub(crate) use server::start;

use crate::error::LocalError;
use crate::names::{Names, referenced_id};
use crate::store::EventStore;

const QUEUE: &str = "AWS::SQS::Queue";
/// Default message retention period, as in SQS.
const DEFAULT_RETENTION_S: u64 = 4 * 24 * 60 * 60;

/// The template's queues, keyed by logical id.
#[derive(Debug, Clone)]
pub(crate) struct Queues(BTreeMap<String, QueueWithUrl>);

/// A queue and the URL by which the template's functions identify it.
#[derive(Debug, Clone)]
struct QueueWithUrl {
    url: String,
    queue: Arc<LocalQueue>,
}

impl Queues {
    /// Opens the template's queues, all stored in `store`.
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        store: &Arc<EventStore>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, LocalError> {
        let mut queues = BTreeMap::new();
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != QUEUE {
                continue;
            }
            let (rules, dead_letter_queue_id) =
                read_rules(template, logical_id, &resource.properties)?;
            let queue = LocalQueue::new(
                Arc::clone(store),
                Arc::clone(clock),
                names.physical_name(logical_id),
                rules,
                dead_letter_queue_id.map(|queue_id| names.physical_name(&queue_id)),
            );
            let url = names.queue_url(logical_id);
            queues.insert(logical_id.to_owned(), QueueWithUrl { url, queue: Arc::new(queue) });
        }
        Ok(Self(queues))
    }

    /// Returns the queue with the given logical id.
    pub(crate) fn get(&self, logical_id: &str) -> Option<&Arc<LocalQueue>> {
        self.0.get(logical_id).map(|entry| &entry.queue)
    }

    /// Returns the queue with the given URL.
    pub(crate) fn at_url(&self, url: &str) -> Option<&Arc<LocalQueue>> {
        self.0.values().find(|entry| entry.url == url).map(|entry| &entry.queue)
    }
}

/// Reads a queue's properties, including the logical id of its dead letter queue.
fn read_rules(
    template: &Template,
    logical_id: &str,
    properties: &Map<String, Value>,
) -> Result<(QueueRules, Option<String>), LocalError> {
    let template_error =
        |why: &str| LocalError::Template { logical_id: logical_id.to_owned(), why: why.to_owned() };
    let retention_s = match properties.get("MessageRetentionPeriod") {
        None => DEFAULT_RETENTION_S,
        Some(value) => value
            .as_u64()
            .ok_or_else(|| template_error("MessageRetentionPeriod is not a number"))?,
    };
    let retention_ms = retention_s.saturating_mul(1_000);
    let Some(redrive_policy) = properties.get("RedrivePolicy") else {
        return Ok((QueueRules { retention_ms, max_receive_count: None }, None));
    };
    let max_receive_count = redrive_policy
        .get("maxReceiveCount")
        .and_then(Value::as_u64)
        .and_then(|count| u32::try_from(count).ok())
        .filter(|count| *count > 0)
        .ok_or_else(|| template_error("maxReceiveCount must be a number of at least 1"))?;
    let dead_letter_queue_id = redrive_policy
        .get("deadLetterTargetArn")
        .and_then(referenced_id)
        .filter(|id| template.resource(id).is_some_and(|queue| queue.resource_type == QUEUE))
        .ok_or_else(|| {
            template_error("deadLetterTargetArn does not refer to a queue in this template")
        })?;
    let rules = QueueRules { retention_ms, max_receive_count: Some(max_receive_count) };
    Ok((rules, Some(dead_letter_queue_id.to_owned())))
}
