//! Appends undo and revert requests. The operations that they commit are computed from the state
//! directly before the new entry.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal, Request, Resolution, ResolutionRequest, Target};

use super::undo::UndoStates;
use super::{LogError, Logs};

/// Reused if the append must be retried.
enum Resolver {
    Undo(Box<UndoStates>),
    Revert(Position),
}

impl Logs {
    /// If another entry is appended first, the operations are computed again from the new state.
    pub(super) async fn append_undo_or_revert(
        &self,
        request: Request,
        resolution_request: ResolutionRequest,
    ) -> Result<Appended, LogError> {
        // If the log already contains the mutation, the request is a retry. It must succeed even if
        // the operations could no longer be computed.
        if self.has_mutation(request.log(), resolution_request).await? {
            return self.append_unresolved(request).await;
        }
        match self.resolve_and_append(&request, resolution_request).await {
            Err(error) if is_unreadable(&error) => self.append_unresolved(request).await,
            appended => appended,
        }
    }

    /// Retries if another entry was appended in between.
    async fn resolve_and_append(
        &self,
        request: &Request,
        resolution_request: ResolutionRequest,
    ) -> Result<Appended, LogError> {
        let log_id = request.log();
        let mut resolver = self.begin_resolution(log_id, resolution_request).await?;
        let mut min_position = resolution_request.base;
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let resolution = self.resolve(log_id, &mut resolver, min_position).await?;
            match self.append_unchecked(request.clone().with_resolution(resolution)).await {
                Err(LogError::Refused(Refusal::StaleResolution { newest })) => {
                    min_position = newest;
                }
                appended => return appended,
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// The request is rejected, unless the log already contains it.
    async fn append_unresolved(&self, request: Request) -> Result<Appended, LogError> {
        self.append_unchecked(request).await
    }

    async fn begin_resolution(
        &self,
        log_id: LogId,
        ResolutionRequest { target, base, .. }: ResolutionRequest,
    ) -> Result<Resolver, LogError> {
        match target {
            Target::Entry(target) => {
                let states = self.read_undo_states(log_id, target, base).await?;
                Ok(Resolver::Undo(Box::new(states)))
            }
            Target::After(target) => Ok(Resolver::Revert(target)),
        }
    }

    async fn resolve(
        &self,
        log_id: LogId,
        resolver: &mut Resolver,
        min_position: Position,
    ) -> Result<Resolution, LogError> {
        match resolver {
            Resolver::Undo(states) => self.resolve_undo(log_id, states, min_position).await,
            Resolver::Revert(target) => self.resolve_revert(log_id, *target, min_position).await,
        }
    }

    /// The read is eventually consistent and may miss the mutation. In this case, the request is
    /// only resolved unnecessarily.
    async fn has_mutation(
        &self,
        log_id: LogId,
        resolution_request: ResolutionRequest,
    ) -> Result<bool, LogError> {
        let ResolutionRequest { client, id: mutation_id, base, .. } = resolution_request;
        let mut is_in_log = false;
        let walk = self.walk(log_id, base, None, |entry| {
            is_in_log = entry.mutation_ids().is_some_and(|(entry_client, first_id, last_id)| {
                entry_client == client && (first_id..=last_id).contains(&mutation_id)
            });
            Ok(if is_in_log { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match walk.await {
            // The read may have missed the mutation. The append detects it.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(is_in_log),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether the state that an undo or revert needs is permanently unreadable. Such a request
/// is rejected. After an error, the client would retry it forever and never send later mutations.
fn is_unreadable(error: &LogError) -> bool {
    matches!(error, LogError::TooLarge(_) | LogError::Corrupt { .. } | LogError::Snapshot(_))
}
