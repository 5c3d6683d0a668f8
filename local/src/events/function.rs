//! Functions that event sources call, in this process.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_lambda_events::event::dynamodb::Event;
use cellar_engine::ports::Clock;
use cellar_runtime::indexer::IndexerHandler;
use cellar_runtime::relay::RelayHandler;
use cellar_runtime::snapshot::{QueueEvent, SnapshotHandler};
use cellar_runtime::webhook::WebhookHandler;
use serde_json::Value;
use tokio::task::JoinSet;

use super::batch::BatchOutcome;

/// A function as Lambda sees it: JSON in, JSON or an error out.
#[async_trait]
pub(crate) trait EventFunction: Send + Sync {
    /// Handles one event.
    async fn call(&self, event: Value) -> Result<Value, String>;
}

#[async_trait]
impl EventFunction for RelayHandler {
    async fn call(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let response = self.handle(event).await.map_err(|error| error.to_string())?;
        serde_json::to_value(response).map_err(|error| error.to_string())
    }
}

#[async_trait]
impl EventFunction for IndexerHandler {
    async fn call(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let response = self.handle(event).await.map_err(|error| error.to_string())?;
        serde_json::to_value(response).map_err(|error| error.to_string())
    }
}

/// The function that makes snapshots, with the deadline that Lambda would tell it.
pub(crate) struct SnapshotFunction {
    pub(crate) handler: SnapshotHandler,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

#[async_trait]
impl EventFunction for SnapshotFunction {
    async fn call(&self, event: Value) -> Result<Value, String> {
        let event: QueueEvent = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let deadline_ms = deadline_ms(&self.clock, self.timeout);
        let response = self.handler.handle(event, deadline_ms).await;
        let response = response.map_err(|error| error.to_string())?;
        serde_json::to_value(response).map_err(|error| error.to_string())
    }
}

/// The function that delivers the feed, with its deadline.
pub(crate) struct WebhookFunction {
    pub(crate) handler: WebhookHandler,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

#[async_trait]
impl EventFunction for WebhookFunction {
    async fn call(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let deadline_ms = deadline_ms(&self.clock, self.timeout);
        let handled = self.handler.handle(event, deadline_ms).await;
        handled.map(|()| Value::Null).map_err(|error| error.to_string())
    }
}

/// When a call that begins now would be cut off, Unix milliseconds.
fn deadline_ms(clock: &Arc<dyn Clock>, timeout: Duration) -> u64 {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    clock.now_ms().saturating_add(timeout_ms)
}

/// Calls a function as Lambda does: it may take its time, and a panic is an error.
pub(super) async fn call(
    function: &Arc<dyn EventFunction>,
    event: Value,
    timeout: Duration,
) -> Result<Value, String> {
    let function = Arc::clone(function);
    // In a task of its own, which a panic ends and nothing else; dropping the set ends it too.
    let mut task = JoinSet::new();
    task.spawn(async move { function.call(event).await });
    match tokio::time::timeout(timeout, task.join_next()).await {
        Ok(Some(Ok(answer))) => answer,
        Ok(Some(Err(ended))) => Err(format!("the function ended without an answer: {ended}")),
        Ok(None) => Err("the function was not called".to_owned()),
        Err(_) => Err(format!("the function took longer than {} s", timeout.as_secs())),
    }
}

/// What an answer says of the batch: the lowest of the reported sequence numbers counts.
pub(super) fn outcome(answer: &Result<Value, String>, reports_failures: bool) -> BatchOutcome {
    let Ok(answer) = answer else { return BatchOutcome::Failed };
    let failures = answer.get("batchItemFailures").filter(|_| reports_failures);
    let failures = match failures {
        None | Some(Value::Null) => return BatchOutcome::Done,
        Some(Value::Array(failures)) => failures,
        Some(_) => return BatchOutcome::Failed,
    };
    let numbers: Option<Vec<&str>> = failures
        .iter()
        .map(|failure| failure.get("itemIdentifier")?.as_str().filter(|number| !number.is_empty()))
        .collect();
    match numbers {
        None => BatchOutcome::Failed,
        // Numbers of different lengths are numbers still.
        Some(numbers) => match numbers.into_iter().min_by_key(|number| (number.len(), *number)) {
            None => BatchOutcome::Done,
            Some(first) => BatchOutcome::FailedFrom(first.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_mean_what_they_mean_to_lambda() {
        let failed = |numbers: &[Value]| {
            let items: Vec<_> =
                numbers.iter().map(|number| json!({ "itemIdentifier": number })).collect();
            json!({ "batchItemFailures": items })
        };
        for (answer, expected) in [
            (json!(null), BatchOutcome::Done),
            (json!({}), BatchOutcome::Done),
            (json!({"batchItemFailures": null}), BatchOutcome::Done),
            (failed(&[]), BatchOutcome::Done),
            (
                failed(&[json!("12"), json!("9"), json!("10")]),
                BatchOutcome::FailedFrom("9".to_owned()),
            ),
            (failed(&[json!("")]), BatchOutcome::Failed),
            (failed(&[json!("9"), json!(null)]), BatchOutcome::Failed),
            (json!({"batchItemFailures": [{"id": "9"}]}), BatchOutcome::Failed),
            (json!({"batchItemFailures": "9"}), BatchOutcome::Failed),
        ] {
            assert_eq!(outcome(&Ok(answer.clone()), true), expected, "{answer}");
        }
        assert_eq!(outcome(&Err("boom".to_owned()), true), BatchOutcome::Failed);
        assert_eq!(outcome(&Ok(failed(&[json!("9")])), false), BatchOutcome::Done, "not asked for");
    }

    struct Misbehaving;

    #[async_trait]
    impl EventFunction for Misbehaving {
        async fn call(&self, event: Value) -> Result<Value, String> {
            assert_ne!(event, json!("panic"), "as asked");
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_panic_and_an_endless_call_are_errors() {
        let function: Arc<dyn EventFunction> = Arc::new(Misbehaving);
        let long = Duration::from_secs(60);
        let panicked = call(&function, json!("panic"), long).await.unwrap_err();
        assert!(panicked.contains("without an answer"), "{panicked}");
        let endless = call(&function, json!("wait"), Duration::ZERO).await.unwrap_err();
        assert!(endless.contains("longer than"), "{endless}");
    }
}
