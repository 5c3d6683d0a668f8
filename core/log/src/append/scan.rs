//! The log entries scanned by an append.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::effect::KnownState;
use super::request::Request;
use super::rules::{Rules, SafetyRule};
use crate::entry::{Content, Entry, ExternalEdits, Header};
use crate::viewpoint::Viewpoint;
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, Rejection};

/// The latest scanned entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) position: Position,
    pub(super) header: Header,
    /// Whether the entry is an End Segment (the last entry of a closed segment). No entry may
    /// follow it.
    pub(super) ended: bool,
}

/// The entry does not directly follow the last scanned entry: either the log has a gap or the read
/// was stale.
pub(super) struct NotNext;

/// A scan of the log starting at the lowest base. Entries are scanned exactly once and in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scan {
    client: ClientKey,
    rules: Rules,
    lowest_base: Position,
    /// First scanned position.
    pub(super) start: Position,
    /// The scanned changes from the client's viewpoint. Mutations are transformed past these
    /// changes.
    pub(super) viewpoint: Viewpoint,
    /// Next position to scan, or `None` if the log is full.
    pub(super) next: Option<Position>,
    pub(super) tail: Option<Tail>,
    /// Workbook metadata and its position. The metadata is `None` if the read failed.
    state_read: Option<(Position, Option<Arc<WorkbookMetadata>>)>,
    /// Operations of the uploaded object.
    uploaded: Vec<Operation>,
    /// Bases of the request that the scan has not reached yet.
    pub(super) unseen_bases: BTreeSet<Position>,
    /// The client's highest committed mutation id.
    pub(super) last_id: u64,
    /// Outcomes of the request's mutations, limited to those whose committed form differs from the
    /// authored form.
    outcomes: BTreeMap<u64, ScannedOutcome>,
    /// Approximate response size of the operations committed for the request, in bytes.
    pub(super) committed_bytes: usize,
    /// Position of the latest entry with mutations of any client.
    pub(super) newest_edit: Option<Position>,
    /// Entries with mutations of the client, keyed by their first mutation id.
    client_entries: BTreeMap<u64, ClientEntry>,
    /// Other requests' entries after the lowest base, limited to `MAX_REPLY_BYTES` in total.
    pub(super) missing: Vec<Arc<Entry>>,
    missing_bytes: usize,
    /// Position of the last entry in `missing`. Set once `missing` is full.
    pub(super) missing_from: Option<Position>,
}

/// An entry with mutations of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClientEntry {
    last_id: u64,
    pub(super) position: Position,
    /// Whether the entry was put by this request.
    pub(super) is_own: bool,
}

/// Outcome of a committed mutation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ScannedOutcome {
    pub(super) rejection: Option<Rejection>,
    pub(super) committed: Option<Vec<Operation>>,
    pub(super) no_effect: bool,
}

impl Scan {
    /// Starts a scan at the request's lowest base.
    pub(super) fn new(request: &Request, rules: Rules) -> Self {
        let lowest_base = request.lowest_base();
        Self {
            client: request.client,
            rules,
            lowest_base,
            start: lowest_base,
            viewpoint: Viewpoint::new(request.client),
            next: Some(lowest_base),
            tail: None,
            state_read: None,
            uploaded: request.uploaded().to_vec(),
            unseen_bases: request.bases().collect(),
            last_id: request.acknowledged,
            outcomes: BTreeMap::new(),
            committed_bytes: 0,
            newest_edit: None,
            client_entries: BTreeMap::new(),
            missing: Vec::new(),
            missing_bytes: 0,
            missing_from: None,
        }
    }

    /// Restarts the scan at `start`, which is either a position before the lowest base or, after a
    /// trim, the first remaining entry.
    pub(super) fn restart(&mut self, request: &Request, start: Position) {
        self.start = start;
        self.viewpoint = Viewpoint::new(self.client);
        self.newest_edit = None;
        self.next = Some(start);
        self.tail = None;
        self.unseen_bases = request.bases().filter(|base| *base >= start).collect();
        self.missing = Vec::new();
        self.missing_bytes = 0;
        self.missing_from = None;
    }

