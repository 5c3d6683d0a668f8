//! The log entries scanned by an append.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::MutationResult;
use super::effect::KnownState;
use super::request::Request;
use super::rules::{Rules, SafetyRule};
use crate::entry::{Content, Entry, ExternalEdits, Header, Mutation};
use crate::transform::may_name_sheets;
use crate::viewpoint::Viewpoint;
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::metadata::{Tabs, WorkbookMetadata};
use cellar_sheet::operation::{Operation, Rejection};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) position: Position,
    pub(super) header: Header,
    /// Whether the entry is an End Segment (the last entry of a closed segment). No entry may
    /// follow it.
    pub(super) is_end_segment: bool,
}

/// Either the log has a gap, or the read was stale.
pub(super) struct NotNextEntry;

/// Each entry is scanned exactly once, in log order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scan {
    client: ClientKey,
    rules: Rules,
    lowest_base: Position,
    pub(super) start_position: Position,
    pub(super) viewpoint: Viewpoint,
    /// Next position to scan, or `None` if the log is full.
    pub(super) next_position: Option<Position>,
    pub(super) tail: Option<Tail>,
    read_state: Option<ReadState>,
    start_state: Option<ReadState>,
    uploaded_operations: Vec<Operation>,
    pub(super) unseen_bases: BTreeSet<Position>,
    pub(super) last_committed_id: u64,
    /// Outcomes of the request's mutations, except for mutations that were committed as authored.
    outcomes: BTreeMap<u64, ScannedOutcome>,
    /// Approximate size in bytes of the operations already committed for the request, as encoded in
    /// the response.
    pub(super) committed_bytes: usize,
    /// Position of the latest entry that contains any client's mutations.
    pub(super) newest_edit_position: Option<Position>,
    /// Entries with mutations of the client, keyed by their first mutation id.
    client_entries: BTreeMap<u64, ClientEntry>,
    /// Entries of other requests after the lowest base, which the client has not received yet.
    /// Limited to `MAX_REPLY_BYTES` in total.
    pub(super) unreceived_entries: Vec<Arc<Entry>>,
    unreceived_bytes: usize,
    /// Position of the last entry in `unreceived_entries`, or the lowest base if the list is empty.
    /// Set as soon as an entry exceeds the size limit of `unreceived_entries`.
    pub(super) unreceived_truncated_after: Option<Position>,
}

