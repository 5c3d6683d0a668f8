//! The state machine of the indexer.

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

/// Events that are being indexed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Indexing {
    known: Known,
    work: Work,
    /// Events to which reactions were performed, for the next item.
    reacted: Vec<Span>,
    phase: Phase,
    /// First partition that these tables may have.
    first_partition: u64,
    policy: PartitionPolicy,
    rules: Rules,
    attempts: u32,
    done: Indexed,
    /// Set to start a new generation after the current one.
    rebuild: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    Deciding,
    ReadingPartition,
    Beginning(u64, Feed),
    ReadingTail(u64, Feed),
    ReadingMarks(Vec<StreamName>, Feed),
    Raising(Vec<(StreamName, Mark)>),
    ReadingMissing(StreamName, u64, u64),
    Reacting(Vec<Span>),
    Putting(Checkpoint, Item),
    Waiting(Box<Phase>),
    Finished,
}

impl Indexing {
    /// Starts to index appended events, in tables whose partitions start here, from cached state.
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

    /// As [`Indexing::begin`], with a policy and safety rules chosen by a test or the model
    /// checker.
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
            known: known.bounded(),
            work: Work::new(spans),
            reacted: Vec::new(),
            phase: Phase::Deciding,
            first_partition: u64::from(tables_incarnation)
                .saturating_mul(FEED_PARTITIONS_PER_INCARNATION),
            policy,
            rules,
            attempts: 0,
            done: Indexed::default(),
            rebuild: false,
        };
        let action = indexing.decide(inputs);
        (indexing, action)
    }

    /// Starts a new, empty generation of the feed, so that every stream is indexed again.
    /// Concurrent indexers are refused and continue in the new generation.
    #[must_use]
    pub fn begin_anew(tables_incarnation: u32, inputs: Inputs) -> (Self, IndexingAction) {
        let (mut indexing, _) =
            Self::begin(Known::default(), Vec::new(), tables_incarnation, inputs);
        indexing.rebuild = true;
        let action = indexing.decide(inputs);
        (indexing, action)
    }

    /// Returns the state to cache for the next batch.
    #[must_use]
    pub fn known(self) -> Known {
        self.known
    }

    /// Advances the state machine by the answer to its last action. Any other answer ends it.
    #[must_use]
    pub fn step(mut self, answer: IndexingAnswer, inputs: Inputs) -> (Self, IndexingAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Waiting(phase), IndexingAnswer::Waited) => self.act(*phase),
            (phase, IndexingAnswer::Failed { temporary }) => self.failed(phase, temporary, inputs),
            (Phase::ReadingPartition, IndexingAnswer::Partition(partition)) => {
                self.found_partition(partition, inputs)
            }
            (Phase::Beginning(partition, feed), IndexingAnswer::Done) => self.stand_at(
                Tail { partition, feed, offset: 0, bytes: 0, unsettled: Vec::new() },
                inputs,
            ),
            // Another indexer began the partition; read its generation.
            (Phase::Beginning(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.read_again(inputs)
            }
            (Phase::ReadingTail(partition, feed), IndexingAnswer::Last(last)) => {
                self.found_tail(partition, feed, last, inputs)
            }
            (Phase::ReadingMarks(streams, feed), IndexingAnswer::Marks(marks)) => {
                self.found_marks(streams, feed, marks, inputs)
            }
            (Phase::Raising(marks), IndexingAnswer::Done) => self.raised(marks, inputs),
            // Raising a mark again has no effect.
            (phase @ (Phase::Raising(_) | Phase::Reacting(_)), IndexingAnswer::Unknown) => {
                self.failed(phase, true, inputs)
            }
            (Phase::ReadingMissing(stream, from, to), IndexingAnswer::Missing(span)) => {
                self.found_missing(stream, from, to, span, inputs)
            }
            (Phase::Reacting(spans), IndexingAnswer::Done) => {
                self.reacted = spans;
                self.decide(inputs)
            }
            (Phase::Putting(at, item), IndexingAnswer::Done) => self.was_put(at, item, inputs),
            (Phase::Putting(..), IndexingAnswer::Exists | IndexingAnswer::Unknown) => {
                self.read_again(inputs)
            }
            _ => self.finish(Err(IndexingFault::Store)),
        };
        (self, action)
    }

    /// Enters a phase and returns its action.
    fn act(&mut self, phase: Phase) -> IndexingAction {
        let action = match &phase {
            Phase::ReadingPartition => IndexingAction::ReadPartition,
            Phase::Beginning(partition, feed) => {
                IndexingAction::BeginPartition { partition: *partition, feed: *feed }
            }
            Phase::ReadingTail(partition, _) => IndexingAction::ReadTail { partition: *partition },
            Phase::ReadingMarks(streams, _) => {
                IndexingAction::ReadMarks { streams: streams.clone() }
            }
            Phase::Raising(marks) => IndexingAction::RaiseMarks { marks: marks.clone() },
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

    /// Returns the next action, until nothing is left to do.
    fn decide(&mut self, inputs: Inputs) -> IndexingAction {
        if self.work.is_empty() && !self.rebuild && self.is_settled() {
            return self.finish(Ok(self.done.clone()));
        }
        let Some(tail) = self.known.tail.clone() else { return self.act(Phase::ReadingPartition) };
        if let Some(action) = self.settle(&tail) {
            return action;
        }
        self.trim();
        let mark = |stream: &StreamName| self.known.mark(stream).unwrap_or_default();
        if self.work.is_empty() && !self.rebuild {
            return self.finish(Ok(self.done.clone()));
        }
        if self.rules.is_enforced(SafetyRule::FillGaps)
            && let Some((stream, from, to)) = self.work.gap(mark)
        {
            return self.act(Phase::ReadingMissing(stream, from, to));
        }
        self.put_next(&tail, inputs)
    }

    /// Returns whether the marks include the last item.
    fn is_settled(&self) -> bool {
        self.done.items == 0
            || self.known.tail.as_ref().is_none_or(|tail| tail.unsettled.is_empty())
    }

    /// Reads the required marks, and raises those that lag behind the last item.
    fn settle(&mut self, tail: &Tail) -> Option<IndexingAction> {
        let named = tail.unsettled.iter().map(|span| &span.stream).chain(self.work.streams());
        let mut unknown: Vec<_> =
            named.filter(|stream| self.known.mark(stream).is_none()).cloned().collect();
        if !unknown.is_empty() {
            unknown.sort();
            unknown.dedup();
            return Some(self.act(Phase::ReadingMarks(unknown, tail.feed)));
        }
        if tail.unsettled.is_empty() {
            return None;
        }
        let first_partition = tail.feed.first_partition;
        let behind = tail.unsettled.iter().filter_map(|span| {
            let next = span.next();
            let is_behind = self.known.mark(&span.stream).unwrap_or_default() < next;
            is_behind.then(|| (span.stream.clone(), Mark { first_partition, next }))
        });
        let behind: Vec<_> = behind.collect();
        match behind.is_empty() {
            true => {
                self.settled();
                None
            }
            false => Some(self.act(Phase::Raising(behind))),
        }
    }

    /// Records that the marks include the last item.
    fn settled(&mut self) {
        if let Some(tail) = &mut self.known.tail {
            tail.unsettled.clear();
        }
    }

    fn trim(&mut self) {
        if self.rules.is_enforced(SafetyRule::TrimSeen) {
            let known = &self.known;
            self.work.trim(|stream| known.mark(stream).unwrap_or_default());
        }
    }

    fn put_next(&mut self, tail: &Tail, inputs: Inputs) -> IndexingAction {
        let Ok(at) = Checkpoint::at(tail.partition, tail.offset) else {
            return self.finish(Err(IndexingFault::Full));
        };
        let content = if self.rebuild {
            let [id, first_partition] = [inputs.random, tail.partition.saturating_add(1)];
            Content::End(Feed { id: FeedId(id.to_le_bytes()), first_partition })
        } else if tail.bytes >= self.policy.bytes || tail.offset + 1 >= self.policy.items {
            Content::End(tail.feed)
        } else {
            let spans = self.work.next_item();
            if spans != self.reacted && self.rules.is_enforced(SafetyRule::ReactFirst) {
                return self.act(Phase::Reacting(spans));
            }
            Content::Spans(spans)
        };
        let time_ms = inputs.now_s.saturating_mul(1_000);
        let mut item = Item { time_ms, partition_bytes: tail.bytes, content };
        item.partition_bytes = tail.bytes.saturating_add(item_size(at, &item));
        self.act(Phase::Putting(at, item))
    }

    fn was_put(&mut self, at: Checkpoint, item: Item, inputs: Inputs) -> IndexingAction {
        let Some(tail) = &mut self.known.tail else { return self.read_again(inputs) };
        self.done.items += 1;
        match item.content {
            Content::End(feed) => {
                self.rebuild = false;
                self.known.tail = None;
                self.go_on_in(at.partition(), feed)
            }
            Content::Spans(spans) => {
                let events = spans.iter().map(|span| span.kinds.len()).sum::<usize>();
                self.done.events += u64::try_from(events).unwrap_or(u64::MAX);
                tail.offset += 1;
                tail.bytes = item.partition_bytes;
                tail.unsettled = spans;
                self.decide(inputs)
            }
        }
    }

    /// Continues in the partition after one that has ended.
    fn go_on_in(&mut self, ended: u64, feed: Feed) -> IndexingAction {
        let next = ended.saturating_add(1);
        if Checkpoint::at(next, 0).is_err() {
            return self.finish(Err(IndexingFault::Full));
        }
        // A new generation has no indexed events.
        if feed.first_partition == next {
            self.known.marks.clear();
        }
        self.act(Phase::Beginning(next, feed))
    }

    fn found_partition(
        &mut self,
        partition: Option<(u64, Feed)>,
        inputs: Inputs,
    ) -> IndexingAction {
        match partition {
            Some((partition, feed)) => self.act(Phase::ReadingTail(partition, feed)),
            None => {
                let id = FeedId(inputs.random.to_le_bytes());
                let first_partition = self.first_partition;
                self.act(Phase::Beginning(first_partition, Feed { id, first_partition }))
            }
        }
    }

    fn found_tail(
        &mut self,
        partition: u64,
        feed: Feed,
        last: Option<(u64, Item)>,
        inputs: Inputs,
    ) -> IndexingAction {
        let (offset, bytes, unsettled) = match last {
            None => (0, 0, Vec::new()),
            Some((offset, item)) => match item.content {
                Content::End(feed) => return self.go_on_in(partition, feed),
                Content::Spans(spans) => (offset.saturating_add(1), item.partition_bytes, spans),
            },
        };
        let unsettled = match self.rules.is_enforced(SafetyRule::SettleFirst) {
            true => unsettled,
            false => Vec::new(),
        };
        self.stand_at(Tail { partition, feed, offset, bytes, unsettled }, inputs)
    }

    fn stand_at(&mut self, tail: Tail, inputs: Inputs) -> IndexingAction {
        self.known.tail = Some(tail);
        self.decide(inputs)
    }

    fn found_marks(
        &mut self,
        streams: Vec<StreamName>,
        feed: Feed,
        marks: Vec<(StreamName, Mark)>,
        inputs: Inputs,
    ) -> IndexingAction {
        for stream in streams {
            self.known.learn(stream, 0);
        }
        for (stream, mark) in marks {
            if mark.first_partition > feed.first_partition {
                // There is a later generation, so the cached end is outdated.
                return self.read_again(inputs);
            }
            if mark.first_partition == feed.first_partition {
                self.known.learn(stream, mark.next);
            }
        }
        self.decide(inputs)
    }

    /// Records that the marks have at least these values.
    fn raised(&mut self, marks: Vec<(StreamName, Mark)>, inputs: Inputs) -> IndexingAction {
        for (stream, mark) in marks {
            self.known.learn(stream, mark.next);
        }
        self.settled();
        self.decide(inputs)
    }

    fn found_missing(
        &mut self,
        stream: StreamName,
        from: u64,
        to: u64,
        span: Option<Span>,
        inputs: Inputs,
    ) -> IndexingAction {
        let sound = span.filter(|span| {
            let is_part = span.stream == stream && span.first == from && span.next() <= to;
            is_part && !span.kinds.is_empty()
        });
        let Some(span) = sound else {
            return self.finish(Err(IndexingFault::NotInStream { stream, index: from }));
        };
        self.done.found += u64::try_from(span.kinds.len()).unwrap_or(u64::MAX);
        self.work.add(span);
        self.decide(inputs)
    }

    /// Reads the end of the feed again, after a lost race or a write with unknown outcome.
    fn read_again(&mut self, inputs: Inputs) -> IndexingAction {
        self.attempts += 1;
        if self.attempts >= MAX_INDEX_ATTEMPTS {
            return self.finish(Err(IndexingFault::Contention));
        }
        if self.rules.is_enforced(SafetyRule::ForgetWhenRefused) {
            self.known.forget();
        } else {
            self.known.tail = None;
        }
        self.wait(Phase::ReadingPartition, inputs)
    }

    fn failed(&mut self, phase: Phase, temporary: bool, inputs: Inputs) -> IndexingAction {
        self.attempts += 1;
        match temporary && self.attempts < MAX_INDEX_ATTEMPTS {
            true => self.wait(phase, inputs),
            false => self.finish(Err(IndexingFault::Store)),
        }
    }

    fn wait(&mut self, then: Phase, inputs: Inputs) -> IndexingAction {
        self.phase = Phase::Waiting(Box::new(then));
        IndexingAction::Wait { delay_ms: full_jitter_ms(self.attempts, inputs.random) }
    }

    fn finish(&mut self, result: Result<Indexed, IndexingFault>) -> IndexingAction {
        if result.is_err() {
            self.known.forget();
        }
        self.phase = Phase::Finished;
        IndexingAction::Finish(result)
    }
}
