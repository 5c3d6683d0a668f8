//! State machine that adds events to the feed.

use std::collections::BTreeSet;

use super::known::{Known, Mark, Tail};
use super::phase::{Phase, Request};
use super::rules::{Rules, SafetyRule};
use super::work::{EventGap, Work};
use super::{Indexed, IndexingAction, IndexingAnswer, IndexingFault};
use crate::feed::checkpoint::{Checkpoint, Feed, FeedId};
use crate::feed::item::{Content, Item, PartitionPolicy};
use crate::feed::span::Span;
use crate::records::feed::item_size;
use crate::stream::StreamName;
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{FEED_PARTITIONS_PER_INCARNATION, MAX_INDEX_ATTEMPTS};
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_log::append::Inputs;

/// An operation that adds one batch of events to the feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Indexing {
    known: Known,
    work: Work,
    /// Events for which the reactions have been performed, and which can be written as the next
    /// feed item.
    spans_after_reactions: Vec<Span>,
    phase: Phase,
    /// First partition of the feed if there is no feed yet.
    first_partition: u64,
    policy: PartitionPolicy,
    rules: Rules,
    failed_attempts: u32,
    indexed: Indexed,
    /// Whether a new feed generation must be started, as for a rebuild.
    starts_new_generation: bool,
}

impl Indexing {
    /// Starts adding events to the feed. `known` is the state that was cached after the previous
    /// batch.
    #[must_use]
    pub fn begin(
        known: Known,
        spans: Vec<Span>,
        tables_incarnation: u32,
        inputs: Inputs,
    ) -> (Self, IndexingAction) {
        let (policy, rules) = (PartitionPolicy::default(), Rules::default());
        Self::begin_with_policy_and_rules(known, spans, tables_incarnation, policy, rules, inputs)
    }

    /// Like [`Indexing::begin`], with a different policy and different safety rules. For use in
    /// tests.
    #[must_use]
    pub fn begin_with_policy_and_rules(
        known: Known,
        spans: Vec<Span>,
        tables_incarnation: u32,
        policy: PartitionPolicy,
        rules: Rules,
        inputs: Inputs,
    ) -> (Self, IndexingAction) {
        let mut indexing = Self {
            known: known.limit_marks(),
            work: Work::new(spans),
            spans_after_reactions: Vec::new(),
            phase: Phase::Deciding,
            first_partition: u64::from(tables_incarnation)
                .saturating_mul(FEED_PARTITIONS_PER_INCARNATION),
            policy,
            rules,
            failed_attempts: 0,
            indexed: Indexed::default(),
            starts_new_generation: false,
        };
        let action = indexing.continue_indexing(inputs);
        (indexing, action)
    }

    /// Starts a new, empty feed generation, to which all events of all streams must be added again.
    /// Other indexers notice the new generation because their next conditional write fails.
    #[must_use]
    pub fn begin_rebuild(tables_incarnation: u32, inputs: Inputs) -> (Self, IndexingAction) {
        let (mut indexing, _) =
            Self::begin(Known::default(), Vec::new(), tables_incarnation, inputs);
        indexing.starts_new_generation = true;
        let action = indexing.continue_indexing(inputs);
        (indexing, action)
    }

    /// Returns the state to be cached for the next batch.
    #[must_use]
    pub fn known(self) -> Known {
        self.known
    }

