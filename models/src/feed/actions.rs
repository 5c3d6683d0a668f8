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
    Rebuild {
        /// Index of the indexer.
        indexer_index: usize,
    },
    /// A delayed write reaches the table. The table applies it unless its condition fails.
    Arrive {
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

/// Adds the possible actions of an indexer that waits for a response: each outcome of its request,
/// and a crash.
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
                        actions.push(FeedAction::Rebuild { indexer_index });
                    }
                }
            }
        }
        for write_index in 0..state.late_writes.len() {
            actions.push(FeedAction::Arrive { write_index });
        }
    }

    pub(super) fn apply_action(&self, state: &State, action: FeedAction) -> Option<State> {
        let mut new_state = state.clone();
        match action {
            FeedAction::Begin { indexer_index } => {
                let indexer = new_state.indexers.get_mut(indexer_index)?;
                let spans = self.batch_spans(indexer_index, indexer.batches_done)?;
                let cache = std::mem::take(&mut indexer.cache);
                let begun = Indexing::begin_with_policy_and_rules(
                    cache,
                    spans,
                    0,
                    self.policy,
                    self.rules,
                    INPUTS,
                );
                indexer.running = Some(begun);
                indexer.has_put_item = false;
            }
            FeedAction::Rebuild { indexer_index } => {
                new_state.budget.rebuilds = new_state.budget.rebuilds.checked_sub(1)?;
                let indexer = new_state.indexers.get_mut(indexer_index)?;
                indexer.is_rebuilding = true;
                indexer.cache = Known::default();
                indexer.has_put_item = false;
                indexer.running = Some(Indexing::begin_rebuild(0, INPUTS));
            }
            FeedAction::Step { indexer_index, outcome } => {
                let indexer = new_state.indexers.get_mut(indexer_index)?;
                let (indexing, request) = indexer.running.take()?;
                if let Request::Finish(result) = &request {
                    indexer.finish_batch(indexing, result.is_ok());
                } else {
                    indexer.has_put_item |= matches!(request, Request::Put { .. });
                    let has_put_item = indexer.has_put_item;
                    let answer = new_state.execute(request, has_put_item, outcome);
                    let indexer = new_state.indexers.get_mut(indexer_index)?;
                    indexer.running = Some(indexing.step(answer, INPUTS));
                }
            }
            FeedAction::Crash { indexer_index } => {
                new_state.budget.crashes = new_state.budget.crashes.checked_sub(1)?;
                let indexer = new_state.indexers.get_mut(indexer_index)?;
                *indexer = Indexer { batches_done: indexer.batches_done, ..Indexer::default() };
            }
            FeedAction::Arrive { write_index } => {
                if write_index >= new_state.late_writes.len() {
                    return None;
                }
                let write = new_state.late_writes.remove(write_index);
                new_state.table.execute(&write);
            }
        }
        Some(new_state)
    }
}

impl State {
    /// Executes the request of an indexer. `has_put_item` states whether the indexer has put an
    /// item during the current batch.
    fn execute(
        &mut self,
        request: Request,
        has_put_item: bool,
        outcome: RequestOutcome,
    ) -> IndexingAnswer {
        if matches!(request, Request::RaiseMarks { .. }) && !has_put_item {
            self.has_raised_marks_of_others = true;
        }
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
    /// Ends a batch, or the rebuild of the feed. A failed batch is not counted as completed,
    /// because it is delivered again.
    fn finish_batch(&mut self, indexing: Indexing, is_success: bool) {
        if is_success && self.is_rebuilding {
            self.is_rebuilding = false;
        } else if is_success {
            self.batches_done += 1;
        }
        self.cache = indexing.known();
    }
}
