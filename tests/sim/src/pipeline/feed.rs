//! The functions that process a catalog change: the indexer and the webhook. They are called as in
//! Lambda.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cellar_base::table_attributes::PARTITION_BYTES;
use cellar_catalog::feed::{self, Checkpoint, PartitionPolicy, Span};
use cellar_catalog::records::feed::decode_feed_position;
use cellar_engine::catalog::CatalogLists;
use cellar_engine::feed::{
    Auditor, FeedError, FeedReader, Finding, Indexer, Webhook, WebhookError, WebhookPorts,
};
use cellar_engine::ports::Clock as _;
use tokio::task::JoinHandle;

use super::stream_source::{Handler, RETRIES, ReadTo, StreamFunction, TIMEOUT_MS, is_read};
use super::{IDLE_MAX_MS, Shared, begin_stream_source};
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::stream::{Record, Stream};
use crate::world::World;

/// Size of a feed partition in items. The size is small, so that partitions become full during a
/// run.
const PARTITIONS: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 8 };
/// Maximum number of repairs by an operator, after which the feed must be complete.
const REPAIR_ROUNDS: u32 = 3;

/// Creates the indexer in a process.
fn indexer(process: &Process) -> Indexer {
    let port = Arc::new(process.clone());
    let lists = CatalogLists::new(
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
    );
    let time = (Arc::clone(&port) as _, Arc::clone(&port) as _);
    Indexer::new(Arc::clone(&port) as _, port, Arc::new(lists), time, 0)
        .with_partition_policy(PARTITIONS)
}

/// Creates the webhook in a process.
fn webhook(process: &Process) -> Webhook {
    let port = Arc::new(process.clone());
    let ports = WebhookPorts {
        feed: FeedReader::new(Arc::clone(&port) as _, 0),
        progresses: Arc::clone(&port) as _,
        sender: Arc::clone(&port) as _,
        clock: port,
    };
    Webhook::new(ports, "sim")
}

/// The indexer function, attached to the EventStream table's stream.
struct IndexerFunction;

/// The webhook function, attached to the Feed table's stream.
struct WebhookFunction;

struct Indexing {
    process: Process,
    indexer: Indexer,
}

struct Delivering {
    process: Process,
    webhook: Webhook,
}

impl StreamFunction for IndexerFunction {
    fn name(&self) -> &'static str {
        "indexer"
    }

    fn stream<'a>(&self, world: &'a World) -> &'a Stream {
        &world.streams_stream
    }

    fn matches_filter(&self, record: &Record) -> bool {
        feed::is_append(&record.image)
    }

    fn retries(&self) -> Option<u32> {
        Some(RETRIES)
    }

    fn begin(&self, process: &Process) -> Arc<dyn Handler> {
        Arc::new(Indexing { process: process.clone(), indexer: indexer(process) })
    }
}

impl StreamFunction for WebhookFunction {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn stream<'a>(&self, world: &'a World) -> &'a Stream {
        &world.index_stream
    }

    fn matches_filter(&self, record: &Record) -> bool {
        record.image.contains_key(PARTITION_BYTES)
    }

    fn retries(&self) -> Option<u32> {
        None
    }

    fn begin(&self, process: &Process) -> Arc<dyn Handler> {
        Arc::new(Delivering { process: process.clone(), webhook: webhook(process) })
    }
}

#[async_trait]
impl Handler for Indexing {
    async fn handle(&self, records: &[Record]) -> usize {
        let spans: Result<Vec<Span>, _> =
            records.iter().map(|record| feed::appended_span(&record.image)).collect();
        let spans = match spans {
            Ok(spans) => spans,
            Err(error) => {
                self.process.world().report_violation(format_args!(
                    "a record of an append cannot be decoded: {error}"
                ));
                return records.len();
            }
        };
        match self.indexer.index(spans).await {
            Ok(indexed) => {
                self.process.event(format_args!("{indexed:?}"));
                records.len()
            }
            Err(error) => {
                self.process.event(format_args!("not indexed: {error}"));
                0
            }
        }
    }
}

#[async_trait]
impl Handler for Delivering {
    async fn handle(&self, records: &[Record]) -> usize {
        let places = records.iter().filter_map(|record| decode_feed_position(&record.image).ok());
        let (Some(first), Some(last)) = (places.clone().min(), places.max()) else {
            self.process.world().report_violation("an item has no checkpoint");
            return records.len();
        };
        let deadline_ms = Process::now_ms(&self.process).saturating_add(TIMEOUT_MS);
        match self.webhook.deliver((first, last), deadline_ms).await {
            Ok(items) => {
                if items > 0 {
                    self.process.world().count(RareEvent::Delivered);
                }
                records.len()
            }
            Err(error) => {
                self.process.event(format_args!("{error}"));
                0
            }
        }
    }
}

/// The event sources of the indexer and the webhook.
pub(crate) struct FeedPipeline {
    shared: Arc<Shared>,
    indexed: Arc<ReadTo>,
    delivered: Arc<ReadTo>,
    sources: Mutex<Vec<JoinHandle<()>>>,
}

impl FeedPipeline {
    /// Starts the event sources.
    pub(crate) fn begin(world: &Arc<World>) -> Self {
        let shared = Shared::new(world, 0, 0);
        let (mut sources, indexed) = begin_stream_source(&shared, Arc::new(IndexerFunction));
        let (webhook_sources, delivered) = begin_stream_source(&shared, Arc::new(WebhookFunction));
        sources.extend(webhook_sources);
        Self { shared, indexed, delivered, sources: Mutex::new(sources) }
    }

