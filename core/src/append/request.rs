//! What a client asks to append, checked for everything that needs no log.

use std::sync::Arc;

use crate::entry::{Mutation, encoded_mutation_bytes};
use crate::identity::{ClientKey, ClientName, LogId};
use crate::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use crate::operation::{ImportSheet, Operation, Rejection, RejectionReason};
use crate::position::Position;

/// Bytes of a body around its mutations: their count, as a variable-length integer.
pub(super) const BODY_FRAME_BYTES: usize = 5;

/// One mutation, as its author meant it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Its id: 1 for a client's first, then consecutive.
    pub id: u64,
    /// The position its author had seen; never changes, however often it is sent.
    pub base: Position,
    /// What it does. One that can never succeed is appended as rejected.
    pub operation: Operation,
}

/// What an undo or a restore was resolved to.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The state that was looked at: nothing is put behind an edit that came later.
    pub at: Position,
    /// The operations, one after the other; none if nothing is left to be taken back.
    pub operations: Vec<Operation>,
}

/// An undo or a restore, which is sent alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedResolution {
    /// Who asks.
    pub client: ClientKey,
    /// Its id.
    pub id: u64,
    /// The position its author had seen.
    pub base: Position,
    /// What is to be resolved.
    pub target: Target,
}

/// What is to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// What the entry at this position did.
    Entry(Position),
    /// What was done behind this position.
    Behind(Position),
}

/// An import of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedImport<'a> {
    /// The id of its mutation.
    pub id: u64,
    /// The position its author had seen.
    pub base: Position,
    /// What it imports.
    pub import: &'a ImportSheet,
}

/// An object that was uploaded, with one operation for each mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// Its key.
    pub object: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// The operation of each mutation, at least one.
    pub operations: Arc<[Operation]>,
    /// The position their author had seen.
    pub base: Position,
}

impl Upload {
    /// How many mutations it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }
}

/// A valid request: at least one mutation, consecutive ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) log: LogId,
    pub(super) client: ClientKey,
    pub(super) name: Option<ClientName>,
    pub(super) numbering_known: bool,
    pub(super) author: Option<String>,
    pub(super) epoch: u32,
    pub(super) acknowledged: u64,
    pub(super) first_id: u64,
    pub(super) payload: Payload,
}

/// What a request is to append.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    /// Mutations with their operations.
    Mutations(Vec<RequestMutation>),
    /// Mutations whose operations are in an object: one entry.
    Upload(Upload),
}

/// One mutation of a request; rejected already if no state allows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestMutation {
    pub(crate) base: Position,
    pub(crate) authored: Operation,
    pub(super) resolved: Option<Resolved>,
}

