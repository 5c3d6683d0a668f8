//! State machine of the feed indexer.

use std::collections::BTreeSet;

use super::known::{Known, Mark, Tail};
use super::rules::{Rules, SafetyRule};
use super::work::Work;
use super::{Indexed, IndexingAction, IndexingAnswer, IndexingFault};
use crate::feed::checkpoint::{Checkpoint, Feed, FeedId};
use crate::feed::item::{Content, Item, PartitionPolicy};
use crate::feed::span::Span;
use crate::records::feed::item_size;
use crate::stream::StreamName;
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{FEED_PARTITIONS_PER_INCARNATION, MAX_INDEX_ATTEMPTS};
use cellar_log::append::Inputs;

/// Indexing of one batch of events, in progress.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Indexing {
    known: Known,
    work: Work,
    /// Events of the next item, whose reactions have been performed.
    reacted: Vec<Span>,
    phase: Phase,
    /// First partition for a new feed in this incarnation of the tables.
    first_partition: u64,
    policy: PartitionPolicy,
    rules: Rules,
    attempts: u32,
    /// Number of items and events indexed so far.
    indexed: Indexed,
    /// Whether to start a new feed generation (rebuild).
    rebuilds: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    Deciding,
    ReadingPartition,
    Beginning(u64, Feed),
    ReadingTail(u64, Feed),
    ReadingMarks(Vec<StreamName>, Feed),
    RaisingMarks(Vec<(StreamName, Mark)>),
    ReadingMissing(StreamName, u64, u64),
    Reacting(Vec<Span>),
    Putting(Checkpoint, Item),
    Waiting(Box<Phase>),
    Finished,
}

impl Indexing {
    /// Starts indexing appended events. `known` is the cached state of an earlier batch.
    #[must_use]
    pub fn begin(
        known: Known,
        spans: Vec<Span>,
        tables_incarnation: u32,
        inputs: Inputs,
    ) -> (Self, IndexingAction) {
        let (policy, rules) = (PartitionPolicy::default(), Rules::default());
        Self::begin_by(known, spans, tables_incarnation, policy, rules, inputs)
    }

