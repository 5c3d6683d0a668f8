//! What may happen in a state, and what comes of it.

use cellar_catalog::feed::{Indexing, IndexingAction as Request, IndexingAnswer, Known};

use super::{FeedModel, INPUTS, State, Worker};

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// An indexer takes its next batch.
    Begin {
        /// Which.
        worker: usize,
    },
    /// An indexer makes a step.
    Step {
        /// Which.
        worker: usize,
        /// What comes of what it wants.
        outcome: Outcome,
    },
    /// An indexer dies; another that knows nothing takes its place.
    Die {
        /// Which.
        worker: usize,
    },
    /// An indexer begins a new feed.
    Rebuild {
        /// Which.
        worker: usize,
    },
    /// A late write lands, or is refused.
    Land {
        /// Which.
        index: usize,
    },
}

/// What comes of what an indexer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done, or refused, and the answer says so.
    Answered,
    /// A write is not answered. It will land later, or never.
    Lost,
}

fn writes(request: &Request) -> bool {
    matches!(
        request,
        Request::Put { .. } | Request::BeginPartition { .. } | Request::RaiseMarks { .. }
    )
}

impl FeedModel {
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        let budget = state.budget;
        for (worker, it) in state.workers.iter().enumerate() {
            let Some((_, request)) = &it.running else {
                if self.batch(worker, it.done).is_some() {
                    actions.push(Action::Begin { worker });
                }
                if budget.rebuilds > 0 {
                    actions.push(Action::Rebuild { worker });
                }
                continue;
            };
            actions.push(Action::Step { worker, outcome: Outcome::Answered });
            if budget.lost > 0 && writes(request) {
                actions.push(Action::Step { worker, outcome: Outcome::Lost });
            }
            if budget.deaths > 0 {
                actions.push(Action::Die { worker });
            }
        }
        actions.extend((0..state.late.len()).map(|index| Action::Land { index }));
    }

    pub(super) fn after(&self, state: &State, action: Action) -> Option<State> {
        let mut state = state.clone();
        match action {
            Action::Begin { worker } => {
                let it = state.workers.get_mut(worker)?;
                let spans = self.batch(worker, it.done)?;
                let known = std::mem::take(&mut it.known);
                let begun = Indexing::begin_by(known, spans, 0, self.policy, self.rules, INPUTS);
                (it.running, it.has_put) = (Some(begun), false);
            }
            Action::Rebuild { worker } => {
                state.budget.rebuilds = state.budget.rebuilds.checked_sub(1)?;
                let it = state.workers.get_mut(worker)?;
                (it.rebuilds, it.known, it.has_put) = (true, Known::default(), false);
                it.running = Some(Indexing::begin_rebuild(0, INPUTS));
            }
            Action::Step { worker, outcome } => step(&mut state, worker, outcome)?,
            Action::Die { worker } => {
                state.budget.deaths = state.budget.deaths.checked_sub(1)?;
                let it = state.workers.get_mut(worker)?;
                *it = Worker { done: it.done, ..Worker::default() };
            }
            Action::Land { index } => {
                let late = (index < state.late.len()).then(|| state.late.remove(index))?;
                state.table.perform(&late);
            }
        }
        Some(state)
    }
}

fn step(state: &mut State, worker: usize, outcome: Outcome) -> Option<()> {
    let State { table, workers, late, budget, refused, settled } = state;
    let it = workers.get_mut(worker)?;
    let (indexing, request) = it.running.take()?;
    if let Request::Finish(ended) = &request {
        // A batch that failed is delivered again.
        let is_done = ended.is_ok() && !std::mem::take(&mut it.rebuilds);
        it.done += usize::from(is_done);
        it.known = indexing.known();
        return Some(());
    }
    *settled |= matches!(&request, Request::RaiseMarks { .. }) && !it.has_put;
    it.has_put |= matches!(&request, Request::Put { .. });
    let answer = match outcome {
        Outcome::Answered => table.perform(&request),
        Outcome::Lost => {
            budget.lost = budget.lost.checked_sub(1)?;
            late.push(request.clone());
            IndexingAnswer::Unknown
        }
    };
    *refused |= answer == IndexingAnswer::Exists && matches!(request, Request::Put { .. });
    it.running = Some(indexing.step(answer, INPUTS));
    Some(())
}
