//! A client that edits. The client numbers its mutations, repeats requests without a response, and
//! relies on the responses.

mod upload;

use std::future::Future;
use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_engine::logs::LogError;
use cellar_log::append::{Appended, MutationResult, NewMutation, Refusal, Request};
use cellar_log::invariants::{MutationId, ReportedEffect};
use cellar_sheet::operation::{Operation, Revert, SheetId, Span, Undo};

use crate::fleet::{Fleet, Server, append};
use crate::operations::{ROWS, draw_operation};
use crate::process::{Mortality, Process};
use crate::random::{Rate, SimRandom};
use crate::rare::RareEvent;
use crate::reading;
use crate::witness::Witness;
use crate::world::World;

/// Probability that a client repeats a request after receiving the response.
const REPEAT_RATE: Rate = Rate(800);
/// Probability that a client reads between two edits.
const READ_RATE: Rate = Rate(1_500);
/// Probability that a client undoes one of its edits.
const UNDO_RATE: Rate = Rate(400);
/// Probability that a client reverts all edits after one of its own.
const REVERT_RATE: Rate = Rate(150);
/// Number of rows of a revert that is limited to rows.
const REVERTED_ROWS: u32 = 12;
/// Number of recent edits whose positions a client remembers.
const MAX_EDIT_POSITIONS: usize = 8;
/// Maximum wait before a request is repeated, in milliseconds.
const MAX_RETRY_MS: u64 = 2_000;

/// The behavior of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Number of requests that the client sends.
    pub requests: u64,
    /// Maximum number of mutations per request.
    pub batch: u64,
    /// Maximum time between two requests, in milliseconds.
    pub think_ms: u64,
    /// Maximum length of a long text in bytes, or 0 if the client writes no long texts.
    pub text_bytes: u64,
    /// Probability that an edit is uploaded as an object.
    pub large: Rate,
}

/// A client of one log.
pub(crate) struct Editor {
    /// The client's process. Its calls may fail, but the process neither crashes nor freezes.
    pub process: Process,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) witness: Arc<Witness>,
    pub(crate) log: LogId,
    key: ClientKey,
    habits: Habits,
    next_id: u64,
    acknowledged: u64,
    base: Position,
    /// Positions of the client's most recent edits.
    edit_positions: Vec<Position>,
}