    /// Starts or ends an outage during which no function can be called.
    pub(crate) fn set_outage(&self, is_out: bool) {
        self.shared.set_outage(is_out);
    }

    fn is_drained(&self) -> bool {
        let world = &self.shared.world;
        is_read(&world.streams_stream, &self.indexed)
            && is_read(&world.index_stream, &self.delivered)
    }

    /// Rebuilds the feed in the same way as an operator, under faults.
    pub(crate) async fn rebuild(&self) {
        let (operator, auditor) = self.operator();
        self.shared.world.count(RareEvent::FeedRebuildBegun);
        match auditor.rebuild(|_| {}).await {
            Ok(indexed) => {
                self.shared.world.count(RareEvent::FeedRebuilt);
                operator.event(format_args!("rebuilt: {indexed:?}"));
            }
            Err(error) => operator.event(format_args!("not rebuilt: {error}")),
        }
    }

    fn operator(&self) -> (Process, Auditor) {
        let operator = Process::new(&self.shared.world, "feed-operator", Mortality::Spared);
        let port = Arc::new(operator.clone());
        let reader = FeedReader::new(Arc::clone(&port) as _, 0);
        let (clock, random) = (Arc::clone(&port) as _, Arc::clone(&port) as _);
        let auditor = Auditor::new(&port, reader, indexer(&operator), clock, random);
        (operator, auditor)
    }

    /// Waits until everything is indexed and delivered, for at most `patience_ms` of true time per
    /// attempt. An operator repairs the feed and delivers what was lost. Afterwards, the feed must
    /// contain all events of the streams.
    pub(crate) async fn finish(&self, patience_ms: u64) {
        let world = &self.shared.world;
        self.drain(patience_ms).await;
        let (operator, auditor) = self.operator();
        for round in 0..=REPAIR_ROUNDS {
            let audit = match auditor.verify().await {
                Ok(audit) => audit,
                Err(error) => {
                    return world
                        .report_violation(format_args!("the feed cannot be audited: {error}"));
                }
            };
            if audit.findings.is_empty() {
                break;
            }
            // An unfinished rebuild leaves events that must be repaired.
            let is_expected = self.has_lost_records() || self.was_rebuilt();
            let is_repairable = audit.findings.iter().all(Finding::can_be_repaired);
            if round == REPAIR_ROUNDS || !is_repairable || !is_expected {
                let findings = &audit.findings;
                return world.report_violation(format_args!(
                    "the feed has unexpected findings: {findings:?}"
                ));
            }
            operator.event(format_args!("repairs {:?}", audit.findings));
            world.count(RareEvent::FeedRepaired);
            if let Err(error) = auditor.repair(&audit).await {
                world.report_violation(format_args!("the feed cannot be repaired: {error}"));
            }
            self.drain(patience_ms).await;
        }
        self.deliver_remaining(&operator).await;
    }

    fn has_lost_records(&self) -> bool {
        self.shared.has_lost.load(Ordering::SeqCst)
    }

    fn was_rebuilt(&self) -> bool {
        self.shared.world.rare.has(RareEvent::FeedRebuildBegun)
    }

    async fn drain(&self, patience_ms: u64) {
        let world = &self.shared.world;
        let began_ms = world.time.elapsed_ms();
        while !self.is_drained() {
            if world.time.elapsed_ms() - began_ms > patience_ms {
                return world.report_violation("I10: the feed is unfinished");
            }
            world.sleep_ms(IDLE_MAX_MS).await;
        }
    }

    /// Runs `synth webhook deliver`, which is needed only if the webhook has dropped a record.
    async fn deliver_remaining(&self, operator: &Process) {
        let world = &self.shared.world;
        let last_checkpoint = match find_last_checkpoint(operator).await {
            Ok(Some(last_checkpoint)) => last_checkpoint,
            Ok(None) => return,
            Err(error) => {
                return world.report_violation(format_args!("the feed cannot be read: {error}"));
            }
        };
        let delivered =
            webhook(operator).deliver((last_checkpoint, last_checkpoint), u64::MAX).await;
        match delivered {
            Ok(0) => {}
            Ok(_) if self.has_lost_records() => {}
            Err(WebhookError::NotVisibleYet) | Ok(_) => {
                world.report_violation(format_args!(
                    "the webhook had undelivered items: {delivered:?}"
                ));
            }
            Err(error) => world.report_violation(format_args!("the webhook failed: {error}")),
        }
    }

    /// Stops the event sources.
    pub(crate) fn end(&self) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        for source in sources.drain(..) {
            source.abort();
        }
    }
}

/// Returns the checkpoint of the last item in the feed.
async fn find_last_checkpoint(operator: &Process) -> Result<Option<Checkpoint>, FeedError> {
    let reader = FeedReader::new(Arc::new(operator.clone()), 0);
    let mut next_checkpoint = None;
    let mut last_checkpoint = None;
    loop {
        let page = reader.page(next_checkpoint, None, u32::MAX).await?;
        if let Some(last_item) = page.items.last() {
            last_checkpoint = Some(last_item.at);
        }
        next_checkpoint = Some(page.next);
        if page.is_end {
            return Ok(last_checkpoint);
        }
    }
}
