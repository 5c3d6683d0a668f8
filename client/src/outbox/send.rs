//! Sends pending edits: small edits in append requests, large edits as uploaded objects.

use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::ProblemKind, wire::UploadReply,
    wire::UploadRequest,
};

use super::pending_edit::UploadBody;
use super::state::{NextRequest, OutboxState, SettledEdit};
use super::{Outbox, bodies};
use crate::ClientError;
use crate::files::FileError;

/// Maximum number of upload attempts per edit. An attempt fails if its URL has expired or its
/// object was lost; the next attempt uses a new URL and normally succeeds.
const MAX_UPLOAD_ATTEMPTS: u32 = 3;

/// Error sending pending edits. The edits stay in the outbox.
#[derive(Debug)]
pub(crate) enum SendError {
    /// A request failed.
    Client(ClientError),
    /// A local file cannot be read or written.
    File(FileError),
}

impl From<ClientError> for SendError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<FileError> for SendError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Outbox {
    /// Sends all pending edits. Moves each answered edit from `state` to `settled` (committed or
    /// rejected edits), even if a later request fails.
    pub(crate) async fn send_all(
        &self,
        state: &mut OutboxState,
        settled: &mut Vec<SettledEdit>,
    ) -> Result<(), SendError> {
        while let Some(request) = state.next_request() {
            let (edit_count, reply) = self.send_request(state, request).await?;
            let had_bodies = state.bodies().next().is_some();
            let answered = state.settle_edits(edit_count, &reply);
            settled.extend(answered.ok_or_else(|| self.incomplete_reply_error())?);
            // If this write fails, the edits are resent later and the server deduplicates them.
            if self.write(state).is_ok() && had_bodies {
                self.delete_unreferenced_bodies(state);
            }
        }
        Ok(())
    }

    /// Sends one request. Returns the response and the number of edits in the request.
    pub(crate) async fn send_request(
        &self,
        state: &mut OutboxState,
        request: NextRequest,
    ) -> Result<(usize, AppendReply), SendError> {
        match request {
            NextRequest::Append(append) => {
                let reply = self.spreadsheet.append(&append).await?;
                Ok((append.mutations.len(), reply))
            }
            NextRequest::Upload(_) => Ok((1, self.upload_first_edit(state).await?)),
        }
    }

    /// Uploads and commits the first unanswered edit, which must be a large edit. Persists the
    /// state after each step, so that the edit is committed exactly once even after a crash.
    async fn upload_first_edit(&self, state: &mut OutboxState) -> Result<AppendReply, SendError> {
        let mut last_error = None;
        for _ in 0..MAX_UPLOAD_ATTEMPTS {
            let (Some(NextRequest::Upload(body)), Some(completion)) =
                (state.next_request(), state.completion_request())
            else {
                break;
            };
            match self.try_upload(state, body, &completion).await? {
                Ok(reply) => return Ok(reply),
                Err(error) => last_error = Some(error),
            }
        }
        let no_edit = || ClientError::Setup { why: "there is no edit to upload".to_owned() };
        Err(last_error.unwrap_or_else(no_edit).into())
    }

    /// Attempts to upload and commit an object once. The inner error means that the server does not
    /// have the object, so another attempt may succeed.
    async fn try_upload(
        &self,
        state: &mut OutboxState,
        body: UploadBody,
        completion: &CompleteRequest,
    ) -> Result<Result<AppendReply, ClientError>, SendError> {
        let object = bodies::read(&self.path, &body)?;
        let is_uploaded = body.uploaded;
        let grant = self.upload_grant(state, body).await?;
        let mut upload_error = None;
        if !is_uploaded {
            match self.spreadsheet.client().upload(&grant, object).await {
                Ok(()) => {
                    state.mark_uploaded();
                    self.write(state)?;
                }
                Err(error @ ClientError::Unreachable { uncertain: false, .. }) => {
                    return Err(error.into());
                }
                // Complete the upload even if the object store refused it: after a lost response,
                // the store refuses the retried upload although the object exists. Only the
                // completion request shows whether it exists.
                Err(error) => upload_error = Some(error),
            }
        }
        let completed = self.spreadsheet.complete_upload(grant.upload_id, completion).await;
        match completed {
            Ok(reply) => Ok(Ok(reply)),
            Err(error) if error.problem_kind() == Some(ProblemKind::InvalidUpload) => {
                let may_be_committed = !error.certainly_not_done();
                state.abandon_upload(may_be_committed);
                self.write(state)?;
                Ok(Err(upload_error.unwrap_or(error)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the persisted upload URL of an object. Requests and persists a new URL if there is
    /// none.
    async fn upload_grant(
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
