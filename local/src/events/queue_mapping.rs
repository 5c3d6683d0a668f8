//! Event source mappings from a queue to a function.

use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::limits::MAX_RECEIVED_MESSAGES;
use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::mapping::{PropertyReader, timeout_of};
use crate::error::LocalError;
use crate::names::Names;

const QUEUE: &str = "AWS::SQS::Queue";
const FUNCTION: &str = "AWS::Lambda::Function";
/// Defaults of Lambda and SQS for missing properties.
const DEFAULT_BATCH_SIZE: u64 = 10;
const DEFAULT_VISIBILITY_S: u64 = 30;
const DEFAULT_CONCURRENCY: u64 = 5;
/// `MaximumConcurrency` values that Lambda permits.
const PERMITTED_CONCURRENCY: RangeInclusive<u64> = 2..=1_000;

/// A mapping from a queue to a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueMapping {
    /// Logical id of the mapping.
    pub(crate) id: String,
    /// Logical id of the queue.
    pub(crate) queue: String,
    /// ARN of the queue.
    pub(crate) queue_arn: String,
    /// Logical id of the function.
    pub(crate) function: String,
    /// Timeout of an invocation.
    pub(crate) timeout: Duration,
    /// Maximum number of messages per invocation.
    pub(crate) batch_size: u8,
    /// Visibility timeout of received messages, in seconds.
    pub(crate) visibility_s: u32,
    /// Whether the function's response reports failed messages.
    pub(crate) reports_failures: bool,
    /// Maximum number of concurrent invocations.
    pub(crate) concurrency: usize,
}

impl QueueMapping {
    /// Returns whether a mapping's source is a queue.
    pub(crate) fn is_queue_source(template: &Template, properties: &Map<String, Value>) -> bool {
        let reader = PropertyReader { template, id: "", properties };
        reader.resource_of_type("EventSourceArn", properties.get("EventSourceArn"), QUEUE).is_ok()
    }

    /// Reads a mapping's properties. Errors if a property is not supported by the local stack.
    pub(crate) fn read(
        template: &Template,
        names: &Names<'_>,
        id: &str,
        properties: &Map<String, Value>,
    ) -> Result<Self, LocalError> {
        let reader = PropertyReader { template, id, properties };
        for unsupported in ["FilterCriteria", "MaximumBatchingWindowInSeconds"] {
            if properties.contains_key(unsupported) {
                return Err(reader.fault(format!("{unsupported} of a queue is not supported")));
            }
        }
        let source = properties.get("EventSourceArn");
        let queue = reader.resource_of_type("EventSourceArn", source, QUEUE)?;
        let function = properties.get("FunctionName");
        let function = reader.resource_of_type("FunctionName", function, FUNCTION)?;
        Ok(Self {
            id: id.to_owned(),
            queue: queue.to_owned(),
            queue_arn: names.queue_arn(queue),
            function: function.to_owned(),
            timeout: timeout_of(template, function),
            batch_size: read_batch_size(&reader)?,
            visibility_s: read_visibility(&reader, queue)?,
            reports_failures: reader.reports_failures(),
            concurrency: read_concurrency(&reader)?,
        })
    }
}

fn read_batch_size(reader: &PropertyReader<'_>) -> Result<u8, LocalError> {
    let batch_size = reader.number("BatchSize")?.unwrap_or(DEFAULT_BATCH_SIZE);
    let permitted = u8::try_from(batch_size).ok();
    let permitted = permitted.filter(|size| (1..=MAX_RECEIVED_MESSAGES).contains(size));
    permitted.ok_or_else(|| {
        reader.fault(format!("BatchSize is {batch_size}; it must be 1 to {MAX_RECEIVED_MESSAGES}"))
    })
}

fn read_visibility(reader: &PropertyReader<'_>, queue: &str) -> Result<u32, LocalError> {
    let queue = reader.template.resource(queue);
    let visibility = queue.and_then(|queue| queue.properties.get("VisibilityTimeout"));
    let visibility_s = visibility.map_or(Some(DEFAULT_VISIBILITY_S), Value::as_u64);
    visibility_s
        .and_then(|seconds| u32::try_from(seconds).ok())
        .ok_or_else(|| reader.fault("VisibilityTimeout of the queue is not a number"))
}

fn read_concurrency(reader: &PropertyReader<'_>) -> Result<usize, LocalError> {
    let scaling = reader.properties.get("ScalingConfig");
    let concurrency = scaling.and_then(|scaling| scaling.get("MaximumConcurrency"));
    let concurrency = concurrency.map_or(Some(DEFAULT_CONCURRENCY), Value::as_u64);
    concurrency
        .filter(|calls| PERMITTED_CONCURRENCY.contains(calls))
        .and_then(|calls| usize::try_from(calls).ok())
        .ok_or_else(|| reader.fault("MaximumConcurrency is not a number from 2 to 1000"))
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
    fn reads_the_queue_mapping_of_the_template() {
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
    fn uses_the_defaults_of_lambda_and_sqs() {
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
    fn rejects_unsupported_properties() {
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