/// Why a request can never succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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
    /// An undo or a restore among others: it is resolved on the state as it is, and they would change
    /// that.
    #[error("send an undo or a restore in a request of its own")]
    NotAlone,
    /// An id that is not exact as a JSON number.
    #[error("mutation id {id} is too large: ids are at most {MAX_MUTATION_ID}")]
    IdTooLarge {
        /// The id.
        id: u64,
    },
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
        let mutations = mutations.into_iter().map(|new| (new.id, RequestMutation::new(new)));
        Self::numbered(log, client, author, epoch, acknowledged, mutations.collect())
    }

    fn numbered(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        acknowledged: u64,
        mutations: Vec<(u64, RequestMutation)>,
    ) -> Result<Self, InvalidRequest> {
        let first_id = mutations.first().map(|(id, _)| *id).ok_or(InvalidRequest::NoMutations)?;
        if mutations.len() > MAX_MUTATIONS_PER_REQUEST {
            return Err(InvalidRequest::TooManyMutations { count: mutations.len() });
        }
        check_id(acknowledged)?;
        let mut before = first_id.saturating_sub(1);
        let mut checked = Vec::with_capacity(mutations.len());
        for (id, mutation) in mutations {
            check_id(id)?;
            if id == 0 || id != before.saturating_add(1) {
                return Err(InvalidRequest::IdsNotConsecutive { before, id });
            }
            before = id;
            checked.push(mutation);
        }
        let resolved = |mutation: &RequestMutation| mutation.authored.is_resolved_on_append();
        if checked.len() > 1 && checked.iter().any(resolved) {
            return Err(InvalidRequest::NotAlone);
        }
        let payload = Payload::Mutations(checked);
        Ok(Self::trusted(log, client, author, epoch, acknowledged, first_id, payload))
    }

    /// What was checked, from a client whose numbering is taken on trust.
    fn trusted(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        acknowledged: u64,
        first_id: u64,
        payload: Payload,
    ) -> Self {
        let (name, numbering_known) = (None, true);
        Self { log, client, name, numbering_known, author, epoch, acknowledged, first_id, payload }
    }

    /// The first and only mutation of a client, which follows the state at `at` or is not put at all: after
    /// a later edit the refusal is [`Refusal::StaleResolution`](super::Refusal::StaleResolution).
    #[must_use]
    pub fn only_behind(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        at: Position,
        operation: Operation,
    ) -> Self {
        let mutation = RequestMutation::new(NewMutation { id: 1, base: at, operation });
        let resolved = Some(Resolved { at, operations: Vec::new() });
        let payload = Payload::Mutations(vec![RequestMutation { resolved, ..mutation }]);
        Self::trusted(log, client, author, epoch, 0, 1, payload)
    }

    /// Mutations that are all rejected: only the server asks for that. Their base says from where on
    /// the log is looked at for earlier copies of this very request.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn rejecting(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        acknowledged: u64,
        (first_id, base): (u64, Position),
        rejections: impl Iterator<Item = Rejection>,
    ) -> Result<Self, InvalidRequest> {
        let rejected = |rejection| RequestMutation {
            base,
            authored: Operation::Rejected(rejection),
            resolved: None,
        };
        let mutations = (first_id..).zip(rejections.map(rejected));
        Self::numbered(log, client, author, epoch, acknowledged, mutations.collect())
    }

    /// The same, from a client of a sync group: its name stands in the entry, and its numbering is not
    /// taken on trust where entries after a base are gone ([`Refusal::BaseGone`](super::Refusal)).
    #[must_use]
    pub fn of_group(self, name: ClientName) -> Self {
        Self { name: Some(name), numbering_known: false, ..self }
    }

    /// Checks a request for mutations that were uploaded.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn upload(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        epoch: u32,
        acknowledged: u64,
        first_id: u64,
        upload: Upload,
    ) -> Result<Self, InvalidRequest> {
        let count = upload.operations.len();
        if count == 0 {
            return Err(InvalidRequest::NoMutations);
        }
        if count > MAX_MUTATIONS_PER_REQUEST {
            return Err(InvalidRequest::TooManyMutations { count });
        }
        if first_id == 0 {
            return Err(InvalidRequest::IdsNotConsecutive { before: 0, id: 0 });
        }
        check_id(acknowledged)?;
        check_id(first_id.saturating_add(u64::from(upload.count())).saturating_sub(1))?;
        let payload = Payload::Upload(upload);
        Ok(Self::trusted(log, client, author, epoch, acknowledged, first_id, payload))
    }

    /// How many mutations it has.
    pub(super) fn count(&self) -> u64 {
        match &self.payload {
            Payload::Mutations(mutations) => u64::try_from(mutations.len()).unwrap_or(u64::MAX),
            Payload::Upload(upload) => u64::from(upload.count()),
        }
    }

    /// The id of the last mutation.
    pub(super) fn last_id(&self) -> u64 {
        self.first_id.saturating_add(self.count()).saturating_sub(1)
    }

    /// The mutations with ids above `last_id`, with their ids.
    pub(super) fn after(&self, last_id: u64) -> impl Iterator<Item = (u64, &RequestMutation)> {
        let mutations = match &self.payload {
            Payload::Mutations(mutations) => mutations.as_slice(),
            Payload::Upload(_) => &[],
        };
        (self.first_id..).zip(mutations).filter(move |(id, _)| *id > last_id)
    }

    /// The operations of the object that was uploaded, if one was.
    pub(super) fn uploaded(&self) -> &[Operation] {
        match &self.payload {
            Payload::Upload(upload) => &upload.operations,
            Payload::Mutations(_) => &[],
        }
    }

    /// The bases of all mutations.
    pub(super) fn bases(&self) -> impl Iterator<Item = Position> + '_ {
        let upload = match &self.payload {
            Payload::Upload(upload) => Some(upload.base),
            Payload::Mutations(_) => None,
        };
        self.after(0).map(|(_, mutation)| mutation.base).chain(upload)
    }

    /// The bases of the mutations with ids above `last_id` that are to be moved: an undo or a
    /// restore is put as it was resolved, or not at all.
    pub(super) fn moved_bases_after(&self, last_id: u64) -> impl Iterator<Item = Position> + '_ {
        let upload = match &self.payload {
            Payload::Upload(upload) => Some(upload.base),
            Payload::Mutations(_) => None,
        };
        let moved = self.after(last_id).map(|(_, mutation)| mutation);
        let moved = moved.filter(|mutation| !mutation.authored.is_resolved_on_append());
        moved.map(|mutation| mutation.base).chain(upload)
    }

    /// The undo or the restore that it is, if it is one.
    #[must_use]
    pub fn to_resolve(&self) -> Option<AskedResolution> {
        let (client, id) = (self.client, self.first_id);
        let (_, mutation) = self.after(0).next()?;
        let target = match &mutation.authored {
            Operation::Undo(undo) => Target::Entry(undo.position),
            Operation::Restore(restore) => Target::Behind(restore.position),
            _ => return None,
        };
        Some(AskedResolution { client, id, base: mutation.base, target })
    }

    /// Its imports that the client does not know to be in the log. Their chunks are to be checked
    /// before anything is appended.
    pub fn imports(&self) -> impl Iterator<Item = AskedImport<'_>> {
        self.after(self.acknowledged).filter_map(|(id, mutation)| match &mutation.authored {
            Operation::ImportSheet(import) => Some(AskedImport { id, base: mutation.base, import }),
            _ => None,
        })
    }

    /// Says what its undo or restore was resolved to. What was not resolved is rejected.
    #[must_use]
    pub fn resolved(mut self, resolved: Resolved) -> Self {
        if let Payload::Mutations(mutations) = &mut self.payload
            && let [only] = mutations.as_mut_slice()
        {
            only.resolved = Some(resolved);
        }
        self
    }

    /// The lowest base of all mutations: the position from which the log must be known.
    #[must_use]
    pub fn lowest_base(&self) -> Position {
        self.bases().min().unwrap_or(Position::FIRST)
    }

    /// Whose mutations these are.
    #[must_use]
    pub fn client(&self) -> ClientKey {
        self.client
    }

    /// The log to append to.
    #[must_use]
    pub fn log(&self) -> LogId {
        self.log
    }
}

