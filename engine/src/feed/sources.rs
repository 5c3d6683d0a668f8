//! Feed sources: the catalog's event streams and, optionally, spreadsheet logs.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::feed::{
    EntryKind, LOG_CATEGORY, Span, entries_span, segment_of_stream, stream_of_segment,
};
use cellar_catalog::stream::StreamName;
use cellar_log::entry::Entry;

use crate::ports::{Clock, Entries, PortError, Random, Streams};
use crate::streams::StreamStore;

/// Event streams and, optionally, logs. Each log segment counts as a stream.
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

    /// Adds spreadsheet logs to the sources.
    pub(super) fn with_entries(self, entries: Arc<dyn Entries>) -> Self {
        Self { entries: Some(entries), ..self }
    }

    /// Returns the events of a stream with indexes from `from` (inclusive) to `to` (exclusive), or
    /// `None` if the stream does not contain them. For a log segment, the result may contain only
    /// the start of the range.
    pub(super) async fn span(
        &self,
        stream: &StreamName,
        from: u64,
        to: u64,
    ) -> Result<Option<Span>, PortError> {
        match (segment_of_stream(stream), &self.entries) {
            (Some((log, segment)), Some(entries)) => {
                span_of_entries(entries.as_ref(), (log, segment), from, to).await
            }
            (Some(_), None) => Ok(None),
            (None, _) => self.streams.span(stream, from, to).await,
        }
    }

    /// Returns the number of events of a stream, or `None` if it is unknown, for example because
    /// the entries were trimmed.
    pub(super) async fn count_events(&self, stream: &StreamName) -> Result<Option<u64>, PortError> {
        match (segment_of_stream(stream), &self.entries) {
            (Some((log, segment)), Some(entries)) => {
                let last = entries.last(log, segment, true).await?;
                Ok(last.map(|last| u64::from(last.position.entry_number()).saturating_add(1)))
            }
            (None, _) if stream.category() != LOG_CATEGORY => {
                let tip = self.streams.tip(stream).await?;
                Ok(Some(tip.map_or(0, |tip| tip.next)))
            }
            _ => Ok(None),
        }
    }

    /// For each span that starts with the first entry of a segment, returns a span for the End
    /// Segment (last entry) of the previous segment. Both entries are written in one transaction.
    /// However, the change stream may deliver the End Segment and the entries before it later,
    /// since they are in another shard.
    pub(super) async fn ends_before(&self, spans: &[Span]) -> Result<Vec<Span>, PortError> {
        let Some(entries) = &self.entries else { return Ok(Vec::new()) };
        let mut ends = Vec::new();
        for span in spans.iter().filter(|span| span.first == 0) {
            let Some((log, segment)) = segment_of_stream(&span.stream) else { continue };
            let Some(segment) = segment.checked_sub(1) else { continue };
            // A fork stores no entries of inherited segments, which belong to its source.
            if let Some(end) = entries.last(log, segment, true).await? {
                ends.push(entries_span(log, end.position, vec![EntryKind::of(&end.content)])?);
            }
        }
        Ok(ends)
    }
}

/// Returns one page of a segment's entries, starting at `from`. Trimmed entries are returned with
/// the kind `Offloaded`.
async fn span_of_entries(
    entries: &dyn Entries,
    (log, segment): (LogId, u32),
    from: u64,
    to: u64,
) -> Result<Option<Span>, PortError> {
    let begin = u32::try_from(from).ok().and_then(|num| Position::new(segment, num).ok());
    let Some(begin) = begin else { return Ok(None) };
    if from >= to {
        return Ok(None);
    }
    let page = entries.page(log, begin, true).await?.entries;
    let number = |entry: &Arc<Entry>| u64::from(entry.position.entry_number());
    let Some(first) = page.first().map(number) else { return Ok(None) };
    if first > from {
        return span_of_trimmed(entries, (log, segment), from, first.min(to)).await;
    }
    let without_gap =
        page.iter().zip(from..to).take_while(|(entry, index)| number(entry) == *index);
    let kinds: Vec<_> = without_gap.map(|(entry, _)| EntryKind::of(&entry.content)).collect();
    Ok(Some(entries_span(log, begin, kinds)?))
}

/// Returns a span for entries that are missing from the table, or `None` if their segment was not
/// trimmed.
async fn span_of_trimmed(
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
