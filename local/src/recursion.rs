//! Detects recursive loops, in which a function invokes itself repeatedly through a queue. Like in
//! Lambda, a loop ends after a number of invocations.
//!
//! Lambda tracks the chain of invocations in the trace header of each request that a function
//! sends, and SQS passes the header on with the message. The local stack counts the invocations in
//! a task-local variable and stores the count with each message.

use std::future::Future;

/// Maximum number of invocations in a chain. Lambda drops the next invocation. According to its
/// documentation, the number is approximate.
pub(crate) const MAX_CHAIN_INVOCATIONS: u32 = 16;

tokio::task_local! {
    /// Number of invocations in the chain, including the current invocation.
    static CHAIN_INVOCATIONS: u32;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecursiveLoop {
    Allow,
    /// Lambda drops the next invocation after [`MAX_CHAIN_INVOCATIONS`] invocations in a chain.
    Terminate,
}

impl RecursiveLoop {
    pub(crate) fn drops_invocation(self, chain_invocations: u32) -> bool {
        self == Self::Terminate && chain_invocations >= MAX_CHAIN_INVOCATIONS
    }
}

/// Returns 0 if no function that a queue invoked is running in this task.
pub(crate) fn chain_invocations() -> u32 {
    CHAIN_INVOCATIONS.try_with(|count| *count).unwrap_or(0)
}

pub(crate) async fn in_chain<T>(
    earlier_invocations: u32,
    invocation: impl Future<Output = T>,
) -> T {
    CHAIN_INVOCATIONS.scope(earlier_invocations + 1, invocation).await
}
