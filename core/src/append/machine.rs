//! The append state machine.

use std::sync::Arc;

use super::request::Request;
use super::scan::{Scan, Tail};
use super::{Action, Appended, Event, Inputs, MutationResult, Refusal};
use crate::backoff::full_jitter_ms;
use crate::entry::{BodyError, Content, Edits, Entry, encode_edits};
use crate::limits::{LOSSES_BEFORE_CATCH_UP, MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS};
use crate::position::Position;

/// One append on its way (design `2-log.md` §2).
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    request: Request,
    scan: Scan,
    phase: Phase,
    /// The end of the log was last reached by a consistent read, and nothing was learned since.
    fresh: bool,
    /// Puts of the current batch that were refused or have an unknown outcome.
    failed_puts: u32,
    /// The put under way may have happened: an earlier try of it has no known outcome.
    uncertain: bool,
    /// Puts lost in a row.
    losses: u32,
    /// Reads that failed.
    failed_reads: u32,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Reading { from: Position, consistent: bool },
    Putting { entry: Arc<Entry> },
    WaitingToRead { from: Position, consistent: bool },
    WaitingToPut { entry: Arc<Entry> },
    Finished,
}

impl Append {
    /// Begins, with the entries from the lowest base on as far as this process knows them (see
    /// [`KnownRun::entries_from`](super::KnownRun::entries_from)); none is fine.
    #[must_use]
    pub fn begin(request: Request, known: &[Arc<Entry>], inputs: Inputs) -> (Self, Action) {
        let from = request.lowest_base();
        let mut append = Self {
            scan: Scan::new(&request),
            request,
            phase: Phase::Reading { from, consistent: false },
            fresh: false,
            failed_puts: 0,
            uncertain: false,
            losses: 0,
            failed_reads: 0,
        };
        let known_run = known.iter().try_for_each(|entry| append.scan.learn(entry, false));
        let action = match append.scan.next {
            // Nothing known, or not from the base on: read from there.
            _ if append.scan.tail.is_none() => append.read(from, false),
            Some(next) if known_run.is_err() => append.read(next, false),
            Some(_) | None => append.decide(inputs),
        };
        (append, action)
    }

