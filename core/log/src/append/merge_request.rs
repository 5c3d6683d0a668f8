//! Requests that append the edits of a fork to another log of its family.

use std::sync::Arc;

use super::mutation_ids::{check_id_is_not_too_large, last_id};
use super::request::{InvalidRequest, Payload, Request, RequestMutation};
use crate::entry::Merged;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

/// A mutation of a fork that is appended to another log of its family.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedMutation {
    /// The operation as the fork committed it.
    pub operation: Operation,
    /// Author and origin. Mutations with the same origin become one entry, if they fit.
    pub origin: Arc<MergedOrigin>,
}

/// Author and origin of a merged entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedOrigin {
    /// Author of the entry in the fork.
    pub author: Option<String>,
    /// The origin that is stored in the entry.
    pub merged: Merged,
}

impl Request {
    /// Creates a request that appends mutations of a fork, all with the base up to which the fork and
    /// the log are the same. Each origin becomes entries of its own, with the author of the fork. The
    /// number of mutations may exceed `MAX_MUTATIONS_PER_REQUEST`.
    ///
    /// The request is refused with [`Refusal::MergeTooDistant`](super::Refusal::MergeTooDistant)
    /// instead of appending mutations as rejected because they cannot be transformed.
    ///
    /// # Errors
    /// Returns an [`InvalidRequest`] if there are no mutations or their ids are invalid.
    pub fn of_merge(
        log: LogId,
        client: ClientKey,
        incarnation: u32,
        (first_id, base): (u64, Position),
        mutations: Vec<MergedMutation>,
    ) -> Result<Self, InvalidRequest> {
        if mutations.is_empty() {
            return Err(InvalidRequest::NoMutations);
        }
        let acknowledged_id = first_id.saturating_sub(1);
        let count = u64::try_from(mutations.len()).unwrap_or(u64::MAX);
        check_id_is_not_too_large(last_id(first_id, count))?;
        let mutations = mutations.into_iter().map(|MergedMutation { operation, origin }| {
            let mutation = RequestMutation::of_validated(base, operation.validated_from_log());
            RequestMutation { origin: Some(origin), ..mutation }
        });
        let payload = Payload::Mutations(mutations.collect());
        let request =
            Self::from_valid(log, client, None, incarnation, acknowledged_id, first_id, payload);
        Ok(Self { numbering_is_trusted: false, ..request })
    }
}
