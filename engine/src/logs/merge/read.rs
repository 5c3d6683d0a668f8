//! Reads the two logs of a merge.

use std::ops::ControlFlow;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_MERGE_BYTES, MAX_MERGED_ENTRIES};
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Merged};
use cellar_log::merge::{OtherChanges, split_operation};
use cellar_sheet::operation::Operation;

use super::super::committed::{EntryCursor, ReadUntil};
use super::super::{LogError, Logs};
use super::MergeFault;

/// How far the fork has been merged into the log, and what others have changed in the log since the
/// fork was created.
pub(super) struct MergeState {
    pub(super) head: Position,
    pub(super) incarnation: u32,
    /// Id of the last merged mutation.
    pub(super) last_id: u64,
    /// Origin of the last merged entry.
    last: Option<Merged>,
    /// Number of merged operations of the fork's entry at the position of `last`.
    merged_of_last: usize,
    pub(super) others: OtherChanges,
}

/// The unmerged operations of one entry of the fork.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ForkEdit {
    pub(super) position: Position,
    pub(super) author: Option<String>,
    pub(super) created_s: u64,
    /// The operations. Never empty.
    pub(super) operations: Vec<Operation>,
    /// See [`Merged::through`].
    pub(super) through: Position,
    /// See [`Merged::after`].
    pub(super) after: Position,
}

impl Logs {
    /// Returns whether `log_id` inherits entries from `ancestor`.
    pub(super) async fn inherits_from(
        &self,
        log_id: LogId,
        ancestor: LogId,
    ) -> Result<bool, LogError> {
        let mut current = log_id;
        while let Some(lineage) = self.retry_read(|| self.lineage(current)).await? {
            current = lineage.source;
            if current == ancestor {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the entries of the log after `from` and returns the state of the merge.
    pub(super) async fn read_merge_state(
        &self,
        log_id: LogId,
        fork: LogId,
        from: Position,
    ) -> Result<MergeState, LogError> {
        let client = ClientKey::of_merge(fork);
        let mut changes: Vec<(Operation, bool)> = Vec::new();
        let mut bytes = 0_usize;
        let (mut last_id, mut last, mut merged_of_last) = (0, None::<Merged>, 0);
        let mut cursor = EntryCursor::from(from);
        let until = ReadUntil::Newest { min_position: Some(self.head(log_id, None).await?.head) };
        self.visit_committed(log_id, &mut cursor, until, |entry, mutations| {
            if entry.position <= from {
                return Ok(ControlFlow::Continue(()));
            }
            let own_last_id = entry.mutation_ids().filter(|(author, ..)| *author == client);
            if let Some((_, _, entry_last_id)) = own_last_id {
                let is_same = last.as_ref().map(|last| last.position)
                    == entry.merged().map(|merged| merged.position);
                let merged_before = if is_same { merged_of_last } else { 0 };
                merged_of_last = merged_before + mutations.len();
                last_id = entry_last_id;
                last = entry.merged().cloned();
            }
            let is_by_others = own_last_id.is_none();
            for operation in mutations.iter().copied().flatten() {
                if is_by_others || operation.moves_cells() {
                    bytes = bytes.saturating_add(operation.weight_bytes());
                    changes.push((operation.clone(), is_by_others));
                }
            }
            if bytes > MAX_MERGE_BYTES {
                return Err(MergeFault::SourceTooLarge.into());
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let newest = cursor.newest.ok_or(LogError::NotFound)?;
        let others = changes.iter().map(|(operation, by_others)| (operation, *by_others));
        Ok(MergeState {
            head: newest.head,
            incarnation: newest.incarnation,
            last_id,
            last,
            merged_of_last,
            others: OtherChanges::of(others),
        })
    }

    /// Reads the unmerged edits of the fork after `from`, up to and including `through`.
    pub(super) async fn read_fork_edits(
        &self,
        fork: LogId,
        from: Position,
        through: Position,
        state: &MergeState,
    ) -> Result<Vec<ForkEdit>, LogError> {
        let first = state.last.as_ref().map_or(from, |last| last.position);
        if first > through || through <= from {
            return Ok(Vec::new());
        }
        let mut edits: Vec<ForkEdit> = Vec::new();
        let mut bytes = 0_usize;
        let mut cursor = EntryCursor::from(first);
        let until = ReadUntil::Position(through);
        self.visit_committed(fork, &mut cursor, until, |entry, mutations| {
            if entry.position <= from {
                return Ok(ControlFlow::Continue(()));
            }
            let mut operations = operations_to_merge(mutations);
            if entry.position == first {
                operations.drain(..state.merged_of_last.min(operations.len()));
            }
            for operation in &operations {
                bytes = bytes.saturating_add(operation.weight_bytes());
            }
            if bytes > MAX_MERGE_BYTES {
                return Err(MergeFault::ForkTooLarge.into());
            }
            if !operations.is_empty() {
                if edits.len() >= MAX_MERGED_ENTRIES {
                    return Err(MergeFault::TooManyEdits.into());
                }
                edits.push(state.edit(entry, operations, through));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        Ok(edits)
    }
}

impl MergeState {
    /// Returns whether an earlier request has started to merge the edits up to `through`.
    pub(super) fn has_begun(&self, through: Position) -> bool {
        self.last.as_ref().is_some_and(|last| last.through == through)
    }

    /// Creates the edit for an entry of the fork. If the entry belongs to an interrupted merge, the
    /// edit gets the `through` and `after` of that merge, so that both parts are undone together.
    fn edit(&self, entry: &Entry, operations: Vec<Operation>, through: Position) -> ForkEdit {
        let interrupted = self.last.as_ref().filter(|last| entry.position <= last.through);
        let (through, after) = match interrupted {
            Some(last) => (last.through, last.after),
            None => (through, self.head),
        };
        ForkEdit {
            position: entry.position,
            author: entry.author.clone(),
            created_s: entry.merged().map_or(entry.created_s, |merged| merged.created_s),
            operations,
            through,
            after,
        }
    }
}

/// Returns the operations to merge from the mutations of an entry. An undo or revert is merged as
/// the operations that it committed.
fn operations_to_merge(mutations: &[&[Operation]]) -> Vec<Operation> {
    let committed = mutations.iter().copied().flatten();
    let effective = committed.filter(|operation| !matches!(operation, Operation::Rejected(_)));
    effective.cloned().flat_map(split_operation).collect()
}
