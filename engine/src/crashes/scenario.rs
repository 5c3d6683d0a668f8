//! Scenarios for fault injection. A scenario consists of a service and its caller.

use std::fmt::Debug;
use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal};
use cellar_sheet::operation::RejectionReason;

use super::ports::FaultyPorts;
use super::stored::Stored;
use crate::logs::{LogError, Logs};

/// Error after which the caller must retry the step.
#[derive(Debug)]
pub(crate) struct Retry(pub(crate) String);

/// Every scenario also guarantees that the invariants hold, that all logs are readable and that no
/// existing data is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// All data except times equals the data of a fault-free run.
    SameData,
    /// All readable cells equal those of a fault-free run, but redundant data such as snapshots may
    /// be missing.
    SameCells,
    /// Other writers change the data, so the scenario itself checks the data.
    ConsistentData,
}

/// If a step gets no response, the caller retries the step in a new process.
pub(crate) trait Scenario: Send + Sync + 'static {
    type Process: Send + Sync + 'static;
    /// State that the caller keeps between steps, in addition to the step index.
    type Caller: Default + Send + Sync + 'static;
    /// A retry of the step must return an equal result (I14).
    type Answer: Clone + PartialEq + Debug + Send + 'static;

    const PROMISE: Promise = Promise::SameData;

    fn step_count(&self) -> usize {
        1
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Self::Process;

    fn step(
        &self,
        process: &Self::Process,
        caller: &Self::Caller,
        step: usize,
    ) -> impl Future<Output = Result<Self::Answer, Retry>> + Send;

    fn assert_after_failure(&self, _stored: &Stored, _what: &str) {}

    fn assert_final(&self, _stored: &Stored, _answers: &[Self::Answer], _what: &str) {}

    /// Lets other writers change the data after a failure, before the step is retried.
    fn run_other_writers(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Completes the work of other processes after all steps, without injecting faults.
    fn finish_other_work(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Panics if a client would not retry the request after this error.
pub(crate) fn retry(error: LogError) -> Retry {
    match error {
        LogError::Store(_)
        | LogError::Refused(Refusal::Store | Refusal::OutcomeUnknown | Refusal::Contention) => {
            Retry(error.to_string())
        }
        error => panic!("no client retries after this error: {error:?}"),
    }
}

/// Id and position of a mutation. If the mutation was rejected, also the reason.
pub(crate) type MutationPlace = (u64, Option<Position>, Option<RejectionReason>);

/// Other results are omitted, since they depend on earlier attempts.
pub(crate) fn mutation_places(appended: Appended) -> Vec<MutationPlace> {
    let reason = |rejection: cellar_sheet::operation::Rejection| rejection.reason;
    let results = appended.results.into_iter();
    results.map(|result| (result.id, result.position, result.rejection.map(reason))).collect()
}

/// Reads the latest entry, so that the process caches it.
pub(crate) async fn cache_tail(
    logs: &Logs,
    log_id: cellar_base::identity::LogId,
) -> Result<Arc<cellar_log::entry::Entry>, Retry> {
    let loaded = logs.load(log_id, None).await.map_err(retry)?;
    loaded.entries.last().cloned().ok_or_else(|| Retry("no entry".to_owned()))
}
