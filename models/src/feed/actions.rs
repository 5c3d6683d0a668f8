//! The possible transitions of the feed model, and their effects on a state.

use cellar_catalog::feed::{Indexing, IndexingAction as Request, IndexingAnswer, Known};

use super::{FeedModel, INPUTS, Indexer, State};

/// A transition of the feed model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedAction {
    /// An indexer takes its next batch.
    Begin {
        /// Index of the indexer.
        indexer_index: usize,
    },
    /// An indexer's pending request completes.
    Step {
        /// Index of the indexer.
        indexer_index: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// An indexer crashes. It is replaced by a process that has not cached anything.
    Crash {
        /// Index of the indexer.
        indexer_index: usize,
    },
    /// An indexer starts to rebuild the feed as a new generation.
    BeginRebuild {
        /// Index of the indexer.
        indexer_index: usize,
    },
    /// A delayed write reaches the table. The table applies it unless its condition fails.
    ExecuteLateWrite {
        /// Index of the delayed write.
        write_index: usize,
    },
}

/// Result of an indexer's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is executed, and the indexer receives the response.
    Answered,
    /// The response is lost. The write is applied later or never.
    Lost,
}

fn add_running_actions(
    state: &State,
    indexer_index: usize,
    request: &Request,
    actions: &mut Vec<FeedAction>,
) {
    actions.push(FeedAction::Step { indexer_index, outcome: RequestOutcome::Answered });
    if state.budget.lost > 0 && is_write(request) {
        actions.push(FeedAction::Step { indexer_index, outcome: RequestOutcome::Lost });
    }
    if state.budget.crashes > 0 {
        actions.push(FeedAction::Crash { indexer_index });
    }
}

fn is_write(request: &Request) -> bool {
    matches!(
        request,
        Request::Put { .. } | Request::BeginPartition { .. } | Request::RaiseMarks { .. }
    )
}

impl FeedModel {
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<FeedAction>) {
        for (indexer_index, indexer) in state.indexers.iter().enumerate() {
            match &indexer.running {
                Some((_, request)) => {
                    add_running_actions(state, indexer_index, request, actions);
                }
                None => {
                    if self.batch_spans(indexer_index, indexer.batches_done).is_some() {
                        actions.push(FeedAction::Begin { indexer_index });
                    }
                    if state.budget.rebuilds > 0 {
                        actions.push(FeedAction::BeginRebuild { indexer_index });
                    }
                }
            }
        }
        for write_index in 0..state.late_writes.len() {
            actions.push(FeedAction::ExecuteLateWrite { write_index });
        }
    }

    /// Returns `None` if the action is impossible in `state`.
    pub(super) fn apply_action(&self, state: &State, action: FeedAction) -> Option<State> {
        let old_state = state.clone();
        match action {
            FeedAction::Begin { indexer_index } => self.begin_batch(old_state, indexer_index),
            FeedAction::BeginRebuild { indexer_index } => old_state.begin_rebuild(indexer_index),
            FeedAction::Step { indexer_index, outcome } => {
                old_state.step_indexer(indexer_index, outcome)
            }
            FeedAction::Crash { indexer_index } => old_state.crash_indexer(indexer_index),
            FeedAction::ExecuteLateWrite { write_index } => {
                Some(old_state.execute_late_write(write_index))
            }
        }
    }

    fn begin_batch(&self, mut state: State, indexer_index: usize) -> Option<State> {
        let indexer = state.indexers.get_mut(indexer_index)?;
        let spans = self.batch_spans(indexer_index, indexer.batches_done)?;
        let cache = std::mem::take(&mut indexer.cache);
        let (policy, rules) = (self.policy, self.rules);
        let indexing =
            Indexing::begin_with_policy_and_rules(cache, spans, 0, policy, rules, INPUTS);
        indexer.running = Some(indexing);
        indexer.has_put_item = false;
        Some(state)
    }
}

impl State {
    fn begin_rebuild(mut self, indexer_index: usize) -> Option<Self> {
        self.budget.rebuilds = self.budget.rebuilds.checked_sub(1)?;
        let indexer = self.indexers.get_mut(indexer_index)?;
        indexer.is_rebuilding = true;
        indexer.cache = Known::default();
        indexer.has_put_item = false;
        indexer.running = Some(Indexing::begin_rebuild(0, INPUTS));
        Some(self)
    }

    fn step_indexer(mut self, indexer_index: usize, outcome: RequestOutcome) -> Option<Self> {
        let indexer = self.indexers.get_mut(indexer_index)?;
        let (indexing, request) = indexer.running.take()?;
        if let Request::Finish(result) = &request {
            indexer.finish_batch(indexing, result.is_ok());
            return Some(self);
        }
        match request {
            Request::Put { .. } => indexer.has_put_item = true,
            Request::RaiseMarks { .. } if !indexer.has_put_item => {
                self.has_raised_marks_of_others = true;
            }
            _ => {}
        }
        let answer = self.execute(request, outcome);
        let indexer = self.indexers.get_mut(indexer_index)?;
        indexer.running = Some(indexing.step(answer, INPUTS));
        Some(self)
    }

    fn crash_indexer(mut self, indexer_index: usize) -> Option<Self> {
        self.budget.crashes = self.budget.crashes.checked_sub(1)?;
        let indexer = self.indexers.get_mut(indexer_index)?;
        *indexer = Indexer { batches_done: indexer.batches_done, ..Indexer::default() };
        Some(self)
    }

    fn execute_late_write(mut self, write_index: usize) -> Self {
        let write = self.late_writes.remove(write_index);
        self.table.execute(&write);
        self
    }

    fn execute(&mut self, request: Request, outcome: RequestOutcome) -> IndexingAnswer {
        if outcome == RequestOutcome::Lost {
            self.budget.lost -= 1;
            self.late_writes.push(request);
            return IndexingAnswer::Unknown;
        }
        let answer = self.table.execute(&request);
        if matches!(request, Request::Put { .. }) && answer == IndexingAnswer::Exists {
            self.has_refused_put = true;
        }
        answer
    }
}

impl Indexer {
    /// A failed batch is not counted as completed, because it is delivered again.
    fn finish_batch(&mut self, indexing: Indexing, is_success: bool) {
        if is_success && self.is_rebuilding {
            self.is_rebuilding = false;
        } else if is_success {
            self.batches_done += 1;
        }
        self.cache = indexing.known();
    }
}
