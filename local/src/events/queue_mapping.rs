//! An event source mapping of the template whose source is a queue.

use std::time::Duration;

use cellar_base::limits::MAX_RECEIVED_MESSAGES;
use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::mapping::{Reader, timeout_of};
use crate::error::LocalError;
use crate::names::Names;

const QUEUE: &str = "AWS::SQS::Queue";
const FUNCTION: &str = "AWS::Lambda::Function";
/// What Lambda and SQS take where nothing is said.
const DEFAULT_BATCH_SIZE: u64 = 10;
const DEFAULT_VISIBILITY_S: u64 = 30;
const DEFAULT_CONCURRENCY: u64 = 5;

/// Which queue calls which function, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueMapping {
    /// Its logical id.
    pub(crate) id: String,
    /// Logical id of the queue.
    pub(crate) queue: String,
    /// ARN of the queue.
    pub(crate) queue_arn: String,
    /// Logical id of the function.
    pub(crate) function: String,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    /// Messages of one call.
    pub(crate) batch_size: u8,
    /// Seconds that the queue hides a message that is received.
    pub(crate) visibility_s: u32,
    /// Whether the function's answer says what failed.
    pub(crate) reports_failures: bool,
    /// Calls at a time.
    pub(crate) concurrency: usize,
}

impl QueueMapping {
    /// Whether a mapping's source is a queue.
    pub(crate) fn is_one(template: &Template, properties: &Map<String, Value>) -> bool {
        let reader = Reader { template, id: "", properties };
        reader.named("EventSourceArn", properties.get("EventSourceArn"), QUEUE).is_ok()
    }

    /// Reads the properties of a mapping.
    pub(crate) fn read(
        template: &Template,
        names: &Names<'_>,
        id: &str,
        properties: &Map<String, Value>,
    ) -> Result<Self, LocalError> {
        let reader = Reader { template, id, properties };
        for unknown in ["FilterCriteria", "MaximumBatchingWindowInSeconds"] {
            if properties.contains_key(unknown) {
                return Err(reader.fault(format!("{unknown} of a queue does not run locally")));
            }
        }
        let queue = reader.named("EventSourceArn", properties.get("EventSourceArn"), QUEUE)?;
        let function = reader.named("FunctionName", properties.get("FunctionName"), FUNCTION)?;
        let batch_size = reader.number("BatchSize")?.unwrap_or(DEFAULT_BATCH_SIZE);
        let batch_size = u8::try_from(batch_size).ok();
        let batch_size = batch_size.filter(|size| (1..=MAX_RECEIVED_MESSAGES).contains(size));
        let too_many = || {
            reader.fault(format!(
                "BatchSize of a queue runs locally from 1 to {MAX_RECEIVED_MESSAGES}"
            ))
        };
        let visibility =
            template.resource(queue).and_then(|one| one.properties.get("VisibilityTimeout"));
        let visibility_s = visibility.map_or(Some(DEFAULT_VISIBILITY_S), Value::as_u64);
        let visibility_s = visibility_s.and_then(|seconds| u32::try_from(seconds).ok());
        let scaling = properties.get("ScalingConfig");
        let concurrency = scaling.and_then(|scaling| scaling.get("MaximumConcurrency"));
        let concurrency = concurrency.map_or(Some(DEFAULT_CONCURRENCY), Value::as_u64);
        let concurrency = concurrency.filter(|calls| (2..=1_000).contains(calls));
        Ok(Self {
            id: id.to_owned(),
            queue: queue.to_owned(),
            queue_arn: names.queue_arn(queue),
            function: function.to_owned(),
            timeout: timeout_of(template, function),
            batch_size: batch_size.ok_or_else(too_many)?,
            visibility_s: visibility_s
                .ok_or_else(|| reader.fault("the queue's VisibilityTimeout is no number"))?,
            reports_failures: reader.reports_failures(),
            concurrency: concurrency
                .and_then(|calls| usize::try_from(calls).ok())
                .ok_or_else(|| reader.fault("MaximumConcurrency is not 2 to 1000"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};
    use serde_json::json;

    use super::*;

    fn read(change: impl Fn(&mut Map<String, Value>)) -> Result<QueueMapping, LocalError> {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let mut properties = template.resource("SnapshotSource").unwrap().properties.clone();
        change(&mut properties);
        QueueMapping::read(&template, &names, "SnapshotSource", &properties)
    }

    #[test]
    fn the_wiring_is_that_of_the_template() {
        let mapping = read(|_| {}).unwrap();
        assert_eq!((mapping.queue.as_str(), mapping.batch_size), ("SnapshotQueue", 1));
        assert_eq!(mapping.queue_arn, "arn:aws:sqs:local:000000000000:cellar-SnapshotQueue");
        assert_eq!(mapping.function, "SnapshotFunction");
        assert_eq!(mapping.timeout, Duration::from_secs(300));
        assert_eq!(mapping.visibility_s, 6 * 900);
        assert!(mapping.reports_failures);
        assert_eq!(mapping.concurrency, 10);
    }

    #[test]
    fn what_is_not_said_is_the_default_of_lambda() {
        let mapping = read(|properties| {
            for property in ["BatchSize", "FunctionResponseTypes", "ScalingConfig"] {
                properties.remove(property);
            }
        })
        .unwrap();
        assert_eq!((mapping.batch_size, mapping.concurrency), (10, 5));
        assert!(!mapping.reports_failures);
    }

    #[test]
    fn what_cannot_run_here_is_an_error_and_is_not_ignored() {
        for (property, value) in [
            ("EventSourceArn", json!({"Fn::GetAtt": ["EntryTable", "StreamArn"]})),
            ("FunctionName", json!({"Ref": "EntryTable"})),
            ("BatchSize", json!(0)),
            ("BatchSize", json!(11)),
            ("ScalingConfig", json!({"MaximumConcurrency": 1})),
            ("ScalingConfig", json!({"MaximumConcurrency": "all"})),
            ("FilterCriteria", json!({"Filters": []})),
            ("MaximumBatchingWindowInSeconds", json!(5)),
        ] {
            let error =
                read(|properties| drop(properties.insert(property.to_owned(), value.clone())));
            assert!(matches!(error, Err(LocalError::Template { .. })), "{property}: {value}");
        }
    }
}
