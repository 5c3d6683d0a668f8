//! Appends undo and revert requests, whose operations are computed from the state immediately
//! before their entry.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal, Request, Resolution, ResolutionRequest, Target};

use super::undo::UndoStates;
use super::{LogError, Logs};

/// Data for resolving an undo or revert anew in each attempt.
enum Resolver {
    Undo(Box<UndoStates>),
    Revert(Position),
}

impl Logs {
    /// Appends an undo or revert. If another entry is appended concurrently, reads that entry,
    /// resolves the request anew and retries.
    pub(super) async fn append_resolved(
        &self,
        request: Request,
        asked: ResolutionRequest,
    ) -> Result<Appended, LogError> {
        let log = request.log();
        // If this request is a retry, the log already contains its mutation, even if the current
        // state no longer allows the mutation.
        if self.has_mutation(log, asked).await? {
            return self.append_unchecked(request).await;
        }
        let mut resolver = match asked.target {
            Target::Entry(target) => match self.states_before(log, target, asked.base).await {
                Ok(states) => Resolver::Undo(Box::new(states)),
                Err(error) if is_unreadable(&error) => return self.append_unchecked(request).await,
                Err(error) => return Err(error),
            },
            Target::After(target) => Resolver::Revert(target),
        };
        let mut must_reach = asked.base;
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let resolved = match self.resolve(log, &mut resolver, must_reach).await {
                Ok(resolved) => resolved,
                Err(error) if is_unreadable(&error) => return self.append_unchecked(request).await,
                Err(error) => return Err(error),
            };
            match self.append_unchecked(request.clone().with_resolution(resolved)).await {
                Err(LogError::Refused(Refusal::StaleResolution { newest })) => must_reach = newest,
                result => return result,
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    async fn resolve(
        &self,
        log: LogId,
        resolver: &mut Resolver,
        must_reach: Position,
    ) -> Result<Resolution, LogError> {
        match resolver {
            Resolver::Undo(states) => self.resolve_undo(log, states, must_reach).await,
            Resolver::Revert(target) => self.resolve_revert(log, *target, must_reach).await,
        }
    }

    /// Whether the log contains the mutation after its base. The read is eventually consistent and
    /// may miss the mutation; the check merely avoids resolving a repeated request again.
    async fn has_mutation(&self, log: LogId, asked: ResolutionRequest) -> Result<bool, LogError> {
        let mut found = false;
        let walk = self.walk(log, asked.base, None, |entry| {
            let ids = entry.mutation_ids();
            found |= ids.is_some_and(|(client, first, last)| {
                client == asked.client && (first..=last).contains(&asked.id)
            });
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match walk.await {
            // The read may miss a repeated mutation, but the append detects it.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(found),
            Err(error) => Err(error),
        }
    }
}

/// Whether an error means that a state is permanently unreadable. If an undo or revert needs that
/// state, it is rejected: the client would retry an error forever and never send its later
/// mutations.
fn is_unreadable(error: &LogError) -> bool {
    matches!(error, LogError::TooLarge(_) | LogError::Corrupt { .. } | LogError::Snapshot(_))
}
