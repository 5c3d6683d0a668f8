//! A validated append request. Validation does not read the log.

use std::sync::Arc;

use crate::entry::{Mutation, encoded_mutation_bytes};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use cellar_base::position::Position;
use cellar_sheet::operation::{ImportSheet, Operation, Rejection, RejectionReason};

/// Maximum size of the variable-length mutation count at the start of a body, in bytes.
pub(super) const BODY_FRAME_BYTES: usize = 5;

/// A mutation as authored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Id of the mutation. The ids of a client are consecutive and start at 1.
    pub id: u64,
    /// Base: the latest position that the author had seen. Unchanged in a retry.
    pub base: Position,
    /// Operation as authored. Appended as rejected if it can never succeed.
    pub operation: Operation,
}

/// The concrete operations that an undo or revert was resolved to.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Position of the state that the operations were computed from. The operations are not put if
    /// the log contains a later edit.
    pub at: Position,
    /// Operations that reverse the edits, in order. Empty if nothing is left to reverse.
    pub operations: Vec<Operation>,
}

/// A request for a single undo or revert, without other mutations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolutionRequest {
    /// Client that sent the request.
    pub client: ClientKey,
    /// Id of the mutation.
    pub id: u64,
    /// Base: the latest position that the author had seen.
    pub base: Position,
    /// The edits to reverse.
    pub target: Target,
}

/// The edits to be reversed by an undo or revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// All edits of the entry at this position.
    Entry(Position),
    /// All edits after this position.
    After(Position),
}

/// A requested import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportRequest<'a> {
    /// Id of the mutation.
    pub id: u64,
    /// Base: the latest position that the author had seen.
    pub base: Position,
    /// The imported sheet.
    pub import: &'a ImportSheet,
}

/// Reference to an uploaded object that contains one operation per mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// Key of the object.
    pub object: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the object.
    pub sha256: [u8; 32],
    /// Operations, one per mutation. Not empty.
    pub operations: Arc<[Operation]>,
    /// Base: the latest position that the author had seen.
    pub base: Position,
}

impl Upload {
    /// Returns the number of mutations.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }
}

/// A validated append request with at least one mutation and consecutive mutation ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) log: LogId,
    pub(super) client: ClientKey,
    pub(super) name: Option<ClientName>,
    /// Whether the client's mutation ids are trusted even if some of its entries were trimmed.
    pub(super) numbering_known: bool,
    pub(super) author: Option<String>,
    pub(super) incarnation: u32,
    /// Highest mutation id that the client knows to be committed.
    pub(super) acknowledged: u64,
    pub(super) first_id: u64,
    pub(super) payload: Payload,
}

/// The mutations of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    /// Mutations with inline operations.
    Mutations(Vec<RequestMutation>),
    /// Mutations whose operations are in an uploaded object. Committed as a single entry.
    Upload(Upload),
}

/// A mutation of a request. Mutations that are invalid in every state have been replaced by
/// rejections.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMutation {
    pub(crate) base: Position,
    pub(crate) authored: Operation,
    pub(super) resolved: Option<Resolved>,
}

/// Reason why a request is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// The request has no mutations.
    #[error("the request has no mutations; at least one is required")]
    NoMutations,
    /// The request has too many mutations.
    #[error("the request has {count} mutations; at most {MAX_MUTATIONS_PER_REQUEST} are allowed")]
    TooManyMutations {
        /// Number of mutations.
        count: usize,
    },
    /// The mutation ids are not consecutive or do not start at 1 or higher.
    #[error("mutation {id} follows {before}; ids must start at 1 and be consecutive")]
    IdsNotConsecutive {
        /// Preceding id, or 0 if `id` is the first.
        before: u64,
        /// The received id.
        id: u64,
    },
    /// The request combines an undo or revert with other mutations, which would change the state
    /// that the undo or revert was resolved against.
    #[error("an undo or revert must be the only mutation of a request")]
    NotAlone,
    /// A mutation id exceeds the integers that JSON numbers represent exactly.
    #[error("mutation id {id} is too large; at most {MAX_MUTATION_ID} is allowed")]
    IdTooLarge {
        /// Id of the mutation.
        id: u64,
    },
}

