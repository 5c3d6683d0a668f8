//! The append state machine.

use std::sync::Arc;

use super::batch::{needed_from, next_content, stale_resolution};
use super::request::{Payload, Request};
use super::rules::{Rules, SafetyRule};
use super::scan::{Outcome, Scan, Tail};
use super::{Action, Appended, Event, Inputs, MutationResult, Refusal};
use crate::backoff::full_jitter_ms;
use crate::entry::{BodyError, Content, Entry, Header, encode_edits, encode_external};
use crate::limits::{LOSSES_BEFORE_CATCH_UP, MAX_APPEND_AGE_S};
use crate::position::Position;

/// One append on its way (design `2-log.md` §2).
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    request: Request,
    rules: Rules,
    scan: Scan,
    phase: Phase,
    /// When it began, Unix seconds.
    begun_s: u64,
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
    /// The entries after a base are gone: what is left of the log is read, from its newest segment.
    base_gone: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Reading {
        from: Position,
        consistent: bool,
    },
    /// Before refusing for want of an entry: was its segment purged?
    CheckingPurge {
        refusal: Refusal,
    },
    FindingNewest,
    ReadingState {
        at: Position,
    },
    Putting {
        entry: Arc<Entry>,
    },
    WaitingToRead {
        from: Position,
        consistent: bool,
    },
    WaitingToPut {
        entry: Arc<Entry>,
    },
    Finished,
}

impl Append {
    /// Begins, with the entries from the lowest base on as far as this process knows them (see
    /// [`KnownRun::entries_from`](super::KnownRun::entries_from)); none is fine.
    #[must_use]
    pub fn begin(request: Request, known: &[Arc<Entry>], inputs: Inputs) -> (Self, Action) {
        Self::begin_with(Rules::default(), request, known, inputs)
    }

