//! Compares the feed with the streams, and mends it: for operators.

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

/// Streams whose events are indexed at once.
const STREAMS_AT_ONCE: usize = 100;

/// Compares the feed of a stack with its streams.
#[derive(Clone)]
pub struct Auditor {
    reader: FeedReader,
    all: Arc<dyn AllStreams>,
    sources: Sources,
    /// All logs, if their entries are to be in the feed.
    logs: Option<Arc<dyn Retention>>,
    indexer: Indexer,
    clock: Arc<dyn Clock>,
}

/// What is wrong with a feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// Events of a stream are not in the feed: they can be indexed.
    Missing {
        /// The stream.
        stream: StreamName,
        /// Index of the first of them.
        from: u64,
        /// Index behind the last one.
        to: u64,
    },
    /// The feed has events that the stream does not have, or not yet.
    Beyond {
        /// The stream.
        stream: StreamName,
        /// How many events the stream has.
        there: u64,
        /// How many the feed has.
        indexed: u64,
    },
    /// The feed has events of a stream twice, or not in their order.
    Disordered {
        /// The stream.
        stream: StreamName,
        /// Index of the event that should have come.
        expected: u64,
        /// Index of the one that came.
        found: u64,
        /// Where.
        at: Checkpoint,
    },
    /// A place of the feed is lost: what is behind it cannot be reached.
    Lost {
        /// The place.
        at: Checkpoint,
    },
}

