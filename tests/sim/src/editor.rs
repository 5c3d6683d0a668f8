//! A client that edits: it numbers its mutations, repeats what was not answered, and believes what it is
//! told.

use std::sync::Arc;

use cellar_core::append::{Appended, NewMutation, Refusal, Request};
use cellar_core::identity::{ClientKey, LogId};
use cellar_core::invariants::MutationId;
use cellar_core::position::Position;
use cellar_engine::logs::LogError;

use crate::fleet::{Fleet, append};
use crate::operations::operation;
use crate::process::{Mortality, Process};
use crate::random::{Rate, SimRandom};
use crate::rare::Rare;
use crate::reading;
use crate::witness::Witness;
use crate::world::World;

/// How often a client repeats what was answered.
const REPEATS: Rate = Rate(800);
/// How often a client reads between two edits.
const READS: Rate = Rate(1_500);
/// Milliseconds that a client waits before it repeats a request, at most.
const RETRY_MAX_MS: u64 = 2_000;

/// What a client is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Requests that it sends.
    pub requests: u64,
    /// Mutations of one request at most.
    pub batch: u64,
    /// Milliseconds between two requests at most.
    pub think_ms: u64,
    /// Bytes of a long text; none are written if 0.
    pub text_bytes: u64,
}

/// A client of one log.
pub(crate) struct Editor {
    /// The client as a process: only its calls fail.
    pub process: Process,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) witness: Arc<Witness>,
    pub(crate) log: LogId,
    key: ClientKey,
    habits: Habits,
    next_id: u64,
    acknowledged: u64,
    base: Position,
}

impl Editor {
    /// A client that has seen the log's first entry.
    #[must_use]
    pub(crate) fn new(
        world: &Arc<World>,
        (fleet, witness): (&Arc<Fleet>, &Arc<Witness>),
        log: LogId,
        number: u8,
        habits: Habits,
    ) -> Self {
        Self {
            process: Process::new(world, format!("client-{number}"), Mortality::Spared),
            fleet: Arc::clone(fleet),
            witness: Arc::clone(witness),
            log,
            key: ClientKey([number; 8]),
            habits,
            next_id: 1,
            acknowledged: 0,
            base: Position::FIRST,
        }
    }

    /// The same, that has seen the log up to a position.
    #[must_use]
    pub(crate) fn from(self, base: Position) -> Self {
        Self { base, ..self }
    }

    /// The position up to which it has seen the log.
    #[must_use]
    pub(crate) fn base(&self) -> Position {
        self.base
    }

    fn random(&self) -> &SimRandom {
        self.process.random()
    }

    /// Edits until it has sent all that it is to send.
    pub(crate) async fn edit(mut self) {
        for _ in 0..self.habits.requests {
            let think_ms = self.random().mostly_short(self.habits.think_ms);
            self.process.world().sleep_ms(think_ms).await;
            if self.random().happens(READS) {
                reading::read(&self).await;
            }
            let Some(request) = self.request() else { return };
            let Some(appended) = self.until_answered(&request).await else { return };
            self.believe(&appended);
            if self.random().happens(REPEATS) {
                self.repeat(&request, &appended).await;
            }
        }
    }

    fn request(&mut self) -> Option<Request> {
        let count = self.random().within(1..=self.habits.batch.max(1));
        let (base, first) = (self.base, self.next_id);
        let mutation = |id| {
            let operation = operation(self.random(), self.habits.text_bytes);
            NewMutation { id, base, operation }
        };
        let mutations: Vec<_> = (first..first + count).map(mutation).collect();
        self.next_id += count;
        let (log, key, acknowledged) = (self.log, self.key, self.acknowledged);
        match Request::new(log, key, None, 0, acknowledged, mutations) {
            Ok(request) => Some(request),
            Err(error) => {
                self.process.world().violated(format_args!("a request is invalid: {error}"));
                None
            }
        }
    }

    /// Sends a request again and again until it is done; none if it never can be, which is a violation.
    async fn until_answered(&self, request: &Request) -> Option<Appended> {
        let world = self.process.world();
        let mut attempt = 0_u64;
        loop {
            if attempt > 0 {
                world.count(Rare::RequestRepeated);
                world.sleep_ms(self.random().within(0..=RETRY_MAX_MS)).await;
            }
            attempt += 1;
            let sent = request.clone();
            let what = format!("append {} mutations", self.next_id - 1);
            let answer = self.fleet.ask(&self.process, what, |server| append(server, sent)).await;
            match answer {
                Some(Ok(appended)) => return Some(appended),
                Some(Err(error)) if passes(&error) => {
                    world.count(Rare::AppendGaveUp);
                    self.process.event(format_args!("is told: {error}"));
                }
                Some(Err(error)) => {
                    let name = self.process.name();
                    world.violated(format_args!("{name} was told what cannot be: {error}"));
                    return None;
                }
                None => {}
            }
        }
    }

    fn believe(&mut self, appended: &Appended) {
        let world = self.process.world();
        for result in &appended.results {
            if result.duplicate {
                world.count(Rare::DuplicateAnswered);
            }
            if result.committed.is_some() {
                world.count(Rare::Transformed);
            }
            if let (Some(at), None) = (result.position, &result.rejection) {
                let mutation = MutationId { client: self.key, id: result.id };
                self.witness.acknowledged(self.log, mutation, at);
            }
        }
        self.process.event(format_args!("has all up to {}", appended.tail));
        self.acknowledged = self.next_id - 1;
        if appended.missing_from.is_none() {
            self.base = appended.tail.max(self.base);
        }
    }

    /// I14: repeating a request changes nothing and gives the same positions. Whether it is called a
    /// duplicate says only who saw it first: a copy that is on its way may be.
    async fn repeat(&self, request: &Request, first: &Appended) {
        let Some(again) = self.until_answered(request).await else { return };
        let same = again.results.iter().zip(&first.results).all(|(again, first)| {
            let known = again.position.is_none() || again.position == first.position;
            again.id == first.id && known
        });
        if !same || again.results.len() != first.results.len() {
            let (first, again) = (&first.results, &again.results);
            let why = format_args!("I14: a repetition was answered {again:?}, not {first:?}");
            self.process.world().violated(why);
        }
    }
}

/// Whether an error is one that a client repeats its request after.
#[must_use]
pub(crate) fn passes(error: &LogError) -> bool {
    match error {
        LogError::Store(error) => error.temporary,
        LogError::Refused(refusal) => matches!(
            refusal,
            Refusal::Contention
                | Refusal::OutcomeUnknown
                | Refusal::Store
                | Refusal::StaleResolution { .. }
        ),
        _ => false,
    }
}
