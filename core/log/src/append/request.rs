//! A request to append mutations, validated as far as possible without the log.

use std::sync::Arc;

use crate::entry::{Mutation, encoded_mutation_bytes};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use cellar_base::position::Position;
use cellar_sheet::operation::{ImportSheet, Operation, Rejection, RejectionReason};

/// Maximum bytes of the mutation count in a body, a variable-length integer.
pub(super) const BODY_FRAME_BYTES: usize = 5;

/// A mutation as authored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Id of the mutation. Ids of a client start at 1 and are consecutive.
    pub id: u64,
    /// Position that the author had seen. A retry sends the same base.
    pub base: Position,
    /// Its operation. An operation that can never succeed is appended as rejected.
    pub operation: Operation,
}

/// The resolution of an undo or revert.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Position of the state on which it was resolved. If a later edit exists, it is not put.
    pub at: Position,
    /// The operations, in order; empty if nothing is left to reverse.
    pub operations: Vec<Operation>,
}

/// A requested undo or revert, which must be the only mutation of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedResolution {
    /// The client.
    pub client: ClientKey,
    /// Id of the mutation.
    pub id: u64,
    /// Position that the author had seen.
    pub base: Position,
    /// What to reverse.
    pub target: Target,
}

/// The target of an undo or revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The entry at this position.
    Entry(Position),
    /// All entries after this position.
    Behind(Position),
}

/// A requested import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedImport<'a> {
    /// Id of the mutation.
    pub id: u64,
    /// Position that the author had seen.
    pub base: Position,
    /// The imported sheet.
    pub import: &'a ImportSheet,
}

/// An uploaded object with one operation per mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// Key of the object.
    pub object: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the object.
    pub sha256: [u8; 32],
    /// One operation per mutation, at least one.
    pub operations: Arc<[Operation]>,
    /// Position that the author had seen.
    pub base: Position,
}

impl Upload {
    /// Returns the number of mutations.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }
}

/// A valid request, with at least one mutation and consecutive ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) log: LogId,
    pub(super) client: ClientKey,
    pub(super) name: Option<ClientName>,
    pub(super) numbering_known: bool,
    pub(super) author: Option<String>,
    pub(super) incarnation: u32,
    pub(super) acknowledged: u64,
    pub(super) first_id: u64,
    pub(super) payload: Payload,
}

/// The mutations of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    /// Mutations with their operations.
    Mutations(Vec<RequestMutation>),
    /// Mutations whose operations are in an uploaded object; they become one entry.
    Upload(Upload),
}

/// One mutation of a request. A mutation that no state allows is already rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMutation {
    pub(crate) base: Position,
    pub(crate) authored: Operation,
    pub(super) resolved: Option<Resolved>,
}

/// The reason why a request is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// No mutations.
    #[error("the request has no mutations; at least one is required")]
    NoMutations,
    /// Too many mutations.
    #[error("the request has {count} mutations; at most {MAX_MUTATIONS_PER_REQUEST} are allowed")]
    TooManyMutations {
        /// Number of mutations.
        count: usize,
    },
    /// Ids that do not start at 1 or are not consecutive.
    #[error("mutation {id} follows {before}; ids must start at 1 and be consecutive")]
    IdsNotConsecutive {
        /// The previous id; 0 before the first.
        before: u64,
        /// The received id.
        id: u64,
    },
    /// An undo or revert together with other mutations, which would change the state on which it is resolved.
    #[error("an undo or revert must be the only mutation of a request")]
    NotAlone,
    /// An id that JSON numbers cannot represent exactly.
    #[error("mutation id {id} is too large; at most {MAX_MUTATION_ID} is allowed")]
    IdTooLarge {
        /// The id.
        id: u64,
    },
}

impl Request {
    /// Validates a request.
    ///
    /// # Errors
    /// [`InvalidRequest`] with the first fault.
    pub fn new(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged: u64,
        mutations: Vec<NewMutation>,
    ) -> Result<Self, InvalidRequest> {
        let mutations = mutations.into_iter().map(|new| (new.id, RequestMutation::new(new)));
        Self::numbered(log, client, author, incarnation, acknowledged, mutations.collect())
    }

