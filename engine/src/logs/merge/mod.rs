//! Merges forks: appends the edits of a fork to another log of its family, each with its own
//! author.
//!
//! The edits are appended like the mutations of a single client that has seen the last position
//! that both logs share. The key of this client depends only on the fork, and its mutation ids
//! number the operations of the fork. The log therefore records which edits have been merged, so
//! repeating or resuming a merge appends each edit only once.

mod fault;
mod preview;
mod read;

pub use fault::MergeFault;

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_LISTED_CONFLICTS, MAX_MERGED_ENTRIES_PER_REQUEST};
use cellar_base::position::Position;
use cellar_log::append::{Appended, MergedMutation, MergedOrigin, MutationResult, Request};
use cellar_log::entry::Merged;
use cellar_log::merge::{Conflicts, MergeOutcome, OtherChanges};
use cellar_sheet::operation::{Operation, Rejection};

use super::{LogError, Logs};
use read::{ForkEdit, MergeState};

/// A request to merge a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMerge {
    /// Log to which the edits are appended.
    pub log: LogId,
    pub fork: LogId,
    /// Last position of the fork to merge, or `None` for the latest.
    pub through: Option<Position>,
    /// Person who requests the merge.
    pub by: Option<String>,
}

/// Result of a merge request or of a preview.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedEdits {
    /// Last position that both logs share.
    pub from: Position,
    /// Last position of the fork to merge.
    pub through: Position,
    /// Newest known position of the log.
    pub head: Position,
    /// Edits of the fork, oldest first.
    pub edits: Vec<MergedEdit>,
    /// Number of edits left for later requests.
    pub remaining: usize,
}

/// An entry of the fork and the outcome of merging it.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedEdit {
    /// Position in the fork.
    pub position: Position,
    pub author: Option<String>,
    /// Time of the edit in the fork, in seconds since the Unix epoch.
    pub created_s: u64,
    pub outcome: MergeOutcome,
    /// Cells that the edit overwrites or deletes although others have changed them.
    pub conflicts: Conflicts,
    /// Number of cells that the edit sets in the fork but not in the log, because others have deleted
    /// their rows, columns or sheets.
    pub lost_cells: u64,
    pub rejection: Option<Rejection>,
    /// Position of the last entry of the log that contains the edit. `None` in a preview.
    pub merged_as: Option<Position>,
}

/// The edits to merge and the state of the log that receives them.
struct MergePlan {
    from: Position,
    through: Position,
    state: MergeState,
    edits: Vec<ForkEdit>,
}

impl Logs {
    /// Returns what [`Logs::merge`] would return if it merged all unmerged edits at once. Does not
    /// change anything.
    pub async fn preview_merge(&self, merge: &NewMerge) -> Result<MergedEdits, LogError> {
        let MergePlan { from, through, state, edits } = self.plan_merge(merge).await?;
        let head = state.head;
        let results = self.preview_results(merge, from, &state, &edits).await?;
        let edits = combine_results(edits, &results, state.others);
        Ok(MergedEdits { from, through, head, edits, remaining: 0 })
    }

    /// Appends up to [`MAX_MERGED_ENTRIES_PER_REQUEST`] unmerged edits of the fork. Must be
    /// repeated with the same `through` until no edits remain. Can safely be repeated after a
    /// failure, because each edit is appended only once.
    ///
    /// # Errors
    ///
    /// - [`LogError::Merge`] or [`LogError::Fork`] if the fork cannot be merged into the log.
    /// - [`LogError::NoSuchPosition`] if the fork does not contain `through`.
    /// - [`LogError::Refused`] if the edits cannot be transformed or appended.
    /// - Another [`LogError`] if a log cannot be read.
    pub async fn merge(&self, merge: &NewMerge) -> Result<MergedEdits, LogError> {
        let MergePlan { from, through, state, mut edits } = self.plan_merge(merge).await?;
        if edits.is_empty() {
            let head = state.head;
            return Ok(MergedEdits { from, through, head, edits: Vec::new(), remaining: 0 });
        }
        let later_edits = edits.split_off(edits.len().min(MAX_MERGED_ENTRIES_PER_REQUEST));
        let remaining = later_edits.len();
        let has_begun = edits.first().is_some_and(|first| state.has_begun(first.through));
        let preview = if has_begun {
            self.preview_results(merge, from, &state, &edits).await?
        } else {
            // Previewing all edits makes the merge fail before anything is appended if a later edit
            // cannot be transformed.
            let all_edits = [edits.as_slice(), later_edits.as_slice()].concat();
            self.preview_results(merge, from, &state, &all_edits).await?
        };
        let Some(request) = merge_request(merge, from, &state, &edits)? else {
            return Err(MergeFault::Full.into());
        };
        // Imported sheets need no verification: their chunks exist as long as the fork, which is
        // purged only long after its deletion.
        let appended = self.append_unchecked(request).await?;
        let Appended { results, tail: head, .. } = appended;
        // Some results are duplicates if another request appended the same edits at the same time.
        let results: Vec<MutationResult> =
            results.into_iter().zip(preview).map(known_result).collect();
        let edits = combine_results(edits, &results, state.others);
        Ok(MergedEdits { from, through, head, edits, remaining })
    }

