//! Lambda functions that event sources invoke in this process.

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
use crate::recursion::in_chain;

/// A function that is invoked like in Lambda: it receives a JSON event and returns a JSON response
/// or an error.
#[async_trait]
pub(crate) trait EventFunction: Send + Sync {
    async fn invoke(&self, event: Value) -> Result<Value, String>;
}

#[async_trait]
impl EventFunction for RelayHandler {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        serde_json::to_value(self.handle(event).await).map_err(|error| error.to_string())
    }
}

#[async_trait]
impl EventFunction for IndexerHandler {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        self.handle(event).await.map_err(|error| error.to_string())?;
        Ok(Value::Null)
    }
}

/// Like in Lambda, each invocation receives a deadline, which is derived from the timeout.
pub(crate) struct SnapshotFunction {
    pub(crate) handler: SnapshotHandler,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

#[async_trait]
impl EventFunction for SnapshotFunction {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        let event: QueueEvent = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let deadline_ms = deadline_ms(&self.clock, self.timeout);
        let response =
            self.handler.handle(event, deadline_ms).await.map_err(|error| error.to_string())?;
        serde_json::to_value(response).map_err(|error| error.to_string())
    }
}

/// Like in Lambda, each invocation receives a deadline, which is derived from the timeout.
pub(crate) struct WebhookFunction {
    pub(crate) handler: WebhookHandler,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

#[async_trait]
impl EventFunction for WebhookFunction {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        let event: Event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        let deadline_ms = deadline_ms(&self.clock, self.timeout);
        self.handler.handle(event, deadline_ms).await.map_err(|error| error.to_string())?;
        Ok(Value::Null)
    }
}

/// A wrapper that invokes a function as part of a chain, in which the function invokes itself
/// through a queue.
pub(super) struct FunctionInChain {
    pub(super) function: Arc<dyn EventFunction>,
    /// Number of invocations in the chain before the next one.
    pub(super) earlier_invocations: u32,
}

#[async_trait]
impl EventFunction for FunctionInChain {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        in_chain(self.earlier_invocations, self.function.invoke(event)).await
    }
}

fn deadline_ms(clock: &Arc<dyn Clock>, timeout: Duration) -> u64 {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    clock.now_ms().saturating_add(timeout_ms)
}

/// Like in Lambda, a panic becomes an error.
pub(super) async fn invoke_with_timeout(
    function: &Arc<dyn EventFunction>,
    event: Value,
    timeout: Duration,
) -> Result<Value, String> {
    let function = Arc::clone(function);
    // Run the function in a separate task, so that a panic ends only that task. If the function
    // times out, dropping `tasks` aborts it.
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { function.invoke(event).await });
    match tokio::time::timeout(timeout, tasks.join_next()).await {
        Ok(Some(Ok(function_result))) => function_result,
        Ok(Some(Err(panic))) => Err(format!("the function ended without a response: {panic}")),
        Ok(None) => Err("the function was not invoked".to_owned()),
        Err(_timeout) => Err(format!("the function timed out after {} s", timeout.as_secs())),
    }
}

/// If the response contains several sequence numbers, the lowest one is the first failed record.
pub(super) fn read_batch_outcome(
    response: &Result<Value, String>,
    reports_failures: bool,
) -> BatchOutcome {
    let Ok(response) = response else { return BatchOutcome::Failed };
    if !reports_failures {
        return BatchOutcome::Done;
    }
    let failures = match response.get("batchItemFailures") {
        None | Some(Value::Null) => return BatchOutcome::Done,
        Some(Value::Array(failures)) => failures,
        Some(_) => return BatchOutcome::Failed,
    };
    let mut failed_numbers = Vec::new();
    for failure in failures {
        match failure.get("itemIdentifier").and_then(Value::as_str) {
            Some(sequence_number) if !sequence_number.is_empty() => {
                failed_numbers.push(sequence_number);
            }
            _ => return BatchOutcome::Failed,
        }
    }
    // Sequence numbers are decimal strings of different lengths. A shorter string is a lower
    // number.
    let first_failed_number =
        failed_numbers.into_iter().min_by_key(|number| (number.len(), *number));
    match first_failed_number {
        None => BatchOutcome::Done,
        Some(first_failed_number) => BatchOutcome::FailedFrom(first_failed_number.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_responses_as_lambda_does() {
        let failed = |numbers: &[Value]| {
            let items: Vec<_> =
                numbers.iter().map(|number| json!({ "itemIdentifier": number })).collect();
            json!({ "batchItemFailures": items })
        };
        for (response, expected) in [
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
            let outcome = read_batch_outcome(&Ok(response.clone()), true);
            assert_eq!(outcome, expected, "{response}");
        }
        let error = Err("boom".to_owned());
        assert_eq!(read_batch_outcome(&error, true), BatchOutcome::Failed);
        let ignored = Ok(failed(&[json!("9")]));
        assert_eq!(read_batch_outcome(&ignored, false), BatchOutcome::Done, "reports are ignored");
    }

    struct Misbehaving;

    #[async_trait]
    impl EventFunction for Misbehaving {
        async fn invoke(&self, event: Value) -> Result<Value, String> {
            assert_ne!(event, json!("panic"), "intended");
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn panics_and_timeouts_are_errors() {
        let function: Arc<dyn EventFunction> = Arc::new(Misbehaving);
        let long = Duration::from_secs(60);
        let panicked = invoke_with_timeout(&function, json!("panic"), long).await.unwrap_err();
        assert!(panicked.contains("without a response"), "{panicked}");
        let endless = invoke_with_timeout(&function, json!("wait"), Duration::ZERO).await;
        let endless = endless.unwrap_err();
        assert!(endless.contains("timed out"), "{endless}");
    }
}
