//! Clients of a sync group.

use cellar_api::sync::{ParsedArguments, Pushed, Run, group_into_runs};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::invariants::MutationId;
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::process::Process;
use super::table::Table;
use crate::log::writer::operation;

/// Content of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutationContent {
    /// A valid edit based on the client's last pulled position.
    Edit,
    /// Malformed arguments.
    Invalid,
    /// An edit based on a position that exists in no log.
    NoBase,
}

/// A pushed mutation. Immutable once pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PushedMutation {
    /// Content of the mutation.
    pub content: MutationContent,
    /// Base of the mutation.
    pub base: Position,
    /// Incarnation of the base.
    pub incarnation: u32,
}

/// A client that creates and pushes a few mutations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    number: usize,
    /// Mutations that were pushed at least once.
    pub pushed: Vec<PushedMutation>,
    /// Position and incarnation of the client's last pull.
    last_pull: (Position, u32),
    /// Last mutation id acknowledged by a pull.
    pub acknowledged: u64,
    /// Last mutation id that a process knows to be in the log.
    pub known_last_id: u64,
    /// Set once a response reported a restore or an unknown client. The client then stops pushing.
    pub is_lost: bool,
    /// Process that runs the client's push.
    pub process: Option<Process>,
}

impl Client {
    /// Creates a client that has pulled the log's first entry.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self {
            number,
            pushed: Vec::new(),
            last_pull: (Position::FIRST, FIRST_INCARNATION),
            acknowledged: 0,
            known_last_id: 0,
            is_lost: false,
            process: None,
        }
    }

    /// Returns the client's key.
    #[must_use]
    pub fn key(&self) -> ClientKey {
        key_of(self.number)
    }

    /// Returns the incarnation of the client's last pull.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.last_pull.1
    }

    /// Returns the global id of this client's mutation `id`.
    #[must_use]
    pub fn mutation(&self, id: u64) -> MutationId {
        MutationId { client: self.key(), id }
    }

    /// Returns mutation `id`, if it was pushed.
    #[must_use]
    pub fn pushed_mutation(&self, id: u64) -> Option<&PushedMutation> {
        let index = usize::try_from(id.checked_sub(1)?).ok()?;
        self.pushed.get(index)
    }

    /// Creates the mutations up to number `count`. Returns the runs of a push of all unacknowledged
    /// mutations.
    pub fn push(&mut self, contents: &[MutationContent], count: usize) -> Vec<Run> {
        let (base, incarnation) = self.last_pull;
        let new = contents.iter().take(count).skip(self.pushed.len());
        self.pushed.extend(new.map(|content| PushedMutation {
            content: *content,
            base,
            incarnation,
        }));
        let numbered = (1..).zip(&self.pushed);
        let unacknowledged = numbered.filter(|(id, _)| *id > self.acknowledged);
        group_into_runs(
            unacknowledged
                .map(|(id, mutation)| Pushed { client: 0, id, arguments: mutation.arguments(id) })
                .collect(),
        )
    }

    /// Pulls all entries. Returns whether the client's state changed.
    pub fn pull(&mut self, table: &Table) -> bool {
        let (pulled_position, pulled_incarnation) = self.last_pull;
        if pulled_incarnation != table.incarnation() {
            self.is_lost = true;
            return true;
        }
        if pulled_position == table.tail() {
            return false;
        }
        self.last_pull.0 = table.tail();
        self.acknowledged = self.acknowledged.max(table.last_id(self.key()));
        true
    }

    /// Drops the client's process, as a restore does: in-flight pushes and cached ids are lost.
    pub fn lose_processes(&mut self) {
        self.process = None;
        self.known_last_id = 0;
    }

    /// Returns whether the client has nothing left to push.
    #[must_use]
    pub fn is_done(&self, contents: &[MutationContent]) -> bool {
        let all = u64::try_from(contents.len()).unwrap_or(u64::MAX);
        self.is_lost || self.acknowledged >= all
    }
}

impl PushedMutation {
    fn arguments(&self, id: u64) -> ParsedArguments {
        let (base, incarnation) = (self.base, self.incarnation);
        match self.content {
            MutationContent::Edit => {
                ParsedArguments::Edit { base, incarnation, operation: operation(id) }
            }
            MutationContent::NoBase => ParsedArguments::Edit {
                base: missing_position(),
                incarnation,
                operation: operation(id),
            },
            MutationContent::Invalid => {
                ParsedArguments::Invalid(Rejection::new(RejectionReason::Invalid, "nothing"))
            }
        }
    }
}

pub(super) fn key_of(number: usize) -> ClientKey {
    ClientKey([u8::try_from(number).unwrap_or(u8::MAX); 8])
}

/// Returns a position in a segment that the log never reaches.
fn missing_position() -> Position {
    Position::new(7, 0).unwrap_or(Position::FIRST)
}
