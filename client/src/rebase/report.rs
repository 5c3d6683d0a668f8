//! What became of each mutation of a fork that was rebased.

use cellar_core::operation::{Operation, Rejection, SheetId};
use cellar_core::position::Position;
use serde::Serialize;

use super::OwnMutation;
use super::replay::Settled;
use crate::sheet_loss::needed_sheet;

/// What became of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It does what it did.
    Unchanged,
    /// What it is about has moved, or some of it is gone.
    Transformed,
    /// Nothing of what it is about is left.
    Dropped,
    /// It cannot be done there.
    Rejected,
}

/// A mutation of the fork, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// The entry of the fork that it is in.
    pub position: Position,
    /// Who made it there; whoever rebases is its author in the new fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, Unix seconds.
    pub created: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// What it did in the fork.
    pub operations: Vec<Operation>,
    /// What it does in the new one, if that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Why it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
}

/// Puts together what became of each mutation's operations; edits of sheets that are gone change
/// nothing, though they are taken as they are.
pub(super) fn replayed(
    own: &[OwnMutation],
    settled: &[Settled],
    gone: &[SheetId],
) -> Vec<Replayed> {
    let mut rest = settled;
    let each = own.iter().enumerate().map(|(of, mutation)| {
        let count = rest.iter().take_while(|settled| settled.of == of).count();
        let (its, behind) = rest.split_at(count);
        rest = behind;
        one(mutation, its, gone)
    });
    each.collect()
}

fn one(own: &OwnMutation, settled: &[Settled], gone: &[SheetId]) -> Replayed {
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
        Some(_) => Outcome::Rejected,
        None if !moved && effective.len() == all().count() => Outcome::Unchanged,
        None if effective.is_empty() => Outcome::Dropped,
        None => Outcome::Transformed,
    };
    let differs = matches!(outcome, Outcome::Transformed | Outcome::Dropped);
    let committed = differs.then_some(effective);
    Replayed { position, author, created, outcome, operations, committed, rejection }
}

#[cfg(test)]
mod tests {
    use cellar_core::operation::{InsertBefore, RejectionReason};

    use super::*;

    fn insert(sheet: u32, before: u32) -> Operation {
        Operation::InsertRows(InsertBefore { sheet: SheetId(sheet), before, count: 1 })
    }

    fn outcome(settled: &[(u32, Option<Vec<Operation>>)], gone: &[SheetId]) -> (Outcome, usize) {
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
        assert_eq!(outcome(&[(0, None), (1, None)], &[]), (Outcome::Unchanged, 99));
        assert_eq!(outcome(&[(0, Some(vec![insert(0, 9)]))], &[]), (Outcome::Transformed, 1));
        assert_eq!(outcome(&[(0, None), (0, Some(vec![]))], &[]), (Outcome::Transformed, 1));
        assert_eq!(outcome(&[(0, Some(vec![])), (0, Some(vec![]))], &[]), (Outcome::Dropped, 0));
        assert_eq!(outcome(&[(0, None), (0, rejected)], &[]), (Outcome::Rejected, 99));
        // The server takes edits of a sheet that is gone as they are.
        assert_eq!(outcome(&[(3, None)], &[SheetId(3)]), (Outcome::Dropped, 0));
        assert_eq!(outcome(&[(3, None), (4, None)], &[SheetId(3)]), (Outcome::Transformed, 1));
    }
}
