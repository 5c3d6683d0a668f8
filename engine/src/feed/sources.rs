//! Sources of the feed: the catalog's event streams and, optionally, spreadsheet logs.

use std::ops::Range;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::feed::{
    EntryKind, LOG_CATEGORY, Span, entries_span, segment_of_stream, stream_of_segment,
};
use cellar_catalog::stream::StreamName;

use crate::ports::{Clock, Entries, PortError, Random, ReadConsistency, Streams};
use crate::streams::StreamStore;

/// Each log segment is treated as an event stream.
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

    pub(super) fn with_entries(self, entries: Arc<dyn Entries>) -> Self {
        Self { entries: Some(entries), ..self }
    }

    /// Returns a span of the events with these indexes, or `None` if the stream does not contain
    /// them. For a log segment, the span may contain only the first part of the requested events.
    pub(super) async fn span(
        &self,
        stream: &StreamName,
        event_indexes: Range<u64>,
    ) -> Result<Option<Span>, PortError> {
        let Some((log_id, segment)) = segment_of_stream(stream) else {
            return self.streams.span(stream, event_indexes).await;
        };
        match &self.entries {
            Some(entries) => {
                span_of_entries(entries.as_ref(), log_id, segment, event_indexes).await
            }
            None => Ok(None),
        }
    }

    /// Returns the number of events in a stream, or `None` if the number is unknown.
    pub(super) async fn count_events(&self, stream: &StreamName) -> Result<Option<u64>, PortError> {
        match (segment_of_stream(stream), &self.entries) {
            (Some((log_id, segment)), Some(entries)) => {
                let last_entry = entries.last(log_id, segment, ReadConsistency::Strong).await?;
                Ok(last_entry.map(|entry| u64::from(entry.position.entry_number()) + 1))
            }
            (None, _) if stream.category() != LOG_CATEGORY => {
                let tip = self.streams.tip(stream).await?;
                Ok(Some(tip.map_or(0, |tip| tip.next)))
            }
            _ => Ok(None),
        }
    }

    /// Returns a span with the last entry of the previous segment, for each span that starts with
    /// the first entry of a segment. Both entries are written in one transaction, but are in
    /// different shards of the change stream. The last entry of the previous segment may therefore
    /// be delivered later.
    pub(super) async fn end_spans_of_previous_segments(
        &self,
        spans: &[Span],
    ) -> Result<Vec<Span>, PortError> {
        let Some(entries) = &self.entries else { return Ok(Vec::new()) };
        let mut end_spans = Vec::new();
        for span in spans.iter().filter(|span| span.first == 0) {
            let Some((log_id, segment)) = segment_of_stream(&span.stream) else { continue };
            let Some(previous_segment) = segment.checked_sub(1) else { continue };
            // A fork does not store the inherited segments. They belong to its source.
            let Some(end) = entries.last(log_id, previous_segment, ReadConsistency::Strong).await?
            else {
                continue;
            };
            end_spans.push(entries_span(log_id, end.position, vec![EntryKind::of(&end.content)])?);
        }
        Ok(end_spans)
    }
}

/// Returns a span with the requested entries of a segment, limited to one page. Trimmed entries
/// have the kind `Offloaded`.
async fn span_of_entries(
    entries: &dyn Entries,
    log_id: LogId,
    segment: u32,
    requested_numbers: Range<u64>,
) -> Result<Option<Span>, PortError> {
    if requested_numbers.is_empty() {
        return Ok(None);
    }
    let start_number = u32::try_from(requested_numbers.start).ok();
    let start = start_number.and_then(|num| Position::new(segment, num).ok());
    let Some(start) = start else { return Ok(None) };
    let page = entries.page(log_id, start, ReadConsistency::Strong).await?;
    let Some(first_entry) = page.entries.first() else { return Ok(None) };
    let first_number = u64::from(first_entry.position.entry_number());
    if first_number > requested_numbers.start {
        let missing_numbers = requested_numbers.start..first_number.min(requested_numbers.end);
        return span_of_trimmed(entries, log_id, segment, missing_numbers).await;
    }
    let mut kinds = Vec::new();
    for (entry, expected_number) in page.entries.iter().zip(requested_numbers) {
        if u64::from(entry.position.entry_number()) != expected_number {
            break;
        }
        kinds.push(EntryKind::of(&entry.content));
    }
    Ok(Some(entries_span(log_id, start, kinds)?))
}

/// Returns `None` if the segment was not trimmed.
async fn span_of_trimmed(
    entries: &dyn Entries,
    log_id: LogId,
    segment: u32,
    missing_numbers: Range<u64>,
) -> Result<Option<Span>, PortError> {
    let segment_start = Position::new(segment, 0).map_err(PortError::from_permanent)?;
    let first_page = entries.page(log_id, segment_start, ReadConsistency::Strong).await?;
    let is_trimmed = first_page.entries.first().is_some_and(|entry| entry.is_trimmed());
    if !is_trimmed {
        return Ok(None);
    }
    let stream = stream_of_segment(log_id, segment).map_err(PortError::from_permanent)?;
    let first = missing_numbers.start;
    let kinds = missing_numbers.map(|_| EntryKind::Offloaded.kind()).collect();
    Ok(Some(Span { stream, first, kinds }))
}
