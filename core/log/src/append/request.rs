//! Validated append requests. Validation does not read the log.

use std::sync::Arc;

use super::merge_request::MergedOrigin;
use super::mutation_ids::{check_id_is_not_too_large, check_ids_are_consecutive, last_id};
use super::resolution::Resolution;
use crate::entry::{Mutation, encoded_mutation_bytes};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use cellar_base::position::Position;
use cellar_sheet::operation::{
    ImportSheet, InvalidOperation, Operation, Rejection, RejectionReason,
};

/// Maximum length in bytes of the mutation count at the start of a body.
pub(super) const BODY_FRAME_BYTES: usize = 5;

/// A mutation as authored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMutation {
    /// Id of the mutation. Each client numbers its mutations consecutively from 1.
    pub id: u64,
    /// Base of the mutation: the latest position that its author had seen. A retry keeps the same
    /// base.
    pub base: Position,
    /// The operation as its author sent it. An operation that can never succeed is appended as
    /// rejected.
    pub operation: Operation,
}

/// A requested import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportRequest<'a> {
    /// Id of the mutation.
    pub id: u64,
    /// Base of the mutation: the latest position that its author had seen.
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
    /// Base of all mutations: the latest position that their author had seen.
    pub base: Position,
}

impl Upload {
    /// Returns the number of mutations.
    #[must_use]
    pub fn mutation_count(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }

    /// Returns the approximate memory that the operations take, in bytes.
    pub(super) fn weight_bytes(&self) -> u64 {
        let weights = self.operations.iter().map(Operation::weight_bytes);
        u64::try_from(weights.sum::<usize>()).unwrap_or(u64::MAX)
    }
}

/// A validated append request with at least one mutation and consecutive mutation ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub(super) log: LogId,
    pub(super) client: ClientKey,
    pub(super) client_name: Option<ClientName>,
    /// Whether the client's mutation ids are trusted even if entries with some of its mutations
    /// were trimmed.
    pub(super) numbering_is_trusted: bool,
    pub(super) author: Option<String>,
    pub(super) incarnation: u32,
    /// Highest mutation id that the client knows to be committed.
    pub(super) acknowledged_id: u64,
    pub(super) first_id: u64,
    pub(super) payload: Payload,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    Mutations(Vec<RequestMutation>),
    /// Committed as a single entry.
    Upload(Upload),
}

