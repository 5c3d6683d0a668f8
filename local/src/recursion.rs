//! Recursive loop detection, which drops an invocation after a function has invoked itself too
//! often through a queue.
//!
//! Lambda identifies the invocation in the trace header of each request that a function sends, and
//! SQS passes the header on with the message. In this process, a task-local variable has the role
//! of the header.

use std::future::Future;

/// Number of invocations in a chain after which Lambda drops the next one. Lambda documents the
/// number as approximate.
pub(crate) const MAX_CHAIN_INVOCATIONS: u32 = 16;

tokio::task_local! {
    /// Number of invocations in the chain of the current invocation, including the current one.
    static CHAIN_INVOCATIONS: u32;
}

/// Reaction of Lambda to a chain of requests in which a function invokes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecursiveLoop {
    /// The chain may have any length.
    Allow,
    /// An invocation is dropped after [`MAX_CHAIN_INVOCATIONS`] invocations in a chain.
    Terminate,
}

impl RecursiveLoop {
    /// Returns whether Lambda drops the invocation that a message with `chain_invocations` earlier
    /// invocations would cause.
    pub(crate) fn drops_invocation(self, chain_invocations: u32) -> bool {
        self == Self::Terminate && chain_invocations >= MAX_CHAIN_INVOCATIONS
    }
}

/// Returns the number of invocations in the chain to which a message sent now belongs. Returns 0 if
/// no function that a queue invokes is running.
pub(crate) fn chain_invocations() -> u32 {
    CHAIN_INVOCATIONS.try_with(|count| *count).unwrap_or(0)
}

/// Runs an invocation that follows `earlier_invocations` invocations in its chain.
pub(crate) async fn in_chain<T>(
    earlier_invocations: u32,
    invocation: impl Future<Output = T>,
) -> T {
    CHAIN_INVOCATIONS.scope(earlier_invocations + 1, invocation).await
}
