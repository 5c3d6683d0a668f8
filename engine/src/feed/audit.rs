//! Audits the feed: compares it with the event streams and repairs it. Used by operators.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cellar_base::limits::{FEED_SETTLE_MS, FEED_SETTLES, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::feed::{
    Checkpoint, FeedId, Indexed, Span, segment_of_stream, stream_of_segment,
};
use cellar_catalog::stream::StreamName;

use super::error::FeedError;
use super::indexer::Indexer;
use super::reader::FeedReader;
use super::sources::Sources;
use crate::ports::{AllStreams, Clock, Entries, PortError, Retention, Streams};

const STREAMS_PER_CALL: usize = 100;

/// Compares the feed of a stack with its event streams, and repairs the feed.
#[derive(Clone)]
pub struct Auditor {
    reader: FeedReader,
    all_streams: Arc<dyn AllStreams>,
    sources: Sources,
    /// Set if the feed includes log entries.
    segments: Option<Arc<dyn Retention>>,
    indexer: Indexer,
    clock: Arc<dyn Clock>,
}

/// A defect of a feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The feed lacks some events of a stream. Indexing them repairs the feed.
    Missing {
        stream: StreamName,
        /// Index of the first missing event.
        from: u64,
        /// Index after the last missing event.
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
    /// The feed contains events of a stream twice or in the wrong order.
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
    /// Whether indexing the missing events repairs the feed. If not, the feed must be rebuilt.
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
    /// Total number of events in the items.
    pub events: u64,
    /// Checkpoint of the end of the feed.
    pub end: Option<Checkpoint>,
    /// Differences between the feed and the streams. Empty if the feed is correct.
    pub findings: Vec<Finding>,
}

type EventCounts = BTreeMap<StreamName, u64>;

#[derive(Default)]
struct FeedScan {
    indexed_counts: EventCounts,
    audit: Audit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanEnd {
    EndOfFeed,
    MissingItem,
}

impl Auditor {
    /// Creates an auditor that compares the feed with these event streams. `indexer` adds missing
    /// events to the feed.
    #[must_use]
    pub fn new<S: Streams + AllStreams + 'static>(
        streams: &Arc<S>,
        reader: FeedReader,
        indexer: Indexer,
        clock: Arc<dyn Clock>,
        random: Arc<dyn crate::ports::Random>,
    ) -> Self {
        let sources = Sources::new(Arc::clone(streams) as _, Arc::clone(&clock), random);
        let all_streams = Arc::clone(streams) as _;
        Self { reader, all_streams, sources, segments: None, indexer, clock }
    }

    /// Includes log entries in the audit. Missing log entries are detected only if `segments` is
    /// set.
    #[must_use]
    pub fn with_entries(
        self,
        entries: Arc<dyn Entries>,
        segments: Option<Arc<dyn Retention>>,
    ) -> Self {
        let indexer = self.indexer.with_entries(Arc::clone(&entries));
        Self { sources: self.sources.with_entries(entries), segments, indexer, ..self }
    }

    /// Compares the whole feed with all streams.
    ///
    /// An event may be missing only because it has not been indexed yet. If events are missing, the
    /// audit therefore waits and reads the feed again several times before it reports them.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if a table fails.
    pub async fn verify(&self) -> Result<Audit, FeedError> {
        let stored_counts = self.count_stored_events().await?;
        let FeedScan { indexed_counts, mut audit } = self.scan_feed(&stored_counts).await?;
        audit.streams = u64::try_from(stored_counts.len()).unwrap_or(u64::MAX);
        audit.findings.extend(find_missing_events(&stored_counts, &indexed_counts));
        let excess_events = self.find_excess_events(&stored_counts, &indexed_counts).await?;
        audit.findings.extend(excess_events);
        audit.findings.sort();
        Ok(audit)
    }

    /// If events are missing, waits for them to be indexed and continues the scan, up to
    /// `FEED_SETTLES` times.
    async fn scan_feed(&self, stored_counts: &EventCounts) -> Result<FeedScan, FeedError> {
        let mut scan = FeedScan::default();
        for _ in 0..FEED_SETTLES {
            let scan_end = self.scan_to_end(&mut scan).await?;
            let has_all_events =
                find_missing_events(stored_counts, &scan.indexed_counts).is_empty();
            if scan_end == ScanEnd::MissingItem || has_all_events {
                return Ok(scan);
            }
            self.clock.sleep_ms(FEED_SETTLE_MS).await;
        }
        self.scan_to_end(&mut scan).await?;
        Ok(scan)
    }

    /// Indexes the events that an audit reported as missing.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if the indexing fails. Events that were already indexed stay in the
    /// feed.
    pub async fn repair(&self, audit: &Audit) -> Result<Indexed, FeedError> {
        let missing_events: Vec<&Finding> =
            audit.findings.iter().filter(|finding| finding.can_be_repaired()).collect();
        let mut total = Indexed::default();
        for findings in missing_events.chunks(STREAMS_PER_CALL) {
            let mut spans = Vec::new();
            for finding in findings {
                if let Finding::Missing { stream, from, to } = finding {
                    spans.extend(self.span_to_index(stream, *from..*to).await?);
                }
            }
            self.index_and_count(spans, &mut total).await?;
        }
        Ok(total)
    }