    /// Processes the result of the last action and returns the next action. An answer that does not
    /// match the last action is reported as [`IndexingFault::Unexpected`].
    #[must_use]
    pub fn step(mut self, answer: IndexingAnswer, inputs: Inputs) -> (Self, IndexingAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Requesting(request), answer) => self.continue_after(request, answer, inputs),
            (Phase::Waiting(request), IndexingAnswer::Waited) => self.send(request),
            (phase, answer) => self.finish_unexpected(phase.name(), &answer),
        };
        (self, action)
    }

    fn continue_after(
        &mut self,
        request: Request,
        answer: IndexingAnswer,
        inputs: Inputs,
    ) -> IndexingAction {
        match (request, answer) {
            (request, IndexingAnswer::Failed { temporary }) => {
                self.retry_failed_request(request, temporary, inputs)
            }
            (Request::ReadPartition, IndexingAnswer::Partition(partition)) => {
                self.read_tail_or_create_feed(partition, inputs)
            }
            (Request::Begin(partition, feed), IndexingAnswer::Done) => {
                self.set_tail(Tail::of_empty_partition(partition, feed), inputs)
            }
            // Another indexer may have created the partition, possibly for another feed generation.
            (Request::Begin(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.reread_feed_end(inputs)
            }
            (Request::ReadTail(partition, feed), IndexingAnswer::LastItem(last_item)) => {
                self.set_tail_after_last_item(partition, feed, last_item, inputs)
            }
            (Request::ReadMarks(streams, feed), IndexingAnswer::Marks(marks)) => {
                self.cache_stored_marks(streams, feed, marks, inputs)
            }
            (Request::RaiseMarks(marks), IndexingAnswer::Done) => {
                self.record_raised_marks(marks, inputs)
            }
            // Raising high-water marks and performing reactions are idempotent, so they can be
            // repeated.
            (request @ (Request::RaiseMarks(_) | Request::React(_)), IndexingAnswer::Unknown) => {
                self.retry_failed_request(request, true, inputs)
            }
            (Request::ReadMissing(gap), IndexingAnswer::Events(span)) => {
                self.add_missing_events(gap, span, inputs)
            }
            (Request::React(spans), IndexingAnswer::Done) => {
                self.spans_after_reactions = spans;
                self.continue_indexing(inputs)
            }
            (Request::Put(at, item), IndexingAnswer::Done) => {
                self.continue_after_put(at, item, inputs)
            }
            (Request::Put(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.reread_feed_end(inputs)
            }
            (request, answer) => self.finish_unexpected(request.name(), &answer),
        }
    }

    fn send(&mut self, request: Request) -> IndexingAction {
        let action = match &request {
            Request::ReadPartition => IndexingAction::ReadPartition,
            Request::Begin(partition, feed) => {
                IndexingAction::BeginPartition { partition: *partition, feed: *feed }
            }
            Request::ReadTail(partition, _) => IndexingAction::ReadTail { partition: *partition },
            Request::ReadMarks(streams, _) => {
                IndexingAction::ReadMarks { streams: streams.clone() }
            }
            Request::RaiseMarks(marks) => IndexingAction::RaiseMarks { marks: marks.clone() },
            Request::ReadMissing(EventGap { stream, first, end }) => {
                IndexingAction::ReadMissing { stream: stream.clone(), from: *first, to: *end }
            }
            Request::React(spans) => IndexingAction::React { spans: spans.clone() },
            Request::Put(at, item) => IndexingAction::Put { at: *at, item: item.clone() },
        };
        self.phase = Phase::Requesting(request);
        action
    }

    fn continue_indexing(&mut self, inputs: Inputs) -> IndexingAction {
        if self.work.is_empty() && !self.starts_new_generation && self.marks_are_raised() {
            return self.finish(Ok(self.indexed.clone()));
        }
        let Some(tail) = self.known.tail.clone() else {
            return self.send(Request::ReadPartition);
        };
        if let Some(mark_action) = self.read_or_raise_marks(&tail) {
            return mark_action;
        }
        self.remove_indexed_events();
        if self.work.is_empty() && !self.starts_new_generation {
            return self.finish(Ok(self.indexed.clone()));
        }
        if self.rules.is_enforced(SafetyRule::FillGaps)
            && let Some(gap) = self.work.first_gap(|stream| self.mark_of(stream))
        {
            return self.send(Request::ReadMissing(gap));
        }
        self.put_next_item(&tail, inputs)
    }

    /// Returns the index after the last event of a stream that is in the feed, or 0 if it is
    /// unknown.
    fn mark_of(&self, stream: &StreamName) -> u64 {
        self.known.mark(stream).unwrap_or_default()
    }

    fn marks_are_raised(&self) -> bool {
        self.indexed.items == 0
            || self.known.tail.as_ref().is_none_or(|tail| tail.last_item_spans.is_empty())
    }

    /// Returns the action that reads unknown high-water marks, or the action that raises the stored
    /// high-water marks to include the last item. Returns `None` if neither is necessary.
    fn read_or_raise_marks(&mut self, tail: &Tail) -> Option<IndexingAction> {
        let streams_without_marks = self.streams_without_marks(tail);
        if !streams_without_marks.is_empty() {
            return Some(self.send(Request::ReadMarks(streams_without_marks, tail.feed)));
        }
        let first_partition = tail.feed.first_partition;
        let mut marks_to_raise = Vec::new();
        for span in &tail.last_item_spans {
            let next = span.next();
            if self.mark_of(&span.stream) < next {
                marks_to_raise.push((span.stream.clone(), Mark { first_partition, next }));
            }
        }
        if marks_to_raise.is_empty() {
            self.set_marks_raised();
            return None;
        }
        Some(self.send(Request::RaiseMarks(marks_to_raise)))
    }

    fn streams_without_marks(&self, tail: &Tail) -> Vec<StreamName> {
        let last_item_streams = tail.last_item_spans.iter().map(|span| &span.stream);
        let streams_without_marks: BTreeSet<StreamName> = last_item_streams
            .chain(self.work.streams())
            .filter(|stream| self.known.mark(stream).is_none())
            .cloned()
            .collect();
        streams_without_marks.into_iter().collect()
    }

    fn set_marks_raised(&mut self) {
        if let Some(tail) = &mut self.known.tail {
            tail.last_item_spans.clear();
        }
    }

    fn remove_indexed_events(&mut self) {
        if self.rules.is_enforced(SafetyRule::TrimSeen) {
            let known = &self.known;
            self.work.remove_indexed(|stream| known.mark(stream).unwrap_or_default());
        }
    }

    fn put_next_item(&mut self, tail: &Tail, inputs: Inputs) -> IndexingAction {
        let partition_is_full =
            tail.bytes >= self.policy.bytes || tail.offset + 1 >= self.policy.items;
        if self.starts_new_generation {
            let id = FeedId(inputs.random.to_le_bytes());
            let next_feed = Feed { id, first_partition: tail.partition.saturating_add(1) };
            return self.put_item(tail, Content::End(next_feed), inputs);
        }
        if partition_is_full {
            return self.put_item(tail, Content::End(tail.feed), inputs);
        }
        let spans = self.work.next_item();
        let needs_reactions = spans != self.spans_after_reactions;
        if needs_reactions && self.rules.is_enforced(SafetyRule::ReactFirst) {
            return self.send(Request::React(spans));
        }
        self.put_item(tail, Content::Spans(spans), inputs)
    }

    fn put_item(&mut self, tail: &Tail, content: Content, inputs: Inputs) -> IndexingAction {
        let Ok(feed_position) = Checkpoint::at(tail.partition, tail.offset) else {
            return self.finish(Err(IndexingFault::Full));
        };
        let time_ms = inputs.now_s.saturating_mul(1_000);
        let mut item = Item { time_ms, partition_bytes: tail.bytes, content };
        item.partition_bytes = tail.bytes.saturating_add(item_size(feed_position, &item));
        self.send(Request::Put(feed_position, item))
    }

    fn continue_after_put(
        &mut self,
        feed_position: Checkpoint,
        item: Item,
        inputs: Inputs,
    ) -> IndexingAction {
        let Some(tail) = &mut self.known.tail else { return self.reread_feed_end(inputs) };
        self.indexed.items += 1;
        match item.content {
            Content::End(feed) => {
                self.starts_new_generation = false;
                self.known.tail = None;
                self.begin_partition_after(feed_position.partition(), feed)
            }
            Content::Spans(spans) => {
                let event_count: usize = spans.iter().map(|span| span.kinds.len()).sum();
                self.indexed.events += u64::try_from(event_count).unwrap_or(u64::MAX);
                tail.offset += 1;
                tail.bytes = item.partition_bytes;
                tail.last_item_spans = spans;
                self.continue_indexing(inputs)
            }
        }
    }

    fn begin_partition_after(&mut self, ended_partition: u64, feed: Feed) -> IndexingAction {
        let next_partition = ended_partition.saturating_add(1);
        if Checkpoint::at(next_partition, 0).is_err() {
            return self.finish(Err(IndexingFault::Full));
        }
        // A new generation does not contain any events yet.
        let starts_generation = feed.first_partition == next_partition;
        if starts_generation {
            self.known.marks.clear();
        }
        self.send(Request::Begin(next_partition, feed))
    }

    fn read_tail_or_create_feed(
        &mut self,
        partition: Option<(u64, Feed)>,
        inputs: Inputs,
    ) -> IndexingAction {
        match partition {
            Some((partition, feed)) => self.send(Request::ReadTail(partition, feed)),
            None => {
                let id = FeedId(inputs.random.to_le_bytes());
                let first_partition = self.first_partition;
                self.send(Request::Begin(first_partition, Feed { id, first_partition }))
            }
        }
    }

    fn set_tail_after_last_item(
        &mut self,
        partition: u64,
        feed: Feed,
        last_item: Option<(u64, Item)>,
        inputs: Inputs,
    ) -> IndexingAction {
        let Some((last_offset, last_item)) = last_item else {
            return self.set_tail(Tail::of_empty_partition(partition, feed), inputs);
        };
        let last_item_spans = match last_item.content {
            Content::End(next_feed) => return self.begin_partition_after(partition, next_feed),
            Content::Spans(spans) if self.rules.is_enforced(SafetyRule::SettleFirst) => spans,
            Content::Spans(_) => Vec::new(),
        };
        let tail = Tail {
            partition,
            feed,
            offset: last_offset.saturating_add(1),
            bytes: last_item.partition_bytes,
            last_item_spans,
        };
        self.set_tail(tail, inputs)
    }

    fn set_tail(&mut self, tail: Tail, inputs: Inputs) -> IndexingAction {
        self.known.tail = Some(tail);
        self.continue_indexing(inputs)
    }

    fn cache_stored_marks(
        &mut self,
        requested_streams: Vec<StreamName>,
        feed: Feed,
        stored_marks: Vec<(StreamName, Mark)>,
        inputs: Inputs,
    ) -> IndexingAction {
        let feed_was_replaced =
            stored_marks.iter().any(|(_, mark)| mark.first_partition > feed.first_partition);
        if feed_was_replaced {
            return self.reread_feed_end(inputs);
        }
        for stream in requested_streams {
            self.known.raise_mark(stream, 0);
        }
        for (stream, mark) in stored_marks {
            if mark.first_partition == feed.first_partition {
                self.known.raise_mark(stream, mark.next);
            }
        }
        self.continue_indexing(inputs)
    }

    fn record_raised_marks(
        &mut self,
        marks: Vec<(StreamName, Mark)>,
        inputs: Inputs,
    ) -> IndexingAction {
        for (stream, mark) in marks {
            self.known.raise_mark(stream, mark.next);
        }
        self.set_marks_raised();
        self.continue_indexing(inputs)
    }

    fn add_missing_events(
        &mut self,
        gap: EventGap,
        found_span: Option<Span>,
        inputs: Inputs,
    ) -> IndexingAction {
        match found_span {
            Some(span) if gap.starts_with(&span) => {
                self.indexed.found += u64::try_from(span.kinds.len()).unwrap_or(u64::MAX);
                self.work.add(span);
                self.continue_indexing(inputs)
            }
            _ => {
                let EventGap { stream, first, .. } = gap;
                self.finish(Err(IndexingFault::NotInStream { stream, index: first }))
            }
        }
    }

    /// Reads the end of the feed again after a write has failed because another indexer was faster,
    /// or after a write with an unknown outcome.
    fn reread_feed_end(&mut self, inputs: Inputs) -> IndexingAction {
        self.failed_attempts += 1;
        if self.failed_attempts >= MAX_INDEX_ATTEMPTS {
            return self.finish(Err(IndexingFault::Contention));
        }
        if self.rules.is_enforced(SafetyRule::ForgetWhenRefused) {
            self.known.clear();
        } else {
            self.known.tail = None;
        }
        self.wait(Request::ReadPartition, inputs)
    }

    /// Fails if the error is permanent or there were too many failures.
    fn retry_failed_request(
        &mut self,
        request: Request,
        temporary: bool,
        inputs: Inputs,
    ) -> IndexingAction {
        self.failed_attempts += 1;
        if !temporary || self.failed_attempts >= MAX_INDEX_ATTEMPTS {
            return self.finish(Err(IndexingFault::Store));
        }
        self.wait(request, inputs)
    }

    fn wait(&mut self, request: Request, inputs: Inputs) -> IndexingAction {
        self.phase = Phase::Waiting(request);
        IndexingAction::Wait { delay_ms: full_jitter_ms(self.failed_attempts, inputs.random) }
    }

    fn finish_unexpected(
        &mut self,
        phase: &'static str,
        answer: &IndexingAnswer,
    ) -> IndexingAction {
        let fault = UnexpectedEvent { machine: "feed indexer", phase, event: answer.name() };
        self.finish(Err(fault.into()))
    }

    fn finish(&mut self, result: Result<Indexed, IndexingFault>) -> IndexingAction {
        if result.is_err() {
            self.known.clear();
        }
        self.phase = Phase::Finished;
        IndexingAction::Finish(result)
    }
}
