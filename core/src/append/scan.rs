//! What an append has learned of the log so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::request::Request;
use crate::entry::{Content, Entry, Header};
use crate::identity::ClientKey;
use crate::limits::MAX_REPLY_BYTES;
use crate::position::Position;

/// The newest entry known to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) position: Position,
    pub(super) header: Header,
    /// It is an End Segment: nothing is ever put behind it.
    pub(super) ended: bool,
}

/// An entry that is not the next one: there is a hole, or the read was stale.
pub(super) struct NotNext;

/// Folds entries, each exactly once and in order, from the lowest base on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scan {
    client: ClientKey,
    lowest_base: Position,
    /// The next position to be learned; `None` where no log can go on.
    pub(super) next: Option<Position>,
    pub(super) tail: Option<Tail>,
    /// Bases that have not been seen yet.
    pub(super) unseen_bases: BTreeSet<Position>,
    /// The greatest id of this client known to be in the log.
    pub(super) last_id: u64,
    /// Where mutations of this client were found or put, by the first id of each entry.
    placed: BTreeMap<u64, Placed>,
    pub(super) missing: Vec<Arc<Entry>>,
    missing_bytes: usize,
    /// Set once `missing` is full: the last position that is in it.
    pub(super) missing_from: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    last_id: u64,
    position: Position,
    /// Put by this request, not found.
    own: bool,
}

impl Scan {
    pub(super) fn new(request: &Request) -> Self {
        let lowest_base = request.lowest_base();
        Self {
            client: request.client,
            lowest_base,
            next: Some(lowest_base),
            tail: None,
            unseen_bases: request.mutations.iter().map(|mutation| mutation.base).collect(),
            last_id: request.acknowledged,
            placed: BTreeMap::new(),
            missing: Vec::new(),
            missing_bytes: 0,
            missing_from: None,
        }
    }

    /// Learns an entry that somebody put; `own` if this very request did.
    pub(super) fn learn(&mut self, entry: &Arc<Entry>, own: bool) -> Result<(), NotNext> {
        if Some(entry.position) != self.next {
            return Err(NotNext);
        }
        self.unseen_bases.remove(&entry.position);
        if let Some(edits) = entry.edits().filter(|edits| edits.client == self.client) {
            let last_id = edits.last_id();
            self.last_id = self.last_id.max(last_id);
            let placed = Placed { last_id, position: entry.position, own };
            self.placed.insert(edits.first_id, placed);
        }
        if !own && entry.position > self.lowest_base {
            self.keep_missing(entry);
        }
        self.tail = Some(Tail {
            position: entry.position,
            header: entry.header,
            ended: matches!(entry.content, Content::EndSegment),
        });
        self.next = entry.next_position();
        Ok(())
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

    /// Where mutation `id` stands, if it was seen, and whether this request put it there.
    pub(super) fn placed(&self, id: u64) -> Option<(Position, bool)> {
        let (_, placed) = self.placed.range(..=id).next_back()?;
        (id <= placed.last_id).then_some((placed.position, placed.own))
    }
}