    /// Starts a new generation of the feed after the existing one, and indexes all events of all
    /// streams. New events may be appended and indexed during the rebuild. Calls `report_progress`
    /// with the number of events indexed so far.
    ///
    /// If the rebuild is interrupted, [`Auditor::verify`] and [`Auditor::repair`] complete it.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if a table fails.
    pub async fn rebuild(
        &self,
        mut report_progress: impl FnMut(u64),
    ) -> Result<Indexed, FeedError> {
        self.indexer.start_new_feed().await?;
        let mut total = Indexed::default();
        let stored_counts: Vec<_> = self.count_stored_events().await?.into_iter().collect();
        for call_counts in stored_counts.chunks(STREAMS_PER_CALL) {
            let mut spans = Vec::new();
            for (stream, event_count) in call_counts {
                spans.extend(self.span_to_index(stream, 0..*event_count).await?);
            }
            self.index_and_count(spans, &mut total).await?;
            report_progress(total.events);
        }
        Ok(total)
    }

    /// For a log segment, the span contains only the last event, since the segment may be long. The
    /// indexer reads the events before it.
    async fn span_to_index(
        &self,
        stream: &StreamName,
        event_indexes: Range<u64>,
    ) -> Result<Option<Span>, PortError> {
        let Range { start, end } = event_indexes;
        let is_log_segment = segment_of_stream(stream).is_some();
        let span_start = if is_log_segment { end.saturating_sub(1) } else { start };
        self.sources.span(stream, span_start..end).await
    }

    async fn index_and_count(
        &self,
        spans: Vec<Span>,
        total: &mut Indexed,
    ) -> Result<(), FeedError> {
        let Indexed { items, events, found } = self.indexer.index(spans).await?;
        total.items += items;
        total.events += events;
        total.found += found;
        Ok(())
    }

    async fn count_stored_events(&self) -> Result<EventCounts, PortError> {
        let mut stored_counts = EventCounts::new();
        let mut next_page = None;
        loop {
            let page = self.all_streams.all_streams(next_page).await?;
            stored_counts.extend(page.streams);
            next_page = page.next;
            if next_page.is_none() {
                break;
            }
        }
        if let Some(segments) = &self.segments {
            self.count_log_entries(segments.as_ref(), &mut stored_counts).await?;
        }
        Ok(stored_counts)
    }

    /// Skips segments that a fork inherits from its source.
    async fn count_log_entries(
        &self,
        segments: &dyn Retention,
        stored_counts: &mut EventCounts,
    ) -> Result<(), PortError> {
        let mut next_page = None;
        loop {
            let page = segments.all_segments(next_page).await?;
            for segment in page.segments.iter().filter(|segment| segment.lineage.is_none()) {
                let stream = stream_of_segment(segment.log, segment.num)
                    .map_err(PortError::from_permanent)?;
                if let Some(entry_count) = self.sources.count_events(&stream).await? {
                    stored_counts.insert(stream, entry_count);
                }
            }
            next_page = page.next;
            if next_page.is_none() {
                return Ok(());
            }
        }
    }

    async fn scan_to_end(&self, scan: &mut FeedScan) -> Result<ScanEnd, FeedError> {
        loop {
            let Audit { end: next_checkpoint, feed, .. } = scan.audit;
            let page = match self.reader.page(next_checkpoint, feed, MAX_FEED_PAGE_ITEMS).await {
                Ok(page) => page,
                Err(FeedError::Damaged { at }) => {
                    scan.audit.findings.push(Finding::Lost { at });
                    return Ok(ScanEnd::MissingItem);
                }
                Err(error) => return Err(error),
            };
            if page.feed.is_some() {
                scan.audit.feed = page.feed;
                scan.audit.end = Some(page.next);
            }
            for item in page.items {
                scan.audit.items += 1;
                for span in item.spans {
                    scan.add_span(&span, item.at);
                }
            }
            if page.is_end {
                return Ok(ScanEnd::EndOfFeed);
            }
        }
    }

    /// Counts the events of such a stream again, since events may have been appended since the
    /// first count.
    async fn find_excess_events(
        &self,
        stored_counts: &EventCounts,
        indexed_counts: &EventCounts,
    ) -> Result<Vec<Finding>, PortError> {
        let mut findings = Vec::new();
        for (stream, indexed_count) in indexed_counts {
            let indexed = *indexed_count;
            if indexed <= stored_counts.get(stream).copied().unwrap_or_default() {
                continue;
            }
            // The entries of a purged spreadsheet are deleted, so they can no longer be counted.
            let Some(stored) = self.sources.count_events(stream).await? else { continue };
            if indexed > stored {
                findings.push(Finding::Beyond { stream: stream.clone(), stored, indexed });
            }
        }
        Ok(findings)
    }
}

impl FeedScan {
    fn add_span(&mut self, span: &Span, checkpoint: Checkpoint) {
        self.audit.events += u64::try_from(span.kinds.len()).unwrap_or(u64::MAX);
        let indexed_count = self.indexed_counts.entry(span.stream.clone()).or_default();
        if span.first != *indexed_count {
            self.audit.findings.push(Finding::Disordered {
                stream: span.stream.clone(),
                expected: *indexed_count,
                found: span.first,
                at: checkpoint,
            });
        }
        *indexed_count = span.next().max(*indexed_count);
    }
}

fn find_missing_events(stored_counts: &EventCounts, indexed_counts: &EventCounts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (stream, stored_count) in stored_counts {
        let indexed_count = indexed_counts.get(stream).copied().unwrap_or_default();
        if indexed_count < *stored_count {
            findings.push(Finding::Missing {
                stream: stream.clone(),
                from: indexed_count,
                to: *stored_count,
            });
        }
    }
    findings
}