    async fn plan_merge(&self, merge: &NewMerge) -> Result<MergePlan, LogError> {
        let NewMerge { log, fork, .. } = *merge;
        let from = self.last_shared_position(fork, log).await?;
        if log == fork || self.inherits_from(log, fork).await? {
            return Err(MergeFault::NotAFork.into());
        }
        let newest = self.head(fork, merge.through).await?.head;
        let through = merge.through.unwrap_or(newest);
        if through > newest {
            return Err(LogError::NoSuchPosition { at: through, newest });
        }
        let state = self.read_merge_state(log, fork, from).await?;
        let edits = self.read_fork_edits(fork, from, through, &state).await?;
        Ok(MergePlan { from, through, state, edits })
    }
}

/// Builds the request that appends the edits. Returns `None` if there is nothing to append.
fn merge_request(
    merge: &NewMerge,
    from: Position,
    state: &MergeState,
    edits: &[ForkEdit],
) -> Result<Option<Request>, MergeFault> {
    let mut mutations = Vec::new();
    for edit in edits {
        let origin = Arc::new(MergedOrigin {
            author: edit.author.clone(),
            merged: Merged {
                fork: merge.fork,
                position: edit.position,
                created_s: edit.created_s,
                by: merge.by.clone(),
                through: edit.through,
                after: edit.after,
            },
        });
        for operation in edit.operations.iter().cloned() {
            mutations.push(MergedMutation { operation, origin: Arc::clone(&origin) });
        }
    }
    if mutations.is_empty() {
        return Ok(None);
    }
    let client = ClientKey::of_merge(merge.fork);
    let first_id = state.last_id.saturating_add(1);
    let request =
        Request::of_merge(merge.log, client, state.incarnation, (first_id, from), mutations);
    request.map(Some).map_err(|_| MergeFault::Full)
}

/// Completes the result of a mutation. The result of a duplicate only contains its position, so the
/// rest is taken from the preview.
fn known_result((result, preview): (MutationResult, MutationResult)) -> MutationResult {
    if result.duplicate { MutationResult { position: result.position, ..preview } } else { result }
}

/// Returns how many cells an operation sets in the fork but not in the log.
fn lost_cells((operation, result): (&Operation, &MutationResult)) -> u64 {
    let cells_of = |operation: &Operation| match operation {
        Operation::SetCells(set) => set.cells.len(),
        _ => 0,
    };
    let Some(committed) = &result.committed else { return 0 };
    let committed_cells: usize = committed.iter().map(cells_of).sum();
    u64::try_from(cells_of(operation).saturating_sub(committed_cells)).unwrap_or(u64::MAX)
}

/// Combines the edits with the results of their operations, which must be in the same order.
fn combine_results(
    edits: Vec<ForkEdit>,
    results: &[MutationResult],
    mut others: OtherChanges,
) -> Vec<MergedEdit> {
    let mut remaining = results;
    let combine = |edit: ForkEdit| {
        let (own, later) = remaining.split_at(edit.operations.len().min(remaining.len()));
        remaining = later;
        let committed: Vec<Operation> = edit
            .operations
            .iter()
            .zip(own)
            .filter(|(_, result)| result.rejection.is_none())
            .flat_map(|(operation, result)| match &result.committed {
                Some(committed) => committed.clone(),
                None => vec![operation.clone()],
            })
            .collect();
        MergedEdit {
            position: edit.position,
            author: edit.author,
            created_s: edit.created_s,
            outcome: MergeOutcome::of(own),
            conflicts: others.conflicts_of(&committed, MAX_LISTED_CONFLICTS),
            lost_cells: edit.operations.iter().zip(own).map(lost_cells).sum(),
            rejection: own.iter().find_map(|result| result.rejection.clone()),
            merged_as: own.iter().rev().find_map(|result| result.position),
        }
    };
    edits.into_iter().map(combine).collect()
}