impl RequestMutation {
    /// What can never succeed becomes a rejection, which keeps the client's numbering.
    pub(crate) fn new(mutation: NewMutation) -> Self {
        let NewMutation { base, operation, .. } = mutation;
        let rejected = |reason, detail: String| Operation::Rejected(Rejection::new(reason, detail));
        let authored = match operation.validated() {
            Err(fault) => rejected(RejectionReason::Invalid, fault.to_string()),
            Ok(authored) => authored,
        };
        let mutation = Mutation { base, authored, committed: None };
        let authored = match too_large(&mutation) {
            Some(rejection) => Operation::Rejected(rejection),
            None => mutation.authored,
        };
        Self { base, authored, resolved: None }
    }
}

/// Why a mutation does not fit an entry, if it does not.
pub(super) fn too_large(mutation: &Mutation) -> Option<Rejection> {
    // The encoder does not fail for what has been checked.
    let bytes = encoded_mutation_bytes(mutation).unwrap_or(usize::MAX);
    (bytes.saturating_add(BODY_FRAME_BYTES) > MAX_ENTRY_BODY_BYTES).then(|| {
        let max = MAX_ENTRY_BODY_BYTES;
        let detail = format!("it has {bytes} bytes encoded, at most {max} fit: split it");
        Rejection::new(RejectionReason::TooLarge, detail)
    })
}

fn check_id(id: u64) -> Result<(), InvalidRequest> {
    if id > MAX_MUTATION_ID { Err(InvalidRequest::IdTooLarge { id }) } else { Ok(()) }
}
