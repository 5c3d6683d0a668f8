//! State machine that appends mutations to a log.

mod trimmed;

use std::sync::Arc;

use super::batch::{
    BuildError, build_next_entry, find_edit_after_resolution, oldest_needed_position,
};
use super::phase::Phase;
use super::request::{Payload, Request};
use super::rules::{Rules, SafetyRule};
use super::scan::{NotNextEntry, Scan, Tail};
use super::tail_age::may_be_followed_unread;
use super::{AppendAction, AppendEvent, Appended, Inputs, Refusal};
use crate::entry::Entry;
use cellar_base::backoff::full_jitter_ms;
use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::{LOSSES_BEFORE_CATCH_UP, MAX_APPEND_AGE_S};
use cellar_base::position::Position;
use cellar_base::unexpected_event::UnexpectedEvent;

/// An append in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    request: Request,
    rules: Rules,
    scan: Scan,
    phase: Phase,
    /// Start time of the append in seconds since the Unix epoch.
    started_s: u64,
    /// Set when a strongly consistent read has reached the end of the log. Cleared when a later
    /// entry is found.
    end_is_confirmed: bool,
    /// Number of failed puts since the last successful put, including puts with an unknown
    /// outcome.
    failed_puts: u32,
    /// Whether an earlier attempt of the current put has an unknown outcome.
    put_is_uncertain: bool,
    /// Number of consecutive puts that lost a race to another writer.
    lost_races: u32,
    failed_reads: u32,
    /// Set if entries after one of the request's bases were trimmed. The scan then starts at the
    /// latest segment.
    base_was_trimmed: bool,
}

impl Append {
    /// Starts an append. `cached_entries` are the cached entries starting at the request's lowest
    /// base. They may be empty (see [`CachedTail::entries_from`](super::CachedTail::entries_from)).
    /// If the last of them is too old ([`tail_age`](super::tail_age)), the log is read instead.
    #[must_use]
    pub fn begin(
        request: Request,
        cached_entries: &[Arc<Entry>],
        inputs: Inputs,
    ) -> (Self, AppendAction) {
        Self::begin_with_rules(Rules::default(), request, cached_entries, inputs)
    }

    /// Like [`Append::begin`], but lets the model checker select the enforced safety rules.
    #[must_use]
    pub fn begin_with_rules(
        rules: Rules,
        request: Request,
        cached_entries: &[Arc<Entry>],
        inputs: Inputs,
    ) -> (Self, AppendAction) {
        let lowest_base = request.lowest_base();
        let mut append = Self {
            scan: Scan::at_lowest_base(&request, rules),
            request,
            rules,
            phase: Phase::Reading { from: lowest_base, consistency: ReadConsistency::Eventual },
            started_s: inputs.now_s,
            end_is_confirmed: false,
            failed_puts: 0,
            put_is_uncertain: false,
            lost_races: 0,
            failed_reads: 0,
            base_was_trimmed: false,
        };
        let scan_result = append.scan.add_read_entries(append.young_enough(cached_entries, inputs));
        let action = append.first_action(scan_result.is_ok(), inputs);
        (append, action)
    }

