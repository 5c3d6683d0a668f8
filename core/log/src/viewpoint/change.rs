//! Committed changes from the viewpoint of one client.

use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

/// Additional cost of an own mutation, besides its spans. It ends a group of composed maps.
const OWN_COST: usize = 16;

/// A committed change that moves cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Operations that the client did not know when it wrote mutations on an earlier base. These
    /// are the operations of other clients, and the operations to which the client's own undo or
    /// revert was resolved.
    Foreign {
        /// Position of the entry.
        position: Position,
        /// Committed operations.
        operations: Vec<Operation>,
    },
    /// A mutation that the client itself wrote.
    Own {
        /// Position of the entry.
        position: Position,
        /// Base: the position that the client had seen. Never below the base of the client's
        /// preceding mutation.
        base: Position,
        /// Operation as authored, in coordinates after `base` and the client's earlier mutations.
        authored: Operation,
        /// Operations as committed.
        committed: Vec<Operation>,
    },
}

impl Change {
    pub(super) fn position(&self) -> Position {
        match self {
            Self::Foreign { position, .. } | Self::Own { position, .. } => *position,
        }
    }

    /// Returns the base if the change is the client's own mutation.
    pub(super) fn own_base(&self) -> Option<Position> {
        match self {
            Self::Own { base, .. } => Some(*base),
            Self::Foreign { .. } => None,
        }
    }

    /// Returns the cost of a transform past the change, which is the number of its spans but at
    /// least one.
    pub(super) fn cost(&self) -> usize {
        match self {
            Self::Foreign { operations, .. } => total_parts(operations),
            Self::Own { authored, committed, .. } => {
                total_parts(committed).max(authored.transform_cost()).saturating_add(OWN_COST)
            }
        }
    }
}

fn total_parts(operations: &[Operation]) -> usize {
    operations.iter().map(Operation::transform_cost).fold(0, usize::saturating_add)
}
