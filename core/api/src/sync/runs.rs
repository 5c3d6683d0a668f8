//! Which mutations of a push go together.

use super::mutation::{Asked, Pushed};
use cellar_base::limits::MAX_MUTATIONS_PER_REQUEST;
use cellar_base::position::Position;
use cellar_log::append::NewMutation;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations of one client with consecutive ids that become one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// Edits of one incarnation.
    Edits {
        /// Their client, as a number into the clients of the push.
        client: usize,
        /// The incarnation of their bases.
        incarnation: u32,
        /// At least one.
        mutations: Vec<NewMutation>,
    },
    /// A mutation that says nothing.
    Nothing {
        /// Its client, likewise.
        client: usize,
        /// Its id.
        id: u64,
        /// Why.
        rejection: Rejection,
    },
}

impl Run {
    /// Its client, as a number into the clients of the push.
    #[must_use]
    pub fn client(&self) -> usize {
        match self {
            Self::Edits { client, .. } | Self::Nothing { client, .. } => *client,
        }
    }

    /// The id of its first mutation.
    #[must_use]
    pub fn first_id(&self) -> u64 {
        match self {
            Self::Edits { mutations, .. } => mutations.first().map_or(0, |first| first.id),
            Self::Nothing { id, .. } => *id,
        }
    }

    /// The id of its last mutation.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        match self {
            Self::Edits { mutations, .. } => mutations.last().map_or(0, |last| last.id),
            Self::Nothing { id, .. } => *id,
        }
    }

    fn takes(&self, of: usize, id: u64, of_incarnation: u32, operation: &Operation) -> bool {
        let Self::Edits { client, incarnation, mutations } = self else { return false };
        let alone = mutations.iter().any(|mutation| goes_alone(&mutation.operation));
        (*client, *incarnation) == (of, of_incarnation)
            && self.last_id().checked_add(1) == Some(id)
            && mutations.len() < MAX_MUTATIONS_PER_REQUEST
            && !alone
            && !goes_alone(operation)
    }

    fn add(&mut self, id: u64, base: Position, operation: Operation) {
        if let Self::Edits { mutations, .. } = self {
            mutations.push(NewMutation { id, base, operation });
        }
    }
}

/// An undo or a revert is resolved on the state as it is; and an import whose chunks are not there must
/// not take others with it.
fn goes_alone(operation: &Operation) -> bool {
    operation.is_resolved_on_append() || matches!(operation, Operation::ImportSheet(_))
}

/// The mutations of a push, in its order, as requests.
#[must_use]
pub fn runs(pushed: Vec<Pushed>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for Pushed { client, id, asked } in pushed {
        let (base, incarnation, operation) = match asked {
            Asked::Nothing(rejection) => {
                runs.push(Run::Nothing { client, id, rejection });
                continue;
            }
            Asked::Edit { base, incarnation, operation } => (base, incarnation, operation),
        };
        match runs.last_mut() {
            Some(last) if last.takes(client, id, incarnation, &operation) => {
                last.add(id, base, operation);
            }
            _ => {
                let mutations = vec![NewMutation { id, base, operation }];
                runs.push(Run::Edits { client, incarnation, mutations });
            }
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
        let asked =
            Asked::Edit { base: Position::FIRST, incarnation, operation: set_text(0, "x".into()) };
        Pushed { client, id, asked }
    }

    fn shape(pushed: Vec<Pushed>) -> Vec<(usize, u64, u64)> {
        let shape = |run: &Run| (run.client(), run.first_id(), run.last_id());
        runs(pushed).iter().map(shape).collect()
    }

    #[test]
    fn consecutive_edits_of_one_client_and_incarnation_go_together() {
        let pushed = vec![edit(0, 1, 0), edit(0, 2, 0), edit(0, 4, 0), edit(1, 5, 0)];
        assert_eq!(shape(pushed), [(0, 1, 2), (0, 4, 4), (1, 5, 5)]);
        assert_eq!(shape(vec![edit(0, 1, 0), edit(0, 2, 1)]), [(0, 1, 1), (0, 2, 2)]);
        assert_eq!(shape(vec![edit(0, 1, 0), edit(0, 1, 0)]), [(0, 1, 1), (0, 1, 1)]);
        assert_eq!(shape(vec![edit(0, u64::MAX, 0), edit(0, 0, 0)]).len(), 2);
    }

    #[test]
    fn what_goes_alone_is_alone() {
        let alone = |id, operation| Pushed {
            client: 0,
            id,
            asked: Asked::Edit { base: Position::FIRST, incarnation: 0, operation },
        };
        let nothing = Asked::Nothing(Rejection::new(RejectionReason::Invalid, "x"));
        let pushed = vec![
            edit(0, 1, 0),
            alone(2, Operation::Undo(Undo { position: Position::FIRST })),
            edit(0, 3, 0),
            Pushed { client: 0, id: 4, asked: nothing },
            edit(0, 5, 0),
            alone(6, Operation::Revert(Revert { position: Position::FIRST })),
            edit(0, 7, 0),
        ];
        assert_eq!(
            shape(pushed),
            [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)]
                .map(|(first, last)| (0, first, last))
        );
    }

    #[test]
    fn a_request_has_at_most_as_many_as_are_allowed() {
        let count = MAX_MUTATIONS_PER_REQUEST as u64;
        let pushed = |count| (1..=count).map(|id| edit(0, id, 0)).collect::<Vec<_>>();
        assert_eq!(shape(pushed(count)), [(0, 1, count)]);
        assert_eq!(shape(pushed(count + 1)), [(0, 1, count), (0, count + 1, count + 1)]);
    }
}
