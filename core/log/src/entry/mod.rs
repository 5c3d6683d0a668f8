//! Entries of the log.

mod body;
mod client_name;
mod external;
mod header_bytes;
mod merged;

pub use body::{BodyError, decode_edits, encode_edits, encode_edits_body, encoded_mutation_bytes};
pub use client_name::{decode_name, encode_name};
pub(crate) use external::decompress;
pub use external::{
    ExternalEdits, decode_external, decode_external_body, encode_external, encode_external_body,
};
pub use header_bytes::{decode_header, decode_old_header, encode_header};
pub use merged::Merged;

use std::sync::Arc;

use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::position::Position;
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::operation::{Operation, Rejection};
use cellar_sheet::workbook::{Workbook, WorkbookTooLarge};

/// A log entry, immutable once written.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The log that contains the entry.
    pub log: LogId,
    /// Position of the entry in the log.
    pub position: Position,
    /// Creation time in seconds since the Unix epoch, according to the writer's clock.
    pub created_s: u64,
    /// Author of the entry: the `sub` claim of the writer's token, limited to `MAX_AUTHOR_BYTES`.
    pub author: Option<String>,
    /// Running totals of the segment, including this entry.
    pub header: Header,
    /// Content of the entry: edits, a request for a snapshot, or the end of the segment.
    pub content: Content,
}

/// Incarnation of tables that were never restored. Each restore increments the incarnation.
pub const FIRST_INCARNATION: u32 = 0;

/// Running totals that each entry carries over from the preceding entry. A writer therefore needs
/// only the latest header to know the incarnation and whether a segment roll or a snapshot is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Total size in bytes of the segment's bodies up to and including this entry.
    pub segment_bytes: u64,
    /// Incarnation of the tables, which each restore increments. Clients that loaded an earlier
    /// incarnation must reload. Every entry stores the incarnation, because an append reads only
    /// the entries after its base.
    pub incarnation: u32,
    /// Entry number of the segment's last Snapshot entry at or before this entry.
    pub snapshot_num: u32,
    /// Value of `segment_bytes` at the segment's last Snapshot entry.
    pub snapshot_bytes: u64,
    /// Memory that a reader needs for data outside of the bodies since the segment's last Snapshot
    /// entry, in bytes: operations in external bodies, and formulas of imported sheets, which it
    /// calculates.
    pub outside_bytes: u64,
    /// Summary of the workbook's state after this entry. `None` if the entry was written by an
    /// older release, or if the sheet numbers form more than `MAX_SUMMARY_RUNS` runs. In these
    /// cases, writers read the workbook metadata instead.
    pub summary: Option<Arc<StateSummary>>,
}

impl Header {
    /// Creates the header of a log's first entry, a Snapshot entry without a body.
    #[must_use]
    pub fn first(incarnation: u32) -> Self {
        Self::of_segment(incarnation, Some(Arc::new(StateSummary::first())))
    }

    /// Creates the header of a segment's first entry, a Snapshot entry without a body.
    #[must_use]
    pub fn of_segment(incarnation: u32, summary: Option<Arc<StateSummary>>) -> Self {
        Self {
            incarnation,
            segment_bytes: 0,
            snapshot_num: 0,
            snapshot_bytes: 0,
            outside_bytes: 0,
            summary,
        }
    }

    /// Returns the header of the next entry, which has a body of `body_bytes` bytes and is not a
    /// Snapshot entry.
    #[must_use]
    pub fn followed_by(&self, body_bytes: usize) -> Self {
        let body_bytes = u64::try_from(body_bytes).unwrap_or(u64::MAX);
        Self { segment_bytes: self.segment_bytes.saturating_add(body_bytes), ..self.clone() }
    }
}

/// Content of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `S`: Snapshot entry, which requests a snapshot of the state at this position.
    Snapshot {
        /// Key of the snapshot's root object. Set when the snapshot finishes.
        root: Option<String>,
        /// Time of the trim in seconds since the Unix epoch. Set only on the first entry of a
        /// trimmed segment. A trim deletes all other entries of the segment except the End Segment.
        trimmed_s: Option<u64>,
    },
    /// `X`: End Segment, the last entry of a closed segment. The log continues in the next segment.
    EndSegment,
    /// `E`: edits.
    Edits(Edits),
    /// `E` with an object key: edits whose operations are in an external body.
    External(ExternalEdits),
}

/// A batch of mutations of one client, with consecutive ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Edits {
    /// Client of the mutations.
    pub client: ClientKey,
    /// Name of the client, if it belongs to a client group.
    pub name: Option<ClientName>,
    /// Where the mutations were made, if they were merged from a fork.
    pub merged: Option<Merged>,
    /// Id of the first mutation. The ids are consecutive.
    pub first_id: u64,
    /// Mutations, at least one.
    pub mutations: Vec<Mutation>,
}

/// A mutation as its author sent it and, if a transform changed it, as it was committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// Base of the mutation: the latest position that its author had seen.
    pub base: Position,
    /// Operation as authored, in the coordinates after `base` and the client's earlier mutations.
    pub authored: Operation,
    /// Committed operations, in the coordinates after the preceding mutation. `None` if the
    /// mutation was committed as authored, and empty if the mutation has no effect. An undo or
    /// revert may be committed as several operations. If an authored operation that moves cells is
    /// rejected, its rejection is stored here.
    pub committed: Option<Vec<Operation>>,
}

