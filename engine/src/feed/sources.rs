//! What the feed is made of: the streams, and the logs of spreadsheets if their entries are in it, too.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::feed::{
    EntryKind, LOG_CATEGORY, Span, segment_of_stream, entries_span, stream_of_segment,
};
use cellar_catalog::stream::StreamName;
use cellar_log::entry::Entry;

use crate::ports::{Clock, Entries, PortError, Random, Streams};
use crate::streams::StreamStore;

/// The streams of a stack, and its logs, segment by segment.
#[derive(Clone)]
pub(super) struct Sources {
    streams: StreamStore,
    entries: Option<Arc<dyn Entries>>,
}

impl Sources {
    pub(super) fn new(
        streams: Arc<dyn Streams>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { streams: StreamStore::new(streams, clock, random), entries: None }
    }

    /// The same, with the logs.
    pub(super) fn with_entries(self, entries: Arc<dyn Entries>) -> Self {
        Self { entries: Some(entries), ..self }
    }

    /// The events of a stream from one index to below another; of a log's segment perhaps the first of them
    /// only. `None` if it does not have them.
    pub(super) async fn span(
        &self,
        stream: &StreamName,
        from: u64,
        to: u64,
    ) -> Result<Option<Span>, PortError> {
        match (segment_of_stream(stream), &self.entries) {
            (Some((log, segment)), Some(entries)) => {
                entries_of(entries.as_ref(), (log, segment), from, to).await
            }
            (Some(_), None) => Ok(None),
            (None, _) => self.streams.span(stream, from, to).await,
        }
    }

    /// How many events a stream has; `None` if that cannot be known, as of a spreadsheet that was trimmed.
    pub(super) async fn events(&self, stream: &StreamName) -> Result<Option<u64>, PortError> {
        match (segment_of_stream(stream), &self.entries) {
            (Some((log, segment)), Some(entries)) => {
                let last = entries.last(log, segment, true).await?;
                Ok(last.map(|last| u64::from(last.position.num()).saturating_add(1)))
            }
            (None, _) if stream.category() != LOG_CATEGORY => {
                let tip = self.streams.tip(stream).await?;
                Ok(Some(tip.map_or(0, |tip| tip.next)))
            }
            _ => Ok(None),
        }
    }

    /// The ends of the segments before those that begin with these spans. They were put at the same moment, and
    /// may be on their way in another shard of the table's stream, with whatever stands before them.
    pub(super) async fn ends_before(&self, spans: &[Span]) -> Result<Vec<Span>, PortError> {
        let Some(entries) = &self.entries else { return Ok(Vec::new()) };
        let mut ends = Vec::new();
        for span in spans.iter().filter(|span| span.first == 0) {
            let before = segment_of_stream(&span.stream)
                .and_then(|(log, segment)| Some((log, segment.checked_sub(1)?)));
            let Some((log, segment)) = before else { continue };
            // What a fork inherits is its source's.
            if let Some(end) = entries.last(log, segment, true).await? {
                ends.push(entries_span(log, end.position, vec![EntryKind::of(&end.content)])?);
            }
        }
        Ok(ends)
    }
}

/// The entries of a segment that one page has. Those that were moved into an offloaded segment are known by their
/// numbers.
async fn entries_of(
    entries: &dyn Entries,
    (log, segment): (LogId, u32),
    from: u64,
    to: u64,
) -> Result<Option<Span>, PortError> {
    let begin = u32::try_from(from).ok().and_then(|num| Position::new(segment, num).ok());
    let Some(begin) = begin.filter(|_| from < to) else { return Ok(None) };
    let page = entries.page(log, begin, true).await?.entries;
    let number = |entry: &Arc<Entry>| u64::from(entry.position.num());
    let Some(first) = page.first().map(number) else { return Ok(None) };
    if first > from {
        return offloaded(entries, (log, segment), from, first.min(to)).await;
    }
    let wanted = page.iter().zip(from..to).take_while(|(entry, index)| number(entry) == *index);
    let kinds: Vec<_> = wanted.map(|(entry, _)| EntryKind::of(&entry.content)).collect();
    Ok(Some(entries_span(log, begin, kinds)?))
}

/// Entries that are not in the table, if that is because their segment was trimmed.
async fn offloaded(
    entries: &dyn Entries,
    (log, segment): (LogId, u32),
    from: u64,
    to: u64,
) -> Result<Option<Span>, PortError> {
    let start = Position::new(segment, 0).map_err(|e| PortError::permanent(e.to_string()))?;
    let first = entries.page(log, start, true).await?.entries;
    if !first.first().is_some_and(|first| first.is_trimmed()) {
        return Ok(None);
    }
    let stream = stream_of_segment(log, segment);
    let stream = stream.map_err(|error| PortError::permanent(error.to_string()))?;
    let count = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
    let kinds = vec![EntryKind::Offloaded.kind(); count];
    Ok(Some(Span { stream, first: from, kinds }))
}
