//! Clients of a sync group.

use cellar_api::sync::{ParsedArguments, Pushed, Run, group_into_runs};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::invariants::MutationId;
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::process::Process;
use super::table::Table;
use crate::log::writer::mutation;

/// What a mutation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Says {
    /// An edit, on what its client had pulled.
    Edit,
    /// Nothing that could be understood.
    Nothing,
    /// An edit on a base that is in no log.
    NoBase,
}

/// A mutation that was pushed: it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Made {
    /// What it says.
    pub says: Says,
    /// Its base.
    pub base: Position,
    /// The incarnation of that.
    pub incarnation: u32,
}

/// A client that makes a few mutations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    number: usize,
    /// Its mutations that were pushed.
    pub made: Vec<Made>,
    /// What it has pulled up to, and the incarnation of that.
    seen: (Position, u32),
    /// Its last mutation that a pull has acknowledged.
    pub acknowledged: u64,
    /// The last of its mutations that a process knows to be in the log.
    pub known: u64,
    /// It was told that the log knows nothing of it, or is another one: it pushes no more.
    pub is_lost: bool,
    /// The push that it waits for.
    pub process: Option<Process>,
}

impl Client {
    /// A client that has pulled the beginning of the log.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self {
            number,
            made: Vec::new(),
            seen: (Position::FIRST, FIRST_INCARNATION),
            acknowledged: 0,
            known: 0,
            is_lost: false,
            process: None,
        }
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> ClientKey {
        key_of(self.number)
    }

    /// The incarnation of what it has pulled.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.seen.1
    }

    /// Its mutation `id`.
    #[must_use]
    pub fn mutation(&self, id: u64) -> MutationId {
        MutationId { client: self.key(), id }
    }

    /// What mutation `id` is, if it was pushed.
    #[must_use]
    pub fn made(&self, id: u64) -> Option<&Made> {
        (1..).zip(&self.made).find_map(|(made, its)| (made == id).then_some(its))
    }

    /// Makes its mutations up to the `count`-th, and cuts a push of all that is not acknowledged.
    pub fn push(&mut self, says: &[Says], count: usize) -> Vec<Run> {
        let (base, incarnation) = self.seen;
        let new = says.iter().take(count).skip(self.made.len());
        self.made.extend(new.map(|says| Made { says: *says, base, incarnation }));
        let ids = (1..).zip(&self.made).filter(|(id, _)| *id > self.acknowledged);
        group_into_runs(
            ids.map(|(id, made)| Pushed { client: 0, id, arguments: made.arguments(id) }).collect(),
        )
    }

    /// Pulls all that there is; whether anything is new.
    pub fn pull(&mut self, table: &Table) -> bool {
        if self.seen == (table.tail(), table.incarnation()) {
            return false;
        }
        if table.incarnation() == self.seen.1 {
            self.seen.0 = table.tail();
            self.acknowledged = self.acknowledged.max(table.last_id(self.key()));
        } else {
            self.is_lost = true;
        }
        true
    }

    /// The processes of before a restore are gone, and what it waits for with them.
    pub fn meet_new_processes(&mut self) {
        self.process = None;
        self.known = 0;
    }

    /// Whether it has nothing more to do.
    #[must_use]
    pub fn is_done(&self, says: &[Says]) -> bool {
        let all = u64::try_from(says.len()).unwrap_or(u64::MAX);
        self.is_lost || self.acknowledged >= all
    }
}

impl Made {
    fn arguments(&self, id: u64) -> ParsedArguments {
        let (base, incarnation) = (self.base, self.incarnation);
        match self.says {
            Says::Edit => ParsedArguments::Edit { base, incarnation, operation: mutation(id) },
            Says::NoBase => {
                ParsedArguments::Edit { base: nowhere(), incarnation, operation: mutation(id) }
            }
            Says::Nothing => {
                ParsedArguments::Invalid(Rejection::new(RejectionReason::Invalid, "nothing"))
            }
        }
    }
}

pub(super) fn key_of(number: usize) -> ClientKey {
    ClientKey([u8::try_from(number).unwrap_or(u8::MAX); 8])
}

/// In a segment that the log does not come to.
fn nowhere() -> Position {
    Position::new(7, 0).unwrap_or(Position::FIRST)
}
