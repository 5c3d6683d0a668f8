//! Undo and revert: found on the very state behind which they are put.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal, Request, ResolutionRequest, Resolved, Target};

use super::undo::States;
use super::{LogError, Logs};

/// What is looked at anew for each attempt.
enum Resolving {
    Undo(Box<States>),
    Revert(Position),
}

impl Logs {
    /// Appends an undo or a revert. What others do meanwhile is read too, and it is resolved again, until
    /// it stands behind all of it.
    pub(super) async fn append_resolved(
        &self,
        request: Request,
        asked: ResolutionRequest,
    ) -> Result<Appended, LogError> {
        let log = request.log();
        // A repeat is found in the log, whatever the state has become.
        if self.has_mutation(log, asked).await? {
            return self.append_as_it_is(request).await;
        }
        let mut resolving = match asked.target {
            Target::Entry(target) => match self.states_before(log, target, asked.base).await {
                Ok(states) => Resolving::Undo(Box::new(states)),
                Err(error) if is_unreadable(&error) => return self.append_as_it_is(request).await,
                Err(error) => return Err(error),
            },
            Target::After(target) => Resolving::Revert(target),
        };
        let mut must_reach = asked.base;
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let resolved = match self.resolve(log, &mut resolving, must_reach).await {
                Ok(resolved) => resolved,
                Err(error) if is_unreadable(&error) => return self.append_as_it_is(request).await,
                Err(error) => return Err(error),
            };
            match self.append_as_it_is(request.clone().with_resolution(resolved)).await {
                Err(LogError::Refused(Refusal::StaleResolution { newest })) => must_reach = newest,
                done => return done,
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    async fn resolve(
        &self,
        log: LogId,
        resolving: &mut Resolving,
        must_reach: Position,
    ) -> Result<Resolved, LogError> {
        match resolving {
            Resolving::Undo(states) => self.resolve_undo(log, states, must_reach).await,
            Resolving::Revert(target) => self.resolve_revert(log, *target, must_reach).await,
        }
    }

    /// Whether it is in the log behind its base, as far as an eventually consistent read shows: enough
    /// to spare resolving it again if it got through before.
    async fn has_mutation(&self, log: LogId, asked: ResolutionRequest) -> Result<bool, LogError> {
        let mut found = false;
        let walked = self.walk(log, asked.base, None, |entry| {
            let ids = entry.mutation_ids();
            found |= ids.is_some_and(|(client, first, last)| {
                client == asked.client && (first..=last).contains(&asked.id)
            });
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match walked.await {
            // The append looks for itself.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(found),
            Err(error) => Err(error),
        }
    }
}

/// What cannot be read now cannot be read later: an undo or a revert of it is rejected, or its author would
/// repeat it for ever, and nothing behind it would get through.
fn is_unreadable(error: &LogError) -> bool {
    matches!(error, LogError::TooLarge(_) | LogError::Corrupt { .. } | LogError::Snapshot(_))
}
