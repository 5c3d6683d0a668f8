//! Event source mappings from a queue to a function.

use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::limits::MAX_RECEIVED_MESSAGES;
use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::mapping::{PropertyReader, read_timeout};
use crate::error::LocalError;
use crate::names::Names;
use crate::recursion::RecursiveLoop;

const QUEUE: &str = "AWS::SQS::Queue";
const FUNCTION: &str = "AWS::Lambda::Function";
/// Defaults of Lambda and SQS for properties that the template omits.
const DEFAULT_BATCH_SIZE: u64 = 10;
const DEFAULT_VISIBILITY_S: u32 = 30;
const DEFAULT_CONCURRENCY: usize = 5;
/// `MaximumConcurrency` values that Lambda permits.
const PERMITTED_CONCURRENCY: RangeInclusive<usize> = 2..=1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueMapping {
    pub(crate) id: String,
    pub(crate) queue_id: String,
    pub(crate) queue_arn: String,
    pub(crate) function_id: String,
    pub(crate) timeout: Duration,
    pub(crate) batch_size: u8,
    /// Visibility timeout of received messages, in seconds.
    pub(crate) visibility_s: u32,
    pub(crate) reports_failures: bool,
    pub(crate) max_concurrency: usize,
    pub(crate) recursive_loop: RecursiveLoop,
}

impl QueueMapping {
    pub(crate) fn is_queue_source(template: &Template, properties: &Map<String, Value>) -> bool {
        let reader = PropertyReader { template, mapping_id: "", properties };
        let event_source = properties.get("EventSourceArn");
        reader.referenced_resource("EventSourceArn", event_source, QUEUE).is_ok()
    }

    /// Returns an error if the local stack does not support a property.
    pub(crate) fn read(
        template: &Template,
        names: &Names<'_>,
        mapping_id: &str,
        properties: &Map<String, Value>,
    ) -> Result<Self, LocalError> {
        let reader = PropertyReader { template, mapping_id, properties };
        for unsupported in ["FilterCriteria", "MaximumBatchingWindowInSeconds"] {
            if properties.contains_key(unsupported) {
                let reason = format!("{unsupported} is not supported for a mapping from a queue");
                return Err(reader.template_error(reason));
            }
        }
        let event_source = properties.get("EventSourceArn");
        let queue_id = reader.referenced_resource("EventSourceArn", event_source, QUEUE)?;
        let function_name = properties.get("FunctionName");
        let function_id = reader.referenced_resource("FunctionName", function_name, FUNCTION)?;
        Ok(Self {
            id: mapping_id.to_owned(),
            queue_id: queue_id.to_owned(),
            queue_arn: names.queue_arn(queue_id),
            function_id: function_id.to_owned(),
            timeout: read_timeout(template, function_id),
            batch_size: read_batch_size(&reader)?,
            visibility_s: read_visibility(&reader, queue_id)?,
            reports_failures: reader.reports_failures(),
            max_concurrency: read_max_concurrency(&reader)?,
            recursive_loop: read_recursive_loop(&reader, function_id)?,
        })
    }
}

fn read_batch_size(reader: &PropertyReader<'_>) -> Result<u8, LocalError> {
    let batch_size = reader.read_number("BatchSize")?.unwrap_or(DEFAULT_BATCH_SIZE);
    match u8::try_from(batch_size) {
        Ok(permitted_size @ 1..=MAX_RECEIVED_MESSAGES) => Ok(permitted_size),
        _ => {
            let reason =
                format!("BatchSize is {batch_size}; it must be 1 to {MAX_RECEIVED_MESSAGES}");
            Err(reader.template_error(reason))
        }
    }
}

fn read_visibility(reader: &PropertyReader<'_>, queue_id: &str) -> Result<u32, LocalError> {
    let queue = reader.template.resource(queue_id);
    let Some(property) = queue.and_then(|queue| queue.properties.get("VisibilityTimeout")) else {
        return Ok(DEFAULT_VISIBILITY_S);
    };
    property
        .as_u64()
        .and_then(|visibility_s| u32::try_from(visibility_s).ok())
        .ok_or_else(|| reader.template_error("the VisibilityTimeout of the queue must be a number"))
}

fn read_max_concurrency(reader: &PropertyReader<'_>) -> Result<usize, LocalError> {
    let scaling_config = reader.properties.get("ScalingConfig");
    let Some(property) = scaling_config.and_then(|config| config.get("MaximumConcurrency")) else {
        return Ok(DEFAULT_CONCURRENCY);
    };
    property
        .as_u64()
        .and_then(|concurrency| usize::try_from(concurrency).ok())
        .filter(|concurrency| PERMITTED_CONCURRENCY.contains(concurrency))
        .ok_or_else(|| reader.template_error("MaximumConcurrency must be a number from 2 to 1000"))
}

fn read_recursive_loop(
    reader: &PropertyReader<'_>,
    function_id: &str,
) -> Result<RecursiveLoop, LocalError> {
    let function = reader.template.resource(function_id);
    let property = function.and_then(|function| function.properties.get("RecursiveLoop"));
    match property.map(Value::as_str) {
        None | Some(Some("Terminate")) => Ok(RecursiveLoop::Terminate),
        Some(Some("Allow")) => Ok(RecursiveLoop::Allow),
        Some(_) => {
            Err(reader
                .template_error("the RecursiveLoop of the function must be Allow or Terminate"))
        }
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
    fn reads_the_queue_mapping_of_the_template() {
        let mapping = read(|_| {}).unwrap();
        assert_eq!((mapping.queue_id.as_str(), mapping.batch_size), ("SnapshotQueue", 1));
        assert_eq!(mapping.queue_arn, "arn:aws:sqs:local:000000000000:cellar-SnapshotQueue");
        assert_eq!(mapping.function_id, "SnapshotFunction");
        assert_eq!(mapping.timeout, Duration::from_secs(300));
        assert_eq!(mapping.visibility_s, 6 * 300);
        assert!(mapping.reports_failures);
        assert_eq!(mapping.max_concurrency, 4);
        assert_eq!(mapping.recursive_loop, RecursiveLoop::Allow);
    }

    #[test]
    fn uses_the_defaults_of_lambda_and_sqs() {
        let mapping = read(|properties| {
            for property in ["BatchSize", "FunctionResponseTypes", "ScalingConfig"] {
                properties.remove(property);
            }
        })
        .unwrap();
        assert_eq!((mapping.batch_size, mapping.max_concurrency), (10, 5));
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