impl Mutation {
    /// Creates a rejected mutation. An authored operation that moves cells is kept, because the
    /// author may base later mutations on it before learning of the rejection. An undo or revert is
    /// also kept, so that the search for undoable entries can skip it.
    #[must_use]
    pub fn rejected(base: Position, authored: &Operation, rejection: Rejection) -> Self {
        let rejection = Operation::Rejected(rejection);
        if authored.moves_cells() || authored.is_resolved_on_append() {
            Self { base, authored: authored.clone(), committed: Some(vec![rejection]) }
        } else {
            Self { base, authored: rejection, committed: None }
        }
    }

    /// Returns the rejection, if any.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        match self.committed_operations() {
            [Operation::Rejected(rejection)] => Some(rejection),
            _ => None,
        }
    }

    /// Returns the approximate size of the authored and committed operations in memory and in a
    /// response, in bytes.
    fn weight_bytes(&self) -> usize {
        const OPERATION_FRAME_BYTES: usize = 128;
        std::iter::once(&self.authored)
            .chain(self.committed.iter().flatten())
            .map(|operation| operation.weight_bytes().saturating_add(OPERATION_FRAME_BYTES))
            .fold(0, usize::saturating_add)
    }

    /// Returns the committed operations.
    #[must_use]
    pub fn committed_operations(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.authored))
    }
}

impl Edits {
    /// Returns the last mutation id.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        let mutation_count = u64::try_from(self.mutations.len()).unwrap_or(u64::MAX);
        self.first_id.saturating_add(mutation_count).saturating_sub(1)
    }

    fn weight_bytes(&self) -> usize {
        /// Size in a response.
        const MERGED_BYTES: usize = 256;
        let name_bytes = self.name.as_ref().map_or(0, ClientName::bytes);
        let merged_bytes = self.merged.as_ref().map_or(0, |merged| {
            MERGED_BYTES.saturating_add(merged.by.as_deref().map_or(0, json_text_bytes))
        });
        let frame_bytes = name_bytes.saturating_add(merged_bytes);
        self.mutations.iter().map(Mutation::weight_bytes).fold(frame_bytes, usize::saturating_add)
    }
}

impl Entry {
    /// Returns the position of the next entry, or `None` if the log is full. The entry after an End
    /// Segment is the first entry of the next segment.
    #[must_use]
    pub fn next_position(&self) -> Option<Position> {
        match self.content {
            Content::EndSegment => self.position.next_segment(),
            Content::Snapshot { .. } | Content::Edits(_) | Content::External(_) => {
                self.position.next_in_segment()
            }
        }
    }

    /// Returns a copy of the entry with the id of `log`, a fork that inherits the entry.
    #[must_use]
    pub fn with_log(&self, log: LogId) -> Self {
        Self { log, ..self.clone() }
    }

    /// Raises the entry's incarnation to the current incarnation of the tables. Every read must do
    /// this, because a restore of the tables does not update the stored entries.
    #[must_use]
    pub fn raise_incarnation(mut self, incarnation: u32) -> Self {
        self.header.incarnation = self.header.incarnation.max(incarnation);
        self
    }

    /// Returns the approximate size of the entry in memory and in a response, in bytes.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 128;
        let author_bytes = self.author.as_deref().map_or(0, json_text_bytes);
        let summary_bytes =
            self.header.summary.as_ref().map_or(0, |summary| summary.weight_bytes());
        let content_bytes = match &self.content {
            Content::External(external) => external.weight_bytes(),
            Content::Edits(edits) => edits.weight_bytes(),
            Content::Snapshot { .. } | Content::EndSegment => 0,
        };
        content_bytes.saturating_add(FRAME_BYTES + author_bytes + summary_bytes)
    }

    /// Whether this is the first entry of a trimmed segment.
    #[must_use]
    pub fn is_trimmed(&self) -> bool {
        matches!(self.content, Content::Snapshot { trimmed_s: Some(_), .. })
    }

    /// Applies the entry's edits to the workbook, which must be at the preceding position. Edits
    /// with an external body are not applied, because the entry does not contain their operations.
    ///
    /// # Errors
    /// Returns [`WorkbookTooLarge`] if the edits would make the workbook too large.
    pub fn apply_to(&self, workbook: &mut Workbook) -> Result<(), WorkbookTooLarge> {
        let mutations = self.edits().map(|edits| edits.mutations.as_slice()).unwrap_or_default();
        mutations
            .iter()
            .try_for_each(|mutation| workbook.apply_operations(mutation.committed_operations()))
    }

    /// Returns the edits, or `None` if the entry contains no edits or their operations are in an
    /// external body.
    #[must_use]
    pub fn edits(&self) -> Option<&Edits> {
        match &self.content {
            Content::Edits(edits) => Some(edits),
            Content::Snapshot { .. } | Content::EndSegment | Content::External(_) => None,
        }
    }

    /// Returns where the entry's edits were made, if they were merged from a fork.
    #[must_use]
    pub fn merged(&self) -> Option<&Merged> {
        self.edits()?.merged.as_ref()
    }

    /// Returns the client whose mutations this entry contains, and the ids of the first and last
    /// mutation. A retry recognizes committed mutations by these ids.
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

    /// Creates the first entry of a new log.
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