    fn young_enough<'a>(
        &self,
        cached_entries: &'a [Arc<Entry>],
        inputs: Inputs,
    ) -> &'a [Arc<Entry>] {
        let is_enforced = self.rules.is_enforced(SafetyRule::BoundedAge);
        match cached_entries.last() {
            Some(tail) if is_enforced && !may_be_followed_unread(tail, inputs.now_s) => &[],
            _ => cached_entries,
        }
    }

    /// `has_scanned_all` is `false` if the scan stopped at a missing entry.
    fn first_action(&mut self, has_scanned_all: bool, inputs: Inputs) -> AppendAction {
        let base_is_cached = self.scan.tail.is_some();
        if !base_is_cached && self.rules.is_enforced(SafetyRule::KnownExists) {
            return self.read(self.request.lowest_base(), ReadConsistency::Eventual);
        }
        match self.scan.next_position {
            Some(next_position) if !has_scanned_all => {
                self.read(next_position, ReadConsistency::Eventual)
            }
            _ => self.proceed_at_log_end(inputs),
        }
    }

    /// Processes the result of the last action and returns the next action. Ends the append with
    /// [`Refusal::Unexpected`] if the event does not match the last action.
    #[must_use]
    pub fn step(mut self, event: AppendEvent, inputs: Inputs) -> (Self, AppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Reading { from, consistency }, AppendEvent::ReadFailed { temporary }) => self
                .retry_failed_read(temporary, |append| {
                    append.wait_to_read(from, consistency, append.failed_reads, inputs)
                }),
            (Phase::CheckingTrim { refusal }, AppendEvent::ReadFailed { temporary }) => {
                self.retry_failed_read(temporary, |append| append.refuse_unless_trimmed(refusal))
            }
            (Phase::FindingNewestSegment, AppendEvent::ReadFailed { temporary }) => {
                self.retry_failed_read(temporary, Self::find_newest_segment)
            }
            (Phase::ReadingState { position }, AppendEvent::ReadFailed { temporary }) => {
                self.retry_failed_read(temporary, |append| append.read_state(position))
            }
            (Phase::Reading { consistency, .. }, AppendEvent::Page { entries, has_more }) => {
                self.scan_page(&entries, has_more, consistency, inputs)
            }
            (Phase::CheckingTrim { refusal }, AppendEvent::Page { entries, .. }) => {
                self.restart_or_refuse(refusal, &entries)
            }
            (Phase::FindingNewestSegment, AppendEvent::NewestSegment(newest)) => {
                self.restart_at_newest_segment(newest)
            }
            (Phase::ReadingState { position }, AppendEvent::State(metadata)) => {
                self.scan.set_read_state(position, metadata);
                self.proceed_at_log_end(inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutAccepted) => {
                self.scan_put_entry(&entry, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutRefused { winner }) => {
                self.scan_winner(&entry, &winner, inputs)
            }
            (Phase::Putting { entry }, AppendEvent::PutUnknown) => {
                self.retry_uncertain_put(entry, inputs)
            }
            (Phase::Putting { .. }, AppendEvent::PutFailed) => self.refuse_failed_put(),
            (Phase::WaitingToRead { from, consistency }, AppendEvent::Waited) => {
                self.read(from, consistency)
            }
            (Phase::WaitingToPut { entry }, AppendEvent::Waited) => {
                self.put_unless_too_old(entry, inputs)
            }
            (phase, event) => finish(Err(unexpected(&phase, &event).into())),
        };
        (self, action)
    }

    fn scan_page(
        &mut self,
        entries: &[Arc<Entry>],
        has_more: bool,
        consistency: ReadConsistency,
        inputs: Inputs,
    ) -> AppendAction {
        let scan_result = self.scan.add_read_entries(entries);
        let Some(next_position) = self.scan.next_position else {
            return finish(Err(Refusal::Full));
        };
        if scan_result.is_err() {
            return self.confirm_gap(next_position, consistency);
        }
        let tail_is_end_segment = self.scan.tail.as_ref().is_some_and(|tail| tail.is_end_segment);
        if !entries.is_empty() && (has_more || tail_is_end_segment) {
            return self.read(next_position, consistency);
        }
        self.end_is_confirmed = consistency == ReadConsistency::Strong;
        self.proceed_at_log_end(inputs)
    }

    /// If the read that found the gap was strongly consistent, refuses the append unless the
    /// segment was trimmed. Otherwise, repeats the read with strong consistency.
    fn confirm_gap(&mut self, gap: Position, consistency: ReadConsistency) -> AppendAction {
        let is_confirmed = consistency == ReadConsistency::Strong;
        if !is_confirmed && self.rules.is_enforced(SafetyRule::ConsistentRefusal) {
            return self.read(gap, ReadConsistency::Strong);
        }
        self.refuse_unless_trimmed(Refusal::Corrupt { at: gap })
    }

    /// Gives up after a permanent error or too many failed reads.
    fn retry_failed_read(
        &mut self,
        temporary: bool,
        retry: impl FnOnce(&mut Self) -> AppendAction,
    ) -> AppendAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= self.rules.max_reads() {
            return finish(Err(Refusal::Store));
        }
        retry(self)
    }

    fn scan_put_entry(&mut self, entry: &Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.failed_puts = 0;
        self.lost_races = 0;
        self.put_is_uncertain = false;
        self.end_is_confirmed = false;
        match self.scan.add_put_entry(entry) {
            Ok(()) => self.proceed_at_log_end(inputs),
            Err(NotNextEntry) => finish(Err(Refusal::Corrupt { at: entry.position })),
        }
    }

    fn scan_winner(
        &mut self,
        refused_entry: &Arc<Entry>,
        winner: &Arc<Entry>,
        inputs: Inputs,
    ) -> AppendAction {
        let earlier_attempt_succeeded = self.put_is_uncertain && refused_entry == winner;
        self.put_is_uncertain = false;
        if earlier_attempt_succeeded {
            return self.scan_put_entry(refused_entry, inputs);
        }
        self.end_is_confirmed = false;
        self.failed_puts += 1;
        self.lost_races += 1;
        if self.scan.add_read_entry(winner).is_err() {
            let phase = Phase::Putting { entry: Arc::clone(refused_entry) };
            let event = AppendEvent::PutRefused { winner: Arc::clone(winner) };
            return finish(Err(unexpected(&phase, &event).into()));
        }
        if self.all_mutations_are_committed() {
            return self.proceed_at_log_end(inputs);
        }
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::Contention));
        }
        match self.scan.next_position {
            // Other writers keep putting entries first. One query that returns all their entries is
            // cheaper than another failed put per entry.
            Some(next_position) if self.lost_races >= LOSSES_BEFORE_CATCH_UP => {
                self.lost_races = 0;
                let consistency = ReadConsistency::Eventual;
                self.wait_to_read(next_position, consistency, self.failed_puts, inputs)
            }
            _ => self.proceed_at_log_end(inputs),
        }
    }

    fn retry_uncertain_put(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        self.put_is_uncertain = true;
        self.failed_puts += 1;
        if self.failed_puts >= self.rules.max_puts() {
            return finish(Err(Refusal::OutcomeUnknown));
        }
        if !self.rules.is_enforced(SafetyRule::SameKeyRetry) {
            self.scan.assume_foreign_entry(&entry);
            return self.proceed_at_log_end(inputs);
        }
        self.phase = Phase::WaitingToPut { entry };
        AppendAction::Wait { delay_ms: full_jitter_ms(self.failed_puts, inputs.random) }
    }

    /// If the outcome of an earlier attempt of the put is unknown, so is the outcome of the append.
    fn refuse_failed_put(&self) -> AppendAction {
        let refusal = if self.put_is_uncertain { Refusal::OutcomeUnknown } else { Refusal::Store };
        finish(Err(refusal))
    }

    fn proceed_at_log_end(&mut self, inputs: Inputs) -> AppendAction {
        if self.scan.tail.is_none() && !self.rules.is_enforced(SafetyRule::KnownExists) {
            self.scan.assume_base_exists(self.request.incarnation);
        }
        let Some(tail) = self.scan.tail.clone() else {
            return self.retry_or_refuse_missing_base(inputs);
        };
        if let Err(refusal) = self.check_bases_and_incarnation(&tail) {
            return self.refuse_at_confirmed_end(refusal);
        }
        if self.all_mutations_are_committed() {
            return finish(Ok(self.take_result(tail)));
        }
        match self.check_numbering() {
            Ok(()) => self.put_next_entry_or_rescan(&tail, inputs),
            // A stale read may lack the entries with the missing mutations.
            Err(refusal @ Refusal::Gap { .. }) => self.refuse_at_confirmed_end(refusal),
            Err(refusal) => finish(Err(refusal)),
        }
    }

    fn retry_or_refuse_missing_base(&mut self, inputs: Inputs) -> AppendAction {
        let scan_start = self.scan.start_position;
        if self.base_was_trimmed {
            // The segment has a record, so its first entry exists.
            return self.await_segment(scan_start, inputs);
        }
        self.refuse_at_confirmed_end(Refusal::UnknownBase { base: scan_start })
    }

    /// Checks that the scan has found the bases of all mutations, and that the tables were not
    /// restored since the client loaded the spreadsheet.
    fn check_bases_and_incarnation(&self, tail: &Tail) -> Result<(), Refusal> {
        if let Some(unknown_base) = self.scan.unseen_bases.first().copied() {
            return Err(Refusal::UnknownBase { base: unknown_base });
        }
        if tail.header.incarnation != self.request.incarnation {
            return Err(Refusal::IncarnationChanged);
        }
        Ok(())
    }

    /// Checks that no mutation is missing between the client's last committed mutation and the
    /// request, and that no mutation of an upload is already committed.
    fn check_numbering(&self) -> Result<(), Refusal> {
        if self.base_was_trimmed && !self.request.numbering_is_trusted {
            return Err(Refusal::BaseGone { base: self.request.lowest_base() });
        }
        let first_id = self.request.first_id;
        let last_committed_id = self.scan.last_committed_id;
        let expected_id = last_committed_id.saturating_add(1);
        if first_id > expected_id {
            return Err(Refusal::Gap { expected: expected_id, got: first_id });
        }
        let is_upload = matches!(self.request.payload, Payload::Upload(_));
        if is_upload && first_id <= last_committed_id {
            return Err(Refusal::Overlap { last_id: last_committed_id });
        }
        Ok(())
    }

    fn put_next_entry_or_rescan(&mut self, tail: &Tail, inputs: Inputs) -> AppendAction {
        let oldest_needed = oldest_needed_position(&self.request, &self.scan);
        if oldest_needed < self.scan.start_position && !self.base_was_trimmed {
            let scan_start = oldest_needed.step_back_from(tail.position);
            self.scan.restart_at(scan_start, &self.request);
            return self.read(scan_start, ReadConsistency::Eventual);
        }
        if let Some(newest_edit) = find_edit_after_resolution(&self.request, &self.scan) {
            return finish(Err(Refusal::StaleResolution { newest: newest_edit }));
        }
        self.put_next_entry(tail, inputs)
    }

    /// If the next segment or the workbook's state is needed first, reads it instead.
    fn put_next_entry(&mut self, tail: &Tail, inputs: Inputs) -> AppendAction {
        let Some(next_position) = self.scan.next_position else {
            return finish(Err(Refusal::Full));
        };
        if tail.is_end_segment && self.rules.is_enforced(SafetyRule::EndSegmentCheck) {
            return self.await_segment(next_position, inputs);
        }
        if self.scan.needs_start_state(&self.request) {
            return self.read_state(self.scan.start_position);
        }
        if self.scan.needs_state(tail, &self.request) {
            return self.read_state(tail.position);
        }
        match build_next_entry(&self.request, &self.scan, tail, next_position, inputs.now_s) {
            Ok(entry) => self.put_unless_too_old(Arc::new(entry), inputs),
            // Encoding cannot fail: `Request::new` has already encoded these mutations.
            Err(BuildError::Body(_)) => finish(Err(Refusal::Encoding)),
            Err(BuildError::MergeTooDistant) => finish(Err(Refusal::MergeTooDistant)),
        }
    }

    /// Waits for the first entry of an existing segment to become visible. The entry was written in
    /// the same transaction as the segment's record and the End Segment (the last entry of the
    /// preceding segment), but a read may return those before the first entry. After too many
    /// attempts, refuses the append.
    fn await_segment(&mut self, segment_start: Position, inputs: Inputs) -> AppendAction {
        if !self.end_is_confirmed || self.failed_reads >= self.rules.max_reads() {
            return self.refuse_at_confirmed_end(Refusal::Corrupt { at: segment_start });
        }
        self.failed_reads += 1;
        self.wait_to_read(segment_start, ReadConsistency::Strong, self.failed_reads, inputs)
    }

    fn all_mutations_are_committed(&self) -> bool {
        self.scan.last_committed_id >= self.request.last_id()
    }

    fn read_state(&mut self, position: Position) -> AppendAction {
        self.phase = Phase::ReadingState { position };
        AppendAction::ReadState { at: position }
    }

    fn refuse_at_confirmed_end(&mut self, refusal: Refusal) -> AppendAction {
        let may_refuse =
            self.end_is_confirmed || !self.rules.is_enforced(SafetyRule::ConsistentRefusal);
        match self.scan.next_position {
            Some(next_position) if !may_refuse => self.read(next_position, ReadConsistency::Strong),
            _ => self.refuse_unless_trimmed(refusal),
        }
    }

    fn read(&mut self, from: Position, consistency: ReadConsistency) -> AppendAction {
        self.phase = Phase::Reading { from, consistency };
        AppendAction::Read { from, consistency }
    }

    /// The delay grows with the number of failed requests so far.
    fn wait_to_read(
        &mut self,
        from: Position,
        consistency: ReadConsistency,
        failed_attempts: u32,
        inputs: Inputs,
    ) -> AppendAction {
        self.phase = Phase::WaitingToRead { from, consistency };
        AppendAction::Wait { delay_ms: full_jitter_ms(failed_attempts, inputs.random) }
    }

    /// If the process was suspended for a long time, the entries that it has read may have been
    /// trimmed since. The keys of trimmed entries are free again, so the put could succeed at a
    /// wrong position.
    fn put_unless_too_old(&mut self, entry: Arc<Entry>, inputs: Inputs) -> AppendAction {
        let is_too_old = inputs.now_s > self.started_s.saturating_add(MAX_APPEND_AGE_S);
        if is_too_old && self.rules.is_enforced(SafetyRule::BoundedAge) {
            let refusal =
                if self.put_is_uncertain { Refusal::OutcomeUnknown } else { Refusal::Contention };
            return finish(Err(refusal));
        }
        self.phase = Phase::Putting { entry: Arc::clone(&entry) };
        AppendAction::Put { entry }
    }

    /// Returns the result of the finished append, and moves the entries that the client has not
    /// received into it.
    fn take_result(&mut self, tail: Tail) -> Appended {
        let mutation_ids = self.request.first_id..=self.request.last_id();
        Appended {
            results: mutation_ids.map(|id| self.scan.mutation_result(id)).collect(),
            tail: tail.position,
            header: tail.header,
            missing: std::mem::take(&mut self.scan.unreceived_entries),
            missing_from: self.scan.unreceived_truncated_after,
        }
    }
}

fn unexpected(phase: &Phase, event: &AppendEvent) -> UnexpectedEvent {
    UnexpectedEvent { machine: "append to a log", phase: phase.name(), event: event.name() }
}

fn finish(result: Result<Appended, Refusal>) -> AppendAction {
    AppendAction::Finish(result)
}