#[derive(Debug, Clone, PartialEq)]
struct ReadState {
    position: Position,
    /// `None` if the metadata could not be read.
    metadata: Option<Arc<WorkbookMetadata>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClientEntry {
    last_id: u64,
    position: Position,
    writer: EntryWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryWriter {
    ThisRequest,
    /// The entry was put by another request, possibly one of the same client.
    OtherRequest,
}

#[derive(Debug, Clone, PartialEq)]
struct ScannedOutcome {
    rejection: Option<Rejection>,
    committed: Option<Vec<Operation>>,
    no_effect: bool,
}

impl ScannedOutcome {
    const COMMITTED_AS_AUTHORED: Self = Self { rejection: None, committed: None, no_effect: false };

    fn of(mutation: &Mutation, writer: EntryWriter) -> Self {
        let rejection = mutation.rejection().cloned();
        let includes_committed = writer == EntryWriter::ThisRequest && rejection.is_none();
        let committed = if includes_committed { mutation.committed.clone() } else { None };
        let no_effect = mutation.committed.as_ref().is_some_and(Vec::is_empty);
        Self { rejection, committed, no_effect }
    }
}

impl Scan {
    pub(super) fn at_lowest_base(request: &Request, rules: Rules) -> Self {
        let lowest_base = request.lowest_base();
        Self {
            client: request.client,
            rules,
            lowest_base,
            start_position: lowest_base,
            viewpoint: Viewpoint::new(request.client),
            next_position: Some(lowest_base),
            tail: None,
            read_state: None,
            start_state: None,
            uploaded_operations: request.uploaded_operations().to_vec(),
            unseen_bases: request.bases().collect(),
            last_committed_id: request.acknowledged_id,
            outcomes: BTreeMap::new(),
            committed_bytes: 0,
            newest_edit_position: None,
            client_entries: BTreeMap::new(),
            unreceived_entries: Vec::new(),
            unreceived_bytes: 0,
            unreceived_truncated_after: None,
        }
    }

    /// `start_position` is before the lowest base or, after a trim, the start of the latest
    /// segment.
    pub(super) fn restart_at(&mut self, start_position: Position, request: &Request) {
        self.start_position = start_position;
        self.start_state = None;
        self.viewpoint = Viewpoint::new(self.client);
        self.newest_edit_position = None;
        self.next_position = Some(start_position);
        self.tail = None;
        self.unseen_bases = request.bases().filter(|base| *base >= start_position).collect();
        self.unreceived_entries = Vec::new();
        self.unreceived_bytes = 0;
        self.unreceived_truncated_after = None;
    }

    pub(super) fn add_read_entries(&mut self, entries: &[Arc<Entry>]) -> Result<(), NotNextEntry> {
        entries.iter().try_for_each(|entry| self.add_read_entry(entry))
    }

    pub(super) fn add_read_entry(&mut self, entry: &Arc<Entry>) -> Result<(), NotNextEntry> {
        // After a restart, the scan may read entries that this request has put.
        let writer = if self.has_put_at(entry.position) {
            EntryWriter::ThisRequest
        } else {
            EntryWriter::OtherRequest
        };
        self.add_entry(entry, writer)
    }

    pub(super) fn add_put_entry(&mut self, entry: &Arc<Entry>) -> Result<(), NotNextEntry> {
        self.add_entry(entry, EntryWriter::ThisRequest)
    }

    fn add_entry(&mut self, entry: &Arc<Entry>, writer: EntryWriter) -> Result<(), NotNextEntry> {
        self.check_is_next(entry.position)?;
        self.unseen_bases.remove(&entry.position);
        self.record_mutations(entry, writer);
        if writer == EntryWriter::OtherRequest && entry.position > self.lowest_base {
            self.add_unreceived_entry(entry);
        }
        self.tail = Some(Tail {
            position: entry.position,
            header: entry.header.clone(),
            is_end_segment: matches!(entry.content, Content::EndSegment),
        });
        self.next_position = if self.rules.is_enforced(SafetyRule::EndSegmentCheck) {
            entry.next_position()
        } else {
            entry.position.next_in_segment()
        };
        Ok(())
    }

    fn check_is_next(&self, position: Position) -> Result<(), NotNextEntry> {
        let is_next = Some(position) == self.next_position;
        let is_later = Some(position) > self.next_position;
        let may_skip_entries = !self.rules.is_enforced(SafetyRule::NoSkippedEntry);
        if is_next || (is_later && may_skip_entries) { Ok(()) } else { Err(NotNextEntry) }
    }

    /// Records the changes of an entry. If the entry is from this client, also records its mutation
    /// ids and outcomes.
    fn record_mutations(&mut self, entry: &Entry, writer: EntryWriter) {
        self.viewpoint.add_entry(entry);
        let Some((client, first_id, last_id)) = entry.mutation_ids() else { return };
        self.newest_edit_position = Some(entry.position);
        if client == self.client {
            self.last_committed_id = self.last_committed_id.max(last_id);
            let position = entry.position;
            self.client_entries.insert(first_id, ClientEntry { last_id, position, writer });
            self.record_outcomes(entry, writer);
        }
    }

    /// Assumes without a read that all mutations of the client with ids below `id` are committed.
    pub(super) fn assume_committed_before(&mut self, id: u64) {
        self.last_committed_id = self.last_committed_id.max(id.saturating_sub(1));
    }

    /// Assumes without a read that the entry at the lowest base exists. Only fault injection uses
    /// this to violate [`SafetyRule::KnownExists`].
    pub(super) fn assume_base_exists(&mut self, incarnation: u32) {
        let header = Header::first(incarnation);
        self.tail = Some(Tail { position: self.lowest_base, header, is_end_segment: false });
        self.next_position = self.lowest_base.next_in_segment();
        self.unseen_bases.clear();
    }

    /// Assumes that another client's entry took the key of `entry`, although the outcome of putting
    /// `entry` is unknown. Only fault injection uses this to violate [`SafetyRule::SameKeyRetry`].
    pub(super) fn assume_foreign_entry(&mut self, entry: &Entry) {
        let (position, header) = (entry.position, entry.header.clone());
        self.tail = Some(Tail { position, header, is_end_segment: false });
        self.next_position = entry.next_position();
    }

    fn has_put_at(&self, position: Position) -> bool {
        self.client_entries
            .values()
            .any(|entry| entry.writer == EntryWriter::ThisRequest && entry.position == position)
    }

    /// The committed operations are recorded only if this request put the entry. Otherwise, the
    /// client receives the entry in `unreceived_entries`.
    fn record_outcomes(&mut self, entry: &Entry, writer: EntryWriter) {
        if let Content::External(external) = &entry.content {
            return self.record_upload_outcomes(external);
        }
        let Some(edits) = entry.edits() else { return };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let outcome = ScannedOutcome::of(mutation, writer);
            if outcome != ScannedOutcome::COMMITTED_AS_AUTHORED {
                self.record_outcome(id, outcome);
            }
        }
    }

    fn record_outcome(&mut self, id: u64, outcome: ScannedOutcome) {
        // A restarted scan may read the same entry again.
        let is_first_read = !self.outcomes.contains_key(&id);
        if is_first_read {
            let outcome_bytes = outcome.committed.as_deref().map_or(0, operations_bytes);
            self.committed_bytes = self.committed_bytes.saturating_add(outcome_bytes);
        }
        self.outcomes.insert(id, outcome);
    }

    fn record_upload_outcomes(&mut self, external: &ExternalEdits) {
        for (id, operation) in (external.first_id..).zip(&self.uploaded_operations) {
            let committed = external.committed_operations(operation);
            let has_no_effect = committed.is_some_and(|operations| operations.is_empty());
            if has_no_effect {
                let outcome =
                    ScannedOutcome { no_effect: true, ..ScannedOutcome::COMMITTED_AS_AUTHORED };
                self.outcomes.insert(id, outcome);
            }
        }
    }

    /// Returns `true` if the header of the latest entry has no state summary, or if the summary is
    /// not precise enough.
    pub(super) fn needs_state(&self, tail: &Tail, request: &Request) -> bool {
        let was_read =
            self.read_state.as_ref().is_some_and(|state| state.position == tail.position);
        if was_read {
            return false;
        }
        match &tail.header.summary {
            Some(summary) => {
                !self.has_room_for_remaining_formats(summary, request)
                    || self.defines_names(request)
            }
            None => true,
        }
    }

    /// Returns whether formulas name sheets whose rows, columns or names may have changed since the
    /// bases. The tabs at the start of the scan are then needed.
    pub(super) fn needs_start_state(&self, request: &Request) -> bool {
        self.start_state.is_none()
            && self.viewpoint.has_changes_after(self.start_position)
            && (self.uploaded_operations.iter().any(may_name_sheets)
                || request
                    .mutations_after(self.last_committed_id)
                    .any(|(_, mutation)| may_name_sheets(&mutation.authored)))
    }

    fn has_room_for_remaining_formats(&self, summary: &StateSummary, request: &Request) -> bool {
        let mut summary = summary.clone();
        for (_, mutation) in request.mutations_after(self.last_committed_id) {
            if let Operation::SetFormat(set_format) = &mutation.authored {
                if !summary.has_room_for(set_format) {
                    return false;
                }
                summary.apply(std::slice::from_ref(&mutation.authored));
            }
        }
        true
    }

    /// The summary does not say how many names there are, because names are rarely defined.
    fn defines_names(&self, request: &Request) -> bool {
        request.mutations_after(self.last_committed_id).any(|(_, mutation)| {
            matches!(&mutation.authored, Operation::SetName(set) if set.formula.is_some())
        })
    }

    pub(super) fn set_read_state(
        &mut self,
        position: Position,
        metadata: Option<Arc<WorkbookMetadata>>,
    ) {
        let state = ReadState { position, metadata };
        if position == self.start_position {
            self.start_state = Some(state.clone());
        }
        self.read_state = Some(state);
    }

    /// Returns the tabs at the start of the scan, if they were read.
    pub(super) fn start_tabs(&self) -> Option<(Position, Tabs)> {
        let ReadState { position, metadata } = self.start_state.as_ref()?;
        Some((*position, metadata.as_ref()?.tabs.clone()))
    }

    pub(super) fn tail_state(&self) -> Option<KnownState> {
        let tail = self.tail.as_ref()?;
        match &self.read_state {
            Some(state) if state.position == tail.position => {
                state.metadata.as_deref().map(KnownState::from_metadata)
            }
            _ => tail.header.summary.as_deref().cloned().map(KnownState::from_summary),
        }
    }

    pub(super) fn mutation_result(&self, id: u64) -> MutationResult {
        let outcome =
            self.outcomes.get(&id).cloned().unwrap_or(ScannedOutcome::COMMITTED_AS_AUTHORED);
        let entry = self.entry_of_mutation(id);
        let was_put_by_this_request =
            entry.is_some_and(|entry| entry.writer == EntryWriter::ThisRequest);
        MutationResult {
            id,
            position: entry.map(|entry| entry.position),
            duplicate: !was_put_by_this_request,
            rejection: outcome.rejection,
            committed: outcome.committed,
            no_effect: outcome.no_effect,
            reversal: None,
        }
    }

    fn add_unreceived_entry(&mut self, entry: &Arc<Entry>) {
        if self.unreceived_truncated_after.is_some() {
            return;
        }
        self.unreceived_bytes = self.unreceived_bytes.saturating_add(entry.weight_bytes());
        if self.unreceived_bytes > MAX_REPLY_BYTES {
            let last_entry = self.unreceived_entries.last();
            let last_position = last_entry.map_or(self.lowest_base, |entry| entry.position);
            self.unreceived_truncated_after = Some(last_position);
        } else {
            self.unreceived_entries.push(Arc::clone(entry));
        }
    }

    fn entry_of_mutation(&self, id: u64) -> Option<ClientEntry> {
        let (_, entry) = self.client_entries.range(..=id).next_back()?;
        if id <= entry.last_id { Some(*entry) } else { None }
    }
}

/// Returns the approximate size in bytes that the operations will have in a response.
pub(super) fn operations_bytes(operations: &[Operation]) -> usize {
    const FRAME_BYTES: usize = 64;
    let weight = |operation: &Operation| operation.weight_bytes().saturating_add(FRAME_BYTES);
    operations.iter().map(weight).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::support::{
        at, edits_entry, edits_of, request, set_text, snapshot_entry, text_entry,
    };

    fn new_scan() -> (Request, Scan) {
        let request = request(1, 0, &[1, 2], Position::FIRST);
        let scan = Scan::at_lowest_base(&request, Rules::default());
        (request, scan)
    }

    fn add_entries(scan: &mut Scan, entries: &[(Arc<Entry>, bool)]) {
        for (entry, put_now) in entries {
            let added =
                if *put_now { scan.add_put_entry(entry) } else { scan.add_read_entry(entry) };
            assert!(added.is_ok());
        }
    }

    #[test]
    fn a_restarted_scan_recognizes_entries_of_the_request() {
        let (request, mut scan) = new_scan();
        let entries = |own| {
            let others = edits_entry(at(0, 2), 2, 1);
            let put = edits_entry(at(0, 1), 1, 1);
            [(snapshot_entry(Position::FIRST), false), (put, own), (others, false)]
        };
        add_entries(&mut scan, &entries(true));
        scan.restart_at(Position::FIRST, &request);
        add_entries(&mut scan, &entries(false));
        let entry = scan.entry_of_mutation(1).unwrap();
        assert_eq!((entry.position, entry.writer), (at(0, 1), EntryWriter::ThisRequest));
        let missing: Vec<_> = scan.unreceived_entries.iter().map(|entry| entry.position).collect();
        assert_eq!(missing, [at(0, 2)]);
    }

    #[test]
    fn committed_operations_are_counted_once_and_only_for_own_entries() {
        let operations = vec![set_text(3, "moved".into())];
        let (base, authored) = (Position::FIRST, set_text(2, "moved".into()));
        let mutation = Mutation { base, authored, committed: Some(operations.clone()) };
        let moved = edits_of(at(0, 1), 1, vec![mutation]);
        for own in [false, true] {
            let (request, mut scan) = new_scan();
            for _ in 0..2 {
                add_entries(&mut scan, &[(snapshot_entry(base), false), (Arc::clone(&moved), own)]);
                let committed = scan.mutation_result(1).committed;
                assert_eq!(committed, own.then(|| operations.clone()));
                assert_eq!(
                    scan.committed_bytes,
                    if own { operations_bytes(&operations) } else { 0 }
                );
                scan.restart_at(base, &request);
            }
        }
    }

    #[test]
    fn unreceived_entries_are_limited_by_bytes() {
        let asked = request(9, 0, &[1], Position::FIRST);
        let frame = text_entry(at(0, 1), 0).weight_bytes();
        for (more, missing_from) in [(0, None), (1, Some(at(0, 1)))] {
            let mut scan = Scan::at_lowest_base(&asked, Rules::default());
            let last = MAX_REPLY_BYTES - 1_000 - 2 * frame + more;
            let texts = [text_entry(at(0, 1), 1_000), text_entry(at(0, 2), last)];
            add_entries(&mut scan, &[(snapshot_entry(Position::FIRST), false)]);
            add_entries(&mut scan, &texts.map(|entry| (entry, false)));
            assert_eq!(scan.unreceived_truncated_after, missing_from);
        }
    }
}