    /// Scans the next entry. `put_now` is set if this request has just put the entry.
    ///
    /// # Errors
    /// Returns [`NotNext`] if the entry is not at the next position.
    pub(super) fn add_entry(&mut self, entry: &Arc<Entry>, put_now: bool) -> Result<(), NotNext> {
        let may_skip = !self.rules.is_enforced(SafetyRule::NoSkippedEntry);
        let is_next = Some(entry.position) == self.next;
        let is_later = Some(entry.position) > self.next;
        let is_expected = is_next || (may_skip && is_later);
        if !is_expected {
            return Err(NotNext);
        }
        self.unseen_bases.remove(&entry.position);
        // A restarted scan may read entries that this request has put.
        let is_own = put_now || self.has_put_at(entry.position);
        self.record_mutations(entry, is_own);
        if !is_own && entry.position > self.lowest_base {
            self.add_missing(entry);
        }
        self.tail = Some(Tail {
            position: entry.position,
            header: entry.header.clone(),
            ended: matches!(entry.content, Content::EndSegment),
        });
        self.next = match self.rules.is_enforced(SafetyRule::EndSegmentCheck) {
            true => entry.next_position(),
            false => entry.position.next_in_segment(),
        };
        Ok(())
    }

    /// Records the changes of an entry. For an entry of this client, also records its mutation ids
    /// and outcomes.
    fn record_mutations(&mut self, entry: &Entry, is_own: bool) {
        self.viewpoint.add_entry(entry);
        let Some((client, first_id, last_id)) = entry.mutation_ids() else { return };
        self.newest_edit = Some(entry.position);
        if client == self.client {
            self.last_id = self.last_id.max(last_id);
            let position = entry.position;
            self.client_entries.insert(first_id, ClientEntry { last_id, position, is_own });
            self.record_outcomes(entry, is_own);
        }
    }

    /// Assumes without a read that the entry at the lowest base exists. Injected fault: violates
    /// [`SafetyRule::KnownExists`].
    pub(super) fn assume_base_exists(&mut self, incarnation: u32) {
        let header = Header::first(incarnation);
        self.tail = Some(Tail { position: self.lowest_base, header, ended: false });
        self.next = self.lowest_base.next_in_segment();
        self.unseen_bases.clear();
    }

    /// Assumes that another client's entry took the key of `entry`, although the put of `entry` has
    /// an unknown outcome. Injected fault: violates [`SafetyRule::SameKeyRetry`].
    pub(super) fn assume_foreign_entry(&mut self, entry: &Entry) {
        let (position, header) = (entry.position, entry.header.clone());
        self.tail = Some(Tail { position, header, ended: false });
        self.next = entry.next_position();
    }

    /// Whether this request has put the entry at `position`.
    fn has_put_at(&self, position: Position) -> bool {
        self.client_entries.values().any(|entry| entry.is_own && entry.position == position)
    }

