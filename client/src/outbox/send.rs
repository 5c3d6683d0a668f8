//! Sending what is pending: requests one after the other, large edits as objects.

use cellar_api::{wire::AppendReply, wire::ProblemKind, wire::UploadRequest};

use super::state::{Next, OutboxState, Settled};
use super::{Outbox, bodies};
use crate::ClientError;
use crate::files::FileError;

/// Uploads that are asked for, for one edit in one run: of one whose URL has ended or whose object
/// was lost, the next gets through unless something is wrong.
const MAX_GRANTS: u32 = 3;

/// Why sending ended early.
#[derive(Debug)]
pub(crate) enum Unsent {
    /// A call failed.
    Client(ClientError),
    /// The local state cannot be used: what is pending stays there.
    File(FileError),
}

impl From<ClientError> for Unsent {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<FileError> for Unsent {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Outbox {
    /// Sends all pending edits and drops what is answered, which is added to `settled`.
    pub(crate) async fn send(
        &self,
        state: &mut OutboxState,
        settled: &mut Vec<Settled>,
    ) -> Result<(), Unsent> {
        while let Some(next) = state.next_request() {
            let (sent, reply) = self.exchange(state, next).await?;
            let had_bodies = state.bodies().next().is_some();
            let answered = state.acknowledge(sent, &reply);
            settled.extend(answered.ok_or_else(|| self.not_answered())?);
            // What cannot be saved now is sent again next time, and recognised as a duplicate.
            if self.write(state).is_ok() && had_bodies {
                bodies::sweep(&self.path, state.bodies());
            }
        }
        Ok(())
    }

    /// Sends the next request. Gives how many edits were in it, and the answer.
    pub(crate) async fn exchange(
        &self,
        state: &mut OutboxState,
        next: Next,
    ) -> Result<(usize, AppendReply), Unsent> {
        match next {
            Next::Append(request) => {
                let reply = self.client.append(self.spreadsheet, &request).await?;
                Ok((request.mutations.len(), reply))
            }
            Next::Upload(_) => Ok((1, self.upload(state).await?)),
        }
    }

    /// Makes the first pending edit an entry by way of an object. Every step is on disk before the
    /// next: whatever is lost or killed, the edit happens once.
    ///
    /// Whether the object is there, only completing it tells: an upload whose answer was lost is
    /// refused when it is repeated.
    async fn upload(&self, state: &mut OutboxState) -> Result<AppendReply, Unsent> {
        let mut refused = None;
        for _ in 0..MAX_GRANTS {
            let (Some(Next::Upload(body)), Some(completion)) =
                (state.next_request(), state.completion())
            else {
                break;
            };
            let object = bodies::read(&self.path, &body)?;
            let grant = match body.grant {
                Some(grant) => grant,
                None => {
                    let request = UploadRequest { bytes: body.bytes, sha256: body.sha256 };
                    let grant = self.client.request_upload(self.spreadsheet, &request).await?;
                    state.granted(grant.clone());
                    self.write(state)?;
                    grant
                }
            };
            let mut failed = None;
            if !body.uploaded {
                match self.client.upload(&grant, object).await {
                    Ok(()) => {
                        state.uploaded();
                        self.write(state)?;
                    }
                    Err(error @ ClientError::Unreachable { uncertain: false, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => failed = Some(error),
                }
            }
            let upload = grant.upload_id;
            match self.client.complete_upload(self.spreadsheet, upload, &completion).await {
                Ok(reply) => return Ok(reply),
                Err(error) if error.problem_kind() == Some(ProblemKind::InvalidUpload) => {
                    state.forget_upload(!error.certainly_not_done());
                    self.write(state)?;
                    refused = Some(failed.unwrap_or(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let nothing = || ClientError::Setup { why: "there is no edit to upload".to_owned() };
        Err(refused.unwrap_or_else(nothing).into())
    }
}
