//! Entries of the log.

mod body;
mod client_name;
mod external;
mod header_bytes;

pub use body::{BodyError, decode_edits, encode_edits, encoded_mutation_bytes};
pub use client_name::{decode_name, encode_name};
pub(crate) use external::decompress;
pub use external::{
    ExternalEdits, decode_external, decode_external_body, encode_external, encode_external_body,
};
pub use header_bytes::{decode_header, decode_old_header, encode_header};

use std::sync::Arc;

use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::position::Position;
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::operation::{Operation, Rejection};
use cellar_sheet::workbook::StateSummary;
use cellar_sheet::workbook::{Workbook, WorkbookTooLarge};

/// One entry of a log: immutable once it is written (design `2-log.md` §1).
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The log.
    pub log: LogId,
    /// Where it stands.
    pub position: Position,
    /// When it was made, Unix seconds, by the clock of the writer.
    pub created_s: u64,
    /// Who made it: the token's subject, at most `MAX_AUTHOR_BYTES`.
    pub author: Option<String>,
    /// What is carried on from the entry before.
    pub header: Header,
    /// What it says.
    pub content: Content,
}

/// The incarnation a log starts with, one byte on every entry, unless its tables were restored before: then
/// it starts with theirs.
pub const FIRST_INCARNATION: u32 = 0;

/// What every entry carries on from the one before, so that a writer who knows the tail knows the
/// incarnation and the roll and snapshot thresholds without a read (design `2-log.md` §1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the bodies of this segment up to and including this entry.
    pub segment_bytes: u64,
    /// Raised by a revert: whoever comes with another must reload. It is here, and not only on
    /// a segment's first item, because an append reads no other entry than those after its base.
    pub incarnation: u32,
    /// Number of the last Snapshot entry of this segment, this one included.
    pub snapshot_num: u32,
    /// `segment_bytes` at that Snapshot entry.
    pub snapshot_bytes: u64,
    /// The state after this entry, in brief. Absent on entries from before this field, and while the
    /// sheets have too many runs of numbers (`MAX_SUMMARY_RUNS`): then a writer looks it up.
    pub summary: Option<Arc<StateSummary>>,
}

impl Header {
    /// The header of a log's first entry, which is a Snapshot entry without a body.
    #[must_use]
    pub fn first(incarnation: u32) -> Self {
        Self::of_segment(incarnation, Some(Arc::new(StateSummary::first())))
    }

    /// The header of a segment's first entry, which is a Snapshot entry without a body.
    #[must_use]
    pub fn of_segment(incarnation: u32, summary: Option<Arc<StateSummary>>) -> Self {
        Self { incarnation, segment_bytes: 0, snapshot_num: 0, snapshot_bytes: 0, summary }
    }

    /// The header of the next entry, with a body of `body_bytes`, if it is not a Snapshot entry.
    #[must_use]
    pub fn followed_by(&self, body_bytes: usize) -> Self {
        let body_bytes = u64::try_from(body_bytes).unwrap_or(u64::MAX);
        Self { segment_bytes: self.segment_bytes.saturating_add(body_bytes), ..self.clone() }
    }
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `S`: here a snapshot is to be made, or has been.
    Snapshot {
        /// Key of the root object, once the snapshot is complete.
        root: Option<String>,
        /// When the segment that begins here was trimmed, Unix seconds: this entry and the End
        /// Segment are all that is left of it (design `2-log.md` §6).
        trimmed_s: Option<u64>,
    },
    /// `X`: the segment ends; the log goes on in the next.
    EndSegment,
    /// `E`: edits.
    Edits(Edits),
    /// `E` with an object: edits whose body is in the object store.
    External(ExternalEdits),
}

/// A batch of mutations by one client, with consecutive ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Edits {
    /// Whose mutations these are.
    pub client: ClientKey,
    /// What that client is called, if it is one of a sync group.
    pub name: Option<ClientName>,
    /// Id of the first; the others follow without a gap.
    pub first_id: u64,
    /// At least one.
    pub mutations: Vec<Mutation>,
}

/// One mutation, as authored and, only if the transform changed it, as committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// The position its author had seen.
    pub base: Position,
    /// What the author meant, in the coordinates of `base`.
    pub authored: Operation,
    /// What was committed, one operation after the other, in the coordinates of what stands
    /// before, if that differs: nothing if nothing of it was left, several for an undo or a
    /// revert, a rejection if it was refused although it would have moved cells.
    pub committed: Option<Vec<Operation>>,
}

