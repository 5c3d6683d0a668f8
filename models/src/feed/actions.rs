//! Enabled actions of a state, and their effects.

use cellar_catalog::feed::{Indexing, IndexingAction as Request, IndexingAnswer, Known};

use super::{FeedModel, INPUTS, State, Worker};

/// A transition of the feed model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedAction {
    /// An indexer takes its next batch.
    Begin {
        /// Index of the indexer.
        worker: usize,
    },
    /// An indexer's pending request completes.
    Step {
        /// Index of the indexer.
        worker: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// An indexer crashes; its replacement has no cached state.
    Die {
        /// Index of the indexer.
        worker: usize,
    },
    /// An indexer starts a new generation of the feed.
    Rebuild {
        /// Index of the indexer.
        worker: usize,
    },
    /// A delayed write reaches the table and is applied or refused.
    Land {
        /// Index of the delayed write.
        index: usize,
    },
}

/// Result of an indexer's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is applied or refused, and the indexer receives the result.
    Answered,
    /// The response is lost. The write is applied later or never.
    Lost,
}

fn is_write(request: &Request) -> bool {
    matches!(
        request,
        Request::Put { .. } | Request::BeginPartition { .. } | Request::RaiseMarks { .. }
    )
}

impl FeedModel {
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<FeedAction>) {
        let budget = state.budget;
        for (worker, indexer) in state.workers.iter().enumerate() {
            let Some((_, request)) = &indexer.running else {
                if self.batch(worker, indexer.batches_done).is_some() {
                    actions.push(FeedAction::Begin { worker });
                }
                if budget.rebuilds > 0 {
                    actions.push(FeedAction::Rebuild { worker });
                }
                continue;
            };
            actions.push(FeedAction::Step { worker, outcome: RequestOutcome::Answered });
            if budget.lost > 0 && is_write(request) {
                actions.push(FeedAction::Step { worker, outcome: RequestOutcome::Lost });
            }
            if budget.deaths > 0 {
                actions.push(FeedAction::Die { worker });
            }
        }
        actions.extend((0..state.late_writes.len()).map(|index| FeedAction::Land { index }));
    }

    pub(super) fn apply_action(&self, state: &State, action: FeedAction) -> Option<State> {
        let mut state = state.clone();
        match action {
            FeedAction::Begin { worker } => {
                let indexer = state.workers.get_mut(worker)?;
                let spans = self.batch(worker, indexer.batches_done)?;
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
            FeedAction::Rebuild { worker } => {
                state.budget.rebuilds = state.budget.rebuilds.checked_sub(1)?;
                let indexer = state.workers.get_mut(worker)?;
                indexer.is_rebuilding = true;
                indexer.cache = Known::default();
                indexer.has_put_item = false;
                indexer.running = Some(Indexing::begin_rebuild(0, INPUTS));
            }
            FeedAction::Step { worker, outcome } => step_indexer(&mut state, worker, outcome)?,
            FeedAction::Die { worker } => {
                state.budget.deaths = state.budget.deaths.checked_sub(1)?;
                let indexer = state.workers.get_mut(worker)?;
                *indexer = Worker { batches_done: indexer.batches_done, ..Worker::default() };
            }
            FeedAction::Land { index } => {
                if index >= state.late_writes.len() {
                    return None;
                }
                let write = state.late_writes.remove(index);
                state.table.execute(&write);
            }
        }
        Some(state)
    }
}

/// Completes an indexer's pending request and passes the result to its state machine.
fn step_indexer(state: &mut State, worker: usize, outcome: RequestOutcome) -> Option<()> {
    let indexer = state.workers.get_mut(worker)?;
    let (machine, request) = indexer.running.take()?;
    if let Request::Finish(result) = &request {
        // A failed batch is redelivered, so it does not count as completed.
        if result.is_ok() {
            if indexer.is_rebuilding {
                indexer.is_rebuilding = false;
            } else {
                indexer.batches_done += 1;
            }
        }
        indexer.cache = machine.known();
        return Some(());
    }
    let is_put = matches!(request, Request::Put { .. });
    if matches!(request, Request::RaiseMarks { .. }) && !indexer.has_put_item {
        state.settled_others = true;
    }
    indexer.has_put_item |= is_put;
    let answer = match outcome {
        RequestOutcome::Answered => state.table.execute(&request),
        RequestOutcome::Lost => {
            state.budget.lost = state.budget.lost.checked_sub(1)?;
            state.late_writes.push(request);
            IndexingAnswer::Unknown
        }
    };
    if is_put && answer == IndexingAnswer::Exists {
        state.put_refused = true;
    }
    indexer.running = Some(machine.step(answer, INPUTS));
    Some(())
}
