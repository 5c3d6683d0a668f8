//! Merging a fork into another spreadsheet: `POST /v1/spreadsheets/{id}/merges`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Merged;
use cellar_log::merge::MergeOutcome;
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{Rejection, SheetId};

/// A request to merge a fork. It is idempotent: each edit of the fork is appended only once, even
/// if several people send the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeRequest {
    /// Id of the fork. It must be a fork of the spreadsheet, or both must be forks of the same
    /// spreadsheet.
    pub fork: LogId,
    /// Last position of the fork to merge. Defaults to the latest position. Clients should send the
    /// same position in all requests of a merge, because the fork may grow in the meantime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Position>,
    /// Set to only report the outcomes of all unmerged edits, without changing anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Outcomes of merging edits of a fork. Each edit is an entry of the fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeReply {
    /// Last position that the fork and the spreadsheet share.
    pub from: Position,
    /// Last position of the fork to merge.
    pub through: Position,
    /// Latest position of the spreadsheet known to the server.
    pub head: Position,
    /// Number of edits that remain to be merged. If it is not 0, repeat the request.
    pub remaining: u64,
    /// Number of edits in this reply for each outcome.
    pub counts: MergeCounts,
    /// Edits in this reply that were moved, dropped or rejected, or are in conflict, oldest first.
    /// Contains at most 1,000 edits.
    pub edits: Vec<MergedEditView>,
    /// Position of the last entry that this request appended. Undoing this entry undoes the whole
    /// merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_as: Option<Position>,
}

/// Number of edits for each outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeCounts {
    /// Edits with the same effect as in the fork.
    pub unchanged: u64,
    /// Edits that were adapted because their target was moved or partly deleted.
    pub moved: u64,
    /// Edits without an effect because their target was deleted.
    pub dropped: u64,
    /// Edits that can never have an effect, at least in part.
    pub rejected: u64,
    /// Edits of cells that others have changed since the fork was created. They are also counted by
    /// outcome.
    pub in_conflict: u64,
}

impl MergeCounts {
    /// Counts an edit.
    pub fn add(&mut self, outcome: MergeOutcome, is_in_conflict: bool) {
        match outcome {
            MergeOutcome::Unchanged => self.unchanged += 1,
            MergeOutcome::Moved => self.moved += 1,
            MergeOutcome::Dropped => self.dropped += 1,
            MergeOutcome::Rejected => self.rejected += 1,
        }
        self.in_conflict += u64::from(is_in_conflict);
    }

    /// Returns the total number of edits.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.unchanged + self.moved + self.dropped + self.rejected
    }
}

/// An edit of a fork and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergedEditView {
    /// Position of the edit in the fork.
    pub position: Position,
    /// Author of the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Time of the edit in seconds since the Unix epoch.
    pub created_s: u64,
    /// Outcome of the edit.
    pub outcome: MergeOutcome,
    /// Number of cells that the edit overwrites or deletes although others have changed them since
    /// the fork was created.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflict_count: u64,
    /// The first of these cells, at most 10. Row and column are those before the merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<CellInConflict>,
    /// Number of cells that the edit sets in the fork but not in the spreadsheet, because others have
    /// deleted their rows, columns or sheets.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_cells: u64,
    /// Why the edit was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Position of the edit's last entry in the spreadsheet. Absent in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_as: Option<Position>,
}

/// A cell that both the fork and others have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellInConflict {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
}

impl CellInConflict {
    /// Returns the reference of the cell, such as `B3`.
    #[must_use]
    pub fn name(&self) -> CellName {
        CellName { row: self.row, column: self.column }
    }
}

/// Origin of merged edits, and the person who merged them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergedView {
    /// The fork in which the edits were made.
    pub fork: LogId,
    /// Position of the edits in the fork.
    pub position: Position,
    /// Time at which the edits were made in the fork, in seconds since the Unix epoch. The time of
    /// the entry itself is the time of the merge.
    pub created_s: u64,
    /// Person who merged the edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Last position of the fork that was merged together with these edits. All entries with the
    /// same `fork` and `through` are undone together.
    pub through: Position,
}

impl From<&Merged> for MergedView {
    fn from(merged: &Merged) -> Self {
        let Merged { fork, position, created_s, by, through, .. } = merged.clone();
        Self { fork, position, created_s, by, through }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
