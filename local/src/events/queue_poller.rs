//! Polls a queue for an event source: receives messages, invokes the function and deletes the
//! processed messages. All other messages become visible again and are eventually moved to the dead
//! letter queue.

use std::sync::Arc;

use cellar_engine::ports::{Clock, Jobs as _, PortError, Received};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::function::{self, EventFunction, FunctionInChain};
use super::queue_mapping::QueueMapping;
use crate::queues::{ChainedMessage, LocalQueue};
use crate::recursion::MAX_CHAIN_INVOCATIONS;

/// Polling is necessary because a hidden message can become visible at any time.
const IDLE_MS: u64 = 250;
const RETRY_MS: u64 = 1_000;

#[derive(Clone)]
pub(super) struct QueuePoller {
    mapping: Arc<QueueMapping>,
    queue: Arc<LocalQueue>,
    function: Arc<dyn EventFunction>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for QueuePoller {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("QueuePoller")
            .field("mapping", &self.mapping)
            .finish_non_exhaustive()
    }
}

impl QueuePoller {
    pub(super) fn new(
        mapping: QueueMapping,
        queue: Arc<LocalQueue>,
        function: Arc<dyn EventFunction>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { mapping: Arc::new(mapping), queue, function, clock }
    }

    /// Polls until `stop` becomes true, then waits for running invocations.
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut invocations = JoinSet::new();
        while !*stop.borrow() {
            let wait_ms = match self.start_invocations(&mut invocations).await {
                Ok(()) => IDLE_MS,
                Err(error) => {
                    let source = self.mapping.id.as_str();
                    tracing::error!(source, %error, "an event source is blocked");
                    RETRY_MS
                }
            };
            tokio::select! {
                stop_change = stop.changed() => if stop_change.is_err() { return },
                // Poll again as soon as an invocation ends: there is room for another invocation,
                // and the function may have sent messages to the queue.
                Some(_) = invocations.join_next() => {}
                () = self.clock.sleep_ms(wait_ms) => {}
            }
        }
        while invocations.join_next().await.is_some() {}
    }

    /// Starts invocations until no message in the queue is visible or the maximum number of
    /// concurrent invocations is running.
    async fn start_invocations(&self, invocations: &mut JoinSet<()>) -> Result<(), PortError> {
        while invocations.try_join_next().is_some() {}
        while invocations.len() < self.mapping.max_concurrency {
            let messages = self.receive_batch().await?;
            if messages.is_empty() {
                return Ok(());
            }
            let poller = self.clone();
            invocations.spawn(async move { poller.process_batch(messages).await });
        }
        Ok(())
    }

    /// Receives the messages for one invocation and hides them for the visibility timeout. Returns
    /// an empty list if the queue has no visible messages.
    pub(super) async fn receive_batch(&self) -> Result<Vec<ChainedMessage>, PortError> {
        self.queue.receive_chained(self.mapping.batch_size, self.mapping.visibility_s).await
    }

    /// Invokes the function, then deletes all messages that the function does not report as failed.
    ///
    /// Like Lambda, drops the invocation if the function has invoked itself too often. The messages
    /// then become visible again.
    pub(super) async fn process_batch(&self, received_messages: Vec<ChainedMessage>) {
        let source = self.mapping.id.as_str();
        let mut longest_chain = 0;
        let mut messages = Vec::with_capacity(received_messages.len());
        for received in received_messages {
            longest_chain = longest_chain.max(received.chain_invocations);
            messages.push(received.message);
        }
        if self.mapping.recursive_loop.drops_invocation(longest_chain) {
            tracing::error!(
                source,
                "dropped an invocation, because its chain has {MAX_CHAIN_INVOCATIONS} earlier \
                 invocations; set RecursiveLoop to Allow if this is intended"
            );
            return;
        }
        let event = self.build_event(&messages);
        let timeout = self.mapping.timeout;
        let function: Arc<dyn EventFunction> = Arc::new(FunctionInChain {
            function: Arc::clone(&self.function),
            earlier_invocations: longest_chain,
        });
        let response = function::invoke_with_timeout(&function, event, timeout).await;
        if let Err(error) = &response {
            tracing::warn!(source, error, "a function failed");
        }
        for message in processed_messages(&messages, &response, self.mapping.reports_failures) {
            if let Err(error) = self.queue.delete(&message.receipt).await {
                // The message will be received again. Repeating a finished job is harmless.
                tracing::warn!(source, %error, "cannot delete a message");
            }
        }
    }

    fn build_event(&self, messages: &[Received]) -> Value {
        let mut records = Vec::new();
        for message in messages {
            records.push(json!({
                "messageId": message.id,
                "receiptHandle": message.receipt.0,
                "body": message.body,
                "attributes": {
                    "ApproximateReceiveCount": message.receive_count.to_string(),
                    "SentTimestamp": message.sent_ms.to_string(),
                },
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": self.mapping.queue_arn,
                "awsRegion": "local",
            }));
        }
        json!({ "Records": records })
    }
}

/// Like in Lambda, a function that does not report failed messages processes either all messages or
/// none. If the report is malformed or contains an unknown message id, no message counts as
/// processed.
fn processed_messages<'a>(
    messages: &'a [Received],
    response: &Result<Value, String>,
    reports_failures: bool,
) -> Vec<&'a Received> {
    let Ok(response) = response else { return Vec::new() };
    if !reports_failures {
        return messages.iter().collect();
    }
    let failures = match response.get("batchItemFailures") {
        None | Some(Value::Null) => return messages.iter().collect(),
        Some(Value::Array(failures)) => failures,
        Some(_) => return Vec::new(),
    };
    let mut processed_messages: Vec<&Received> = messages.iter().collect();
    for failure in failures {
        let failed_id = failure.get("itemIdentifier").and_then(Value::as_str);
        let is_known = messages.iter().any(|message| Some(message.id.as_str()) == failed_id);
        if !is_known {
            return Vec::new();
        }
        processed_messages.retain(|message| Some(message.id.as_str()) != failed_id);
    }
    processed_messages
}

#[cfg(test)]
mod tests;