impl Mutation {
    /// A mutation that is refused. What moves cells is kept beside the reason: the author's later
    /// mutations may stand on it, until it learns of the rejection. So is an undo or a revert:
    /// whoever looks for what can be taken back sees that this cannot.
    #[must_use]
    pub fn rejected(base: Position, authored: &Operation, rejection: Rejection) -> Self {
        let rejection = Operation::Rejected(rejection);
        match authored {
            authored if authored.moves_cells() || authored.is_resolved_on_append() => {
                let authored = authored.clone();
                Self { base, authored, committed: Some(vec![rejection]) }
            }
            _ => Self { base, authored: rejection, committed: None },
        }
    }

    /// Why it was refused, if it was.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        match self.effective() {
            [Operation::Rejected(rejection)] => Some(rejection),
            _ => None,
        }
    }

    /// The operations that take effect.
    #[must_use]
    pub fn effective(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.authored))
    }
}

impl Edits {
    /// Id of the last mutation.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        let count = u64::try_from(self.mutations.len()).unwrap_or(u64::MAX);
        self.first_id.saturating_add(count).saturating_sub(1)
    }
}

impl Entry {
    /// Where the next entry of the log stands: after an End Segment, first in the next segment.
    /// `None` where no log can go on.
    #[must_use]
    pub fn next_position(&self) -> Option<Position> {
        match self.content {
            Content::EndSegment => self.position.next_segment(),
            Content::Snapshot { .. } | Content::Edits(_) | Content::External(_) => {
                self.position.next_in_segment()
            }
        }
    }

    /// The entry as it counts in tables that were restored: nobody rewrites every tail when tables go
    /// back to a point in time, so whatever is read from them has at least their incarnation (design
    /// `2-log.md` §1).
    #[must_use]
    pub fn at_least(mut self, incarnation: u32) -> Self {
        self.header.incarnation = self.header.incarnation.max(incarnation);
        self
    }

    /// About how many bytes the entry takes in memory and in a reply: for bounds, not for bills.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 128;
        let mutations = self.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
        let weight = |operation: &Operation| operation.weight_bytes().saturating_add(FRAME_BYTES);
        let author = self.author.as_deref().map_or(0, json_text_bytes);
        let operations = mutations.iter().flat_map(|mutation| {
            let committed = mutation.committed.iter().flatten();
            std::iter::once(&mutation.authored).chain(committed)
        });
        let more = match &self.content {
            Content::External(external) => external.weight_bytes(),
            Content::Edits(edits) => edits.name.as_ref().map_or(0, ClientName::bytes),
            Content::Snapshot { .. } | Content::EndSegment => 0,
        };
        let summary = self.header.summary.as_ref().map_or(0, |summary| summary.weight_bytes());
        operations.map(weight).fold(FRAME_BYTES + author + summary + more, usize::saturating_add)
    }

    /// Whether it is the first entry of a segment that was trimmed.
    #[must_use]
    pub fn is_trimmed(&self) -> bool {
        matches!(self.content, Content::Snapshot { trimmed_s: Some(_), .. })
    }

    /// Applies the entry's edits to a workbook at the position before it. An external body is not in
    /// the entry and changes nothing here: see [`Workbook::apply_operations`].
    ///
    /// # Errors
    /// [`WorkbookTooLarge`], as [`Workbook::apply_operations`].
    pub fn apply_to(&self, workbook: &mut Workbook) -> Result<(), WorkbookTooLarge> {
        let mutations = self.edits().map(|edits| edits.mutations.as_slice()).unwrap_or_default();
        mutations.iter().try_for_each(|mutation| workbook.apply_operations(mutation.effective()))
    }

    /// The edits, if it has any.
    #[must_use]
    pub fn edits(&self) -> Option<&Edits> {
        match &self.content {
            Content::Edits(edits) => Some(edits),
            Content::Snapshot { .. } | Content::EndSegment | Content::External(_) => None,
        }
    }

    /// Whose mutations these are, with the ids of the first and the last: the evidence by which a
    /// repeated request finds what got through.
    #[must_use]
    pub fn mutation_ids(&self) -> Option<(ClientKey, u64, u64)> {
        match &self.content {
            Content::Edits(edits) => Some((edits.client, edits.first_id, edits.last_id())),
            Content::External(external) => {
                Some((external.client, external.first_id, external.last_id()))
            }
            Content::Snapshot { .. } | Content::EndSegment => None,
        }
    }

    /// The first entry of a new log.
    #[must_use]
    pub fn first(log: LogId, author: Option<String>, created_s: u64) -> Self {
        Self {
            log,
            position: Position::FIRST,
            created_s,
            author,
            header: Header::first(FIRST_INCARNATION),
            content: Content::Snapshot { root: None, trimmed_s: None },
        }
    }
}