impl Finding {
    /// Whether indexing what is missing mends it; otherwise the feed has to be built anew.
    #[must_use]
    pub fn can_be_repaired(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// Which feed it is; none as long as nothing was indexed.
    pub feed: Option<FeedId>,
    /// Streams that there are.
    pub streams: u64,
    /// Items of the feed.
    pub items: u64,
    /// Events in them.
    pub events: u64,
    /// The end of the feed.
    pub end: Option<Checkpoint>,
    /// What is wrong; nothing if the feed says what the streams say.
    pub findings: Vec<Finding>,
}

/// Why a feed could not be compared or mended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// The feed cannot be read.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A table does not answer.
    #[error(transparent)]
    Store(#[from] PortError),
    /// What is missing cannot be indexed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// How far the feed was read.
#[derive(Default)]
struct Walk {
    indexed: BTreeMap<StreamName, u64>,
    audit: Audit,
}

impl Auditor {
    /// An auditor of these streams and their feed, which mends it with that indexer.
    #[must_use]
    pub fn new<S: Streams + AllStreams + 'static>(
        streams: &Arc<S>,
        reader: FeedReader,
        indexer: Indexer,
        clock: Arc<dyn Clock>,
        random: Arc<dyn crate::ports::Random>,
    ) -> Self {
        let sources = Sources::new(Arc::clone(streams) as _, Arc::clone(&clock), random);
        Self { reader, all: Arc::clone(streams) as _, sources, logs: None, indexer, clock }
    }

    /// The same, which knows what of the feed is entries of logs; with `logs`, those that are not in it are
    /// missing.
    #[must_use]
    pub fn with_entries(self, entries: Arc<dyn Entries>, logs: Option<Arc<dyn Retention>>) -> Self {
        let indexer = self.indexer.with_entries(Arc::clone(&entries));
        Self { sources: self.sources.with_entries(entries), logs, indexer, ..self }
    }

    /// Compares the whole feed with all streams. What was appended at the same time may be on its way: the
    /// feed is looked at again for some seconds before something is called missing.
    ///
    /// # Errors
    /// [`AuditError`] if a table does not answer.
    pub async fn verify(&self) -> Result<Audit, AuditError> {
        let there = self.there().await?;
        let mut walk = Walk::default();
        for again in 0..=FEED_SETTLES {
            if again > 0 {
                self.clock.sleep_ms(FEED_SETTLE_MS).await;
            }
            if !self.walk(&mut walk).await? || missing(&there, &walk.indexed).is_empty() {
                break;
            }
        }
        let mut audit = walk.audit;
        audit.streams = u64::try_from(there.len()).unwrap_or(u64::MAX);
        audit.findings.extend(missing(&there, &walk.indexed));
        audit.findings.extend(self.beyond(&there, &walk.indexed).await?);
        audit.findings.sort();
        Ok(audit)
    }

    /// Indexes the events that a comparison found missing, and nothing else.
    ///
    /// # Errors
    /// [`AuditError`]; what was indexed before it stays.
    pub async fn repair(&self, audit: &Audit) -> Result<Indexed, AuditError> {
        let missing = audit.findings.iter().filter_map(|finding| match finding {
            Finding::Missing { stream, from, to } => Some((stream, *from, *to)),
            _ => None,
        });
        let missing: Vec<_> = missing.collect();
        let mut sum = Indexed::default();
        for some in missing.chunks(STREAMS_AT_ONCE) {
            let mut spans = Vec::new();
            for (stream, from, to) in some {
                spans.extend(self.to_index(stream, *from, *to).await?);
            }
            self.index(spans, &mut sum).await?;
        }
        Ok(sum)
    }

    /// Builds the feed anew, behind the old one: every event of every stream. Others may append and index at
    /// the same time; if it is interrupted, [`Auditor::verify`] and [`Auditor::repair`] go on with it.
    ///
    /// # Errors
    /// [`AuditError`].
    pub async fn rebuild(&self, mut progress: impl FnMut(u64)) -> Result<Indexed, AuditError> {
        self.indexer.begin_anew().await?;
        let mut sum = Indexed::default();
        let there: Vec<_> = self.there().await?.into_iter().collect();
        for some in there.chunks(STREAMS_AT_ONCE) {
            let mut spans = Vec::new();
            for (stream, next) in some {
                spans.extend(self.to_index(stream, 0, *next).await?);
            }
            self.index(spans, &mut sum).await?;
            progress(sum.events);
        }
        Ok(sum)
    }

    /// What the indexer is told of these events: of a log's segment, which may be long, the last of them. It
    /// reads those before that.
    async fn to_index(
        &self,
        stream: &StreamName,
        from: u64,
        to: u64,
    ) -> Result<Option<Span>, PortError> {
        let last = segment_of_stream(stream).map(|_| to.saturating_sub(1));
        self.sources.span(stream, last.unwrap_or(from), to).await
    }

    async fn index(&self, spans: Vec<Span>, sum: &mut Indexed) -> Result<(), AuditError> {
        let Indexed { items, events, found } = self.indexer.index(spans).await?;
        sum.items += items;
        sum.events += events;
        sum.found += found;
        Ok(())
    }

    /// All streams, and how many events each has.
    async fn there(&self) -> Result<BTreeMap<StreamName, u64>, PortError> {
        let (mut there, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.all.all_streams(after).await?;
            there.extend(page.streams);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if let Some(logs) = &self.logs {
            self.add_segments(logs.as_ref(), &mut there).await?;
        }
        Ok(there)
    }

    /// All segments of all logs, and how many entries each has; none has a fork where it inherits.
    async fn add_segments(
        &self,
        logs: &dyn Retention,
        there: &mut BTreeMap<StreamName, u64>,
    ) -> Result<(), PortError> {
        let mut after = None;
        loop {
            let page = logs.all_segments(after).await?;
            for segment in page.segments.iter().filter(|segment| segment.lineage.is_none()) {
                let stream = stream_of_segment(segment.log, segment.num)
                    .map_err(|error| PortError::permanent(error.to_string()))?;
                if let Some(entries) = self.sources.events(&stream).await? {
                    there.insert(stream, entries);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Reads on to the end of the feed; whether it could.
    async fn walk(&self, walk: &mut Walk) -> Result<bool, AuditError> {
        loop {
            let Audit { end, feed, .. } = walk.audit;
            let page = match self.reader.page(end, feed, MAX_FEED_PAGE_ITEMS).await {
                Ok(page) => page,
                Err(FeedError::Damaged { at }) => {
                    walk.audit.findings.push(Finding::Lost { at });
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            };
            if page.feed.is_some() {
                (walk.audit.feed, walk.audit.end) = (page.feed, Some(page.next));
            }
            for item in page.items {
                walk.audit.items += 1;
                for span in item.spans {
                    walk.take(&span, item.at);
                }
            }
            if page.is_end {
                return Ok(true);
            }
        }
    }

    /// Streams of which the feed has more than they had when they were looked at: they may have grown since.
    async fn beyond(
        &self,
        there: &BTreeMap<StreamName, u64>,
        indexed: &BTreeMap<StreamName, u64>,
    ) -> Result<Vec<Finding>, PortError> {
        let mut findings = Vec::new();
        for (stream, indexed) in indexed {
            let seen = there.get(stream).copied().unwrap_or_default();
            if *indexed <= seen {
                continue;
            }
            // Of a spreadsheet that was trimmed nothing is there any more.
            let Some(there) = self.sources.events(stream).await? else { continue };
            if *indexed > there {
                let (stream, indexed) = (stream.clone(), *indexed);
                findings.push(Finding::Beyond { stream, there, indexed });
            }
        }
        Ok(findings)
    }
}

impl Walk {
    fn take(&mut self, span: &Span, at: Checkpoint) {
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

fn missing(there: &BTreeMap<StreamName, u64>, indexed: &BTreeMap<StreamName, u64>) -> Vec<Finding> {
    let missing = there.iter().filter_map(|(stream, to)| {
        let from = indexed.get(stream).copied().unwrap_or_default();
        (from < *to).then(|| Finding::Missing { stream: stream.clone(), from, to: *to })
    });
    missing.collect()
}
