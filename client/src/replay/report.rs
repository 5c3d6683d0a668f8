//! The outcome of each mutation of a replayed fork.

use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, SheetId};
use serde::Serialize;

use super::OwnMutation;
use super::append::Settled;
use crate::sheet_deletion::needed_sheet;

/// Outcome of a replayed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplayOutcome {
    /// Same effect as in the existing fork.
    Unchanged,
    /// Adapted: its target has moved, or was partly deleted.
    Transformed,
    /// No effect: its target was deleted.
    Dropped,
    /// Rejected at the new position.
    Rejected,
}

/// A mutation of the fork and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayedEdit {
    /// Entry of the fork that contains the mutation.
    pub position: Position,
    /// Author in the existing fork. In the new fork, the author is the caller of the replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Creation time, Unix seconds.
    pub created: u64,
    /// Outcome.
    pub outcome: ReplayOutcome,
    /// Operations in the existing fork.
    pub operations: Vec<Operation>,
    /// Operations in the new fork, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Reason of a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
}

/// Combines the outcomes of the operations of each mutation. The server accepts edits of deleted sheets,
/// which have no effect.
pub(super) fn replayed(
    own: &[OwnMutation],
    settled: &[Settled],
    gone: &[SheetId],
) -> Vec<ReplayedEdit> {
    let mut rest = settled;
    let each = own.iter().enumerate().map(|(of, mutation)| {
        let count = rest.iter().take_while(|settled| settled.of == of).count();
        let (its, behind) = rest.split_at(count);
        rest = behind;
        one(mutation, its, gone)
    });
    each.collect()
}

fn one(own: &OwnMutation, settled: &[Settled], gone: &[SheetId]) -> ReplayedEdit {
    let OwnMutation { position, author, created, operations } = own.clone();
    let is_there =
        |operation: &&Operation| needed_sheet(operation).is_none_or(|sheet| !gone.contains(&sheet));
    let all = || settled.iter().flat_map(Settled::effective);
    let rejection = all().find_map(|operation| match operation {
        Operation::Rejected(rejection) => Some(rejection.clone()),
        _ => None,
    });
    let effective: Vec<Operation> = all().filter(is_there).cloned().collect();
    let moved = settled.iter().any(|settled| settled.committed.is_some());
    let outcome = match &rejection {
        Some(_) => ReplayOutcome::Rejected,
        None if !moved && effective.len() == all().count() => ReplayOutcome::Unchanged,
        None if effective.is_empty() => ReplayOutcome::Dropped,
        None => ReplayOutcome::Transformed,
    };
    let differs = matches!(outcome, ReplayOutcome::Transformed | ReplayOutcome::Dropped);
    let committed = differs.then_some(effective);
    ReplayedEdit { position, author, created, outcome, operations, committed, rejection }
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
        gone: &[SheetId],
    ) -> (ReplayOutcome, usize) {
        let sent = |sheet: &u32| insert(*sheet, 7);
        let own = OwnMutation {
            position: Position::FIRST,
            author: None,
            created: 0,
            operations: settled.iter().map(|(sheet, _)| sent(sheet)).collect(),
        };
        let settled: Vec<Settled> = settled
            .iter()
            .map(|(sheet, committed)| Settled {
                of: 0,
                sent: sent(sheet),
                committed: committed.clone(),
            })
            .collect();
        let replayed = replayed(&[own], &settled, gone).remove(0);
        (replayed.outcome, replayed.committed.map_or(99, |committed| committed.len()))
    }

    #[test]
    fn every_outcome_is_told_apart() {
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
        // The server takes edits of a sheet that is gone as they are.
        assert_eq!(outcome(&[(3, None)], &[SheetId(3)]), (ReplayOutcome::Dropped, 0));
        assert_eq!(
            outcome(&[(3, None), (4, None)], &[SheetId(3)]),
            (ReplayOutcome::Transformed, 1)
        );
    }
}
