//! What is run while something fails, and by whom it is repeated.

use std::fmt::Debug;
use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::{Appended, Refusal};
use cellar_sheet::operation::RejectionReason;

use super::ports::FaultyPorts;
use super::stored::Stored;
use crate::logs::{LogError, Logs};

/// Whoever asked repeats it, unchanged: why.
#[derive(Debug)]
pub(crate) struct Again(pub(crate) String);

/// What is promised of what is stored in the end, whatever has failed. It is always sound: the invariants of
/// core hold, all of it can be read, and what was there before is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// It is exactly what an undisturbed run leaves, but for the time.
    Same,
    /// Something may be lost that costs nothing, and what is read is the same.
    ReadsSame,
    /// Others write, too: the driver itself says what it must be.
    Sound,
}

/// A driver of the engine with whoever calls it. It is called step by step; a step that is not answered is
/// repeated in a new process until it is.
pub(crate) trait Driver: Send + Sync + 'static {
    /// What it runs in: all that a process knows.
    type Process: Send + Sync + 'static;
    /// What the caller knows besides the step.
    type Caller: Default + Send + Sync + 'static;
    /// What the caller learns. However often a step is repeated, the answer is the same (I14).
    type Answer: Clone + PartialEq + Debug + Send + 'static;

    /// What is promised of the end.
    const PROMISE: Promise = Promise::Same;

    /// How many steps there are.
    fn steps(&self) -> usize {
        1
    }

    /// A process that knows nothing.
    fn process(&self, ports: &Arc<FaultyPorts>) -> Self::Process;

    /// One call.
    fn step(
        &self,
        process: &Self::Process,
        caller: &Self::Caller,
        step: usize,
    ) -> impl Future<Output = Result<Self::Answer, Again>> + Send;

    /// Looks at what somebody who failed has left, besides reading it.
    fn assert_between(&self, _stored: &Stored, _what: &str) {}

    /// Looks at the end, besides what is promised.
    fn assert_ended(&self, _stored: &Stored, _answers: &[Self::Answer], _what: &str) {}

    /// What others do once somebody has failed, before the step is repeated.
    fn meanwhile(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// What others do in the end, and nothing of it fails.
    fn settle(&self, _: Arc<FaultyPorts>) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// What a client does about an error: it repeats its request, or the test fails.
pub(crate) fn again(error: LogError) -> Again {
    match error {
        LogError::Store(_)
        | LogError::Refused(Refusal::Store | Refusal::OutcomeUnknown | Refusal::Contention) => {
            Again(error.to_string())
        }
        error => panic!("no client repeats what ends with this: {error:?}"),
    }
}

/// What a client learns of a mutation: its id, where it stands, and why it never will.
pub(crate) type Placed = (u64, Option<Position>, Option<RejectionReason>);

/// What a client learns of an append that does not depend on whether it is the first.
pub(crate) fn placed(appended: Appended) -> Vec<Placed> {
    let reason = |rejection: cellar_sheet::operation::Rejection| rejection.reason;
    let results = appended.results.into_iter();
    results.map(|result| (result.id, result.position, result.rejection.map(reason))).collect()
}

/// The newest entry that a process reads, which then knows the tail of the log.
pub(crate) async fn learn_tail(
    logs: &Logs,
    log: cellar_base::identity::LogId,
) -> Result<Arc<cellar_log::entry::Entry>, Again> {
    let loaded = logs.load(log, None).await.map_err(again)?;
    loaded.entries.last().cloned().ok_or_else(|| Again("no entry".to_owned()))
}
