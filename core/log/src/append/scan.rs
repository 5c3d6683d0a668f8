//! The entries that an append has scanned so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::effect::KnownState;
use super::request::Request;
use super::rules::{Rules, SafetyRule};
use crate::entry::{Content, Entry, ExternalEdits, Header};
use crate::transform::Viewpoint;
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, Rejection};

/// The newest known entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) position: Position,
    pub(super) header: Header,
    /// Whether it is an End Segment, after which no entry is put.
    pub(super) ended: bool,
}

/// The entry is not the next one: there is a gap, or the read was stale.
pub(super) struct NotNext;

/// Scans entries from the lowest base, each exactly once and in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scan {
    client: ClientKey,
    rules: Rules,
    lowest_base: Position,
    /// First scanned position.
    pub(super) start: Position,
    /// Maps from the space of the client to the newest one.
    pub(super) viewpoint: Viewpoint,
    /// Next position to scan; `None` at the end of the position range.
    pub(super) next: Option<Position>,
    pub(super) tail: Option<Tail>,
    /// State read at a position; `None` if it cannot be read.
    looked_up: Option<(Position, Option<Arc<WorkbookMetadata>>)>,
    /// Operations of the uploaded object.
    uploaded: Vec<Operation>,
    /// Bases that were not scanned yet.
    pub(super) unseen_bases: BTreeSet<Position>,
    /// Greatest committed id of this client.
    pub(super) last_id: u64,
    /// Results of mutations of this request that differ from the authored ones.
    outcomes: BTreeMap<u64, ScannedOutcome>,
    /// Approximate bytes of the committed operations of this request in its reply.
    pub(super) committed_bytes: usize,
    /// Newest entry with mutations of any client.
    pub(super) newest_edit: Option<Position>,
    /// Positions of mutations of this client, by the first id of each entry.
    placed: BTreeMap<u64, Placed>,
    pub(super) missing: Vec<Arc<Entry>>,
    missing_bytes: usize,
    /// Last position in `missing`, once it is full.
    pub(super) missing_from: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    last_id: u64,
    position: Position,
    /// Whether this request put the entry.
    own: bool,
}

/// Result of a mutation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScannedOutcome {
    pub(super) rejection: Option<Rejection>,
    pub(super) committed: Option<Vec<Operation>>,
    /// No effect.
    pub(super) no_effect: bool,
}

