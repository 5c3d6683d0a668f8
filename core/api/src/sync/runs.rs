//! Groups the mutations of a push so that each group can be appended with one request.

use super::mutation::{ParsedArguments, Pushed};
use cellar_base::limits::MAX_MUTATIONS_PER_REQUEST;
use cellar_base::position::Position;
use cellar_log::append::NewMutation;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations from one client with consecutive ids, which are appended with one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// Valid edits with the same incarnation.
    Edits {
        /// Index of the client in the list of clients of the push.
        client: usize,
        /// Number of times that the tables had been restored when the edits were made.
        incarnation: u32,
        /// Mutations, at least one.
        mutations: Vec<NewMutation>,
    },
    /// A mutation with malformed arguments.
    Invalid {
        /// Index of the client in the list of clients of the push.
        client: usize,
        /// Mutation id.
        id: u64,
        /// Reason.
        rejection: Rejection,
    },
}

impl Run {
    /// Returns the index of the client in the list of clients of the push.
    #[must_use]
    pub fn client(&self) -> usize {
        match self {
            Self::Edits { client, .. } | Self::Invalid { client, .. } => *client,
        }
    }

    /// Returns the id of the first mutation.
    #[must_use]
    pub fn first_id(&self) -> u64 {
        match self {
            Self::Edits { mutations, .. } => mutations.first().map_or(0, |first| first.id),
            Self::Invalid { id, .. } => *id,
        }
    }

    /// Returns the id of the last mutation.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        match self {
            Self::Edits { mutations, .. } => mutations.last().map_or(0, |last| last.id),
            Self::Invalid { id, .. } => *id,
        }
    }

    /// Returns whether an edit can be appended in the same request as the edits of this run.
    fn accepts(
        &self,
        edit_client: usize,
        edit_id: u64,
        edit_incarnation: u32,
        operation: &Operation,
    ) -> bool {
        let Self::Edits { client, incarnation, mutations } = self else { return false };
        let run_is_exclusive =
            mutations.iter().any(|mutation| needs_own_request(&mutation.operation));
        let follows_last_id = self.last_id().checked_add(1) == Some(edit_id);
        *client == edit_client
            && *incarnation == edit_incarnation
            && follows_last_id
            && mutations.len() < MAX_MUTATIONS_PER_REQUEST
            && !run_is_exclusive
            && !needs_own_request(operation)
    }

    fn add(&mut self, id: u64, base: Position, operation: Operation) {
        if let Self::Edits { mutations, .. } = self {
            mutations.push(NewMutation { id, base, operation });
        }
    }
}

/// Returns whether an operation requires its own append request.
///
/// An undo or revert is computed from the state before its request, so it must not depend on other
/// mutations in the same request. An import fails while its chunks are missing, so other mutations
/// in the same request would fail too.
fn needs_own_request(operation: &Operation) -> bool {
    operation.is_resolved_on_append() || matches!(operation, Operation::ImportSheet(_))
}

/// Groups the mutations of a push into runs. The order of the mutations is preserved.
#[must_use]
pub fn group_into_runs(pushed_mutations: Vec<Pushed>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for Pushed { client, id, arguments } in pushed_mutations {
        match arguments {
            ParsedArguments::Invalid(rejection) => {
                runs.push(Run::Invalid { client, id, rejection });
            }
            ParsedArguments::Edit { base, incarnation, operation } => match runs.last_mut() {
                Some(last_run) if last_run.accepts(client, id, incarnation, &operation) => {
                    last_run.add(id, base, operation);
                }
                _ => {
                    let mutations = vec![NewMutation { id, base, operation }];
                    runs.push(Run::Edits { client, incarnation, mutations });
                }
            },
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_log::testing::support::set_text;
    use cellar_sheet::operation::{RejectionReason, Revert, Undo};

    fn edit(client: usize, id: u64, incarnation: u32) -> Pushed {
        let arguments = ParsedArguments::Edit {
            base: Position::FIRST,
            incarnation,
            operation: set_text(0, "x".into()),
        };
        Pushed { client, id, arguments }
    }

    fn shape(pushed: Vec<Pushed>) -> Vec<(usize, u64, u64)> {
        let shape = |run: &Run| (run.client(), run.first_id(), run.last_id());
        group_into_runs(pushed).iter().map(shape).collect()
    }

    #[test]
    fn groups_consecutive_edits_of_a_client_and_incarnation() {
        let pushed = vec![edit(0, 1, 0), edit(0, 2, 0), edit(0, 4, 0), edit(1, 5, 0)];
        assert_eq!(shape(pushed), [(0, 1, 2), (0, 4, 4), (1, 5, 5)]);
        assert_eq!(shape(vec![edit(0, 1, 0), edit(0, 2, 1)]), [(0, 1, 1), (0, 2, 2)]);
        assert_eq!(shape(vec![edit(0, 1, 0), edit(0, 1, 0)]), [(0, 1, 1), (0, 1, 1)]);
        assert_eq!(shape(vec![edit(0, u64::MAX, 0), edit(0, 0, 0)]).len(), 2);
    }

    #[test]
    fn undos_reverts_and_invalid_mutations_have_own_runs() {
        let alone = |id, operation| Pushed {
            client: 0,
            id,
            arguments: ParsedArguments::Edit { base: Position::FIRST, incarnation: 0, operation },
        };
        let invalid = ParsedArguments::Invalid(Rejection::new(RejectionReason::Invalid, "x"));
        let pushed = vec![
            edit(0, 1, 0),
            alone(2, Operation::Undo(Undo { position: Position::FIRST })),
            edit(0, 3, 0),
            Pushed { client: 0, id: 4, arguments: invalid },
            edit(0, 5, 0),
            alone(6, Operation::Revert(Revert::whole(Position::FIRST))),
            edit(0, 7, 0),
        ];
        assert_eq!(
            shape(pushed),
            [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)]
                .map(|(first, last)| (0, first, last))
        );
    }

    #[test]
    fn limits_the_mutations_of_a_run() {
        let count = MAX_MUTATIONS_PER_REQUEST as u64;
        let pushed = |count| (1..=count).map(|id| edit(0, id, 0)).collect::<Vec<_>>();
        assert_eq!(shape(pushed(count)), [(0, 1, count)]);
        assert_eq!(shape(pushed(count + 1)), [(0, 1, count), (0, count + 1, count + 1)]);
    }
}