/// A mutation of a request. If the authored operation was invalid in every state, it has been
/// replaced by a rejection.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMutation {
    pub(crate) base: Position,
    pub(crate) authored: Operation,
    pub(super) resolution: Option<Resolution>,
    /// Set if the mutation is merged from a fork.
    pub(super) origin: Option<Arc<MergedOrigin>>,
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
    /// The mutation ids are not consecutive, or the first id is 0.
    #[error("mutation {id} follows {before}; ids must start at 1 and be consecutive")]
    IdsNotConsecutive {
        /// Preceding id, or 0 if `id` is the first.
        before: u64,
        /// The received id.
        id: u64,
    },
    /// The request combines an undo or revert with other mutations. This is not allowed, because
    /// the other mutations would change the state from which the undo or revert was computed.
    #[error("an undo or revert must be the only mutation of a request")]
    ResolutionNotAlone,
    /// A mutation id exceeds the largest integer that JSON numbers represent exactly.
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
    /// Returns an [`InvalidRequest`] with the first problem.
    pub fn new(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged_id: u64,
        mutations: Vec<NewMutation>,
    ) -> Result<Self, InvalidRequest> {
        let numbered_mutations = mutations
            .into_iter()
            .map(|mutation| (mutation.id, RequestMutation::validated_or_rejected(mutation)))
            .collect();
        Self::from_numbered(log, client, author, incarnation, acknowledged_id, numbered_mutations)
    }

    fn from_numbered(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged_id: u64,
        numbered_mutations: Vec<(u64, RequestMutation)>,
    ) -> Result<Self, InvalidRequest> {
        let (ids, mutations): (Vec<u64>, Vec<RequestMutation>) =
            numbered_mutations.into_iter().unzip();
        let Some(first_id) = ids.first().copied() else {
            return Err(InvalidRequest::NoMutations);
        };
        check_mutation_count(mutations.len())?;
        check_id_is_not_too_large(acknowledged_id)?;
        check_ids_are_consecutive(&ids)?;
        let has_undo_or_revert =
            mutations.iter().any(|mutation| mutation.authored.is_resolved_on_append());
        if has_undo_or_revert && mutations.len() > 1 {
            return Err(InvalidRequest::ResolutionNotAlone);
        }
        let payload = Payload::Mutations(mutations);
        Ok(Self::from_valid(log, client, author, incarnation, acknowledged_id, first_id, payload))
    }

    /// The mutation ids of the request are trusted.
    pub(super) fn from_valid(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged_id: u64,
        first_id: u64,
        payload: Payload,
    ) -> Self {
        Self {
            log,
            client,
            client_name: None,
            numbering_is_trusted: true,
            author,
            incarnation,
            acknowledged_id,
            first_id,
            payload,
        }
    }

    /// Creates a request with a single mutation of a new client. The mutation is put only if the
    /// log contains no edit after `state_position`. Otherwise, the append is refused with
    /// [`Refusal::StaleResolution`](super::Refusal::StaleResolution).
    #[must_use]
    pub fn directly_after(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        state_position: Position,
        operation: Operation,
    ) -> Self {
        const ACKNOWLEDGED_ID: u64 = 0;
        const FIRST_ID: u64 = 1;
        let new_mutation = NewMutation { id: FIRST_ID, base: state_position, operation };
        let mutation = RequestMutation {
            resolution: Some(Resolution::new(state_position, Vec::new())),
            ..RequestMutation::validated_or_rejected(new_mutation)
        };
        let payload = Payload::Mutations(vec![mutation]);
        Self::from_valid(log, client, author, incarnation, ACKNOWLEDGED_ID, FIRST_ID, payload)
    }

    /// Creates a request with `base` for mutations that the server has already rejected. The
    /// rejections must still be recorded, so that the ids of these mutations count as used.
    ///
    /// # Errors
    /// Returns an [`InvalidRequest`] if the number of mutations or their ids are invalid.
    pub fn of_rejections(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged_id: u64,
        (first_id, base): (u64, Position),
        rejections: impl Iterator<Item = Rejection>,
    ) -> Result<Self, InvalidRequest> {
        let rejected_mutations = rejections.map(|rejection| RequestMutation {
            base,
            authored: Operation::Rejected(rejection),
            resolution: None,
            origin: None,
        });
        let numbered_mutations = (first_id..).zip(rejected_mutations).collect();
        Self::from_numbered(log, client, author, incarnation, acknowledged_id, numbered_mutations)
    }

    /// Sets the name of the sending client if it belongs to a client group. The name is stored in
    /// the entry. A named client's mutation ids are not trusted: if entries after a base were
    /// trimmed, the append is refused with [`Refusal::BaseGone`](super::Refusal).
    #[must_use]
    pub fn with_client_name(self, client_name: ClientName) -> Self {
        Self { client_name: Some(client_name), numbering_is_trusted: false, ..self }
    }

    /// Creates a request for mutations whose operations are in an uploaded object.
    ///
    /// # Errors
    /// Returns an [`InvalidRequest`] if the number of mutations or their ids are invalid.
    pub fn of_upload(
        log: LogId,
        client: ClientKey,
        author: Option<String>,
        incarnation: u32,
        acknowledged_id: u64,
        first_id: u64,
        upload: Upload,
    ) -> Result<Self, InvalidRequest> {
        check_mutation_count(upload.operations.len())?;
        if first_id == 0 {
            return Err(InvalidRequest::IdsNotConsecutive { before: 0, id: 0 });
        }
        check_id_is_not_too_large(acknowledged_id)?;
        check_id_is_not_too_large(last_id(first_id, u64::from(upload.mutation_count())))?;
        let payload = Payload::Upload(upload);
        Ok(Self::from_valid(log, client, author, incarnation, acknowledged_id, first_id, payload))
    }

    fn mutation_count(&self) -> u64 {
        match &self.payload {
            Payload::Mutations(mutations) => u64::try_from(mutations.len()).unwrap_or(u64::MAX),
            Payload::Upload(upload) => u64::from(upload.mutation_count()),
        }
    }

    pub(super) fn last_id(&self) -> u64 {
        last_id(self.first_id, self.mutation_count())
    }

    /// Returns an empty list if the operations are in an uploaded object.
    pub(super) fn mutations(&self) -> impl Iterator<Item = (u64, &RequestMutation)> {
        self.mutations_after(0)
    }

    /// Returns an empty list if the operations are in an uploaded object.
    pub(super) fn mutations_after(
        &self,
        last_id: u64,
    ) -> impl Iterator<Item = (u64, &RequestMutation)> {
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

    pub(super) fn uploaded_operations(&self) -> &[Operation] {
        self.upload_payload().map_or(&[], |upload| &upload.operations)
    }

    pub(super) fn bases(&self) -> impl Iterator<Item = Position> + '_ {
        let bases = self.mutations().map(|(_, mutation)| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// The base of an undo or revert is omitted: an undo or revert is put only directly after the
    /// state from which it was computed, so it is never transformed.
    pub(super) fn transformed_bases_after(
        &self,
        last_id: u64,
    ) -> impl Iterator<Item = Position> + '_ {
        let mutations = self.mutations_after(last_id).map(|(_, mutation)| mutation);
        let transformed_mutations =
            mutations.filter(|mutation| !mutation.authored.is_resolved_on_append());
        let bases = transformed_mutations.map(|mutation| mutation.base);
        bases.chain(self.upload_payload().map(|upload| upload.base))
    }

    /// Returns the import operations that the client does not know to be committed. Before the
    /// append, the caller must check that the chunks that they reference exist.
    pub fn imports(&self) -> impl Iterator<Item = ImportRequest<'_>> {
        self.mutations_after(self.acknowledged_id).filter_map(|(id, mutation)| {
            match &mutation.authored {
                Operation::ImportSheet(import) => {
                    Some(ImportRequest { id, base: mutation.base, import })
                }
                _ => None,
            }
        })
    }

    /// Returns whether the append may have to read the metadata of the spreadsheet, because a
    /// formula names a sheet, or because a name is defined.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn may_read_metadata(&self) -> bool {
        let authored = self.mutations().map(|(_, mutation)| &mutation.authored);
        authored.chain(self.uploaded_operations()).any(|operation| {
            crate::transform::may_name_sheets(operation)
                || matches!(operation, Operation::SetName(_))
        })
    }

    /// Returns the lowest base of all mutations, at which the log scan starts.
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
    /// An invalid or oversized mutation becomes a rejection, so that the client's ids are consecutive.
    pub fn validated_or_rejected(mutation: NewMutation) -> Self {
        let NewMutation { base, operation, .. } = mutation;
        Self::of_validated(base, operation.validated())
    }

    pub(super) fn of_validated(
        base: Position,
        validated: Result<Operation, InvalidOperation>,
    ) -> Self {
        let valid_or_rejected = validated.unwrap_or_else(|fault| {
            Operation::Rejected(Rejection::new(RejectionReason::Invalid, fault.to_string()))
        });
        let mutation = Mutation { base, authored: valid_or_rejected, committed: None };
        let authored = match rejection_if_too_large(&mutation) {
            Some(rejection) => Operation::Rejected(rejection),
            None => mutation.authored,
        };
        Self { base, authored, resolution: None, origin: None }
    }
}

/// Returns whether an entry can contain the mutation.
#[must_use]
pub fn fits_into_entry(mutation: &Mutation) -> bool {
    rejection_if_too_large(mutation).is_none()
}

pub(super) fn rejection_if_too_large(mutation: &Mutation) -> Option<Rejection> {
    // Encoding cannot fail: the operation has already been validated.
    let encoded_bytes = encoded_mutation_bytes(mutation).unwrap_or(usize::MAX);
    if encoded_bytes.saturating_add(BODY_FRAME_BYTES) <= MAX_ENTRY_BODY_BYTES {
        return None;
    }
    let detail = format!(
        "the encoded mutation has {encoded_bytes} bytes; at most {MAX_ENTRY_BODY_BYTES} are \
         allowed; split it"
    );
    Some(Rejection::new(RejectionReason::TooLarge, detail))
}

fn check_mutation_count(count: usize) -> Result<(), InvalidRequest> {
    match count {
        0 => Err(InvalidRequest::NoMutations),
        1..=MAX_MUTATIONS_PER_REQUEST => Ok(()),
        _ => Err(InvalidRequest::TooManyMutations { count }),
    }
}