impl Editor {
    /// Creates a client that has seen only the first entry of the log.
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
            edit_positions: Vec::new(),
        }
    }

    /// Sets the position up to which the client has seen the log.
    #[must_use]
    pub(crate) fn from(self, base: Position) -> Self {
        Self { base, ..self }
    }

    /// Returns the position up to which the client has seen the log.
    #[must_use]
    pub(crate) fn base(&self) -> Position {
        self.base
    }

    fn random(&self) -> &SimRandom {
        self.process.random()
    }

    /// Sends all requests that the client's behavior defines.
    pub(crate) async fn edit(mut self) {
        for _ in 0..self.habits.requests {
            let think_ms = self.random().draw_mostly_small(self.habits.think_ms);
            self.process.world().sleep_ms(think_ms).await;
            if self.random().happens(READ_RATE) {
                reading::read(&self).await;
            }
            if self.random().happens(self.habits.large) {
                let Some(()) = self.edit_large().await else { return };
                continue;
            }
            let Some(request) = self.next_request() else { return };
            let Some(appended) = self.append_until_answered(&request).await else { return };
            let took_effect = appended.results.iter().all(|result| result.rejection.is_none());
            if request.resolution_request().is_some() && took_effect {
                self.process.world().count(RareEvent::TakenBack);
            }
            self.record_answer(&appended);
            if self.random().happens(REPEAT_RATE) {
                self.repeat(&request, &appended).await;
            }
        }
    }

    fn next_request(&mut self) -> Option<Request> {
        let operations = match self.draw_reversal() {
            Some(reversal) => vec![reversal],
            None => self.draw_operations(),
        };
        let mut mutations = Vec::new();
        for operation in operations {
            mutations.push(NewMutation { id: self.next_id, base: self.base, operation });
            self.next_id += 1;
        }
        match Request::new(self.log, self.key, None, 0, self.acknowledged, mutations) {
            Ok(request) => Some(request),
            Err(error) => {
                self.process
                    .world()
                    .report_violation(format_args!("a request is invalid: {error}"));
                None
            }
        }
    }

    /// Draws the operations of one request.
    fn draw_operations(&self) -> Vec<Operation> {
        let count = self.random().draw_in(1..=self.habits.batch.max(1));
        (0..count).map(|_| draw_operation(self.random(), self.habits.text_bytes)).collect()
    }

    /// Draws an undo or a revert of one of the client's edits. In most cases, returns `None`.
    fn draw_reversal(&self) -> Option<Operation> {
        let is_undo = self.random().happens(UNDO_RATE);
        let is_revert = self.random().happens(REVERT_RATE);
        let position = *self.random().pick(&self.edit_positions)?;
        if is_undo {
            return Some(Operation::Undo(Undo { position }));
        }
        if is_revert {
            return Some(Operation::Revert(self.draw_revert(position)));
        }
        None
    }

    /// Draws a revert of all sheets, of one sheet, or of some rows of it.
    fn draw_revert(&self, position: Position) -> Revert {
        let whole = Revert::whole(position);
        let sheet = Some(SheetId(if self.random().draw_below(8) == 0 { 1 } else { 0 }));
        let rows = Some(Span { first: self.random().draw_below(ROWS), count: REVERTED_ROWS });
        match self.random().draw_below(3) {
            0 => whole,
            1 => Revert { sheet, ..whole },
            _ => Revert { sheet, rows, ..whole },
        }
    }

    /// Repeats a request until it succeeds. If the request fails permanently, reports a violation
    /// and returns `None`.
    async fn append_until_answered(&self, request: &Request) -> Option<Appended> {
        let what = format!("append {} mutations", self.next_id - 1);
        let sends = |server| append(server, request.clone());
        match self.retry_until_final(&what, sends).await {
            Ok(appended) => Some(appended),
            Err(error) => {
                let name = self.process.name();
                let why = format_args!("{name} got an unexpected error: {error}");
                self.process.world().report_violation(why);
                None
            }
        }
    }

    /// Retries a request until the response is not a temporary error.
    async fn retry_until_final<T, F>(
        &self,
        what: &str,
        ask: impl Fn(Server) -> F,
    ) -> Result<T, LogError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, LogError>> + Send + 'static,
    {
        let world = self.process.world();
        let mut attempt = 0_u64;
        loop {
            if attempt > 0 {
                world.count(RareEvent::RequestRepeated);
                world.sleep_ms(self.random().draw_in(0..=MAX_RETRY_MS)).await;
            }
            attempt += 1;
            match self.fleet.ask(&self.process, what.to_owned(), &ask).await {
                Some(Ok(answer)) => return Ok(answer),
                Some(Err(error)) if is_temporary(&error) => {
                    world.count(RareEvent::AppendGaveUp);
                    self.process.event(format_args!("gets a temporary error: {error}"));
                }
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
    }

    fn record_answer(&mut self, appended: &Appended) {
        for result in &appended.results {
            self.record_result(result);
        }
        let surplus_count = self.edit_positions.len().saturating_sub(MAX_EDIT_POSITIONS);
        self.edit_positions.drain(..surplus_count);
        self.process.event(format_args!("has all entries up to {}", appended.tail));
        self.acknowledged = self.next_id - 1;
        if appended.missing_from.is_none() {
            self.base = appended.tail.max(self.base);
        }
    }

    fn record_result(&mut self, result: &MutationResult) {
        let world = self.process.world();
        if result.duplicate {
            world.count(RareEvent::DuplicateAnswered);
        }
        if result.committed.is_some() {
            world.count(RareEvent::Transformed);
        }
        if result.reversal.is_some_and(|report| report.restored.is_zero()) {
            let id = result.id;
            let why = format_args!("undo or revert {id} took effect, but reports that it did not");
            world.report_violation(why);
        }
        let (Some(position), None) = (result.position, &result.rejection) else { return };
        let mutation = MutationId { client: self.key, id: result.id };
        self.witness.record_acknowledged(self.log, mutation, position);
        let effect =
            if result.no_effect { ReportedEffect::NoEffect } else { ReportedEffect::Appended };
        self.witness.record_effect(self.log, mutation, effect);
        self.edit_positions.retain(|edit_position| *edit_position != position);
        self.edit_positions.push(position);
    }

    /// Checks I14: repeating a request changes nothing and returns the same positions, rejections
    /// and effects. The duplicate flag may differ, because a delayed copy of the request may have
    /// arrived first.
    async fn repeat(&self, request: &Request, first: &Appended) {
        if let Some(repeated) = self.append_until_answered(request).await {
            self.check_same_answer(first, &repeated);
        }
    }

    fn check_same_answer(&self, first: &Appended, repeated: &Appended) {
        let first_results = &first.results;
        let repeated_results = &repeated.results;
        let is_same = first_results.len() == repeated_results.len()
            && first_results.iter().zip(repeated_results).all(|(first_result, repeated_result)| {
                is_same_result(first_result, repeated_result)
            });
        if !is_same {
            self.process.world().report_violation(format_args!(
                "I14: a repeated request was answered with {repeated_results:?} instead of \
                 {first_results:?}"
            ));
        }
    }
}

/// Returns whether a client retries after the given error.
#[must_use]
pub(crate) fn is_temporary(error: &LogError) -> bool {
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

/// The response to a repeated request may lack the position and the information that depends on it.
fn is_same_result(first: &MutationResult, repeated: &MutationResult) -> bool {
    let has_same_outcome = repeated.position.is_none()
        || (repeated.position == first.position
            && repeated.rejection == first.rejection
            && repeated.no_effect == first.no_effect);
    repeated.id == first.id && has_same_outcome
}
