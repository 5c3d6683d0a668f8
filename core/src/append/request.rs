//! What a client asks to append, checked for everything that needs no log.

use crate::entry::{BodyError, Mutation, encoded_mutation_bytes};
use crate::identity::{ClientKey, LogId};
use crate::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use crate::operation::{InvalidOperation, Operation};
use crate::position::Position;

/// Bytes of a body around its mutations: their count, as a variable-length integer.
const BODY_FRAME_BYTES: usize = 5;

/// One mutation, as its author meant it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Its id: 1 for a client's first, then consecutive.
    pub id: u64,
    /// The position its author had seen; never changes, however often it is sent.
    pub base: Position,
    /// What it does.
    pub operation: Operation,
}

/// A valid request: at least one mutation, consecutive ids, each fits an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) log: LogId,
    pub(super) client: ClientKey,
    pub(super) author: Option<String>,
    pub(super) epoch: u32,
    pub(super) acknowledged: u64,
    pub(super) first_id: u64,
    pub(super) mutations: Vec<Mutation>,
    pub(super) sizes: Vec<usize>,
}

/// Why a request can never succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// No mutations.
    #[error("the request has no mutations: give at least one")]
    NoMutations,
    /// Too many mutations.
    #[error("the request has {count} mutations, at most {MAX_MUTATIONS_PER_REQUEST} are allowed")]
    TooManyMutations {
        /// How many it has.
        count: usize,
    },
    /// Ids that are not consecutive from 1 up.
    #[error("mutation ids are consecutive and start at 1: after {before} came {id}")]
    IdsNotConsecutive {
        /// The id before (0 before the first).
        before: u64,
        /// The id that came.
        id: u64,
    },
    /// An id that is not exact as a JSON number.
    #[error("mutation id {id} is too large: ids are at most {MAX_MUTATION_ID}")]
    IdTooLarge {
        /// The id.
        id: u64,
    },
    /// A mutation that does not fit an entry.
    #[error(
        "mutation {id} has {bytes} bytes encoded, at most {MAX_ENTRY_BODY_BYTES} fit: split it"
    )]
    TooLarge {
        /// Its id.
        id: u64,
        /// Its bytes.
        bytes: usize,
    },
    /// An operation that can never succeed.
    #[error("mutation {id}: {fault}")]
    Operation {
        /// The mutation's id.
        id: u64,
        /// What is wrong with it.
        fault: InvalidOperation,
    },
    /// A body that does not encode.
    #[error(transparent)]
    Body(#[from] BodyError),
}

impl Request {
    /// Checks a request.
    ///
    /// # Errors
    /// [`InvalidRequest`] with the first thing that is wrong; nothing is appended then.
    pub fn new(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        acknowledged: u64,
        mutations: Vec<NewMutation>,
    ) -> Result<Self, InvalidRequest> {
        let first_id =
            mutations.first().map(|first| first.id).ok_or(InvalidRequest::NoMutations)?;
        if acknowledged > MAX_MUTATION_ID {
            return Err(InvalidRequest::IdTooLarge { id: acknowledged });
        }
        if mutations.len() > MAX_MUTATIONS_PER_REQUEST {
            return Err(InvalidRequest::TooManyMutations { count: mutations.len() });
        }
        let mut request = Self {
            log,
            client,
            author,
            epoch,
            acknowledged,
            first_id,
            mutations: Vec::with_capacity(mutations.len()),
            sizes: Vec::with_capacity(mutations.len()),
        };
        let mut before = first_id.saturating_sub(1);
        for mutation in mutations {
            if mutation.id > MAX_MUTATION_ID {
                return Err(InvalidRequest::IdTooLarge { id: mutation.id });
            }
            if mutation.id == 0 || mutation.id != before.saturating_add(1) {
                return Err(InvalidRequest::IdsNotConsecutive { before, id: mutation.id });
            }
            before = mutation.id;
            request.push(mutation)?;
        }
        Ok(request)
    }

    fn push(&mut self, mutation: NewMutation) -> Result<(), InvalidRequest> {
        let NewMutation { id, base, operation } = mutation;
        let authored =
            operation.validated().map_err(|fault| InvalidRequest::Operation { id, fault })?;
        let mutation = Mutation { base, authored, committed: None };
        let bytes = encoded_mutation_bytes(&mutation)?;
        if bytes + BODY_FRAME_BYTES > MAX_ENTRY_BODY_BYTES {
            return Err(InvalidRequest::TooLarge { id, bytes });
        }
        self.mutations.push(mutation);
        self.sizes.push(bytes);
        Ok(())
    }

    /// The mutations with ids above `last_id`.
    pub(super) fn after(&self, last_id: u64) -> &[Mutation] {
        self.mutations.get(self.done(last_id)..).unwrap_or_default()
    }

    /// As many mutations after `last_id` as fit one entry.
    pub(super) fn next_batch(&self, last_id: u64) -> &[Mutation] {
        let rest = self.after(last_id);
        let mut bytes = BODY_FRAME_BYTES;
        let mut count = 0;
        for size in self.sizes.iter().skip(self.done(last_id)) {
            if bytes + size > MAX_ENTRY_BODY_BYTES {
                break;
            }
            bytes += size;
            count += 1;
        }
        rest.get(..count).unwrap_or(rest)
    }

    /// How many of the mutations have ids up to `last_id`.
    fn done(&self, last_id: u64) -> usize {
        let done = last_id.saturating_add(1).saturating_sub(self.first_id);
        usize::try_from(done).unwrap_or(usize::MAX).min(self.mutations.len())
    }

    /// The lowest base of all mutations: the position from which the log must be known.
    #[must_use]
    pub fn lowest_base(&self) -> Position {
        self.mutations.iter().map(|mutation| mutation.base).min().unwrap_or(Position::FIRST)
    }

    /// The log to append to.
    #[must_use]
    pub fn log(&self) -> LogId {
        self.log
    }
}
