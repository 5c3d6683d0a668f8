//! Feed audits for operators: compares the feed with its streams and repairs the feed.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::limits::{FEED_SETTLE_MS, FEED_SETTLES, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::feed::{
    Checkpoint, FeedId, Indexed, Span, segment_of_stream, stream_of_segment,
};
use cellar_catalog::stream::StreamName;

use super::indexer::{IndexError, Indexer};
use super::reader::{FeedError, FeedReader};
use super::sources::Sources;
use crate::ports::{AllStreams, Clock, Entries, PortError, Retention, Streams};

/// Maximum number of streams that are indexed in one call.
const STREAMS_PER_CALL: usize = 100;

/// Compares a stack's feed with its streams.
#[derive(Clone)]
pub struct Auditor {
    reader: FeedReader,
    all: Arc<dyn AllStreams>,
    sources: Sources,
    /// Source of all log segments; set if the feed includes log entries.
    segments: Option<Arc<dyn Retention>>,
    indexer: Indexer,
    clock: Arc<dyn Clock>,
}

/// A defect of a feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// Stream events are missing from the feed. Indexing them repairs the defect.
    Missing {
        stream: StreamName,
        /// Index of the first missing event.
        from: u64,
        /// Index after the last missing event (exclusive).
        to: u64,
    },
    /// The feed contains more events of a stream than the stream itself.
    Beyond {
        stream: StreamName,
        /// Number of events in the stream.
        stored: u64,
        /// Number of the stream's events in the feed.
        indexed: u64,
    },
    /// The feed contains a stream's events twice or in the wrong order.
    Disordered {
        stream: StreamName,
        /// Index of the expected event.
        expected: u64,
        /// Index of the event found in the feed.
        found: u64,
        /// Checkpoint of the item that contains the event.
        at: Checkpoint,
    },
    /// A feed item is missing, so readers cannot advance past it.
    Lost {
        /// Checkpoint of the missing item.
        at: Checkpoint,
    },
}