impl Request {
    /// Creates a request from mutations with their ids.
    ///
    /// # Errors
    /// Returns the first violation as [`InvalidRequest`].
    pub fn new(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged: u64,
        mutations: Vec<NewMutation>,
    ) -> Result<Self, InvalidRequest> {
        let mutations = mutations.into_iter().map(|new| (new.id, RequestMutation::new(new)));
        Self::from_numbered(log, client, author, incarnation, acknowledged, mutations.collect())
    }

    /// Validates the number of mutations and their ids.
    fn from_numbered(
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
        check_ids(mutations.iter().map(|(id, _)| *id))?;
        let mutations: Vec<_> = mutations.into_iter().map(|(_, mutation)| mutation).collect();
        let is_resolved = |mutation: &RequestMutation| mutation.authored.is_resolved_on_append();
        if mutations.len() > 1 && mutations.iter().any(is_resolved) {
            return Err(InvalidRequest::NotAlone);
        }
        let payload = Payload::Mutations(mutations);
        Ok(Self::from_valid(log, client, author, incarnation, acknowledged, first_id, payload))
    }

    /// Creates a request from a valid payload, with trusted mutation ids.
    fn from_valid(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged: u64,
        first_id: u64,
        payload: Payload,
    ) -> Self {
        Self {
            log,
            client,
            name: None,
            numbering_known: true,
            author,
            incarnation,
            acknowledged,
            first_id,
            payload,
        }
    }

    /// Creates a request for the only mutation of a new client, to be put directly after the state
    /// at `at`. Refused with [`Refusal::StaleResolution`](super::Refusal::StaleResolution) if the
    /// log contains a later edit.
    #[must_use]
    pub fn directly_after(
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
        Self::from_valid(log, client, author, incarnation, 0, 1, payload)
    }

    /// Creates a request that records rejected mutations on `base`. Used for mutations that the
    /// server rejects before an append, so that their ids are consumed.
    ///
    /// # Errors
    /// Like [`Request::new`].
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
        Self::from_numbered(log, client, author, incarnation, acknowledged, mutations.collect())
    }

    /// Sets the name of the sending client, a member of a client group. The name is stored in the
    /// entry. The client's mutation ids become untrusted: if entries after a base were trimmed, the
    /// request is refused with [`Refusal::BaseGone`](super::Refusal).
    #[must_use]
    pub fn with_client_name(self, name: ClientName) -> Self {
        Self { name: Some(name), numbering_known: false, ..self }
    }

    /// Creates a request for mutations whose operations are in an uploaded object.
    ///
    /// # Errors
    /// Like [`Request::new`].
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
        Ok(Self::from_valid(log, client, author, incarnation, acknowledged, first_id, payload))
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

    /// Returns the mutations with ids above `last_id`. Empty if the operations were uploaded.
    pub(super) fn after(&self, last_id: u64) -> impl Iterator<Item = (u64, &RequestMutation)> {
        let mutations = match &self.payload {
            Payload::Mutations(mutations) => mutations.as_slice(),
            Payload::Upload(_) => &[],
        };
        (self.first_id..).zip(mutations).filter(move |(id, _)| *id > last_id)
    }

    fn upload_payload(&self) -> Option<&Upload> {
        match &self.payload {
            Payload::Upload(upload) => Some(upload),
            Payload::Mutations(_) => None,
        }
    }

    /// Returns the operations of the uploaded object, if any.
    pub(super) fn uploaded(&self) -> &[Operation] {
        self.upload_payload().map_or(&[], |upload| &upload.operations)
    }

    /// Returns the bases of all mutations.
    pub(super) fn bases(&self) -> impl Iterator<Item = Position> + '_ {
        let bases = self.after(0).map(|(_, mutation)| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// Returns the bases of the mutations with ids above `last_id` that need a transform. An undo
    /// or revert needs none, because it is put only directly after the state against which it was
    /// resolved.
    pub(super) fn transformed_bases_after(
        &self,
        last_id: u64,
    ) -> impl Iterator<Item = Position> + '_ {
        let mutations = self.after(last_id).map(|(_, mutation)| mutation);
        let transformed = mutations.filter(|mutation| !mutation.authored.is_resolved_on_append());
        let bases = transformed.map(|mutation| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// Returns the request's undo or revert, if any. The caller must resolve it.
    #[must_use]
    pub fn to_resolve(&self) -> Option<ResolutionRequest> {
        let (_, mutation) = self.after(0).next()?;
        let target = match &mutation.authored {
            Operation::Undo(undo) => Target::Entry(undo.position),
            Operation::Revert(revert) => Target::After(revert.position),
            _ => return None,
        };
        let (client, id) = (self.client, self.first_id);
        Some(ResolutionRequest { client, id, base: mutation.base, target })
    }

    /// Returns the imports that the client does not know to be committed. The caller must check
    /// that their chunks exist before the append.
    pub fn imports(&self) -> impl Iterator<Item = ImportRequest<'_>> {
        self.after(self.acknowledged).filter_map(|(id, mutation)| match &mutation.authored {
            Operation::ImportSheet(import) => {
                Some(ImportRequest { id, base: mutation.base, import })
            }
            _ => None,
        })
    }

    /// Sets the operations that the request's undo or revert was resolved to. Without them, the
    /// undo or revert is rejected.
    #[must_use]
    pub fn with_resolution(mut self, resolved: Resolved) -> Self {
        if let Payload::Mutations(mutations) = &mut self.payload
            && let [only] = mutations.as_mut_slice()
        {
            only.resolved = Some(resolved);
        }
        self
    }

    /// Returns the lowest base of all mutations, which is where the log scan starts.
    #[must_use]
    pub fn lowest_base(&self) -> Position {
        self.bases().min().unwrap_or(Position::FIRST)
    }

    /// Returns the client that assigned the mutation ids.
    #[must_use]
    pub fn client(&self) -> ClientKey {
        self.client
    }

    /// Returns the log to append to.
    #[must_use]
    pub fn log(&self) -> LogId {
        self.log
    }
}