    /// Takes the next step. An event that does not answer the last action ends the append with
    /// [`Refusal::Store`].
    #[must_use]
    pub fn step(mut self, event: Event, inputs: Inputs) -> (Self, Action) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Reading { consistent, .. }, Event::Page { entries, more }) => {
                self.page(&entries, more, consistent, inputs)
            }
            (Phase::Reading { from, consistent }, Event::ReadFailed { temporary }) => {
                self.read_failed(from, consistent, temporary, inputs)
            }
            (Phase::Putting { entry }, Event::PutAccepted) => self.put_accepted(&entry, inputs),
            (Phase::Putting { entry }, Event::PutRefused { winner }) => {
                self.put_refused(&entry, &winner, inputs)
            }
            (Phase::Putting { entry }, Event::PutUnknown) => self.put_unknown(entry, inputs),
            // It was refused now, but an earlier try may have got through.
            (Phase::Putting { .. }, Event::PutFailed) if self.uncertain => {
                finish(Err(Refusal::OutcomeUnknown))
            }
            (Phase::WaitingToRead { from, consistent }, Event::Waited) => {
                self.read(from, consistent)
            }
            (Phase::WaitingToPut { entry }, Event::Waited) => self.put(entry),
            _ => finish(Err(Refusal::Store)),
        };
        (self, action)
    }

    fn page(
        &mut self,
        entries: &[Arc<Entry>],
        more: bool,
        consistent: bool,
        inputs: Inputs,
    ) -> Action {
        let contiguous = entries.iter().try_for_each(|entry| self.scan.learn(entry, false)).is_ok();
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        match (contiguous, consistent) {
            (true, _) => {}
            // A hole is the end of the log until a consistent read says otherwise.
            (false, false) => return self.read(next, true),
            (false, true) => return finish(Err(Refusal::Corrupt { at: next })),
        }
        let ended = self.scan.tail.is_some_and(|tail| tail.ended);
        if !entries.is_empty() && (more || ended) {
            return self.read(next, consistent);
        }
        self.fresh = consistent;
        self.decide(inputs)
    }

    fn read_failed(
        &mut self,
        from: Position,
        consistent: bool,
        temporary: bool,
        inputs: Inputs,
    ) -> Action {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= MAX_READ_ATTEMPTS {
            return finish(Err(Refusal::Store));
        }
        self.phase = Phase::WaitingToRead { from, consistent };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    fn put_accepted(&mut self, entry: &Arc<Entry>, inputs: Inputs) -> Action {
        self.failed_puts = 0;
        self.losses = 0;
        self.uncertain = false;
        self.fresh = false;
        match self.scan.learn(entry, true) {
            Ok(()) => self.decide(inputs),
            Err(_) => finish(Err(Refusal::Corrupt { at: entry.position })),
        }
    }

    fn put_refused(&mut self, put: &Arc<Entry>, winner: &Arc<Entry>, inputs: Inputs) -> Action {
        if std::mem::take(&mut self.uncertain) && put == winner {
            // An earlier try of this very put got through and its reply was lost.
            return self.put_accepted(put, inputs);
        }
        self.fresh = false;
        self.failed_puts += 1;
        self.losses += 1;
        if self.scan.learn(winner, false).is_err() {
            return finish(Err(Refusal::Store));
        }
        let all_done = self.request.after(self.scan.last_id).is_empty();
        if self.failed_puts >= MAX_PUT_ATTEMPTS && !all_done {
            return finish(Err(Refusal::Contention));
        }
        match self.scan.next {
            // Others are faster: one Query is cheaper than losing once for each of them.
            Some(from) if self.losses >= LOSSES_BEFORE_CATCH_UP && !all_done => {
                self.losses = 0;
                self.phase = Phase::WaitingToRead { from, consistent: false };
                Action::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
            }
            _ => self.decide(inputs),
        }
    }

    fn put_unknown(&mut self, entry: Arc<Entry>, inputs: Inputs) -> Action {
        self.uncertain = true;
        self.failed_puts += 1;
        if self.failed_puts >= MAX_PUT_ATTEMPTS {
            return finish(Err(Refusal::OutcomeUnknown));
        }
        self.phase = Phase::WaitingToPut { entry };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
    }

    /// Decides, at what may be the end of the log, whether to put, to read once more or to end.
    fn decide(&mut self, inputs: Inputs) -> Action {
        let Some(tail) = self.scan.tail else {
            let base = self.request.lowest_base();
            return self.refuse(Refusal::UnknownBase { base });
        };
        if let Some(base) = self.scan.unseen_bases.first().copied() {
            return self.refuse(Refusal::UnknownBase { base });
        }
        if tail.header.epoch != self.request.epoch {
            return self.refuse(Refusal::EpochChanged);
        }
        if self.request.after(self.scan.last_id).is_empty() {
            return finish(Ok(self.appended(tail)));
        }
        let expected = self.scan.last_id.saturating_add(1);
        if self.request.first_id > expected {
            return self.refuse(Refusal::Gap { expected, got: self.request.first_id });
        }
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        if tail.ended {
            return self.await_segment(next, inputs);
        }
        match self.build(next, tail, inputs) {
            Ok(entry) => self.put(Arc::new(entry)),
            // The encoder does not fail for what `Request::new` has encoded once.
            Err(_) => finish(Err(Refusal::Store)),
        }
    }

    /// The segment after an End Segment exists, since both were written in one transaction; but it
    /// need not be seen in the same moment.
    fn await_segment(&mut self, from: Position, inputs: Inputs) -> Action {
        if !self.fresh || self.failed_reads >= MAX_READ_ATTEMPTS {
            return self.refuse(Refusal::Corrupt { at: from });
        }
        self.failed_reads += 1;
        self.phase = Phase::WaitingToRead { from, consistent: true };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    fn build(&self, position: Position, tail: Tail, inputs: Inputs) -> Result<Entry, BodyError> {
        let first_id = self.scan.last_id.saturating_add(1);
        let batch = self.request.next_batch(self.scan.last_id);
        let body_bytes = encode_edits(position, batch)?.len();
        Ok(Entry {
            log: self.request.log,
            position,
            created_s: inputs.now_s,
            author: self.request.author.clone(),
            header: tail.header.followed_by(body_bytes),
            content: Content::Edits(Edits {
                client: self.request.client,
                first_id,
                mutations: batch.to_vec(),
            }),
        })
    }

    /// Refuses only on consistent evidence: otherwise reads on, consistently, first.
    fn refuse(&mut self, refusal: Refusal) -> Action {
        match self.scan.next {
            Some(next) if !self.fresh => self.read(next, true),
            _ => finish(Err(refusal)),
        }
    }

    fn read(&mut self, from: Position, consistent: bool) -> Action {
        self.phase = Phase::Reading { from, consistent };
        Action::Read { from, consistent }
    }

    fn put(&mut self, entry: Arc<Entry>) -> Action {
        self.phase = Phase::Putting { entry: Arc::clone(&entry) };
        Action::Put { entry }
    }

    fn appended(&mut self, tail: Tail) -> Appended {
        let ids = (self.request.first_id..).zip(&self.request.mutations).map(|(id, _)| id);
        let results = ids.map(|id| match self.scan.placed(id) {
            Some((position, own)) => {
                MutationResult { id, position: Some(position), duplicate: !own }
            }
            None => MutationResult { id, position: None, duplicate: true },
        });
        Appended {
            results: results.collect(),
            tail: tail.position,
            header: tail.header,
            missing: std::mem::take(&mut self.scan.missing),
            missing_from: self.scan.missing_from,
        }
    }
}

fn finish(result: Result<Appended, Refusal>) -> Action {
    Action::Finish(result)
}
