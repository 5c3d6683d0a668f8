//! Does for a queue what Lambda does: receives, calls, deletes what is done. What is not done comes
//! back by its visibility, and goes to the queue's dead letters in the end.

use std::sync::Arc;

use cellar_engine::ports::{Clock, Jobs, PortError, Received};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::function::{self, EventFunction};
use super::queue_mapping::QueueMapping;

/// How often an empty queue is asked: a message may come back at any moment.
const IDLE_MS: u64 = 250;
/// How long a queue that fails is left alone.
const RETRY_MS: u64 = 1_000;

/// Calls a function with the messages of a queue.
#[derive(Clone)]
pub(super) struct QueuePoller {
    mapping: Arc<QueueMapping>,
    queue: Arc<dyn Jobs>,
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
        queue: Arc<dyn Jobs>,
        function: Arc<dyn EventFunction>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { mapping: Arc::new(mapping), queue, function, clock }
    }

    /// Polls until it is told to stop, and lets the calls under way end.
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut calls = JoinSet::new();
        while !*stop.borrow() {
            let wait_ms = match self.fill(&mut calls).await {
                Ok(()) => IDLE_MS,
                Err(error) => {
                    let source = self.mapping.id.as_str();
                    tracing::error!(source, %error, "an event source stands still");
                    RETRY_MS
                }
            };
            tokio::select! {
                stopped = stop.changed() => if stopped.is_err() { return },
                // There is room for another, and a call may have sent or shown a message.
                Some(_) = calls.join_next() => {}
                () = self.clock.sleep_ms(wait_ms) => {}
            }
        }
        while calls.join_next().await.is_some() {}
    }

    /// Begins calls until the queue is empty or enough are under way.
    async fn fill(&self, calls: &mut JoinSet<()>) -> Result<(), PortError> {
        while calls.try_join_next().is_some() {}
        while calls.len() < self.mapping.concurrency {
            let Some(messages) = self.receive().await? else { return Ok(()) };
            let poller = self.clone();
            calls.spawn(async move { poller.call(messages).await });
        }
        Ok(())
    }

    /// The messages of one call, hidden for as long as the queue says; none if there are none.
    pub(super) async fn receive(&self) -> Result<Option<Vec<Received>>, PortError> {
        let Self { mapping, queue, .. } = self;
        let messages = queue.receive(mapping.batch_size, mapping.visibility_s).await?;
        Ok((!messages.is_empty()).then_some(messages))
    }

    /// Calls the function, and deletes what it does not report.
    pub(super) async fn call(&self, messages: Vec<Received>) {
        let source = self.mapping.id.as_str();
        let answer = function::call(&self.function, self.event(&messages), self.mapping.timeout);
        let answer = answer.await;
        if let Err(error) = &answer {
            tracing::warn!(source, error, "a function failed");
        }
        let done = done(&messages, &answer, self.mapping.reports_failures);
        for message in done {
            if let Err(error) = self.queue.delete(&message.receipt).await {
                // It comes back, and is done again at no cost.
                tracing::warn!(source, %error, "a message was not deleted");
            }
        }
    }

    /// The messages as Lambda gives them to a function.
    fn event(&self, messages: &[Received]) -> Value {
        let record = |message: &Received| {
            json!({
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
            })
        };
        json!({ "Records": messages.iter().map(record).collect::<Vec<_>>() })
    }
}

/// The messages that are done by what the function answered: as Lambda, all or nothing if it reports
/// no failures, and nothing if its report cannot be read or names what it was not given.
fn done<'a>(
    messages: &'a [Received],
    answer: &Result<Value, String>,
    reports_failures: bool,
) -> Vec<&'a Received> {
    let Ok(answer) = answer else { return Vec::new() };
    let failures = match answer.get("batchItemFailures").filter(|_| reports_failures) {
        None | Some(Value::Null) => return messages.iter().collect(),
        Some(Value::Array(failures)) => failures,
        Some(_) => return Vec::new(),
    };
    let failed: Option<Vec<&str>> =
        failures.iter().map(|failure| failure.get("itemIdentifier")?.as_str()).collect();
    let given = |id: &&str| messages.iter().any(|message| message.id == **id);
    match failed {
        Some(failed) if failed.iter().all(given) => {
            let done = |message: &&Received| !failed.contains(&message.id.as_str());
            messages.iter().filter(done).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