    /// Records the outcomes of an entry's mutations. Committed operations are recorded only for
    /// entries that this request put; the client finds all others in `missing`.
    fn record_outcomes(&mut self, entry: &Entry, is_own: bool) {
        if let Content::External(external) = &entry.content {
            return self.record_upload_outcomes(external);
        }
        let Some(edits) = entry.edits() else { return };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let rejection = mutation.rejection().cloned();
            let no_effect = mutation.committed.as_ref().is_some_and(Vec::is_empty);
            let keeps_committed = is_own && rejection.is_none();
            let committed = if keeps_committed { mutation.committed.clone() } else { None };
            if rejection.is_none() && committed.is_none() && !no_effect {
                continue;
            }
            // A restarted scan may read the same entry again.
            if !self.outcomes.contains_key(&id) {
                let bytes = committed.as_deref().map_or(0, operations_bytes);
                self.committed_bytes = self.committed_bytes.saturating_add(bytes);
            }
            self.outcomes.insert(id, ScannedOutcome { rejection, committed, no_effect });
        }
    }

    /// Records which operations of the uploaded object had no effect, according to the map in their
    /// entry.
    fn record_upload_outcomes(&mut self, external: &ExternalEdits) {
        for (id, operation) in (external.first_id..).zip(&self.uploaded) {
            if external.committed(operation).is_some_and(|committed| committed.is_empty()) {
                let outcome = ScannedOutcome { no_effect: true, ..ScannedOutcome::default() };
                self.outcomes.insert(id, outcome);
            }
        }
    }

    /// Whether the workbook metadata at the tail must be read before the remaining mutations can be
    /// committed, because the header's state summary is missing or insufficient.
    pub(super) fn needs_state(&self, tail: &Tail, request: &Request) -> bool {
        if self.state_read.as_ref().is_some_and(|(at, _)| *at == tail.position) {
            return false;
        }
        let Some(summary) = &tail.header.summary else { return true };
        let mut summary = StateSummary::clone(summary);
        for (_, mutation) in request.after(self.last_id) {
            if let Operation::SetFormat(set) = &mutation.authored {
                if !summary.has_room_for(set) {
                    return true;
                }
                summary.apply(std::slice::from_ref(&mutation.authored));
            }
        }
        false
    }

    /// Sets the workbook metadata at a position; `None` if unreadable.
    pub(super) fn set_state(&mut self, at: Position, metadata: Option<Arc<WorkbookMetadata>>) {
        self.state_read = Some((at, metadata));
    }

    /// Returns the state at the latest scanned entry, if known.
    pub(super) fn state(&self) -> Option<KnownState> {
        let tail = self.tail.as_ref()?;
        match &self.state_read {
            Some((at, metadata)) if *at == tail.position => {
                metadata.as_deref().map(KnownState::from_metadata)
            }
            _ => tail.header.summary.as_deref().cloned().map(KnownState::from_summary),
        }
    }

    /// Returns the outcome of mutation `id` if its committed form differs from the authored form.
    pub(super) fn outcome(&self, id: u64) -> Option<&ScannedOutcome> {
        self.outcomes.get(&id)
    }

    fn add_missing(&mut self, entry: &Arc<Entry>) {
        if self.missing_from.is_some() {
            return;
        }
        self.missing_bytes = self.missing_bytes.saturating_add(entry.weight_bytes());
        if self.missing_bytes > MAX_REPLY_BYTES {
            let last = self.missing.last().map_or(self.lowest_base, |entry| entry.position);
            self.missing_from = Some(last);
        } else {
            self.missing.push(Arc::clone(entry));
        }
    }

    /// Returns the scanned entry that contains the client's mutation `id`.
    pub(super) fn entry_of(&self, id: u64) -> Option<ClientEntry> {
        let (_, entry) = self.client_entries.range(..=id).next_back()?;
        if id <= entry.last_id { Some(*entry) } else { None }
    }
}

/// Returns the approximate size of the operations in a response, in bytes.
pub(super) fn operations_bytes(operations: &[Operation]) -> usize {
    const FRAME_BYTES: usize = 64;
    let weight = |operation: &Operation| operation.weight_bytes().saturating_add(FRAME_BYTES);
    operations.iter().map(weight).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Mutation;
    use crate::testing::support::{
        at, edits_entry, edits_of, request, set_text, snapshot_entry, text_entry,
    };

    fn new_scan() -> (Request, Scan) {
        let request = request(1, 0, &[1, 2], Position::FIRST);
        let scan = Scan::new(&request, Rules::default());
        (request, scan)
    }

    fn add_entries(scan: &mut Scan, entries: &[(Arc<Entry>, bool)]) {
        for (entry, put_now) in entries {
            assert!(scan.add_entry(entry, *put_now).is_ok());
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
        scan.restart(&request, Position::FIRST);
        add_entries(&mut scan, &entries(false));
        let entry = scan.entry_of(1).unwrap();
        assert_eq!((entry.position, entry.is_own), (at(0, 1), true));
        let missing: Vec<_> = scan.missing.iter().map(|entry| entry.position).collect();
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
                let committed = scan.outcome(1).and_then(|outcome| outcome.committed.clone());
                assert_eq!(committed, own.then(|| operations.clone()));
                assert_eq!(
                    scan.committed_bytes,
                    if own { operations_bytes(&operations) } else { 0 }
                );
                scan.restart(&request, base);
            }
        }
    }

    #[test]
    fn missing_entries_are_limited_by_bytes() {
        let asked = request(9, 0, &[1], Position::FIRST);
        let frame = text_entry(at(0, 1), 0).weight_bytes();
        for (more, missing_from) in [(0, None), (1, Some(at(0, 1)))] {
            let mut scan = Scan::new(&asked, Rules::default());
            let last = MAX_REPLY_BYTES - 1_000 - 2 * frame + more;
            let texts = [text_entry(at(0, 1), 1_000), text_entry(at(0, 2), last)];
            add_entries(&mut scan, &[(snapshot_entry(Position::FIRST), false)]);
            add_entries(&mut scan, &texts.map(|entry| (entry, false)));
            assert_eq!(scan.missing_from, missing_from);
        }
    }
}
