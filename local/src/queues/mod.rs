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

pub use queue::LocalQueue;
pub(crate) use server::start;

use crate::error::LocalError;
use crate::names::{Names, target};
use crate::store::EventStore;

const QUEUE: &str = "AWS::SQS::Queue";
/// What SQS takes where nothing is said: 4 days.
const DEFAULT_RETENTION_S: u64 = 4 * 24 * 60 * 60;

/// The queues by their logical ids.
#[derive(Debug, Clone)]
pub(crate) struct Queues(BTreeMap<String, Placed>);

/// A queue, and its URL as environment variables give it.
#[derive(Debug, Clone)]
struct Placed {
    url: String,
    queue: Arc<LocalQueue>,
}

impl Queues {
    /// The queues of the template, over one file.
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        store: &Arc<EventStore>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, LocalError> {
        let queues = template.resources().filter(|(_, resource)| resource.resource_type == QUEUE);
        let queues = queues.map(|(logical_id, resource)| {
            let (rules, dead_letters) = rules(template, logical_id, &resource.properties)?;
            let name = names.physical(logical_id);
            let dead_letters = dead_letters.map(|logical_id| names.physical(&logical_id));
            let (store, clock) = (Arc::clone(store), Arc::clone(clock));
            let queue = LocalQueue::new(store, clock, name, rules, dead_letters);
            let placed = Placed { url: names.queue_url(logical_id), queue: Arc::new(queue) };
            Ok((logical_id.to_owned(), placed))
        });
        queues.collect::<Result<_, _>>().map(Self)
    }

    /// The queue with this logical id.
    pub(crate) fn named(&self, logical_id: &str) -> Option<&Arc<LocalQueue>> {
        self.0.get(logical_id).map(|placed| &placed.queue)
    }

    /// The queue at this URL, as an environment variable gives it.
    pub(crate) fn at(&self, url: &str) -> Option<&Arc<LocalQueue>> {
        self.0.values().find(|placed| placed.url == url).map(|placed| &placed.queue)
    }
}

/// What the properties of a queue say, and the logical id of its dead letters.
fn rules(
    template: &Template,
    logical_id: &str,
    properties: &Map<String, Value>,
) -> Result<(QueueRules, Option<String>), LocalError> {
    let fault =
        |why: &str| LocalError::Template { logical_id: logical_id.to_owned(), why: why.to_owned() };
    let retention_s = match properties.get("MessageRetentionPeriod") {
        None => DEFAULT_RETENTION_S,
        Some(value) => value.as_u64().ok_or_else(|| fault("its retention is no number"))?,
    };
    let retention_ms = retention_s.saturating_mul(1_000);
    let Some(redrive) = properties.get("RedrivePolicy") else {
        return Ok((QueueRules { retention_ms, max_receive_count: None }, None));
    };
    let max_receive_count = redrive.get("maxReceiveCount").and_then(Value::as_u64);
    let max_receive_count = max_receive_count
        .and_then(|count| u32::try_from(count).ok())
        .filter(|count| *count > 0)
        .ok_or_else(|| fault("its maxReceiveCount is not 1 or more"))?;
    let dead_letters = redrive
        .get("deadLetterTargetArn")
        .and_then(target)
        .filter(|id| template.resource(id).is_some_and(|queue| queue.resource_type == QUEUE))
        .ok_or_else(|| fault("its dead letters have no queue of this template"))?;
    let max_receive_count = Some(max_receive_count);
    Ok((QueueRules { retention_ms, max_receive_count }, Some(dead_letters.to_owned())))
}
