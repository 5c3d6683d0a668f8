//! Operations that are computed from the state before an entry, for undos, reverts and imports.

use super::request::{ImportRequest, Payload, Request};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, Revert};

/// The operations that were computed for an undo or revert, or in addition to an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// Position of the state from which the operations were computed. The operations are put only
    /// if the log contains no later edit.
    pub state_position: Position,
    /// Operations that reverse the edits, in order. Empty if there is nothing to reverse. For an import,
    /// the operations that follow it.
    pub operations: Vec<Operation>,
    /// The rejection to append if there are no operations. Without it, the rejection has a general
    /// reason.
    pub rejection: Option<Rejection>,
}

impl Resolution {
    /// Creates a resolution without a rejection of its own.
    #[must_use]
    pub fn new(state_position: Position, operations: Vec<Operation>) -> Self {
        Self { state_position, operations, rejection: None }
    }
}

/// A request for a single undo or revert, without other mutations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolutionRequest {
    /// Client that sent the request.
    pub client: ClientKey,
    /// Id of the mutation.
    pub id: u64,
    /// Base of the mutation: the latest position that its author had seen.
    pub base: Position,
    /// The edits to reverse.
    pub target: Target,
}

/// Selects the edits that an undo or revert reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// All edits of the entry at this position.
    Entry(Position),
    /// All edits after a position, in all sheets or in a part of them.
    After(Revert),
}

impl Request {
    /// Returns the request's undo or revert, if any. The caller must compute its operations.
    #[must_use]
    pub fn resolution_request(&self) -> Option<ResolutionRequest> {
        let (id, mutation) = self.mutations().next()?;
        let target = match &mutation.authored {
            Operation::Undo(undo) => Target::Entry(undo.position),
            Operation::Revert(revert) => Target::After(*revert),
            _ => return None,
        };
        Some(ResolutionRequest { client: self.client, id, base: mutation.base, target })
    }

    /// Returns the first mutation of the request if it imports a sheet that replaces another. The
    /// caller must compute the operations that let references to the replaced sheet follow.
    #[must_use]
    pub fn replacing_import(&self) -> Option<ImportRequest<'_>> {
        let (id, mutation) = self.mutations().next()?;
        match &mutation.authored {
            Operation::ImportSheet(import) if import.replaces.is_some() => {
                Some(ImportRequest { id, base: mutation.base, import })
            }
            _ => None,
        }
    }

    /// Sets the operations computed for the first mutation of the request. Without them, an undo or
    /// revert is rejected.
    #[must_use]
    pub fn with_resolution(mut self, resolution: Resolution) -> Self {
        if let Payload::Mutations(mutations) = &mut self.payload
            && let Some(first_mutation) = mutations.first_mut()
        {
            first_mutation.resolution = Some(resolution);
        }
        self
    }
}