    /// As [`Append::begin`], for the model checker: with rules that may not all hold.
    #[must_use]
    pub fn begin_with(
        rules: Rules,
        request: Request,
        known: &[Arc<Entry>],
        inputs: Inputs,
    ) -> (Self, Action) {
        let from = request.lowest_base();
        let mut append = Self {
            scan: Scan::new(&request, rules),
            request,
            rules,
            phase: Phase::Reading { from, consistent: false },
            begun_s: inputs.now_s,
            fresh: false,
            failed_puts: 0,
            uncertain: false,
            losses: 0,
            failed_reads: 0,
            base_gone: false,
        };
        let known_run = known.iter().try_for_each(|entry| append.scan.learn(entry, false));
        let action = match append.scan.next {
            // Nothing known, or not from the base on: read from there.
            _ if append.scan.tail.is_none() && rules.hold(SafetyRule::KnownExists) => {
                append.read(from, false)
            }
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
            (Phase::CheckingPurge { refusal }, Event::Page { entries, .. }) => {
                self.purge_checked(refusal, &entries)
            }
            (Phase::CheckingPurge { refusal }, Event::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.check_purge(refusal),
                    false => finish(Err(Refusal::Store)),
                }
            }
            (Phase::FindingNewest, Event::NewestSegment(newest)) => self.restart_at_newest(newest),
            (Phase::FindingNewest, Event::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.find_newest(),
                    false => finish(Err(Refusal::Store)),
                }
            }
            (Phase::ReadingState { at }, Event::State(outline)) => {
                self.scan.keep_state(at, outline);
                self.decide(inputs)
            }
            (Phase::ReadingState { at }, Event::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.read_state(at),
                    false => finish(Err(Refusal::Store)),
                }
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
            (Phase::WaitingToPut { entry }, Event::Waited) => self.put(entry, inputs),
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
            (false, false) if self.rules.hold(SafetyRule::ConsistentRefusal) => {
                return self.read(next, true);
            }
            (false, _) => return self.check_purge(Refusal::Corrupt { at: next }),
        }
        let ended = self.scan.tail.as_ref().is_some_and(|tail| tail.ended);
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
        if !self.may_read_again(temporary) {
            return finish(Err(Refusal::Store));
        }
        self.phase = Phase::WaitingToRead { from, consistent };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    /// Counts a failed read; whether another may be tried.
    fn may_read_again(&mut self, temporary: bool) -> bool {
        self.failed_reads += 1;
        temporary && self.failed_reads < self.rules.max_reads()
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
        let all_done = self.is_done();
        if self.failed_puts >= self.rules.max_puts() && !all_done {
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
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::OutcomeUnknown));
        }
        if !self.rules.hold(SafetyRule::SameKeyRetry) {
            self.scan.step_over(&entry);
            return self.decide(inputs);
        }
        self.phase = Phase::WaitingToPut { entry };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
    }

    /// Decides, at what may be the end of the log, whether to put, to read once more or to end.
    fn decide(&mut self, inputs: Inputs) -> Action {
        if self.scan.tail.is_none() && !self.rules.hold(SafetyRule::KnownExists) {
            self.scan.trust_base(self.request.epoch);
        }
        // The newest segment is there: its record says so.
        if self.scan.tail.is_none() && self.base_gone {
            return self.await_segment(self.scan.start, inputs);
        }
        let Some(tail) = self.scan.tail.clone() else {
            let base = self.scan.start;
            return self.refuse(Refusal::UnknownBase { base });
        };
        if let Some(base) = self.scan.unseen_bases.first().copied() {
            return self.refuse(Refusal::UnknownBase { base });
        }
        if tail.header.epoch != self.request.epoch {
            return self.refuse(Refusal::EpochChanged);
        }
        if self.is_done() {
            return finish(Ok(self.appended(tail)));
        }
        if self.base_gone && !self.request.numbering_known {
            return finish(Err(Refusal::BaseGone { base: self.request.lowest_base() }));
        }
        let (first_id, last_id) = (self.request.first_id, self.scan.last_id);
        let expected = last_id.saturating_add(1);
        // What was in a purged segment cannot be told from what never was.
        if first_id > expected && self.base_gone {
            self.scan.last_id = first_id.saturating_sub(1);
        } else if first_id > expected {
            return self.refuse(Refusal::Gap { expected, got: first_id });
        }
        if matches!(self.request.payload, Payload::Upload(_)) && last_id >= first_id {
            return finish(Err(Refusal::Overlap { last_id }));
        }
        let needed = needed_from(&self.request, &self.scan);
        if needed < self.scan.start && !self.base_gone {
            let from = needed.before(tail.position);
            self.scan.restart(&self.request, from);
            return self.read(from, false);
        }
        if let Some(newest) = stale_resolution(&self.request, &self.scan) {
            return finish(Err(Refusal::StaleResolution { newest }));
        }
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        if tail.ended && self.rules.hold(SafetyRule::EndSegmentCheck) {
            return self.await_segment(next, inputs);
        }
        if self.scan.needs_state(&tail, &self.request) {
            return self.read_state(tail.position);
        }
        match self.build(next, &tail, inputs) {
            Ok(entry) => self.put(Arc::new(entry), inputs),
            // The encoder does not fail for what `Request::new` has encoded once.
            Err(_) => finish(Err(Refusal::Store)),
        }
    }

    /// The segment after an End Segment exists, since both were written in one transaction; but it
    /// need not be seen in the same moment.
    fn await_segment(&mut self, from: Position, inputs: Inputs) -> Action {
        if !self.fresh || self.failed_reads >= self.rules.max_reads() {
            return self.refuse(Refusal::Corrupt { at: from });
        }
        self.failed_reads += 1;
        self.phase = Phase::WaitingToRead { from, consistent: true };
        Action::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    fn is_done(&self) -> bool {
        self.scan.last_id >= self.request.last_id()
    }

    fn build(&self, position: Position, tail: &Tail, inputs: Inputs) -> Result<Entry, BodyError> {
        let content = next_content(&self.request, &self.scan, position)?;
        let body_bytes = match &content {
            Content::Edits(edits) => encode_edits(position, &edits.mutations)?.1.len(),
            Content::External(external) => encode_external(position, external)?.1.len(),
            Content::Snapshot { .. } | Content::EndSegment => 0,
        };
        let summary = self.scan.state().map(|state| Arc::new(state.after(&content)));
        Ok(Entry {
            log: self.request.log,
            position,
            created_s: inputs.now_s,
            author: self.request.author.clone(),
            header: Header { summary, ..tail.header.followed_by(body_bytes) },
            content,
        })
    }

    fn read_state(&mut self, at: Position) -> Action {
        self.phase = Phase::ReadingState { at };
        Action::ReadState { at }
    }

    /// Refuses only on consistent evidence: otherwise reads on, consistently, first.
    fn refuse(&mut self, refusal: Refusal) -> Action {
        let believed = self.fresh || !self.rules.hold(SafetyRule::ConsistentRefusal);
        match (self.scan.next, refusal) {
            (Some(next), _) if !believed => self.read(next, true),
            (_, refusal @ (Refusal::UnknownBase { .. } | Refusal::Corrupt { .. })) => {
                self.check_purge(refusal)
            }
            (_, refusal) => finish(Err(refusal)),
        }
    }

    /// An entry is not there: either it never was, or its segment was purged, which its first
    /// entry says (design `2-log.md` §6).
    fn check_purge(&mut self, refusal: Refusal) -> Action {
        let at = match refusal {
            Refusal::UnknownBase { base: at } | Refusal::Corrupt { at } => at,
            refusal => return finish(Err(refusal)),
        };
        if self.base_gone {
            return finish(Err(refusal));
        }
        self.phase = Phase::CheckingPurge { refusal };
        Action::Read { from: at.segment_start(), consistent: true }
    }

    fn purge_checked(&mut self, refusal: Refusal, entries: &[Arc<Entry>]) -> Action {
        if entries.first().is_some_and(|first| first.is_purged()) {
            return self.find_newest();
        }
        finish(Err(refusal))
    }

    fn find_newest(&mut self) -> Action {
        self.phase = Phase::FindingNewest;
        Action::FindNewestSegment
    }

    /// What is left of the log is enough to number the client's mutations on, as rejected.
    fn restart_at_newest(&mut self, newest: Option<u32>) -> Action {
        let start = newest.and_then(|segment| Position::new(segment, 0).ok());
        let Some(start) = start else {
            return finish(Err(Refusal::Corrupt { at: self.scan.start }));
        };
        self.base_gone = true;
        self.fresh = false;
        self.scan.restart(&self.request, start);
        self.read(start, true)
    }

    fn read(&mut self, from: Position, consistent: bool) -> Action {
        self.phase = Phase::Reading { from, consistent };
        Action::Read { from, consistent }
    }

    /// Puts, unless the process was frozen in the middle of the append: what it has learned may be
    /// older than a purge, and the key be free again in a dead segment (design `2-log.md` §6).
    fn put(&mut self, entry: Arc<Entry>, inputs: Inputs) -> Action {
        let old = inputs.now_s > self.begun_s.saturating_add(MAX_APPEND_AGE_S);
        if old && self.rules.hold(SafetyRule::BoundedAge) {
            let uncertain = self.uncertain;
            let refusal = if uncertain { Refusal::OutcomeUnknown } else { Refusal::Contention };
            return finish(Err(refusal));
        }
        self.phase = Phase::Putting { entry: Arc::clone(&entry) };
        Action::Put { entry }
    }

    fn appended(&mut self, tail: Tail) -> Appended {
        let results = (self.request.first_id..=self.request.last_id()).map(|id| {
            let outcome = self.scan.outcome(id).cloned();
            let none = Outcome { rejection: None, committed: None, no_effect: false };
            let Outcome { rejection, committed, no_effect } = outcome.unwrap_or(none);
            let placed = self.scan.placed(id);
            let position = placed.map(|(position, _)| position);
            let duplicate = placed.is_none_or(|(_, own)| !own);
            MutationResult { id, position, duplicate, rejection, committed, no_effect }
        });
        let results = results.collect();
        Appended {
            results,
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
