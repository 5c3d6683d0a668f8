//! Scenarios that run while requests fail, and their callers.

use std::fmt::Debug;
use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal};
use cellar_sheet::operation::RejectionReason;

use super::ports::FaultyPorts;
use super::stored::Stored;
use crate::logs::{LogError, Logs};

/// The caller must retry the unchanged step; contains the cause.
#[derive(Debug)]
pub(crate) struct Retry(pub(crate) String);

/// Guarantee about the final data, whatever failed. In addition, the data is always consistent: the
/// invariants hold, all logs are readable, and existing data is preserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The data equals that of an undisturbed run, except for times.
    Same,
    /// Redundant data may be missing; the readable cells are equal.
    ReadsSame,
    /// Other writers are active; the scenario checks the data itself.
    Sound,
}

/// A scenario: a service of the engine and its caller. The caller takes one step after another; an
/// unanswered step is retried in a new process.
pub(crate) trait Scenario: Send + Sync + 'static {
    /// State of a process, including its caches.
    type Process: Send + Sync + 'static;
    /// State of the caller besides the step.
    type Caller: Default + Send + Sync + 'static;
    /// Result of a step. Retries of a step return the same result (I14).
    type Answer: Clone + PartialEq + Debug + Send + 'static;

    /// The guarantee about the final data.
    const PROMISE: Promise = Promise::Same;

    /// Returns the number of steps.
    fn steps(&self) -> usize {
        1
    }

    /// Returns a new process without caches.
    fn process(&self, ports: &Arc<FaultyPorts>) -> Self::Process;

    /// Takes one step.
    fn step(
        &self,
        process: &Self::Process,
        caller: &Self::Caller,
        step: usize,
    ) -> impl Future<Output = Result<Self::Answer, Retry>> + Send;

    /// Checks the data after a failure.
    fn assert_between(&self, _stored: &Stored, _what: &str) {}

    /// Checks the final data, in addition to the promise.
    fn assert_ended(&self, _stored: &Stored, _answers: &[Self::Answer], _what: &str) {}

    /// Runs other writers after a failure, before the step is retried.
    fn meanwhile(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Runs the remaining work of other processes at the end, without faults.
    fn settle(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Returns the retry of a failed request, or panics if no client would retry after the error.
pub(crate) fn retry(error: LogError) -> Retry {
    match error {
        LogError::Store(_)
        | LogError::Refused(Refusal::Store | Refusal::OutcomeUnknown | Refusal::Contention) => {
            Retry(error.to_string())
        }
        error => panic!("no client retries after this error: {error:?}"),
    }
}

/// Result of a mutation: its id, its position, and the reason if it was rejected.
pub(crate) type MutationPlace = (u64, Option<Position>, Option<RejectionReason>);

/// Returns the results of an append that do not depend on earlier attempts.
pub(crate) fn mutation_places(appended: Appended) -> Vec<MutationPlace> {
    let reason = |rejection: cellar_sheet::operation::Rejection| rejection.reason;
    let results = appended.results.into_iter();
    results.map(|result| (result.id, result.position, result.rejection.map(reason))).collect()
}

/// Reads the newest entry, so that the process caches the tail of the log.
pub(crate) async fn cache_tail(
    logs: &Logs,
    log: cellar_base::identity::LogId,
) -> Result<Arc<cellar_log::entry::Entry>, Retry> {
    let loaded = logs.load(log, None).await.map_err(retry)?;
    loaded.entries.last().cloned().ok_or_else(|| Retry("no entry".to_owned()))
}
