//! Committed changes, as one client sees them.

use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

/// Additional cost of a client's own mutation. It ends a group of changes that are composed
/// together, which slows down the composition.
const OWN_MUTATION_COST: usize = 16;

/// A committed change that moves cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Operations of other clients, or operations that were computed for the client's own undo or
    /// revert. The client had not seen them when it wrote a mutation with an earlier base.
    Foreign {
        position: Position,
        /// The committed operations.
        operations: Vec<Operation>,
    },
    Own {
        position: Position,
        /// Base of the mutation, which is the latest position that the client had seen. Bases never
        /// decrease: if the client sends a lower base, the base of the client's preceding mutation
        /// is used.
        base: Position,
        /// Operation as authored, in the coordinates after `base` and the client's earlier
        /// mutations.
        authored: Operation,
        committed: Vec<Operation>,
    },
}

impl Change {
    pub(super) fn position(&self) -> Position {
        match self {
            Self::Foreign { position, .. } | Self::Own { position, .. } => *position,
        }
    }

    pub(super) fn own_base(&self) -> Option<Position> {
        match self {
            Self::Own { base, .. } => Some(*base),
            Self::Foreign { .. } => None,
        }
    }

    /// Returns the cost of composing the change with other changes. Each operation costs one unit
    /// per deleted span, but at least one unit. The client's own mutation costs an additional
    /// `OWN_MUTATION_COST`.
    pub(super) fn cost(&self) -> usize {
        match self {
            Self::Foreign { operations, .. } => total_transform_cost(operations),
            Self::Own { authored, committed, .. } => {
                let span_cost = total_transform_cost(committed).max(authored.transform_cost());
                span_cost.saturating_add(OWN_MUTATION_COST)
            }
        }
    }
}

fn total_transform_cost(operations: &[Operation]) -> usize {
    operations.iter().map(Operation::transform_cost).fold(0, usize::saturating_add)
}
