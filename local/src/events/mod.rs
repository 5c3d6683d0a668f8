//! Event sources: reads the template's mappings from streams and queues to functions, and does for them what
//! Lambda does in AWS – polls, filters, batches, calls, retries, splits, and gives up in the end.

mod batch;
mod filter;
mod function;
mod letter;
mod mapping;
mod poller;
mod queue_mapping;
mod queue_poller;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_engine::ports::{Clock, Jobs};
use cellar_stacks::template::Template;
use dynoxide::Database;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use filter::FilterError;
pub(crate) use function::{EventFunction, SnapshotFunction, WebhookFunction};
use mapping::Mapping;
pub(crate) use mapping::timeout_of;
use poller::Poller;
use queue_mapping::QueueMapping;
use queue_poller::QueuePoller;
use stream::Streams;

use crate::error::LocalError;
use crate::names::Names;
use crate::queues::Queues;
use crate::roles::{Roles, queue_of};
use crate::store::EventStore;

const SOURCE: &str = "AWS::Lambda::EventSourceMapping";

/// The event sources of a template, ready to run.
#[derive(Debug)]
pub(crate) struct EventSources {
    pollers: Vec<Poller>,
    queue_pollers: Vec<QueuePoller>,
    written: watch::Sender<()>,
}

/// What the sources of a template need of the local cloud.
pub(crate) struct Surroundings<'a> {
    pub(crate) database: &'a Database,
    pub(crate) store: &'a Arc<EventStore>,
    pub(crate) queues: &'a Queues,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) roles: &'a Arc<Roles>,
}

impl Surroundings<'_> {
    /// The queue of what a source gives up: Lambda sends to it with the function's role.
    fn dead_letters(
        &self,
        names: &Names<'_>,
        mapping: &Mapping,
    ) -> Result<Option<Arc<dyn Jobs>>, LocalError> {
        let Some(id) = mapping.dead_letters.as_deref() else { return Ok(None) };
        let Some(queue) = self.queues.named(id) else { return Ok(None) };
        let (queue, url) = (Arc::clone(queue) as Arc<dyn Jobs>, names.queue_url(id));
        queue_of(self.roles, &mapping.function, &url, queue).map(Some)
    }
}

impl EventSources {
    /// The sources of the template; `function` makes the function with a logical id, or nothing if
    /// that one does not run here: its source waits then.
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        surroundings: &Surroundings<'_>,
        function: impl Fn(&str) -> Result<Option<Arc<dyn EventFunction>>, LocalError>,
    ) -> Result<Self, LocalError> {
        let (written, _) = watch::channel(());
        let (mut pollers, mut queue_pollers) = (Vec::new(), Vec::new());
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != SOURCE {
                continue;
            }
            if QueueMapping::is_one(template, &resource.properties) {
                let mapping =
                    QueueMapping::read(template, names, logical_id, &resource.properties)?;
                let roles = surroundings.roles;
                roles.check_queue(logical_id, &mapping.function, &mapping.queue_arn)?;
                let queue = surroundings.queues.named(&mapping.queue);
                if let (Some(queue), Some(function)) = (queue, function(&mapping.function)?) {
                    let (queue, clock) = (Arc::clone(queue) as _, Arc::clone(surroundings.clock));
                    queue_pollers.push(QueuePoller::new(mapping, queue, function, clock));
                }
                continue;
            }
            let mapping = Mapping::read(template, names, logical_id, &resource.properties)?;
            let roles = surroundings.roles;
            roles.check_stream(logical_id, &mapping.function, &mapping.stream_arn)?;
            let stream = Streams::of_table(surroundings.database, &mapping.table)
                .map_err(|why| LocalError::Template { logical_id: logical_id.to_owned(), why })?;
            let dead_letters = surroundings.dead_letters(names, &mapping)?;
            let Some(function) = function(&mapping.function)? else { continue };
            // The order of a shard is kept: one poller each.
            for shard in stream.shards() {
                pollers.push(Poller::new(
                    mapping.clone(),
                    stream.shard(shard),
                    Arc::clone(surroundings.store),
                    Arc::clone(&function),
                    dead_letters.clone(),
                    Arc::clone(surroundings.clock),
                ));
            }
        }
        Ok(Self { pollers, queue_pollers, written })
    }

    /// Tells the sources that something may have been written, so that they look at once.
    pub(crate) fn written(&self) -> watch::Sender<()> {
        self.written.clone()
    }

    /// Runs them; they end one by one once `stop` says so, each between two calls of its function.
    /// Dropping the set ends them at once, which loses nothing: they go on from their positions.
    pub(crate) fn run(self, stop: &watch::Receiver<bool>) -> JoinSet<()> {
        let mut running = JoinSet::new();
        for poller in self.pollers {
            running.spawn(poller.run(stop.clone(), self.written.subscribe()));
        }
        for poller in self.queue_pollers {
            running.spawn(poller.run(stop.clone()));
        }
        running
    }
}
