//! Appends undo and revert requests. The operations that they commit are computed from the state
//! directly before the new entry.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal, Request, Resolution, ResolutionRequest, Target};
use cellar_sheet::operation::{Rejection, RejectionReason, Revert};
use cellar_sheet::workbook::ReversalReport;

use super::undo::UndoStates;
use super::{LogError, Logs};

/// Treatment of an undo or revert that would change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenUnchanged {
    /// It is appended as rejected, so that its mutation id counts as used.
    Append,
    /// It is refused with [`LogError::NothingToReverse`]. Nothing is appended, and its mutation id
    /// is not used.
    Refuse,
}

/// The operations of an undo or revert, or those that follow an import, and their effect in numbers.
pub(super) struct Resolved {
    pub(super) resolution: Resolution,
    pub(super) report: ReversalReport,
}

impl Resolved {
    /// `state_position` is the position of the state in which there is nothing to reverse.
    pub(super) fn rejected(state_position: Position, rejection: Rejection) -> Self {
        let operations = Vec::new();
        let resolution = Resolution { state_position, operations, rejection: Some(rejection) };
        Self { resolution, report: ReversalReport::default() }
    }

    /// There is nothing to append in addition to an import.
    pub(super) fn nothing(state_position: Position) -> Self {
        let resolution = Resolution::new(state_position, Vec::new());
        Self { resolution, report: ReversalReport::default() }
    }

    fn nothing_to_reverse(&self) -> Option<&Rejection> {
        let Resolution { operations, rejection, .. } = &self.resolution;
        let is_nothing = |rejection: &&Rejection| {
            let reason = rejection.reason;
            matches!(reason, RejectionReason::NothingToUndo | RejectionReason::NothingToRevert)
        };
        if operations.is_empty() { rejection.as_ref().filter(is_nothing) } else { None }
    }
}

/// Reused if the append must be retried.
enum Resolver {
    Undo(Box<UndoStates>),
    Revert(Revert),
}

/// Result of the check whether a log contains an undo or revert that would change nothing.
enum LookedUpReversal {
    InLog,
    Missing,
    /// The state was outdated. The log contains newer entries up to this position.
    Newer(Position),
}

impl Logs {
    /// If another entry is appended first, the operations are computed again from the new state.
    pub(super) async fn append_undo_or_revert(
        &self,
        request: Request,
        resolution_request: ResolutionRequest,
        when_unchanged: WhenUnchanged,
    ) -> Result<Appended, LogError> {
        // If the log already contains the mutation, the request is a retry. It must succeed even if
        // the operations could no longer be computed.
        if self.has_mutation(request.log(), resolution_request).await? {
            return self.append_unresolved(request).await;
        }
        match self.resolve_and_append(&request, resolution_request, when_unchanged).await {
            Err(error) if is_unreadable(&error) => self.append_unresolved(request).await,
            appended => appended,
        }
    }

    /// Retries if another entry was appended in between.
    async fn resolve_and_append(
        &self,
        request: &Request,
        resolution_request: ResolutionRequest,
        when_unchanged: WhenUnchanged,
    ) -> Result<Appended, LogError> {
        let log_id = request.log();
        let mut resolver = self.begin_resolution(log_id, resolution_request).await?;
        let mut min_position = resolution_request.base;
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let resolved =
                self.resolve(log_id, resolution_request, &mut resolver, min_position).await?;
            if when_unchanged == WhenUnchanged::Refuse
                && let Some(rejection) = resolved.nothing_to_reverse()
            {
                match self.look_up_reversal(log_id, resolution_request, &resolved).await? {
                    LookedUpReversal::InLog => {
                        return self.append_unresolved(request.clone()).await;
                    }
                    LookedUpReversal::Missing => {
                        return Err(LogError::NothingToReverse { why: rejection.detail.clone() });
                    }
                    LookedUpReversal::Newer(position) => {
                        min_position = position;
                        continue;
                    }
                }
            }
            let Resolved { resolution, report } = resolved;
            match self.append_unchecked(request.clone().with_resolution(resolution)).await {
                Err(LogError::Refused(Refusal::StaleResolution { newest })) => {
                    min_position = newest;
                }
                appended => return Ok(with_report(appended?, report)),
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// Reads with strong consistency, because a mutation that is in the log must not be refused.
    async fn look_up_reversal(
        &self,
        log_id: LogId,
        ResolutionRequest { client, id, .. }: ResolutionRequest,
        resolved: &Resolved,
    ) -> Result<LookedUpReversal, LogError> {
        let looked_up = self.look_up_last_id(log_id, client).await?;
        Ok(if looked_up.last_id >= Some(id) {
            LookedUpReversal::InLog
        } else if looked_up.head > resolved.resolution.state_position {
            LookedUpReversal::Newer(looked_up.head)
        } else {
            LookedUpReversal::Missing
        })
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
            Target::After(revert) => Ok(Resolver::Revert(revert)),
        }
    }

    async fn resolve(
        &self,
        log_id: LogId,
        request: ResolutionRequest,
        resolver: &mut Resolver,
        min_position: Position,
    ) -> Result<Resolved, LogError> {
        match resolver {
            Resolver::Undo(states) => self.resolve_undo(log_id, states, min_position).await,
            Resolver::Revert(revert) => {
                self.resolve_revert(log_id, request, *revert, min_position).await
            }
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

/// Adds the report to the first mutation. A mutation that an earlier request committed was resolved on
/// another state, so the report does not apply to it.
pub(super) fn with_report(mut appended: Appended, report: ReversalReport) -> Appended {
    if let Some(result) = appended.results.first_mut()
        && !result.duplicate
        && result.rejection.is_none()
    {
        result.reversal = Some(report);
    }
    appended
}

/// Returns whether the state that an undo or revert needs is permanently unreadable. Such a request
/// is rejected. After an error, the client would retry it forever and never send later mutations.
fn is_unreadable(error: &LogError) -> bool {
    matches!(error, LogError::TooLarge(_) | LogError::Corrupt { .. } | LogError::Snapshot(_))
}