impl Scan {
    /// Starts a scan at the lowest base.
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
            looked_up: None,
            uploaded: request.uploaded().to_vec(),
            unseen_bases: request.bases().collect(),
            last_id: request.acknowledged,
            outcomes: BTreeMap::new(),
            committed_bytes: 0,
            newest_edit: None,
            placed: BTreeMap::new(),
            missing: Vec::new(),
            missing_bytes: 0,
            missing_from: None,
        }
    }

    /// Restarts the scan at `start`: a base below the lowest or, if the entries after the bases were trimmed,
    /// the first remaining entry.
    pub(super) fn restart(&mut self, request: &Request, start: Position) {
        self.start = start;
        self.viewpoint = Viewpoint::new(self.client);
        self.newest_edit = None;
        self.next = Some(start);
        self.tail = None;
        self.unseen_bases = request.bases().filter(|base| *base >= start).collect();
        (self.missing, self.missing_bytes, self.missing_from) = (Vec::new(), 0, None);
    }

    /// Scans an entry; `own` if this request put it.
    pub(super) fn learn(&mut self, entry: &Arc<Entry>, own: bool) -> Result<(), NotNext> {
        let skips =
            !self.rules.is_enforced(SafetyRule::NoSkippedEntry) && Some(entry.position) > self.next;
        if Some(entry.position) != self.next && !skips {
            return Err(NotNext);
        }
        self.unseen_bases.remove(&entry.position);
        // A restarted scan meets the entries of this request again.
        let own = own || self.put_at(entry.position);
        if let Some((_, first_id, last_id)) =
            entry.mutation_ids().filter(|(client, ..)| *client == self.client)
        {
            self.last_id = self.last_id.max(last_id);
            self.placed.insert(first_id, Placed { last_id, position: entry.position, own });
            self.keep_outcomes(entry, own);
        }
        self.viewpoint.add_entry(entry);
        if entry.mutation_ids().is_some() {
            self.newest_edit = Some(entry.position);
        }
        if !own && entry.position > self.lowest_base {
            self.keep_missing(entry);
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

    /// Assumes that the base exists without reading it, which violates a safety rule.
    pub(super) fn trust_base(&mut self, incarnation: u32) {
        let header = Header::first(incarnation);
        self.tail = Some(Tail { position: self.lowest_base, header, ended: false });
        self.next = self.lowest_base.next_in_segment();
        self.unseen_bases.clear();
    }

    /// Treats an entry with an unknown outcome as another client's, which violates a safety rule.
    pub(super) fn step_over(&mut self, entry: &Entry) {
        let (position, header) = (entry.position, entry.header.clone());
        self.tail = Some(Tail { position, header, ended: false });
        self.next = entry.next_position();
    }

    fn put_at(&self, position: Position) -> bool {
        self.placed.values().any(|placed| placed.own && placed.position == position)
    }

    /// Keeps the committed operations of entries that this request put. Those of other entries are part of
    /// `missing`.
    fn keep_outcomes(&mut self, entry: &Entry, own: bool) {
        if let Content::External(external) = &entry.content {
            return self.keep_uploaded(external);
        }
        let Some(edits) = entry.edits() else { return };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let rejection = mutation.rejection().cloned();
            let no_effect = mutation.committed.as_ref().is_some_and(Vec::is_empty);
            let committed = mutation.committed.clone().filter(|_| own && rejection.is_none());
            if rejection.is_some() || committed.is_some() || no_effect {
                // A restarted scan meets the same entry again.
                if !self.outcomes.contains_key(&id) {
                    let bytes = committed.as_deref().map_or(0, operations_bytes);
                    self.committed_bytes = self.committed_bytes.saturating_add(bytes);
                }
                self.outcomes.insert(id, ScannedOutcome { rejection, committed, no_effect });
            }
        }
    }

    /// If an object is uploaded again, its entry records which mutations had no effect.
    fn keep_uploaded(&mut self, external: &ExternalEdits) {
        for (id, operation) in (external.first_id..).zip(&self.uploaded) {
            if external.committed(operation).is_some_and(|committed| committed.is_empty()) {
                let outcome = ScannedOutcome { rejection: None, committed: None, no_effect: true };
                self.outcomes.insert(id, outcome);
            }
        }
    }

    /// Returns whether the state at the tail must be read before the remaining mutations can be committed,
    /// because the known headers are not sufficient.
    pub(super) fn needs_state(&self, tail: &Tail, request: &Request) -> bool {
        if self.looked_up.as_ref().is_some_and(|(at, _)| *at == tail.position) {
            return false;
        }
        let Some(summary) = &tail.header.summary else { return true };
        let mut room = StateSummary::clone(summary);
        request.after(self.last_id).any(|(_, mutation)| match &mutation.authored {
            Operation::SetFormat(set) => {
                let fits = room.has_room_for(set);
                room.apply(std::slice::from_ref(&mutation.authored));
                !fits
            }
            _ => false,
        })
    }

    /// Stores the state at the tail.
    pub(super) fn keep_state(&mut self, at: Position, metadata: Option<Arc<WorkbookMetadata>>) {
        self.looked_up = Some((at, metadata));
    }

    /// Returns the state at the tail, if known.
    pub(super) fn state(&self) -> Option<KnownState> {
        let tail = self.tail.as_ref()?;
        match &self.looked_up {
            Some((at, metadata)) if *at == tail.position => {
                metadata.as_deref().map(KnownState::from_metadata)
            }
            _ => tail.header.summary.as_deref().cloned().map(KnownState::of_summary),
        }
    }

    /// Returns the result of mutation `id`, if it differs from the authored one.
    pub(super) fn outcome(&self, id: u64) -> Option<&ScannedOutcome> {
        self.outcomes.get(&id)
    }

    fn keep_missing(&mut self, entry: &Arc<Entry>) {
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

    /// Returns the position of mutation `id`, if known, and whether this request put it.
    pub(super) fn placed(&self, id: u64) -> Option<(Position, bool)> {
        let (_, placed) = self.placed.range(..=id).next_back()?;
        (id <= placed.last_id).then_some((placed.position, placed.own))
    }
}

/// Returns the approximate bytes of operations in a reply.
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

    fn begun() -> (Request, Scan) {
        let request = request(1, 0, &[1, 2], Position::FIRST);
        let scan = Scan::new(&request, Rules::default());
        (request, scan)
    }

    fn learned(scan: &mut Scan, entries: &[(Arc<Entry>, bool)]) {
        for (entry, own) in entries {
            assert!(scan.learn(entry, *own).is_ok());
        }
    }

    #[test]
    fn what_was_put_is_own_again_when_a_scan_begins_anew() {
        let (request, mut scan) = begun();
        let entries = |own| {
            let others = edits_entry(at(0, 2), 2, 1);
            let put = edits_entry(at(0, 1), 1, 1);
            [(snapshot_entry(Position::FIRST), false), (put, own), (others, false)]
        };
        learned(&mut scan, &entries(true));
        scan.restart(&request, Position::FIRST);
        learned(&mut scan, &entries(false));
        assert_eq!(scan.placed(1), Some((at(0, 1), true)));
        let missing: Vec<_> = scan.missing.iter().map(|entry| entry.position).collect();
        assert_eq!(missing, [at(0, 2)]);
    }

    #[test]
    fn what_became_of_mutations_is_kept_and_counted_once_and_only_of_what_was_put() {
        let operations = vec![set_text(3, "moved".into())];
        let (base, authored) = (Position::FIRST, set_text(2, "moved".into()));
        let mutation = Mutation { base, authored, committed: Some(operations.clone()) };
        let moved = edits_of(at(0, 1), 1, vec![mutation]);
        for own in [false, true] {
            let (request, mut scan) = begun();
            for _ in 0..2 {
                learned(&mut scan, &[(snapshot_entry(base), false), (Arc::clone(&moved), own)]);
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
    fn what_is_missing_has_so_many_bytes_and_no_more() {
        let asked = request(9, 0, &[1], Position::FIRST);
        let frame = text_entry(at(0, 1), 0).weight_bytes();
        for (more, missing_from) in [(0, None), (1, Some(at(0, 1)))] {
            let mut scan = Scan::new(&asked, Rules::default());
            let last = MAX_REPLY_BYTES - 1_000 - 2 * frame + more;
            let texts = [text_entry(at(0, 1), 1_000), text_entry(at(0, 2), last)];
            learned(&mut scan, &[(snapshot_entry(Position::FIRST), false)]);
            learned(&mut scan, &texts.map(|entry| (entry, false)));
            assert_eq!(scan.missing_from, missing_from);
        }
    }
}
