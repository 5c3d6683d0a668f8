//! Drives the machine of a push.

use cellar_api::sync::{PushAction, PushEvent, PushOutcome, PushRules, Run, RunPush};
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_log::append::Refusal;
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::{LogError, Logs};

/// A client of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushClient {
    /// Its key, for its subject.
    pub key: ClientKey,
    /// What it and its group are called.
    pub name: ClientName,
}

/// Who pushes to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushing {
    /// The log.
    pub log: LogId,
    /// Who is written on the entries.
    pub author: Option<String>,
}

impl Logs {
    /// Appends a run of a push: each of its mutations exactly once, however often it is pushed.
    ///
    /// # Errors
    /// [`LogError`] for what passes, or what is the fault of nobody's mutation: the client repeats its
    /// push.
    pub async fn push(
        &self,
        pushing: &Pushing,
        client: &PushClient,
        run: Run,
    ) -> Result<PushOutcome, LogError> {
        let PushClient { key, name } = client;
        let (log, author) = (pushing.log, pushing.author.clone());
        let known = self.last_ids.last_id(log, *key);
        let whose = (*key, name.clone());
        let rules = PushRules::default();
        let (mut push, mut action) = RunPush::begin(log, whose, author, known, run, rules);
        loop {
            let event = match action {
                PushAction::Append(request) => event_of(self.append(request).await)?,
                PushAction::LookUp => PushEvent::LookedUp(self.look_up(log, *key).await?),
                PushAction::GiveUp => return Err(LogError::Refused(Refusal::Contention)),
                PushAction::Finish(outcome) => {
                    self.last_ids.raise(log, *key, outcome.last_id);
                    return Ok(outcome);
                }
            };
            (push, action) = push.step(event);
        }
    }
}

/// What an append came to, if the machine has to know.
fn event_of(
    appended: Result<cellar_log::append::Appended, LogError>,
) -> Result<PushEvent, LogError> {
    match appended {
        Ok(appended) => PushEvent::of(Ok(appended)).map_err(LogError::Refused),
        Err(LogError::Refused(refusal)) => PushEvent::of(Err(refusal)).map_err(LogError::Refused),
        // An error would be repeated for ever, and nothing behind the import would get through.
        Err(LogError::Import(fault)) => {
            Ok(PushEvent::Unfit(Rejection::new(RejectionReason::Invalid, fault.to_string())))
        }
        Err(error) => Err(error),
    }
}
