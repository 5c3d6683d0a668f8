//! Event sources, which connect change streams and queues to functions according to the template's
//! event source mappings. Like in Lambda, an event source polls for records, filters and batches
//! them, and invokes the function. If the function fails, the event source retries, splits and
//! finally discards the batch.

mod batch;
mod dead_letter;
mod filter;
mod function;
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
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) use function::{EventFunction, SnapshotFunction, WebhookFunction};
use mapping::Mapping;
pub(crate) use mapping::read_timeout;
use poller::Poller;
use queue_mapping::QueueMapping;
use queue_poller::QueuePoller;
use stream::TableStream;

use crate::database::DurableDatabase;
use crate::error::LocalError;
use crate::names::Names;
use crate::queues::Queues;
use crate::roles::{Roles, queue_with_role};
use crate::store::EventStore;

const SOURCE: &str = "AWS::Lambda::EventSourceMapping";

/// The template's event sources.
#[derive(Debug)]
pub(crate) struct EventSources {
    pollers: Vec<Poller>,
    queue_pollers: Vec<QueuePoller>,
    write_notifier: watch::Sender<()>,
}

/// The parts of the local stack that event sources use.
pub(crate) struct SourceContext<'a> {
    pub(crate) database: &'a DurableDatabase,
    pub(crate) store: &'a Arc<EventStore>,
    pub(crate) queues: &'a Queues,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) roles: &'a Arc<Roles>,
}

impl SourceContext<'_> {
    /// Returns the dead letter queue of an event source mapping. Like in AWS, the function's role
    /// must permit sending messages to the queue.
    fn dead_letter_queue(
        &self,
        names: &Names<'_>,
        mapping: &Mapping,
    ) -> Result<Option<Arc<dyn Jobs>>, LocalError> {
        let Some(queue_id) = mapping.dead_letter_queue_id.as_deref() else { return Ok(None) };
        let Some(queue) = self.queues.get(queue_id) else { return Ok(None) };
        let jobs = Arc::clone(queue) as Arc<dyn Jobs>;
        let queue_url = names.queue_url(queue_id);
        queue_with_role(self.roles, &mapping.function_id, &queue_url, jobs).map(Some)
    }
}

impl EventSources {
    /// Creates the event sources of the template. `build_function` builds the function with the
    /// given logical id. It returns `None` for a function that does not run locally; the records
    /// and messages for this function then stay unprocessed.
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        context: &SourceContext<'_>,
        build_function: impl Fn(&str) -> Result<Option<Arc<dyn EventFunction>>, LocalError>,
    ) -> Result<Self, LocalError> {
        let (write_notifier, _) = watch::channel(());
        let mut sources = Self { pollers: Vec::new(), queue_pollers: Vec::new(), write_notifier };
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != SOURCE {
                continue;
            }
            if QueueMapping::is_queue_source(template, &resource.properties) {
                let mapping =
                    QueueMapping::read(template, names, logical_id, &resource.properties)?;
                let function = build_function(&mapping.function_id)?;
                sources.add_queue_source(mapping, context, function)?;
            } else {
                let mapping = Mapping::read(template, names, logical_id, &resource.properties)?;
                let function = build_function(&mapping.function_id)?;
                sources.add_stream_source(&mapping, names, context, function)?;
            }
        }
        Ok(sources)
    }

    fn add_queue_source(
        &mut self,
        mapping: QueueMapping,
        context: &SourceContext<'_>,
        function: Option<Arc<dyn EventFunction>>,
    ) -> Result<(), LocalError> {
        context.roles.check_queue(&mapping.id, &mapping.function_id, &mapping.queue_arn)?;
        if let Some(queue) = context.queues.get(&mapping.queue_id)
            && let Some(function) = function
        {
            let (queue, clock) = (Arc::clone(queue), Arc::clone(context.clock));
            self.queue_pollers.push(QueuePoller::new(mapping, queue, function, clock));
        }
        Ok(())
    }

    fn add_stream_source(
        &mut self,
        mapping: &Mapping,
        names: &Names<'_>,
        context: &SourceContext<'_>,
        function: Option<Arc<dyn EventFunction>>,
    ) -> Result<(), LocalError> {
        context.roles.check_stream(&mapping.id, &mapping.function_id, &mapping.stream_arn)?;
        let stream = TableStream::of_table(context.database, &mapping.table_name)
            .map_err(|why| LocalError::Template { logical_id: mapping.id.clone(), why })?;
        let dead_letter_queue = context.dead_letter_queue(names, mapping)?;
        let Some(function) = function else { return Ok(()) };
        // Create one poller per shard, because the records of a shard must be processed in order.
        for shard in stream.shards() {
            self.pollers.push(Poller::new(
                mapping.clone(),
                shard,
                Arc::clone(context.store),
                Arc::clone(&function),
                dead_letter_queue.clone(),
                Arc::clone(context.clock),
            ));
        }
        Ok(())
    }

    /// Returns a channel that makes the event sources poll immediately when a value is sent. A
    /// value should be sent after each request that may have changed a table or queue.
    pub(crate) fn write_notifier(&self) -> watch::Sender<()> {
        self.write_notifier.clone()
    }

    /// Runs the event sources in the returned tasks. After `stop` becomes true, each event source
    /// ends after its current invocation. Dropping the task set aborts the event sources. No
    /// records are lost, because the event sources resume from their stored positions at the next
    /// start.
    pub(crate) fn run(self, stop: &watch::Receiver<bool>) -> JoinSet<()> {
        let mut source_tasks = JoinSet::new();
        for poller in self.pollers {
            source_tasks.spawn(poller.run(stop.clone(), self.write_notifier.subscribe()));
        }
        for queue_poller in self.queue_pollers {
            source_tasks.spawn(queue_poller.run(stop.clone()));
        }
        source_tasks
    }
}
