//! The outcomes of a replayed fork's mutations.

use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, SheetId};
use serde::Serialize;

use super::OwnMutation;
use super::pieces::SettledPiece;
use crate::sheet_deletion::needed_sheet;

/// Outcome of a replayed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ReplayOutcome {
    /// The mutation has the same effect in the new fork as in the existing fork.
    Unchanged,
    /// The mutation was adapted because its target was moved or partly deleted.
    Transformed,
    /// The mutation has no effect because its target was deleted.
    Dropped,
    /// The server rejected the mutation in the new fork.
    Rejected,
}

/// A mutation of the fork and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReplayedEdit {
    /// Position of the mutation's log entry in the existing fork.
    pub position: Position,
    /// Author of the mutation, in both forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Time of the edit in the existing fork, in seconds since the Unix epoch.
    pub created: u64,
    /// Outcome in the new fork.
    pub outcome: ReplayOutcome,
    /// Operations in the existing fork.
    pub operations: Vec<Operation>,
    /// Operations in the new fork, if they differ from the operations in the existing fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Reason for a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
}

/// Operations on one of `deleted_sheets` are reported as dropped, because they have no effect
/// although the server accepts them.
pub(super) fn combine_outcomes(
    own_mutations: &[OwnMutation],
    settled_pieces: &[SettledPiece],
    deleted_sheets: &[SheetId],
) -> Vec<ReplayedEdit> {
    let mut remaining_pieces = settled_pieces;
    let mut replayed_edits = Vec::with_capacity(own_mutations.len());
    for (mutation_index, mutation) in own_mutations.iter().enumerate() {
        let is_of_mutation = |piece: &&SettledPiece| piece.mutation_index == mutation_index;
        let piece_count = remaining_pieces.iter().take_while(is_of_mutation).count();
        let (pieces, later_pieces) = remaining_pieces.split_at(piece_count);
        replayed_edits.push(replayed_edit(mutation, pieces, deleted_sheets));
        remaining_pieces = later_pieces;
    }
    replayed_edits
}

fn replayed_edit(
    own_mutation: &OwnMutation,
    pieces: &[SettledPiece],
    deleted_sheets: &[SheetId],
) -> ReplayedEdit {
    let OwnMutation { position, author, created, operations } = own_mutation.clone();
    let committed_operations: Vec<&Operation> =
        pieces.iter().flat_map(SettledPiece::committed_operations).collect();
    let rejection = find_rejection(&committed_operations);
    let effective_operations = without_sheets(&committed_operations, deleted_sheets);
    let has_lost_operations = effective_operations.len() < committed_operations.len();
    let is_transformed = pieces.iter().any(|piece| piece.committed.is_some());
    let outcome = if rejection.is_some() {
        ReplayOutcome::Rejected
    } else if !is_transformed && !has_lost_operations {
        ReplayOutcome::Unchanged
    } else if effective_operations.is_empty() {
        ReplayOutcome::Dropped
    } else {
        ReplayOutcome::Transformed
    };
    let committed = match outcome {
        ReplayOutcome::Transformed | ReplayOutcome::Dropped => Some(effective_operations),
        ReplayOutcome::Unchanged | ReplayOutcome::Rejected => None,
    };
    ReplayedEdit { position, author, created, outcome, operations, committed, rejection }
}

fn find_rejection(operations: &[&Operation]) -> Option<Rejection> {
    operations.iter().find_map(|operation| match operation {
        Operation::Rejected(rejection) => Some(rejection.clone()),
        _ => None,
    })
}

fn without_sheets(operations: &[&Operation], sheets: &[SheetId]) -> Vec<Operation> {
    let mut remaining_operations = Vec::new();
    for &operation in operations {
        let needs_given_sheet =
            needed_sheet(operation).is_some_and(|sheet| sheets.contains(&sheet));
        if !needs_given_sheet {
            remaining_operations.push(operation.clone());
        }
    }
    remaining_operations
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{InsertBefore, RejectionReason};

    use super::*;

    fn insert(sheet: u32, before: u32) -> Operation {
        Operation::InsertRows(InsertBefore { sheet: SheetId(sheet), before, count: 1 })
    }

    fn outcome(
        settled: &[(u32, Option<Vec<Operation>>)],
        deleted_sheets: &[SheetId],
    ) -> (ReplayOutcome, usize) {
        let sent = |sheet: &u32| insert(*sheet, 7);
        let own = OwnMutation {
            position: Position::FIRST,
            author: None,
            created: 0,
            operations: settled.iter().map(|(sheet, _)| sent(sheet)).collect(),
        };
        let settled: Vec<SettledPiece> = settled
            .iter()
            .map(|(sheet, committed)| SettledPiece {
                mutation_index: 0,
                sent: sent(sheet),
                committed: committed.clone(),
            })
            .collect();
        let replayed = combine_outcomes(&[own], &settled, deleted_sheets).remove(0);
        (replayed.outcome, replayed.committed.map_or(99, |committed| committed.len()))
    }

    #[test]
    fn distinguishes_all_outcomes() {
        let rejection = Rejection::new(RejectionReason::TooFarBehind, "why");
        let rejected = Some(vec![Operation::Rejected(rejection)]);
        assert_eq!(outcome(&[(0, None), (1, None)], &[]), (ReplayOutcome::Unchanged, 99));
        assert_eq!(outcome(&[(0, Some(vec![insert(0, 9)]))], &[]), (ReplayOutcome::Transformed, 1));
        assert_eq!(outcome(&[(0, None), (0, Some(vec![]))], &[]), (ReplayOutcome::Transformed, 1));
        assert_eq!(
            outcome(&[(0, Some(vec![])), (0, Some(vec![]))], &[]),
            (ReplayOutcome::Dropped, 0)
        );
        assert_eq!(outcome(&[(0, None), (0, rejected)], &[]), (ReplayOutcome::Rejected, 99));
        // The server accepts edits of a deleted sheet unchanged.
        assert_eq!(outcome(&[(3, None)], &[SheetId(3)]), (ReplayOutcome::Dropped, 0));
        assert_eq!(
            outcome(&[(3, None), (4, None)], &[SheetId(3)]),
            (ReplayOutcome::Transformed, 1)
        );
    }
}
