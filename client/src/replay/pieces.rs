//! The operations of a fork as a merge appends them to a new fork, and what they were committed as.

use std::collections::BTreeMap;

use cellar_api::wire::{EntryView, MutationView};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_MERGE_BYTES, MAX_MERGED_ENTRIES};
use cellar_base::position::Position;
use cellar_log::merge::split_operation;
use cellar_sheet::operation::Operation;

use super::{OwnMutation, ReplayError};
use crate::Spreadsheet;

/// Id of the first mutation that a merge appends. The ids of the other mutations follow
/// consecutively.
const FIRST_MUTATION_ID: u64 = 1;

/// An operation of a mutation in the fork, or a part of the operation that fits into an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OperationPiece {
    /// Index of the piece's mutation in the list of the fork's mutations.
    pub(super) mutation_index: usize,
    pub(super) operation: Operation,
}

/// A piece together with its actual or predicted outcome in the new fork.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SettledPiece {
    pub(super) mutation_index: usize,
    pub(super) sent: Operation,
    /// The committed operations, or `None` if they are equal to the requested operation.
    pub(super) committed: Option<Vec<Operation>>,
}

impl SettledPiece {
    fn new(piece: &OperationPiece, mutation: MutationView) -> Self {
        let is_rejected = matches!(mutation.op, Operation::Rejected(_));
        let committed = match mutation.committed {
            None if is_rejected => Some(vec![mutation.op]),
            committed => committed,
        };
        let sent = piece.operation.clone();
        Self { mutation_index: piece.mutation_index, sent, committed }
    }

    pub(super) fn committed_operations(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.sent))
    }
}

/// Splits the operations as the server does.
pub(super) fn split_into_pieces(own_mutations: &[OwnMutation]) -> Vec<OperationPiece> {
    let mut pieces = Vec::new();
    for (mutation_index, mutation) in own_mutations.iter().enumerate() {
        let operations = mutation.operations.iter().cloned().flat_map(split_operation);
        pieces.extend(operations.map(|operation| OperationPiece { mutation_index, operation }));
    }
    pieces
}

/// Returns the last positions of the parts in which the fork is merged, so that each part is within
/// the limits of a merge.
pub(super) fn parts(own_mutations: &[OwnMutation], head: Position) -> Vec<Position> {
    /// Other edits of the same entry are in the same part.
    const MAX_PART_BYTES: usize = MAX_MERGE_BYTES / 2;
    let mut parts = Vec::new();
    let (mut entry_count, mut bytes) = (0_usize, 0_usize);
    let mut previous = None;
    for mutation in own_mutations {
        let weights = mutation.operations.iter().map(Operation::weight_bytes);
        let mutation_bytes = weights.fold(0, usize::saturating_add);
        if let Some(previous) = previous.filter(|previous| *previous != mutation.position) {
            if entry_count >= MAX_MERGED_ENTRIES
                || bytes.saturating_add(mutation_bytes) > MAX_PART_BYTES
            {
                parts.push(previous);
                (entry_count, bytes) = (0, 0);
            }
            entry_count += 1;
        } else if previous.is_none() {
            entry_count = 1;
        }
        bytes = bytes.saturating_add(mutation_bytes);
        previous = Some(mutation.position);
    }
    parts.push(head);
    parts
}

/// Returns what the merge committed, including what an interrupted replay merged before.
pub(super) async fn read_outcomes(
    new_fork: &Spreadsheet,
    fork: LogId,
    from: Position,
    pieces: &[OperationPiece],
) -> Result<Vec<SettledPiece>, ReplayError> {
    let mut mutations_by_id = read_merged_mutations(new_fork, fork, from).await?;
    let mut settled_pieces = Vec::with_capacity(pieces.len());
    for (id, piece) in (FIRST_MUTATION_ID..).zip(pieces) {
        let Some(mutation) = mutations_by_id.remove(&id) else {
            return Err(ReplayError::NotUnderstood { why: "a merged edit is not in the log" });
        };
        settled_pieces.push(SettledPiece::new(piece, mutation));
    }
    Ok(settled_pieces)
}

async fn read_merged_mutations(
    new_fork: &Spreadsheet,
    fork: LogId,
    from: Position,
) -> Result<BTreeMap<u64, MutationView>, ReplayError> {
    let is_of_fork =
        |entry: &EntryView| entry.merged.as_ref().is_some_and(|merged| merged.fork == fork);
    let mut mutations_by_id = BTreeMap::new();
    let mut entries_newest_first = new_fork.long_history(None);
    while let Some(entry) = entries_newest_first.try_next().await? {
        if entry.position <= from {
            break;
        }
        if is_of_fork(&entry) {
            mutations_by_id.extend(entry.mutations.into_iter().map(|own| (own.id, own)));
        }
    }
    Ok(mutations_by_id)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, SetCells, SheetId};

    use super::*;

    fn at(number: usize) -> Position {
        Position::new(1, u32::try_from(number).unwrap()).unwrap()
    }

    fn own(number: usize, text_bytes: usize) -> OwnMutation {
        let cell = |row| CellEdit {
            row,
            column: 0,
            value: Some(Value::Text("x".repeat(text_bytes))),
            formula: None,
            format: None,
        };
        let cells = vec![cell(0), cell(1)];
        let operations = vec![Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })];
        OwnMutation { position: at(number), author: None, created: 0, operations }
    }

    #[test]
    fn a_long_fork_is_merged_in_parts() {
        let head = at(9_999_999);
        let small = |count| (1..=count).map(|number| own(number, 1)).collect::<Vec<_>>();
        assert_eq!(parts(&[], head), [head]);
        assert_eq!(parts(&small(MAX_MERGED_ENTRIES), head), [head]);
        let more = parts(&small(MAX_MERGED_ENTRIES + 1), head);
        assert_eq!(more, [at(MAX_MERGED_ENTRIES), head]);
        let large: Vec<_> = (1..=3).map(|number| own(number, MAX_MERGE_BYTES / 6)).collect();
        assert_eq!(parts(&large, head), [at(1), at(2), head]);
        let one_entry = vec![own(1, MAX_MERGE_BYTES / 6); 2];
        assert_eq!(parts(&one_entry, head), [head], "an entry is in one part");
    }

    #[test]
    fn pieces_name_their_mutation() {
        let pieces = split_into_pieces(&[own(1, 1), own(2, 100_000)]);
        let indexes: Vec<usize> = pieces.iter().map(|piece| piece.mutation_index).collect();
        assert_eq!(indexes, [0, 1, 1], "the second is split");
    }
}