impl RequestMutation {
    /// Validates a mutation. An invalid or oversized mutation becomes a rejection: its id must be
    /// consumed to keep the client's ids consecutive.
    pub fn new(mutation: NewMutation) -> Self {
        let NewMutation { base, operation, .. } = mutation;
        let authored = operation.validated().unwrap_or_else(|fault| {
            Operation::Rejected(Rejection::new(RejectionReason::Invalid, fault.to_string()))
        });
        let mutation = Mutation { base, authored, committed: None };
        let authored = match too_large(&mutation) {
            Some(rejection) => Operation::Rejected(rejection),
            None => mutation.authored,
        };
        Self { base, authored, resolved: None }
    }
}

/// Rejection of a mutation that does not fit into an entry.
pub(super) fn too_large(mutation: &Mutation) -> Option<Rejection> {
    // Encoding cannot fail: the operation has already been validated.
    let bytes = encoded_mutation_bytes(mutation).unwrap_or(usize::MAX);
    if bytes.saturating_add(BODY_FRAME_BYTES) <= MAX_ENTRY_BODY_BYTES {
        return None;
    }
    let detail = format!(
        "the encoded mutation has {bytes} bytes; at most {MAX_ENTRY_BODY_BYTES} are allowed; split it"
    );
    Some(Rejection::new(RejectionReason::TooLarge, detail))
}

/// Checks that the ids are consecutive, start at 1 or higher, and do not exceed the maximum.
fn check_ids(ids: impl Iterator<Item = u64>) -> Result<(), InvalidRequest> {
    let mut before = None;
    for id in ids {
        check_id(id)?;
        let expected = before.map_or(id.max(1), |before: u64| before.saturating_add(1));
        if id != expected {
            return Err(InvalidRequest::IdsNotConsecutive { before: before.unwrap_or(0), id });
        }
        before = Some(id);
    }
    Ok(())
}

fn check_id(id: u64) -> Result<(), InvalidRequest> {
    if id > MAX_MUTATION_ID { Err(InvalidRequest::IdTooLarge { id }) } else { Ok(()) }
}