impl Finding {
    /// Whether indexing missing events can repair the defect. Other defects require a feed rebuild.
    #[must_use]
    pub fn can_be_repaired(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

/// Result of comparing a feed with its streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// Feed id, or `None` if no event has been indexed yet.
    pub feed: Option<FeedId>,
    pub streams: u64,
    /// Number of items in the feed.
    pub items: u64,
    /// Number of events in all items.
    pub events: u64,
    /// Checkpoint of the end of the feed.
    pub end: Option<Checkpoint>,
    /// Defects found; empty if the feed matches the streams.
    pub findings: Vec<Finding>,
}

/// Error comparing or repairing a feed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// The feed cannot be read.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A table request failed.
    #[error(transparent)]
    Store(#[from] PortError),
    /// Missing events could not be indexed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// Progress of a feed scan.
#[derive(Default)]
struct FeedScan {
    /// Number of events in the feed per stream.
    indexed: BTreeMap<StreamName, u64>,
    audit: Audit,
}

impl Auditor {
    /// Creates an auditor that compares these streams with their feed and repairs the feed with
    /// `indexer`.
    #[must_use]
    pub fn new<S: Streams + AllStreams + 'static>(
        streams: &Arc<S>,
        reader: FeedReader,
        indexer: Indexer,
        clock: Arc<dyn Clock>,
        random: Arc<dyn crate::ports::Random>,
    ) -> Self {
        let sources = Sources::new(Arc::clone(streams) as _, Arc::clone(&clock), random);
        Self { reader, all: Arc::clone(streams) as _, sources, segments: None, indexer, clock }
    }

    /// Includes log entries in the comparison. If `segments` is set, entries that are missing from
    /// the feed are reported as defects.
    #[must_use]
    pub fn with_entries(
        self,
        entries: Arc<dyn Entries>,
        segments: Option<Arc<dyn Retention>>,
    ) -> Self {
        let indexer = self.indexer.with_entries(Arc::clone(&entries));
        Self { sources: self.sources.with_entries(entries), segments, indexer, ..self }
    }

    /// Compares the whole feed with all streams. Recent events may still be in the process of being
    /// indexed, so the feed is re-read for some seconds before events are reported as missing.
    ///
    /// # Errors
    ///
    /// Returns [`AuditError`] if a table fails.
    pub async fn verify(&self) -> Result<Audit, AuditError> {
        let stored = self.count_stored_events().await?;
        let mut scan = FeedScan::default();
        for attempt in 0..=FEED_SETTLES {
            if attempt > 0 {
                self.clock.sleep_ms(FEED_SETTLE_MS).await;
            }
            if !self.scan_to_end(&mut scan).await? || missing(&stored, &scan.indexed).is_empty() {
                break;
            }
        }
        let mut audit = scan.audit;
        audit.streams = u64::try_from(stored.len()).unwrap_or(u64::MAX);
        audit.findings.extend(missing(&stored, &scan.indexed));
        audit.findings.extend(self.find_excess_events(&stored, &scan.indexed).await?);
        audit.findings.sort();
        Ok(audit)
    }

    /// Indexes exactly the events that an audit reported as missing.
    ///
    /// # Errors
    ///
    /// Returns [`AuditError`]. Events indexed before the error stay in the feed.
    pub async fn repair(&self, audit: &Audit) -> Result<Indexed, AuditError> {
        let missing = audit.findings.iter().filter_map(|finding| match finding {
            Finding::Missing { stream, from, to } => Some((stream, *from, *to)),
            _ => None,
        });
        let missing: Vec<_> = missing.collect();
        let mut total = Indexed::default();
        for chunk in missing.chunks(STREAMS_PER_CALL) {
            let mut spans = Vec::new();
            for (stream, from, to) in chunk {
                spans.extend(self.span_to_index(stream, *from, *to).await?);
            }
            self.index(spans, &mut total).await?;
        }
        Ok(total)
    }

    /// Builds a new generation of the feed from all events of all streams. The new generation
    /// follows the existing one. Appends and indexing may continue during the rebuild. An
    /// interrupted rebuild is completed by [`Auditor::verify`] and [`Auditor::repair`]. Calls
    /// `progress` with the number of events indexed so far.
    ///
    /// # Errors
    ///
    /// Returns [`AuditError`] if a table fails.
    pub async fn rebuild(&self, mut progress: impl FnMut(u64)) -> Result<Indexed, AuditError> {
        self.indexer.start_new_feed().await?;
        let mut total = Indexed::default();
        let stored: Vec<_> = self.count_stored_events().await?.into_iter().collect();
        for chunk in stored.chunks(STREAMS_PER_CALL) {
            let mut spans = Vec::new();
            for (stream, count) in chunk {
                spans.extend(self.span_to_index(stream, 0, *count).await?);
            }
            self.index(spans, &mut total).await?;
            progress(total.events);
        }
        Ok(total)
    }

    /// Returns the span to pass to the indexer for a range of events. A log segment may be long, so
    /// its span contains only the last entry; the indexer reads the missing entries before it.
    async fn span_to_index(
        &self,
        stream: &StreamName,
        from: u64,
        to: u64,
    ) -> Result<Option<Span>, PortError> {
        let last = segment_of_stream(stream).map(|_| to.saturating_sub(1));
        self.sources.span(stream, last.unwrap_or(from), to).await
    }

    async fn index(&self, spans: Vec<Span>, total: &mut Indexed) -> Result<(), AuditError> {
        let Indexed { items, events, found } = self.indexer.index(spans).await?;
        total.items += items;
        total.events += events;
        total.found += found;
        Ok(())
    }

    /// Returns the number of stored events per stream.
    async fn count_stored_events(&self) -> Result<BTreeMap<StreamName, u64>, PortError> {
        let (mut stored, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.all.all_streams(after).await?;
            stored.extend(page.streams);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if let Some(segments) = &self.segments {
            self.add_log_segments(segments.as_ref(), &mut stored).await?;
        }
        Ok(stored)
    }

    /// Adds the number of entries per log segment to `stored`. Skips inherited segments of forks,
    /// which belong to their source.
    async fn add_log_segments(
        &self,
        segments: &dyn Retention,
        stored: &mut BTreeMap<StreamName, u64>,
    ) -> Result<(), PortError> {
        let mut after = None;
        loop {
            let page = segments.all_segments(after).await?;
            for segment in page.segments.iter().filter(|segment| segment.lineage.is_none()) {
                let stream = stream_of_segment(segment.log, segment.num)
                    .map_err(|error| PortError::permanent(error.to_string()))?;
                if let Some(entries) = self.sources.count_events(&stream).await? {
                    stored.insert(stream, entries);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Advances a scan to the end of the feed. Returns `false` if an item is missing.
    async fn scan_to_end(&self, scan: &mut FeedScan) -> Result<bool, AuditError> {
        loop {
            let Audit { end, feed, .. } = scan.audit;
            let page = match self.reader.page(end, feed, MAX_FEED_PAGE_ITEMS).await {
                Ok(page) => page,
                Err(FeedError::Damaged { at }) => {
                    scan.audit.findings.push(Finding::Lost { at });
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            };
            if page.feed.is_some() {
                (scan.audit.feed, scan.audit.end) = (page.feed, Some(page.next));
            }
            for item in page.items {
                scan.audit.items += 1;
                for span in item.spans {
                    scan.add_span(&span, item.at);
                }
            }
            if page.is_end {
                return Ok(true);
            }
        }
    }

    /// Returns the streams with more events in the feed than in `stored`. The events are counted
    /// again, since a stream may have grown since the first count.
    async fn find_excess_events(
        &self,
        stored: &BTreeMap<StreamName, u64>,
        indexed: &BTreeMap<StreamName, u64>,
    ) -> Result<Vec<Finding>, PortError> {
        let mut findings = Vec::new();
        for (stream, indexed) in indexed {
            if *indexed <= stored.get(stream).copied().unwrap_or_default() {
                continue;
            }
            // Events of a purged spreadsheet can no longer be counted.
            let Some(stored) = self.sources.count_events(stream).await? else { continue };
            if *indexed > stored {
                let (stream, indexed) = (stream.clone(), *indexed);
                findings.push(Finding::Beyond { stream, stored, indexed });
            }
        }
        Ok(findings)
    }
}

impl FeedScan {
    fn add_span(&mut self, span: &Span, at: Checkpoint) {
        self.audit.events += u64::try_from(span.kinds.len()).unwrap_or(u64::MAX);
        let expected = self.indexed.entry(span.stream.clone()).or_default();
        if span.first != *expected {
            let (stream, found) = (span.stream.clone(), span.first);
            let finding = Finding::Disordered { stream, expected: *expected, found, at };
            self.audit.findings.push(finding);
        }
        *expected = span.next().max(*expected);
    }
}

/// Returns the streams with fewer events in the feed than in `stored`.
fn missing(
    stored: &BTreeMap<StreamName, u64>,
    indexed: &BTreeMap<StreamName, u64>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (stream, stored) in stored {
        let from = indexed.get(stream).copied().unwrap_or_default();
        if from < *stored {
            findings.push(Finding::Missing { stream: stream.clone(), from, to: *stored });
        }
    }
    findings
}
