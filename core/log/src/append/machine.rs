//! The append state machine.

use std::sync::Arc;

use super::batch::{needed_from, next_content, stale_resolution};
use super::request::{Payload, Request};
use super::rules::{Rules, SafetyRule};
use super::scan::{Scan, ScannedOutcome, Tail};
use super::{AppendAction, AppendEvent, Appended, Inputs, MutationResult, Refusal};
use crate::entry::{BodyError, Content, Entry, Header, encode_edits, encode_external};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{LOSSES_BEFORE_CATCH_UP, MAX_APPEND_AGE_S};
use cellar_base::position::Position;

/// An append in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    request: Request,
    rules: Rules,
    scan: Scan,
    phase: Phase,
    /// Start time in Unix seconds.
    begun_s: u64,
    /// Whether the end of the log was reached by a consistent read, and no entry was found since.
    fresh: bool,
    /// Puts of the current entry that were refused or have an unknown outcome.
    failed_puts: u32,
    /// Whether an earlier attempt of the current put has an unknown outcome.
    uncertain: bool,
    /// Consecutive puts that lost against other writers.
    losses: u32,
    /// Failed reads.
    failed_reads: u32,
    /// Whether the entries after a base were trimmed. The remaining log is then read from its newest segment.
    base_gone: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Reading {
        from: Position,
        consistent: bool,
    },
    /// Before a refusal because of a missing entry: checks whether its segment was trimmed.
    CheckingTrim {
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
    /// Starts an append. `known` are the entries from the lowest base that the process has cached (see
    /// [`CachedTail::entries_from`](super::CachedTail::entries_from)); it may be empty.
    #[must_use]
    pub fn begin(request: Request, known: &[Arc<Entry>], inputs: Inputs) -> (Self, AppendAction) {
        Self::begin_with(Rules::default(), request, known, inputs)
    }

    /// As [`Append::begin`], but with rules that the model checker chooses.
    #[must_use]
    pub fn begin_with(
        rules: Rules,
        request: Request,
        known: &[Arc<Entry>],
        inputs: Inputs,
    ) -> (Self, AppendAction) {
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
        let cached_tail = known.iter().try_for_each(|entry| append.scan.learn(entry, false));
        let action = match append.scan.next {
            // The cached entries do not include the base: read from there.
            _ if append.scan.tail.is_none() && rules.is_enforced(SafetyRule::KnownExists) => {
                append.read(from, false)
            }
            Some(next) if cached_tail.is_err() => append.read(next, false),
            Some(_) | None => append.decide(inputs),
        };
        (append, action)
    }

    /// Processes the result of the last action and returns the next one. An event that does not match the
    /// last action ends the append with [`Refusal::Store`].
    #[must_use]
    pub fn step(mut self, event: AppendEvent, inputs: Inputs) -> (Self, AppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Reading { consistent, .. }, AppendEvent::Page { entries, more }) => {
                self.page(&entries, more, consistent, inputs)
            }
            (Phase::Reading { from, consistent }, AppendEvent::ReadFailed { temporary }) => {
                self.read_failed(from, consistent, temporary, inputs)
            }
            (Phase::CheckingTrim { refusal }, AppendEvent::Page { entries, .. }) => {
                self.trim_checked(refusal, &entries)
            }
            (Phase::CheckingTrim { refusal }, AppendEvent::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.check_trim(refusal),
                    false => finish(Err(Refusal::Store)),
                }
            }
            (Phase::FindingNewest, AppendEvent::NewestSegment(newest)) => {
                self.restart_at_newest(newest)
            }
            (Phase::FindingNewest, AppendEvent::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.find_newest(),
                    false => finish(Err(Refusal::Store)),
                }
            }
            (Phase::ReadingState { at }, AppendEvent::State(metadata)) => {
                self.scan.keep_state(at, metadata);
                self.decide(inputs)
            }
            (Phase::ReadingState { at }, AppendEvent::ReadFailed { temporary }) => {
                match self.may_read_again(temporary) {
                    true => self.read_state(at),
                    false => finish(Err(Refusal::Store)),
                }
            }
            (Phase::Putting { entry }, AppendEvent::PutAccepted) => {
                self.put_accepted(&entry, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutRefused { winner }) => {
                self.put_refused(&entry, &winner, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutUnknown) => self.put_unknown(entry, inputs),
            // This attempt failed, but an earlier one may have succeeded.
            (Phase::Putting { .. }, AppendEvent::PutFailed) if self.uncertain => {
                finish(Err(Refusal::OutcomeUnknown))
            }
            (Phase::WaitingToRead { from, consistent }, AppendEvent::Waited) => {
                self.read(from, consistent)
            }
            (Phase::WaitingToPut { entry }, AppendEvent::Waited) => self.put(entry, inputs),
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
    ) -> AppendAction {
        let contiguous = entries.iter().try_for_each(|entry| self.scan.learn(entry, false)).is_ok();
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        match (contiguous, consistent) {
            (true, _) => {}
            // A gap counts as the end of the log, unless a consistent read finds a later entry.
            (false, false) if self.rules.is_enforced(SafetyRule::ConsistentRefusal) => {
                return self.read(next, true);
            }
            (false, _) => return self.check_trim(Refusal::Corrupt { at: next }),
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
    ) -> AppendAction {
        if !self.may_read_again(temporary) {
            return finish(Err(Refusal::Store));
        }
        self.phase = Phase::WaitingToRead { from, consistent };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    /// Counts a failed read. Returns whether another attempt is allowed.
    fn may_read_again(&mut self, temporary: bool) -> bool {
        self.failed_reads += 1;
        temporary && self.failed_reads < self.rules.max_reads()
    }

    fn put_accepted(&mut self, entry: &Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.failed_puts = 0;
        self.losses = 0;
        self.uncertain = false;
        self.fresh = false;
        match self.scan.learn(entry, true) {
            Ok(()) => self.decide(inputs),
            Err(_) => finish(Err(Refusal::Corrupt { at: entry.position })),
        }
    }

    fn put_refused(
        &mut self,
        put: &Arc<Entry>,
        winner: &Arc<Entry>,
        inputs: Inputs,
    ) -> AppendAction {
        if std::mem::take(&mut self.uncertain) && put == winner {
            // An earlier attempt of this put succeeded, but its reply was lost.
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
            // Other writers are faster: one query is cheaper than a lost put for each of them.
            Some(from) if self.losses >= LOSSES_BEFORE_CATCH_UP && !all_done => {
                self.losses = 0;
                self.phase = Phase::WaitingToRead { from, consistent: false };
                AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
            }
            _ => self.decide(inputs),
        }
    }

    fn put_unknown(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.uncertain = true;
        self.failed_puts += 1;
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::OutcomeUnknown));
        }
        if !self.rules.is_enforced(SafetyRule::SameKeyRetry) {
            self.scan.step_over(&entry);
            return self.decide(inputs);
        }
        self.phase = Phase::WaitingToPut { entry };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
    }

    /// Decides at the possible end of the log whether to put, to read again or to finish.
    fn decide(&mut self, inputs: Inputs) -> AppendAction {
        if self.scan.tail.is_none() && !self.rules.is_enforced(SafetyRule::KnownExists) {
            self.scan.trust_base(self.request.incarnation);
        }
        // The record of the newest segment proves that the segment exists.
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
        if tail.header.incarnation != self.request.incarnation {
            return self.refuse(Refusal::IncarnationChanged);
        }
        if self.is_done() {
            return finish(Ok(self.appended(tail)));
        }
        if self.base_gone && !self.request.numbering_known {
            return finish(Err(Refusal::BaseGone { base: self.request.lowest_base() }));
        }
        let (first_id, last_id) = (self.request.first_id, self.scan.last_id);
        let expected = last_id.saturating_add(1);
        // Entries of a trimmed segment are indistinguishable from entries that never existed.
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
            let from = needed.step_back_from(tail.position);
            self.scan.restart(&self.request, from);
            return self.read(from, false);
        }
        if let Some(newest) = stale_resolution(&self.request, &self.scan) {
            return finish(Err(Refusal::StaleResolution { newest }));
        }
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        if tail.ended && self.rules.is_enforced(SafetyRule::EndSegmentCheck) {
            return self.await_segment(next, inputs);
        }
        if self.scan.needs_state(&tail, &self.request) {
            return self.read_state(tail.position);
        }
        match self.build(next, &tail, inputs) {
            Ok(entry) => self.put(Arc::new(entry), inputs),
            // `Request::new` has already encoded these mutations, so encoding cannot fail.
            Err(_) => finish(Err(Refusal::Store)),
        }
    }

    /// The segment after an End Segment exists, because one transaction writes both. An eventually consistent
    /// read may not show it yet.
    fn await_segment(&mut self, from: Position, inputs: Inputs) -> AppendAction {
        if !self.fresh || self.failed_reads >= self.rules.max_reads() {
            return self.refuse(Refusal::Corrupt { at: from });
        }
        self.failed_reads += 1;
        self.phase = Phase::WaitingToRead { from, consistent: true };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
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

    fn read_state(&mut self, at: Position) -> AppendAction {
        self.phase = Phase::ReadingState { at };
        AppendAction::ReadState { at }
    }

    /// Refuses the request after a consistent read; otherwise continues with a consistent read.
    fn refuse(&mut self, refusal: Refusal) -> AppendAction {
        let believed = self.fresh || !self.rules.is_enforced(SafetyRule::ConsistentRefusal);
        match (self.scan.next, refusal) {
            (Some(next), _) if !believed => self.read(next, true),
            (_, refusal @ (Refusal::UnknownBase { .. } | Refusal::Corrupt { .. })) => {
                self.check_trim(refusal)
            }
            (_, refusal) => finish(Err(refusal)),
        }
    }

    /// Handles a missing entry. Either it never existed, or its segment was trimmed, which the first entry of
    /// the segment records.
    fn check_trim(&mut self, refusal: Refusal) -> AppendAction {
        let at = match refusal {
            Refusal::UnknownBase { base: at } | Refusal::Corrupt { at } => at,
            refusal => return finish(Err(refusal)),
        };
        if self.base_gone {
            return finish(Err(refusal));
        }
        self.phase = Phase::CheckingTrim { refusal };
        AppendAction::Read { from: at.segment_start(), consistent: true }
    }

    fn trim_checked(&mut self, refusal: Refusal, entries: &[Arc<Entry>]) -> AppendAction {
        if entries.first().is_some_and(|first| first.is_trimmed()) {
            return self.find_newest();
        }
        finish(Err(refusal))
    }

    fn find_newest(&mut self) -> AppendAction {
        self.phase = Phase::FindingNewest;
        AppendAction::FindNewestSegment
    }

    /// Restarts the scan at the newest segment. The remaining log is sufficient to continue the client's
    /// numbering; the mutations are committed as rejected.
    fn restart_at_newest(&mut self, newest: Option<u32>) -> AppendAction {
        let start = newest.and_then(|segment| Position::new(segment, 0).ok());
        let Some(start) = start else {
            return finish(Err(Refusal::Corrupt { at: self.scan.start }));
        };
        self.base_gone = true;
        self.fresh = false;
        self.scan.restart(&self.request, start);
        self.read(start, true)
    }

    fn read(&mut self, from: Position, consistent: bool) -> AppendAction {
        self.phase = Phase::Reading { from, consistent };
        AppendAction::Read { from, consistent }
    }

    /// Puts the entry, unless the process was frozen during the append. Its reads may then be older than a
    /// trim, and the key may be free again in a trimmed segment.
    fn put(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        let old = inputs.now_s > self.begun_s.saturating_add(MAX_APPEND_AGE_S);
        if old && self.rules.is_enforced(SafetyRule::BoundedAge) {
            let uncertain = self.uncertain;
            let refusal = if uncertain { Refusal::OutcomeUnknown } else { Refusal::Contention };
            return finish(Err(refusal));
        }
        self.phase = Phase::Putting { entry: Arc::clone(&entry) };
        AppendAction::Put { entry }
    }

    fn appended(&mut self, tail: Tail) -> Appended {
        let results = (self.request.first_id..=self.request.last_id()).map(|id| {
            let outcome = self.scan.outcome(id).cloned();
            let none = ScannedOutcome { rejection: None, committed: None, no_effect: false };
            let ScannedOutcome { rejection, committed, no_effect } = outcome.unwrap_or(none);
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

fn finish(result: Result<Appended, Refusal>) -> AppendAction {
    AppendAction::Finish(result)
}
