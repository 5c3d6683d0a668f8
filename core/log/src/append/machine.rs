//! State machine of a log append.

use std::sync::Arc;

use super::batch::{build_next_content, find_stale_resolution, first_needed_position};
use super::request::{Payload, Request};
use super::rules::{Rules, SafetyRule};
use super::scan::{Scan, Tail};
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
    /// Start time of the append in seconds since the Unix epoch.
    started_s: u64,
    /// Whether a strongly consistent read has reached the end of the log and no later entry has
    /// been found since.
    end_is_confirmed: bool,
    /// Number of failed puts of the current entry: refused puts and puts with an unknown outcome.
    failed_puts: u32,
    /// Whether an earlier attempt of the current put has an unknown outcome.
    put_is_uncertain: bool,
    /// Number of consecutive puts that lost a race to another writer.
    losses: u32,
    /// Number of failed reads of any type.
    failed_reads: u32,
    /// Whether entries after a base have been trimmed. If so, the scan starts at the latest
    /// segment.
    base_was_trimmed: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Reading {
        from: Position,
        consistent: bool,
    },
    /// Checks whether the segment of a missing entry was trimmed, before refusing the append.
    CheckingTrim {
        refusal: Refusal,
    },
    FindingNewestSegment,
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
    /// Starts an append. `cached` contains the cached entries starting at the request's lowest
    /// base, and may be empty (see [`CachedTail::entries_from`](super::CachedTail::entries_from)).
    #[must_use]
    pub fn begin(request: Request, cached: &[Arc<Entry>], inputs: Inputs) -> (Self, AppendAction) {
        Self::begin_with(Rules::default(), request, cached, inputs)
    }

    /// Like [`Append::begin`], but with safety rules chosen by the caller (the model checker).
    #[must_use]
    pub fn begin_with(
        rules: Rules,
        request: Request,
        cached: &[Arc<Entry>],
        inputs: Inputs,
    ) -> (Self, AppendAction) {
        let lowest_base = request.lowest_base();
        let mut append = Self {
            scan: Scan::new(&request, rules),
            request,
            rules,
            phase: Phase::Reading { from: lowest_base, consistent: false },
            started_s: inputs.now_s,
            end_is_confirmed: false,
            failed_puts: 0,
            put_is_uncertain: false,
            losses: 0,
            failed_reads: 0,
            base_was_trimmed: false,
        };
        let scanned = cached.iter().try_for_each(|entry| append.scan.add_entry(entry, false));
        let base_is_cached = append.scan.tail.is_some();
        if !base_is_cached && rules.is_enforced(SafetyRule::KnownExists) {
            let action = append.read(lowest_base, false);
            return (append, action);
        }
        let action = match append.scan.next {
            Some(next) if scanned.is_err() => append.read(next, false),
            _ => append.decide(inputs),
        };
        (append, action)
    }

    /// Processes the result of the last action and returns the next action. Ends the append with
    /// [`Refusal::Store`] if the event does not match the last action.
    #[must_use]
    pub fn step(mut self, event: AppendEvent, inputs: Inputs) -> (Self, AppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (phase, AppendEvent::ReadFailed { temporary }) => {
                self.handle_read_failure(phase, temporary, inputs)
            }
            (Phase::Reading { consistent, .. }, AppendEvent::Page { entries, more }) => {
                self.handle_page(&entries, more, consistent, inputs)
            }
            (Phase::CheckingTrim { refusal }, AppendEvent::Page { entries, .. }) => {
                self.handle_trim_check(refusal, &entries)
            }
            (Phase::FindingNewestSegment, AppendEvent::NewestSegment(newest)) => {
                self.restart_at_newest_segment(newest)
            }
            (Phase::ReadingState { at }, AppendEvent::State(metadata)) => {
                self.scan.set_state(at, metadata);
                self.decide(inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutAccepted) => {
                self.handle_put_accepted(&entry, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutRefused { winner }) => {
                self.handle_put_refused(&entry, &winner, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutUnknown) => {
                self.handle_put_unknown(entry, inputs)
            }
            // The failed attempt had no effect, but an earlier attempt may have succeeded.
            (Phase::Putting { .. }, AppendEvent::PutFailed) if self.put_is_uncertain => {
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

    fn handle_page(
        &mut self,
        entries: &[Arc<Entry>],
        more: bool,
        consistent: bool,
        inputs: Inputs,
    ) -> AppendAction {
        let scanned = entries.iter().try_for_each(|entry| self.scan.add_entry(entry, false));
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        if scanned.is_err() {
            // Treat a gap as the end of the log until a strongly consistent read finds a later
            // entry.
            if !consistent && self.rules.is_enforced(SafetyRule::ConsistentRefusal) {
                return self.read(next, true);
            }
            return self.check_trim(Refusal::Corrupt { at: next });
        }
        let segment_ended = self.scan.tail.as_ref().is_some_and(|tail| tail.ended);
        if !entries.is_empty() && (more || segment_ended) {
            return self.read(next, consistent);
        }
        self.end_is_confirmed = consistent;
        self.decide(inputs)
    }

    /// Retries a failed read. Gives up on a permanent error or after too many failed reads.
    fn handle_read_failure(
        &mut self,
        phase: Phase,
        temporary: bool,
        inputs: Inputs,
    ) -> AppendAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= self.rules.max_reads() {
            return finish(Err(Refusal::Store));
        }
        match phase {
            Phase::Reading { from, consistent } => {
                self.phase = Phase::WaitingToRead { from, consistent };
                AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
            }
            Phase::CheckingTrim { refusal } => self.check_trim(refusal),
            Phase::FindingNewestSegment => self.find_newest_segment(),
            Phase::ReadingState { at } => self.read_state(at),
            Phase::Putting { .. }
            | Phase::WaitingToRead { .. }
            | Phase::WaitingToPut { .. }
            | Phase::Finished => finish(Err(Refusal::Store)),
        }
    }

    fn handle_put_accepted(&mut self, entry: &Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.failed_puts = 0;
        self.losses = 0;
        self.put_is_uncertain = false;
        self.end_is_confirmed = false;
        match self.scan.add_entry(entry, true) {
            Ok(()) => self.decide(inputs),
            Err(_) => finish(Err(Refusal::Corrupt { at: entry.position })),
        }
    }

    fn handle_put_refused(
        &mut self,
        put: &Arc<Entry>,
        winner: &Arc<Entry>,
        inputs: Inputs,
    ) -> AppendAction {
        let earlier_attempt_succeeded = self.put_is_uncertain && put == winner;
        self.put_is_uncertain = false;
        if earlier_attempt_succeeded {
            return self.handle_put_accepted(put, inputs);
        }
        self.end_is_confirmed = false;
        self.failed_puts += 1;
        self.losses += 1;
        if self.scan.add_entry(winner, false).is_err() {
            return finish(Err(Refusal::Store));
        }
        if self.is_done() {
            return self.decide(inputs);
        }
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::Contention));
        }
        match self.scan.next {
            // Other writers are faster. Catching up with one query is cheaper than losing another
            // put for each of their entries.
            Some(from) if self.losses >= LOSSES_BEFORE_CATCH_UP => {
                self.losses = 0;
                self.phase = Phase::WaitingToRead { from, consistent: false };
                AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
            }
            _ => self.decide(inputs),
        }
    }

    fn handle_put_unknown(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.put_is_uncertain = true;
        self.failed_puts += 1;
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::OutcomeUnknown));
        }
        if !self.rules.is_enforced(SafetyRule::SameKeyRetry) {
            self.scan.assume_foreign_entry(&entry);
            return self.decide(inputs);
        }
        self.phase = Phase::WaitingToPut { entry };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
    }

    /// Handles a possible end of the log: puts the next entry, reads again, or finishes.
    fn decide(&mut self, inputs: Inputs) -> AppendAction {
        if self.scan.tail.is_none() && !self.rules.is_enforced(SafetyRule::KnownExists) {
            self.scan.assume_base_exists(self.request.incarnation);
        }
        let Some(tail) = self.scan.tail.clone() else {
            return self.handle_missing_base(inputs);
        };
        if let Some(base) = self.scan.unseen_bases.first().copied() {
            return self.refuse(Refusal::UnknownBase { base });
        }
        if tail.header.incarnation != self.request.incarnation {
            return self.refuse(Refusal::IncarnationChanged);
        }
        if self.is_done() {
            return finish(Ok(self.take_result(tail)));
        }
        if let Some(refusing) = self.check_numbering() {
            return refusing;
        }
        let needed = first_needed_position(&self.request, &self.scan);
        if needed < self.scan.start && !self.base_was_trimmed {
            let from = needed.step_back_from(tail.position);
            self.scan.restart(&self.request, from);
            return self.read(from, false);
        }
        if let Some(newest) = find_stale_resolution(&self.request, &self.scan) {
            return finish(Err(Refusal::StaleResolution { newest }));
        }
        self.put_next_entry(&tail, inputs)
    }

    /// Handles a scan that found no entry at its start position.
    fn handle_missing_base(&mut self, inputs: Inputs) -> AppendAction {
        let start = self.scan.start;
        if self.base_was_trimmed {
            // The latest segment's record proves that the segment exists.
            return self.await_segment(start, inputs);
        }
        self.refuse(Refusal::UnknownBase { base: start })
    }

    /// Checks that the first mutation directly follows the client's last committed mutation.
    /// Otherwise, returns the action that refuses the request.
    fn check_numbering(&mut self) -> Option<AppendAction> {
        if self.base_was_trimmed && !self.request.numbering_known {
            let base = self.request.lowest_base();
            return Some(finish(Err(Refusal::BaseGone { base })));
        }
        let first_id = self.request.first_id;
        let expected = self.scan.last_id.saturating_add(1);
        if first_id > expected {
            if !self.base_was_trimmed {
                return Some(self.refuse(Refusal::Gap { expected, got: first_id }));
            }
            // The missing mutations may be in trimmed entries.
            self.scan.last_id = first_id.saturating_sub(1);
        }
        let last_id = self.scan.last_id;
        if matches!(self.request.payload, Payload::Upload(_)) && last_id >= first_id {
            return Some(finish(Err(Refusal::Overlap { last_id })));
        }
        None
    }

    /// Puts the request's next entry, or returns the read of the segment or state that must happen
    /// first.
    fn put_next_entry(&mut self, tail: &Tail, inputs: Inputs) -> AppendAction {
        let Some(next) = self.scan.next else {
            return finish(Err(Refusal::Full));
        };
        if tail.ended && self.rules.is_enforced(SafetyRule::EndSegmentCheck) {
            return self.await_segment(next, inputs);
        }
        if self.scan.needs_state(tail, &self.request) {
            return self.read_state(tail.position);
        }
        match self.build_entry(next, tail, inputs) {
            Ok(entry) => self.put(Arc::new(entry), inputs),
            // Encoding cannot fail: `Request::new` has already encoded these mutations.
            Err(_) => finish(Err(Refusal::Store)),
        }
    }

    /// Waits for the first entry of an existing segment to become visible. The entry was written in
    /// the same transaction as the preceding segment's End Segment (the last entry of a segment),
    /// but eventually consistent reads may lag behind.
    fn await_segment(&mut self, first_entry: Position, inputs: Inputs) -> AppendAction {
        if !self.end_is_confirmed || self.failed_reads >= self.rules.max_reads() {
            return self.refuse(Refusal::Corrupt { at: first_entry });
        }
        self.failed_reads += 1;
        self.phase = Phase::WaitingToRead { from: first_entry, consistent: true };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_reads, inputs.random) }
    }

    /// Whether all mutations of the request are committed.
    fn is_done(&self) -> bool {
        self.scan.last_id >= self.request.last_id()
    }

    fn build_entry(
        &self,
        position: Position,
        tail: &Tail,
        inputs: Inputs,
    ) -> Result<Entry, BodyError> {
        let content = build_next_content(&self.request, &self.scan, position)?;
        let body_bytes = match &content {
            Content::Edits(edits) => encode_edits(position, &edits.mutations)?.1.len(),
            Content::External(external) => encode_external(position, external)?.1.len(),
            Content::Snapshot { .. } | Content::EndSegment => 0,
        };
        let summary = self.scan.state().map(|state| Arc::new(state.into_summary_after(&content)));
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

    /// Refuses the request if a strongly consistent read has confirmed the end of the log.
    /// Otherwise, continues with a strongly consistent read.
    fn refuse(&mut self, refusal: Refusal) -> AppendAction {
        let may_refuse =
            self.end_is_confirmed || !self.rules.is_enforced(SafetyRule::ConsistentRefusal);
        if let Some(next) = self.scan.next
            && !may_refuse
        {
            return self.read(next, true);
        }
        self.check_trim(refusal)
    }

    /// Handles a refusal. If an entry is missing, first reads the first entry of its segment, which
    /// records whether the segment was trimmed. Otherwise, refuses the request immediately.
    fn check_trim(&mut self, refusal: Refusal) -> AppendAction {
        let missing = match refusal {
            Refusal::UnknownBase { base } => base,
            Refusal::Corrupt { at } => at,
            refusal => return finish(Err(refusal)),
        };
        if self.base_was_trimmed {
            return finish(Err(refusal));
        }
        self.phase = Phase::CheckingTrim { refusal };
        AppendAction::Read { from: missing.segment_start(), consistent: true }
    }

    fn handle_trim_check(&mut self, refusal: Refusal, entries: &[Arc<Entry>]) -> AppendAction {
        if entries.first().is_some_and(|first| first.is_trimmed()) {
            return self.find_newest_segment();
        }
        finish(Err(refusal))
    }

    fn find_newest_segment(&mut self) -> AppendAction {
        self.phase = Phase::FindingNewestSegment;
        AppendAction::FindNewestSegment
    }

    /// Restarts the scan at the latest segment because entries after a base were trimmed. The rest
    /// of the log is sufficient to continue the client's mutation ids; the mutations themselves are
    /// committed as rejected.
    fn restart_at_newest_segment(&mut self, newest: Option<u32>) -> AppendAction {
        let start = newest.and_then(|segment| Position::new(segment, 0).ok());
        let Some(start) = start else {
            return finish(Err(Refusal::Corrupt { at: self.scan.start }));
        };
        self.base_was_trimmed = true;
        self.end_is_confirmed = false;
        self.scan.restart(&self.request, start);
        self.read(start, true)
    }

    fn read(&mut self, from: Position, consistent: bool) -> AppendAction {
        self.phase = Phase::Reading { from, consistent };
        AppendAction::Read { from, consistent }
    }

    /// Puts the entry unless the append is too old. After a long suspension of the process, its
    /// reads may predate a trim, which frees the keys of trimmed entries.
    fn put(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        let is_old = inputs.now_s > self.started_s.saturating_add(MAX_APPEND_AGE_S);
        if is_old && self.rules.is_enforced(SafetyRule::BoundedAge) {
            let is_uncertain = self.put_is_uncertain;
            let refusal = if is_uncertain { Refusal::OutcomeUnknown } else { Refusal::Contention };
            return finish(Err(refusal));
        }
        self.phase = Phase::Putting { entry: Arc::clone(&entry) };
        AppendAction::Put { entry }
    }

    /// Returns the result of the finished append. Moves the entries that the client is missing out
    /// of the scan.
    fn take_result(&mut self, tail: Tail) -> Appended {
        let ids = self.request.first_id..=self.request.last_id();
        Appended {
            results: ids.map(|id| self.mutation_result(id)).collect(),
            tail: tail.position,
            header: tail.header,
            missing: std::mem::take(&mut self.scan.missing),
            missing_from: self.scan.missing_from,
        }
    }

    fn mutation_result(&self, id: u64) -> MutationResult {
        let outcome = self.scan.outcome(id).cloned().unwrap_or_default();
        let committed_entry = self.scan.entry_of(id);
        MutationResult {
            id,
            position: committed_entry.map(|entry| entry.position),
            duplicate: !committed_entry.is_some_and(|entry| entry.is_own),
            rejection: outcome.rejection,
            committed: outcome.committed,
            no_effect: outcome.no_effect,
        }
    }
}

fn finish(result: Result<Appended, Refusal>) -> AppendAction {
    AppendAction::Finish(result)
}
