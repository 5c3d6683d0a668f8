//! Clients of a sync group.

use cellar_api::sync::{ParsedArguments, Pushed, Run, group_into_runs};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::invariants::MutationId;
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::process::Process;
use super::table::{Table, client_key};
use crate::log::writer::identity_operation;

/// Content of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutationContent {
    /// A valid edit. Its base is the position up to which the client last pulled.
    Edit,
    /// Malformed arguments.
    Invalid,
    /// An edit whose base is a position that does not exist in any log.
    NoBase,
}

/// A mutation that was pushed at least once. It never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PushedMutation {
    /// Content of the mutation.
    pub content: MutationContent,
    /// Base of the mutation.
    pub base: Position,
    /// Incarnation of the base.
    pub incarnation: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pull {
    position: Position,
    incarnation: u32,
}

/// A client that creates and pushes a few mutations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    index: usize,
    /// The mutations that were pushed at least once.
    pub pushed: Vec<PushedMutation>,
    last_pull: Pull,
    /// Last mutation id acknowledged by a pull.
    pub acknowledged_id: u64,
    /// The last mutation id that a process of the client knows to be in the log.
    pub known_last_id: u64,
    /// Whether a response has reported that the log was restored, or that the client is unknown.
    /// After such a response, the client no longer pushes.
    pub is_lost: bool,
    /// Process that runs the client's push.
    pub process: Option<Process>,
}

impl Client {
    /// Creates a client that has pulled the first entry of the log.
    #[must_use]
    pub fn new(index: usize) -> Self {
        Self {
            index,
            pushed: Vec::new(),
            last_pull: Pull { position: Position::FIRST, incarnation: FIRST_INCARNATION },
            acknowledged_id: 0,
            known_last_id: 0,
            is_lost: false,
            process: None,
        }
    }

    /// Returns the client's key.
    #[must_use]
    pub fn key(&self) -> ClientKey {
        client_key(self.index)
    }

    /// Returns the incarnation of the log when the client last pulled.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.last_pull.incarnation
    }

    /// Returns the globally unique id of the client's mutation with the number `id`.
    #[must_use]
    pub fn mutation_id(&self, id: u64) -> MutationId {
        MutationId { client: self.key(), id }
    }

    /// Returns the client's mutation with the number `id`, or `None` if it was never pushed.
    #[must_use]
    pub fn pushed_mutation(&self, id: u64) -> Option<&PushedMutation> {
        let index = usize::try_from(id.checked_sub(1)?).ok()?;
        self.pushed.get(index)
    }

    /// Creates mutations until the client has `mutation_count`. Returns all unacknowledged
    /// mutations, grouped into runs as in a push.
    pub fn push(&mut self, contents: &[MutationContent], mutation_count: usize) -> Vec<Run> {
        let Pull { position, incarnation } = self.last_pull;
        for content in contents.iter().take(mutation_count).skip(self.pushed.len()) {
            self.pushed.push(PushedMutation { content: *content, base: position, incarnation });
        }
        let mut unacknowledged_mutations = Vec::new();
        for (id, mutation) in (1..).zip(&self.pushed) {
            if id > self.acknowledged_id {
                let arguments = mutation.arguments(id);
                unacknowledged_mutations.push(Pushed { client: 0, id, arguments });
            }
        }
        group_into_runs(unacknowledged_mutations)
    }

    /// Returns whether the log has changed since the client last pulled.
    #[must_use]
    pub fn has_outdated_pull(&self, table: &Table) -> bool {
        self.last_pull.incarnation != table.incarnation() || self.last_pull.position != table.tail()
    }

    /// Pulls all entries. If the log was restored since the last pull, the client stops instead.
    pub fn pull(&mut self, table: &Table) {
        if self.last_pull.incarnation != table.incarnation() {
            self.is_lost = true;
            return;
        }
        self.last_pull.position = table.tail();
        self.acknowledged_id = self.acknowledged_id.max(table.last_id(self.key()));
    }

    /// Drops the process of the client and the cached mutation id, because a restore of the log
    /// invalidates both.
    pub fn lose_processes(&mut self) {
        self.process = None;
        self.known_last_id = 0;
    }

    /// Returns whether the client has no mutations left to push.
    #[must_use]
    pub fn is_done(&self, contents: &[MutationContent]) -> bool {
        let last_id = u64::try_from(contents.len()).unwrap_or(u64::MAX);
        self.is_lost || self.acknowledged_id >= last_id
    }
}

impl PushedMutation {
    fn arguments(&self, id: u64) -> ParsedArguments {
        let base = match self.content {
            MutationContent::Edit => self.base,
            MutationContent::NoBase => missing_position(),
            MutationContent::Invalid => {
                let rejection = Rejection::new(RejectionReason::Invalid, "nothing");
                return ParsedArguments::Invalid(rejection);
            }
        };
        let operation = identity_operation(id);
        ParsedArguments::Edit { base, incarnation: self.incarnation, operation }
    }
}

/// Returns a position that never exists, because the log never reaches its segment.
fn missing_position() -> Position {
    Position::new(7, 0).unwrap_or(Position::FIRST)
}
