//! Runs the push state machine.

use cellar_api::sync::{PushAction, PushEvent, PushOutcome, PushRules, Run, RunPush};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_log::append::{Appended, Refusal};
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::{LogError, Logs};

/// The client of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushClient {
    /// Hash of the subject and the client id.
    pub key: ClientKey,
    /// Client id and client group id.
    pub name: ClientName,
}

/// Log and author of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushing {
    pub log: LogId,
    /// Author stored in the appended entries.
    pub author: Option<String>,
}

impl Logs {
    /// Appends a series of mutations of one client. Each mutation is appended exactly once, even if
    /// it is pushed repeatedly.
    ///
    /// # Errors
    ///
    /// Returns [`LogError`] if the failure is temporary or not caused by a mutation. The client
    /// should retry the push.
    pub async fn push(
        &self,
        pushing: &Pushing,
        client: &PushClient,
        run: Run,
    ) -> Result<PushOutcome, LogError> {
        let log_id = pushing.log;
        let author = pushing.author.clone();
        let key_and_name = (client.key, client.name.clone());
        let cached_last_id = self.last_ids.last_id(log_id, client.key);
        let rules = PushRules::default();
        let (mut push, mut action) =
            RunPush::begin(log_id, key_and_name, author, cached_last_id, run, rules);
        loop {
            let event = match action {
                PushAction::Append(request) => to_push_event(self.append(request).await)?,
                PushAction::LookUp => {
                    PushEvent::LookedUp(self.look_up_last_id(log_id, client.key).await?)
                }
                PushAction::GiveUp => return Err(LogError::Refused(Refusal::Contention)),
                PushAction::Finish(outcome) => {
                    self.last_ids.raise_last_id(log_id, client.key, outcome.last_id);
                    return Ok(outcome);
                }
            };
            (push, action) = push.step(event);
        }
    }
}

fn to_push_event(append_result: Result<Appended, LogError>) -> Result<PushEvent, LogError> {
    match append_result {
        Ok(appended) => PushEvent::from_append_result(Ok(appended)).map_err(LogError::Refused),
        Err(LogError::Refused(refusal)) => {
            PushEvent::from_append_result(Err(refusal)).map_err(LogError::Refused)
        }
        // Reject the mutation instead of returning an error. After an error, the client would retry
        // the mutation forever and never send later mutations.
        Err(LogError::Import(fault)) => {
            Ok(PushEvent::Unfit(Rejection::new(RejectionReason::Invalid, fault.to_string())))
        }
        Err(error) => Err(error),
    }
}