    fn numbered(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
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
        Ok(Self::trusted(log, client, author, incarnation, acknowledged, first_id, payload))
    }

    /// Builds a request from checked mutations. The client is trusted to number them correctly.
    fn trusted(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged: u64,
        first_id: u64,
        payload: Payload,
    ) -> Self {
        let (name, numbering_known) = (None, true);
        Self {
            log,
            client,
            name,
            numbering_known,
            author,
            incarnation,
            acknowledged,
            first_id,
            payload,
        }
    }

    /// Builds a request with the only mutation of a new client. It is put directly after the state at `at`, or
    /// refused with [`Refusal::StaleResolution`](super::Refusal::StaleResolution) if there is a later edit.
    #[must_use]
    pub fn only_behind(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        at: Position,
        operation: Operation,
    ) -> Self {
        let mutation = RequestMutation::new(NewMutation { id: 1, base: at, operation });
        let resolved = Some(Resolved { at, operations: Vec::new() });
        let payload = Payload::Mutations(vec![RequestMutation { resolved, ..mutation }]);
        Self::trusted(log, client, author, incarnation, 0, 1, payload)
    }

    /// Builds a request of rejected mutations; only the server creates such requests. The scan for earlier
    /// copies of the request starts at their base.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn rejecting(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
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
        Self::numbered(log, client, author, incarnation, acknowledged, mutations.collect())
    }

    /// Marks the request as sent by a client of a sync group. The entry stores the client's name. If entries
    /// after a base were trimmed, the request is refused with [`Refusal::BaseGone`](super::Refusal), because
    /// the client's numbering is not trusted.
    #[must_use]
    pub fn of_group(self, name: ClientName) -> Self {
        Self { name: Some(name), numbering_known: false, ..self }
    }

    /// Validates a request for uploaded mutations.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn upload(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
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
        Ok(Self::trusted(log, client, author, incarnation, acknowledged, first_id, payload))
    }

    /// Returns the number of mutations.
    pub(super) fn count(&self) -> u64 {
        match &self.payload {
            Payload::Mutations(mutations) => u64::try_from(mutations.len()).unwrap_or(u64::MAX),
            Payload::Upload(upload) => u64::from(upload.count()),
        }
    }

    /// Returns the id of the last mutation.
    pub(super) fn last_id(&self) -> u64 {
        self.first_id.saturating_add(self.count()).saturating_sub(1)
    }

    /// Returns the mutations with ids above `last_id`.
    pub(super) fn after(&self, last_id: u64) -> impl Iterator<Item = (u64, &RequestMutation)> {
        let mutations = match &self.payload {
            Payload::Mutations(mutations) => mutations.as_slice(),
            Payload::Upload(_) => &[],
        };
        (self.first_id..).zip(mutations).filter(move |(id, _)| *id > last_id)
    }

    /// Returns the operations of the uploaded object, if any.
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
    /// revert is put as it was resolved, or not at all.
    pub(super) fn moved_bases_after(&self, last_id: u64) -> impl Iterator<Item = Position> + '_ {
        let upload = match &self.payload {
            Payload::Upload(upload) => Some(upload.base),
            Payload::Mutations(_) => None,
        };
        let moved = self.after(last_id).map(|(_, mutation)| mutation);
        let moved = moved.filter(|mutation| !mutation.authored.is_resolved_on_append());
        moved.map(|mutation| mutation.base).chain(upload)
    }

    /// The undo or the revert that it is, if it is one.
    #[must_use]
    pub fn to_resolve(&self) -> Option<AskedResolution> {
        let (client, id) = (self.client, self.first_id);
        let (_, mutation) = self.after(0).next()?;
        let target = match &mutation.authored {
            Operation::Undo(undo) => Target::Entry(undo.position),
            Operation::Revert(revert) => Target::Behind(revert.position),
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

    /// Says what its undo or revert was resolved to. What was not resolved is rejected.
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
    pub fn new(mutation: NewMutation) -> Self {
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