    /// Like [`Indexing::begin`], but with a policy and safety rules chosen by the caller (a test).
    #[must_use]
    pub fn begin_by(
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
            reacted: Vec::new(),
            phase: Phase::Deciding,
            first_partition: u64::from(tables_incarnation)
                .saturating_mul(FEED_PARTITIONS_PER_INCARNATION),
            policy,
            rules,
            attempts: 0,
            indexed: Indexed::default(),
            rebuilds: false,
        };
        let action = indexing.decide(inputs);
        (indexing, action)
    }

    /// Starts a new, empty feed generation, in which every stream is indexed from the start.
    /// Concurrent indexers fail their next conditional write and continue in the new generation.
    #[must_use]
    pub fn begin_rebuild(tables_incarnation: u32, inputs: Inputs) -> (Self, IndexingAction) {
        let (mut indexing, _) =
            Self::begin(Known::default(), Vec::new(), tables_incarnation, inputs);
        indexing.rebuilds = true;
        let action = indexing.decide(inputs);
        (indexing, action)
    }

    /// Returns the state to cache for the next batch.
    #[must_use]
    pub fn known(self) -> Known {
        self.known
    }

    /// Processes the result of the last action and returns the next action. Ends the indexing with
    /// [`IndexingFault::Store`] if the answer does not match the last action.
    #[must_use]
    pub fn step(mut self, answer: IndexingAnswer, inputs: Inputs) -> (Self, IndexingAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Waiting(phase), IndexingAnswer::Waited) => self.enter(*phase),
            (phase, IndexingAnswer::Failed { temporary }) => {
                self.handle_failure(phase, temporary, inputs)
            }
            (Phase::ReadingPartition, IndexingAnswer::Partition(partition)) => {
                self.handle_partition(partition, inputs)
            }
            (Phase::Beginning(partition, feed), IndexingAnswer::Done) => {
                let unsettled = Vec::new();
                self.set_tail(Tail { partition, feed, offset: 0, bytes: 0, unsettled }, inputs)
            }
            // Another indexer created the partition, so read its generation.
            (Phase::Beginning(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.restart(inputs)
            }
            (Phase::ReadingTail(partition, feed), IndexingAnswer::Last(last)) => {
                self.handle_last_item(partition, feed, last, inputs)
            }
            (Phase::ReadingMarks(streams, feed), IndexingAnswer::Marks(marks)) => {
                self.handle_marks(streams, feed, marks, inputs)
            }
            (Phase::RaisingMarks(marks), IndexingAnswer::Done) => {
                self.handle_raised_marks(marks, inputs)
            }
            // Raising high-water marks and performing reactions are idempotent.
            (phase @ (Phase::RaisingMarks(_) | Phase::Reacting(_)), IndexingAnswer::Unknown) => {
                self.handle_failure(phase, true, inputs)
            }
            (Phase::ReadingMissing(stream, from, to), IndexingAnswer::Missing(span)) => {
                self.handle_missing_events(stream, from, to, span, inputs)
            }
            (Phase::Reacting(spans), IndexingAnswer::Done) => {
                self.reacted = spans;
                self.decide(inputs)
            }
            (Phase::Putting(at, item), IndexingAnswer::Done) => self.handle_put(at, item, inputs),
            (Phase::Putting(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.restart(inputs)
            }
            _ => self.finish(Err(IndexingFault::Store)),
        };
        (self, action)
    }

    /// Enters a phase and returns its action.
    fn enter(&mut self, phase: Phase) -> IndexingAction {
        let action = match &phase {
            Phase::ReadingPartition => IndexingAction::ReadPartition,
            Phase::Beginning(partition, feed) => {
                IndexingAction::BeginPartition { partition: *partition, feed: *feed }
            }
            Phase::ReadingTail(partition, _) => IndexingAction::ReadTail { partition: *partition },
            Phase::ReadingMarks(streams, _) => {
                IndexingAction::ReadMarks { streams: streams.clone() }
            }
            Phase::RaisingMarks(marks) => IndexingAction::RaiseMarks { marks: marks.clone() },
            Phase::ReadingMissing(stream, from, to) => {
                IndexingAction::ReadMissing { stream: stream.clone(), from: *from, to: *to }
            }
            Phase::Reacting(spans) => IndexingAction::React { spans: spans.clone() },
            Phase::Putting(at, item) => IndexingAction::Put { at: *at, item: item.clone() },
            Phase::Deciding | Phase::Waiting(_) | Phase::Finished => {
                return self.finish(Err(IndexingFault::Store));
            }
        };
        self.phase = phase;
        action
    }

    /// Returns the next action. Finishes once all events are indexed.
    fn decide(&mut self, inputs: Inputs) -> IndexingAction {
        if self.work.is_empty() && !self.rebuilds && self.is_settled() {
            return self.finish(Ok(self.indexed.clone()));
        }
        let Some(tail) = self.known.tail.clone() else {
            return self.enter(Phase::ReadingPartition);
        };
        if let Some(action) = self.settle(&tail) {
            return action;
        }
        self.remove_indexed_events();
        if self.work.is_empty() && !self.rebuilds {
            return self.finish(Ok(self.indexed.clone()));
        }
        if self.rules.is_enforced(SafetyRule::FillGaps)
            && let Some((stream, from, to)) = self.work.first_gap(|stream| self.mark_of(stream))
        {
            return self.enter(Phase::ReadingMissing(stream, from, to));
        }
        self.put_next_item(&tail, inputs)
    }

    /// Returns the high-water mark of a stream, or 0 if unknown.
    fn mark_of(&self, stream: &StreamName) -> u64 {
        self.known.mark(stream).unwrap_or_default()
    }

    /// Whether the streams' high-water marks include the last item's events.
    fn is_settled(&self) -> bool {
        self.indexed.items == 0
            || self.known.tail.as_ref().is_none_or(|tail| tail.unsettled.is_empty())
    }

    /// Returns the action that reads unknown high-water marks or raises them to include the last
    /// item, or `None` if the marks are up to date.
    fn settle(&mut self, tail: &Tail) -> Option<IndexingAction> {
        let unknown = self.streams_without_marks(tail);
        if !unknown.is_empty() {
            return Some(self.enter(Phase::ReadingMarks(unknown, tail.feed)));
        }
        let first_partition = tail.feed.first_partition;
        let mut lagging = Vec::new();
        for span in &tail.unsettled {
            let next = span.next();
            if self.mark_of(&span.stream) < next {
                lagging.push((span.stream.clone(), Mark { first_partition, next }));
            }
        }
        if lagging.is_empty() {
            self.set_settled();
            return None;
        }
        Some(self.enter(Phase::RaisingMarks(lagging)))
    }

    /// Returns the streams with unknown high-water marks, limited to those of the last item and the
    /// remaining events.
    fn streams_without_marks(&self, tail: &Tail) -> Vec<StreamName> {
        let streams = tail.unsettled.iter().map(|span| &span.stream).chain(self.work.streams());
        let unknown = streams.filter(|stream| self.known.mark(stream).is_none());
        let unknown: BTreeSet<StreamName> = unknown.cloned().collect();
        unknown.into_iter().collect()
    }

    /// Records that the high-water marks include the last item's events.
    fn set_settled(&mut self) {
        if let Some(tail) = &mut self.known.tail {
            tail.unsettled.clear();
        }
    }

    fn remove_indexed_events(&mut self) {
        if self.rules.is_enforced(SafetyRule::TrimSeen) {
            let known = &self.known;
            self.work.remove_indexed(|stream| known.mark(stream).unwrap_or_default());
        }
    }

    /// Performs the reactions to the next item's events, then puts the item.
    fn put_next_item(&mut self, tail: &Tail, inputs: Inputs) -> IndexingAction {
        let Ok(at) = Checkpoint::at(tail.partition, tail.offset) else {
            return self.finish(Err(IndexingFault::Full));
        };
        let content = if self.rebuilds {
            let id = FeedId(inputs.random.to_le_bytes());
            Content::End(Feed { id, first_partition: tail.partition.saturating_add(1) })
        } else if tail.bytes >= self.policy.bytes || tail.offset + 1 >= self.policy.items {
            Content::End(tail.feed)
        } else {
            let spans = self.work.next_item();
            if spans != self.reacted && self.rules.is_enforced(SafetyRule::ReactFirst) {
                return self.enter(Phase::Reacting(spans));
            }
            Content::Spans(spans)
        };
        let time_ms = inputs.now_s.saturating_mul(1_000);
        let mut item = Item { time_ms, partition_bytes: tail.bytes, content };
        item.partition_bytes = tail.bytes.saturating_add(item_size(at, &item));
        self.enter(Phase::Putting(at, item))
    }

    fn handle_put(&mut self, at: Checkpoint, item: Item, inputs: Inputs) -> IndexingAction {
        let Some(tail) = &mut self.known.tail else { return self.restart(inputs) };
        self.indexed.items += 1;
        match item.content {
            Content::End(feed) => {
                self.rebuilds = false;
                self.known.tail = None;
                self.begin_partition_after(at.partition(), feed)
            }
            Content::Spans(spans) => {
                let events = spans.iter().map(|span| span.kinds.len()).sum::<usize>();
                self.indexed.events += u64::try_from(events).unwrap_or(u64::MAX);
                tail.offset += 1;
                tail.bytes = item.partition_bytes;
                tail.unsettled = spans;
                self.decide(inputs)
            }
        }
    }

    /// Continues in the partition after `ended`.
    fn begin_partition_after(&mut self, ended: u64, feed: Feed) -> IndexingAction {
        let next = ended.saturating_add(1);
        if Checkpoint::at(next, 0).is_err() {
            return self.finish(Err(IndexingFault::Full));
        }
        // A new generation starts without indexed events.
        if feed.first_partition == next {
            self.known.marks.clear();
        }
        self.enter(Phase::Beginning(next, feed))
    }

    fn handle_partition(
        &mut self,
        partition: Option<(u64, Feed)>,
        inputs: Inputs,
    ) -> IndexingAction {
        match partition {
            Some((partition, feed)) => self.enter(Phase::ReadingTail(partition, feed)),
            None => {
                let id = FeedId(inputs.random.to_le_bytes());
                let first_partition = self.first_partition;
                self.enter(Phase::Beginning(first_partition, Feed { id, first_partition }))
            }
        }
    }

    fn handle_last_item(
        &mut self,
        partition: u64,
        feed: Feed,
        last: Option<(u64, Item)>,
        inputs: Inputs,
    ) -> IndexingAction {
        let (offset, bytes, unsettled) = match last {
            None => (0, 0, Vec::new()),
            Some((offset, item)) => match item.content {
                Content::End(feed) => return self.begin_partition_after(partition, feed),
                Content::Spans(spans) => (offset.saturating_add(1), item.partition_bytes, spans),
            },
        };
        let settles_first = self.rules.is_enforced(SafetyRule::SettleFirst);
        let unsettled = if settles_first { unsettled } else { Vec::new() };
        self.set_tail(Tail { partition, feed, offset, bytes, unsettled }, inputs)
    }

    fn set_tail(&mut self, tail: Tail, inputs: Inputs) -> IndexingAction {
        self.known.tail = Some(tail);
        self.decide(inputs)
    }

    fn handle_marks(
        &mut self,
        streams: Vec<StreamName>,
        feed: Feed,
        marks: Vec<(StreamName, Mark)>,
        inputs: Inputs,
    ) -> IndexingAction {
        for stream in streams {
            self.known.raise_mark(stream, 0);
        }
        for (stream, mark) in marks {
            if mark.first_partition > feed.first_partition {
                // The feed has a later generation, so the cached end of the feed is stale.
                return self.restart(inputs);
            }
            if mark.first_partition == feed.first_partition {
                self.known.raise_mark(stream, mark.next);
            }
        }
        self.decide(inputs)
    }

    /// Records that the stored high-water marks have reached at least `marks`, and include the last
    /// item's events.
    fn handle_raised_marks(
        &mut self,
        marks: Vec<(StreamName, Mark)>,
        inputs: Inputs,
    ) -> IndexingAction {
        for (stream, mark) in marks {
            self.known.raise_mark(stream, mark.next);
        }
        self.set_settled();
        self.decide(inputs)
    }

    fn handle_missing_events(
        &mut self,
        stream: StreamName,
        from: u64,
        to: u64,
        span: Option<Span>,
        inputs: Inputs,
    ) -> IndexingAction {
        let is_requested = |span: &Span| {
            let is_part = span.stream == stream && span.first == from && span.next() <= to;
            is_part && !span.kinds.is_empty()
        };
        let Some(span) = span.filter(is_requested) else {
            return self.finish(Err(IndexingFault::NotInStream { stream, index: from }));
        };
        self.indexed.found += u64::try_from(span.kinds.len()).unwrap_or(u64::MAX);
        self.work.add(span);
        self.decide(inputs)
    }

    /// Rereads the end of the feed after a lost race or a write with an unknown outcome.
    fn restart(&mut self, inputs: Inputs) -> IndexingAction {
        self.attempts += 1;
        if self.attempts >= MAX_INDEX_ATTEMPTS {
            return self.finish(Err(IndexingFault::Contention));
        }
        if self.rules.is_enforced(SafetyRule::ForgetWhenRefused) {
            self.known.clear();
        } else {
            self.known.tail = None;
        }
        self.wait(Phase::ReadingPartition, inputs)
    }

    /// Retries the action of a phase. Gives up on a permanent error or after too many failed
    /// attempts.
    fn handle_failure(&mut self, phase: Phase, temporary: bool, inputs: Inputs) -> IndexingAction {
        self.attempts += 1;
        if !temporary || self.attempts >= MAX_INDEX_ATTEMPTS {
            return self.finish(Err(IndexingFault::Store));
        }
        self.wait(phase, inputs)
    }

    fn wait(&mut self, next_phase: Phase, inputs: Inputs) -> IndexingAction {
        self.phase = Phase::Waiting(Box::new(next_phase));
        IndexingAction::Wait { delay_ms: full_jitter_ms(self.attempts, inputs.random) }
    }

    fn finish(&mut self, result: Result<Indexed, IndexingFault>) -> IndexingAction {
        if result.is_err() {
            self.known.clear();
        }
        self.phase = Phase::Finished;
        IndexingAction::Finish(result)
    }
}
