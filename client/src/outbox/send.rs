//! Sends pending edits. Small edits are sent in append requests, and large edits are uploaded as
//! objects.

use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::ProblemKind, wire::UploadReply,
    wire::UploadRequest,
};

use super::pending_edit::UploadBody;
use super::state::{IncompleteReply, NextRequest, OutboxState, SettledEdit};
use super::{Outbox, bodies};
use crate::ClientError;
use crate::files::FileError;

/// An attempt fails if its upload URL has expired or the object was lost. The next attempt uses a
/// new URL and normally succeeds.
const MAX_UPLOAD_ATTEMPTS: u32 = 3;

/// The edits remain in the outbox.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum SendError {
    Client(#[from] ClientError),
    File(#[from] FileError),
}

#[derive(Debug)]
pub(crate) struct SentRequest {
    pub(crate) edit_count: usize,
    pub(crate) reply: AppendReply,
}

enum ObjectUpload {
    Stored,
    /// The object may be stored nevertheless, because the object store also refuses a retry after a
    /// lost response. Only the request that completes the upload determines whether the object
    /// exists.
    Refused(ClientError),
}

enum UploadAttempt {
    /// The edit was committed or rejected.
    Committed(AppendReply),
    /// The server does not have the object. Another attempt may succeed.
    ObjectMissing(ClientError),
}

impl Outbox {
    /// Edits that the server has committed or rejected are moved from `state` to `settled_edits`,
    /// even if a later request fails.
    pub(crate) async fn send_all(
        &self,
        state: &mut OutboxState,
        settled_edits: &mut Vec<SettledEdit>,
    ) -> Result<(), SendError> {
        while let Some(request) = state.next_request() {
            let SentRequest { edit_count, reply } = self.send_request(state, request).await?;
            let had_bodies = state.bodies().next().is_some();
            let answered_edits = state
                .settle_edits(edit_count, &reply)
                .map_err(|IncompleteReply| self.incomplete_reply_error())?;
            settled_edits.extend(answered_edits);
            // If writing the state fails, the edits are resent later, and the server ignores the
            // duplicates.
            if self.write(state).is_ok() && had_bodies {
                self.delete_unreferenced_bodies(state);
            }
        }
        Ok(())
    }

    pub(crate) async fn send_request(
        &self,
        state: &mut OutboxState,
        request: NextRequest,
    ) -> Result<SentRequest, SendError> {
        match request {
            NextRequest::Append(append) => {
                let reply = self.spreadsheet.append(&append).await?;
                Ok(SentRequest { edit_count: append.mutations.len(), reply })
            }
            NextRequest::Upload(_) => {
                let reply = self.upload_first_edit(state).await?;
                Ok(SentRequest { edit_count: 1, reply })
            }
        }
    }

    /// The first unanswered edit must be a large edit. The state is saved after each step, so that
    /// the edit is committed exactly once even if the client crashes.
    async fn upload_first_edit(&self, state: &mut OutboxState) -> Result<AppendReply, SendError> {
        let mut last_error = None;
        for _ in 1..=MAX_UPLOAD_ATTEMPTS {
            let (Some(NextRequest::Upload(body)), Some(completion)) =
                (state.next_request(), state.completion_request())
            else {
                break;
            };
            match self.try_upload(state, body, &completion).await? {
                UploadAttempt::Committed(reply) => return Ok(reply),
                UploadAttempt::ObjectMissing(error) => last_error = Some(error),
            }
        }
        let why = "there is no edit to upload".to_owned();
        Err(last_error.unwrap_or(ClientError::Setup { why }).into())
    }

    async fn try_upload(
        &self,
        state: &mut OutboxState,
        body: UploadBody,
        completion: &CompleteRequest,
    ) -> Result<UploadAttempt, SendError> {
        let object = bodies::read_body(&self.path, &body)?;
        let is_uploaded = body.uploaded;
        let grant = self.load_or_request_upload_url(state, body).await?;
        let object_upload = if is_uploaded {
            ObjectUpload::Stored
        } else {
            self.upload_object(state, &grant, object).await?
        };
        match self.spreadsheet.complete_upload(grant.upload_id, completion).await {
            Ok(reply) => Ok(UploadAttempt::Committed(reply)),
            Err(error) if error.problem_kind() == Some(ProblemKind::InvalidUpload) => {
                let may_be_committed = !error.certainly_not_done();
                state.abandon_upload(may_be_committed);
                self.write(state)?;
                Ok(UploadAttempt::ObjectMissing(match object_upload {
                    ObjectUpload::Refused(refusal) => refusal,
                    ObjectUpload::Stored => error,
                }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// If the object store confirms the upload, saves this in the state.
    async fn upload_object(
        &self,
        state: &mut OutboxState,
        grant: &UploadReply,
        object: Vec<u8>,
    ) -> Result<ObjectUpload, SendError> {
        match self.spreadsheet.client().upload(grant, object).await {
            Ok(()) => {
                state.mark_uploaded();
                self.write(state)?;
                Ok(ObjectUpload::Stored)
            }
            Err(error @ ClientError::Unreachable { uncertain: false, .. }) => Err(error.into()),
            Err(refusal) => Ok(ObjectUpload::Refused(refusal)),
        }
    }

    async fn load_or_request_upload_url(
        &self,
        state: &mut OutboxState,
        body: UploadBody,
    ) -> Result<UploadReply, SendError> {
        if let Some(grant) = body.grant {
            return Ok(grant);
        }
        let request = UploadRequest { bytes: body.bytes, sha256: body.sha256 };
        let grant = self.spreadsheet.request_upload(&request).await?;
        state.set_upload_grant(grant.clone());
        self.write(state)?;
        Ok(grant)
    }
}
