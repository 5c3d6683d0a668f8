//! Processes that append a push, as the engine's drivers do.

use std::collections::VecDeque;
use std::sync::Arc;

use cellar_api::sync::{self, LookedUp, PushOutcome, PushRules, Run, RunPush};
use cellar_base::identity::ClientName;
use cellar_log::append::{self, Append, Inputs, Refusal};

use super::client::key_of;
use crate::fingerprint::Hashed;
use crate::log::tables::log;

/// A push on its way, and what it wants next.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Whose push it is.
    pub client: usize,
    work: Hashed<Work>,
}

#[derive(Debug, Clone)]
struct Work {
    rules: PushRules,
    push: RunPush,
    wants: Wants,
    /// What is left of the push behind this run.
    left: VecDeque<Run>,
}

/// What a process wants.
#[derive(Debug, Clone)]
pub enum Wants {
    /// To go on with an append.
    Append(Box<(Append, append::AppendAction)>),
    /// To look its client up.
    LookUp,
}

/// What a step of a process has come to.
#[derive(Debug, Default)]
pub struct Stepped {
    /// The process, if its push is not at its end.
    pub process: Option<Process>,
    /// What became of runs, in their order.
    pub outcomes: Vec<PushOutcome>,
    /// Why the push has failed, if it has: its client repeats it.
    pub refusal: Option<Refusal>,
}

impl Process {
    /// Begins, with the last id that is known to be in the log.
    #[must_use]
    pub fn begin(client: usize, rules: PushRules, known: u64, runs: Vec<Run>) -> Stepped {
        let mut stepped = Stepped::default();
        begin_next(client, rules, known, runs.into(), &mut stepped);
        stepped
    }

    /// What it wants next.
    #[must_use]
    pub fn wants(&self) -> &Wants {
        &self.work.wants
    }

    /// What it wanted of the store has come to this.
    #[must_use]
    pub fn step(&self, event: append::AppendEvent) -> Stepped {
        let mut stepped = Stepped::default();
        if let Wants::Append(appending) = &self.work.wants {
            let machine = appending.0.clone().step(event, inputs());
            self.appending(self.work.push.clone(), machine, &mut stepped);
        }
        stepped
    }

    /// Its client was looked up.
    #[must_use]
    pub fn looked_up(&self, looked_up: LookedUp) -> Stepped {
        let mut stepped = Stepped::default();
        let next = self.work.push.clone().step(sync::PushEvent::LookedUp(looked_up));
        self.pushing(next, &mut stepped);
        stepped
    }

    fn appending(
        &self,
        push: RunPush,
        mut machine: (Append, append::AppendAction),
        stepped: &mut Stepped,
    ) {
        // Nothing can be told from how long a machine waits.
        while matches!(machine.1, append::AppendAction::Wait { .. }) {
            machine = machine.0.step(append::AppendEvent::Waited, inputs());
        }
        let append::AppendAction::Finish(result) = machine.1 else {
            stepped.process = Some(self.with(push, Wants::Append(Box::new(machine))));
            return;
        };
        match sync::PushEvent::of(result) {
            Ok(event) => self.pushing(push.step(event), stepped),
            Err(refusal) => stepped.refusal = Some(refusal),
        }
    }

    fn pushing(&self, (push, action): (RunPush, sync::PushAction), stepped: &mut Stepped) {
        match action {
            sync::PushAction::Append(request) => {
                let begun = Append::begin(request, &[], inputs());
                self.appending(push, begun, stepped);
            }
            sync::PushAction::LookUp => stepped.process = Some(self.with(push, Wants::LookUp)),
            sync::PushAction::GiveUp => stepped.refusal = Some(Refusal::Contention),
            sync::PushAction::Finish(outcome) => {
                let goes_on = outcome.gap.is_none() && !outcome.unknown_client;
                let known = outcome.last_id;
                stepped.outcomes.push(outcome);
                if goes_on {
                    let left = self.work.left.clone();
                    begin_next(self.client, self.work.rules, known, left, stepped);
                }
            }
        }
    }

    fn with(&self, push: RunPush, wants: Wants) -> Self {
        let (rules, left) = (self.work.rules, self.work.left.clone());
        let work = Work { rules, push, wants, left };
        Self { client: self.client, work: Hashed::new(Arc::new(work)) }
    }
}

/// Begins with the next run of a push, if there is one.
fn begin_next(
    client: usize,
    rules: PushRules,
    known: u64,
    mut left: VecDeque<Run>,
    stepped: &mut Stepped,
) {
    let Some(run) = left.pop_front() else { return };
    let Ok(name) = ClientName::new("group", &client.to_string()) else { return };
    let begun = RunPush::begin(log(), (key_of(client), name), None, known, run, rules);
    let work = Work { rules, push: begun.0.clone(), wants: Wants::LookUp, left };
    let process = Process { client, work: Hashed::new(Arc::new(work)) };
    process.pushing(begun, stepped);
}

fn inputs() -> Inputs {
    Inputs { now_s: 0, random: 0 }
}
