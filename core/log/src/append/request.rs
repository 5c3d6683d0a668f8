//! A request to append mutations. It is validated as far as possible without reading the log.

use std::sync::Arc;

use crate::entry::{Mutation, encoded_mutation_bytes};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use cellar_base::position::Position;
use cellar_sheet::operation::{ImportSheet, Operation, Rejection, RejectionReason};

/// Maximum size of the mutation count at the start of a body, in bytes. The count is a
/// variable-length integer.
pub(super) const BODY_FRAME_BYTES: usize = 5;

/// A mutation as authored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Id of the mutation. A client's ids start at 1 and are consecutive.
    pub id: u64,
    /// Base: the position that the author had seen. A retry sends the same base.
    pub base: Position,
    /// Operation as authored. An operation that can never succeed is appended as rejected.
    pub operation: Operation,
}

/// The operations to which an undo or revert was resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Position of the state on which the operations were computed. If the log has a later edit,
    /// the operations are not put.
    pub at: Position,
    /// Operations that reverse the edits, in order. Empty if nothing is left to reverse.
    pub operations: Vec<Operation>,
}

/// A request for an undo or revert, which must be the only mutation of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolutionRequest {
    /// Client that sent the request.
    pub client: ClientKey,
    /// Id of the mutation.
    pub id: u64,
    /// Base: the position that the author had seen.
    pub base: Position,
    /// The edits to reverse.
    pub target: Target,
}

/// The edits that an undo or revert must reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The edits of the entry at this position.
    Entry(Position),
    /// The edits of all entries after this position.
    After(Position),
}

/// A requested import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportRequest<'a> {
    /// Id of the mutation.
    pub id: u64,
    /// Base: the position that the author had seen.
    pub base: Position,
    /// The imported sheet.
    pub import: &'a ImportSheet,
}

/// An uploaded object that contains one operation per mutation.
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
    /// Base: the position that the author had seen.
    pub base: Position,
}

impl Upload {
    /// Returns the number of mutations.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }
}

/// A valid request. It has at least one mutation, and the mutation ids are consecutive.
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
    /// Mutations that contain their operations.
    Mutations(Vec<RequestMutation>),
    /// Mutations whose operations are in an uploaded object. They are committed as one entry.
    Upload(Upload),
}

/// One mutation of a request. A mutation that is invalid in every state has already become a
/// rejection.
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
    /// The mutation ids do not start at 1 or are not consecutive.
    #[error("mutation {id} follows {before}; ids must start at 1 and be consecutive")]
    IdsNotConsecutive {
        /// Preceding id, or 0 if `id` is the first.
        before: u64,
        /// The received id.
        id: u64,
    },
    /// The request contains an undo or revert together with other mutations. These would change the
    /// state on which the undo or revert is resolved.
    #[error("an undo or revert must be the only mutation of a request")]
    NotAlone,
    /// A mutation id is too large to be exact as a JSON number.
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
    /// Returns [`InvalidRequest`] with the first violation.
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

    /// Checks the number and the ids of the mutations.
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

    /// Creates a request from a valid payload. The client's mutation ids are trusted.
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

    /// Creates a request for the only mutation of a new client. The mutation is put directly after
    /// the state at `at`. If the log has a later edit, the request is refused with
    /// [`Refusal::StaleResolution`](super::Refusal::StaleResolution).
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

    /// Creates a request of rejected mutations on `base`. It records the ids of mutations that the
    /// server rejects before an append.
    ///
    /// # Errors
    /// Returns the same errors as [`Request::new`].
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

    /// Marks the request as sent by a client in a client group, whose name the entry stores. The
    /// client's mutation ids are not trusted: if entries after a base were trimmed, the request is
    /// refused with [`Refusal::BaseGone`](super::Refusal).
    #[must_use]
    pub fn with_client_name(self, name: ClientName) -> Self {
        Self { name: Some(name), numbering_known: false, ..self }
    }

    /// Creates a request for mutations whose operations are in an uploaded object.
    ///
    /// # Errors
    /// Returns the same errors as [`Request::new`].
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

    /// Returns the mutations with ids above `last_id`, or none if the operations were uploaded.
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

    /// Returns the bases of all mutations in the request.
    pub(super) fn bases(&self) -> impl Iterator<Item = Position> + '_ {
        let bases = self.after(0).map(|(_, mutation)| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// Returns the bases of the mutations with ids above `last_id` that must be transformed. An
    /// undo or revert is not transformed, because it is put only directly after the state on which
    /// it was resolved.
    pub(super) fn transformed_bases_after(
        &self,
        last_id: u64,
    ) -> impl Iterator<Item = Position> + '_ {
        let mutations = self.after(last_id).map(|(_, mutation)| mutation);
        let transformed = mutations.filter(|mutation| !mutation.authored.is_resolved_on_append());
        let bases = transformed.map(|mutation| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// Returns the request's undo or revert, if any, so that the caller can resolve it.
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

    /// Returns the imports that the client does not know to be committed. Before the append, the
    /// caller checks that their chunks exist.
    pub fn imports(&self) -> impl Iterator<Item = ImportRequest<'_>> {
        self.after(self.acknowledged).filter_map(|(id, mutation)| match &mutation.authored {
            Operation::ImportSheet(import) => {
                Some(ImportRequest { id, base: mutation.base, import })
            }
            _ => None,
        })
    }

    /// Sets the operations to which the request's undo or revert was resolved. If they are not set,
    /// it is rejected.
    #[must_use]
    pub fn with_resolution(mut self, resolved: Resolved) -> Self {
        if let Payload::Mutations(mutations) = &mut self.payload
            && let [only] = mutations.as_mut_slice()
        {
            only.resolved = Some(resolved);
        }
        self
    }

    /// Returns the lowest base of all mutations. The scan of the log starts at this position.
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
    /// Validates a mutation. An invalid or too large mutation becomes a rejection, so that its id
    /// is still used and the client's ids stay consecutive.
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

/// Returns a rejection for a mutation that does not fit into an entry.
pub(super) fn too_large(mutation: &Mutation) -> Option<Rejection> {
    // Encoding does not fail, because the operation was already validated.
    let bytes = encoded_mutation_bytes(mutation).unwrap_or(usize::MAX);
    if bytes.saturating_add(BODY_FRAME_BYTES) <= MAX_ENTRY_BODY_BYTES {
        return None;
    }
    let detail = format!(
        "the encoded mutation has {bytes} bytes; at most {MAX_ENTRY_BODY_BYTES} are allowed; split it"
    );
    Some(Rejection::new(RejectionReason::TooLarge, detail))
}

/// Checks that the ids are consecutive, start above 0 and are not too large.
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
