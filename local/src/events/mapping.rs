//! Event source mappings from a change stream to a function.

use std::time::Duration;

use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::filter::Filters;
use crate::error::LocalError;
use crate::names::{Names, referenced_id};

const TABLE: &str = "AWS::DynamoDB::Table";
const FUNCTION: &str = "AWS::Lambda::Function";
const QUEUE: &str = "AWS::SQS::Queue";
/// Values that Lambda uses for properties that the template omits.
const DEFAULT_BATCH_SIZE: u64 = 100;
const DEFAULT_TIMEOUT_S: u64 = 3;
/// DynamoDB does not return more records per read.
const MAX_BATCH_SIZE: u64 = 1_000;
/// In a property such as `MaximumRetryAttempts`, this value means "unlimited".
const UNLIMITED: i64 = -1;

#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    /// The event source stores its position in the stream under this id.
    pub(crate) id: String,
    /// Physical table name.
    pub(crate) table_name: String,
    /// ARN of the change stream, as it appears in policies.
    pub(crate) stream_arn: String,
    pub(crate) function_id: String,
    pub(crate) function_arn: String,
    pub(crate) timeout: Duration,
    pub(crate) dead_letter_queue_id: Option<String>,
    pub(crate) filters: Filters,
    pub(crate) rules: Rules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) batch_size: usize,
    /// Whether to split a failed batch.
    pub(crate) bisect: bool,
    /// Whether the function's response lists the records that failed.
    pub(crate) reports_failures: bool,
    /// `None` means unlimited.
    pub(crate) max_retries: Option<u32>,
    /// `None` means unlimited.
    pub(crate) max_record_age_ms: Option<u64>,
}

pub(super) struct PropertyReader<'a> {
    pub(super) template: &'a Template,
    pub(super) mapping_id: &'a str,
    pub(super) properties: &'a Map<String, Value>,
}

pub(crate) fn read_timeout(template: &Template, function_id: &str) -> Duration {
    let timeout =
        template.resource(function_id).and_then(|function| function.properties.get("Timeout"));
    Duration::from_secs(timeout.and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT_S))
}

impl Mapping {
    /// Returns an error if the local stack does not support a property.
    pub(crate) fn read(
        template: &Template,
        names: &Names<'_>,
        mapping_id: &str,
        properties: &Map<String, Value>,
    ) -> Result<Self, LocalError> {
        let reader = PropertyReader { template, mapping_id, properties };
        let starting_position = properties.get("StartingPosition").and_then(Value::as_str);
        if starting_position != Some("TRIM_HORIZON") {
            return Err(reader.template_error("StartingPosition must be TRIM_HORIZON"));
        }
        let event_source = properties.get("EventSourceArn");
        let table_id = reader.referenced_resource("EventSourceArn", event_source, TABLE)?;
        let function_name = properties.get("FunctionName");
        let function_id = reader.referenced_resource("FunctionName", function_name, FUNCTION)?;
        let failure_destination = properties
            .get("DestinationConfig")
            .and_then(|config| config.get("OnFailure")?.get("Destination"));
        let dead_letter_queue_id = match failure_destination {
            Some(_) => Some(reader.referenced_resource("OnFailure", failure_destination, QUEUE)?),
            None => None,
        };
        let filters = Filters::parse(properties.get("FilterCriteria"))
            .map_err(|source| LocalError::Filter { logical_id: mapping_id.to_owned(), source })?;
        Ok(Self {
            id: mapping_id.to_owned(),
            table_name: names.physical_name(table_id),
            stream_arn: names.stream_arn(table_id),
            function_id: function_id.to_owned(),
            function_arn: names.function_arn(function_id),
            timeout: read_timeout(template, function_id),
            dead_letter_queue_id: dead_letter_queue_id.map(str::to_owned),
            filters,
            rules: reader.read_rules()?,
        })
    }
}

impl<'a> PropertyReader<'a> {
    pub(super) fn template_error(&self, reason: impl Into<String>) -> LocalError {
        LocalError::Template { logical_id: self.mapping_id.to_owned(), why: reason.into() }
    }

    /// Returns an error if the resource has a type other than `resource_type`.
    pub(super) fn referenced_resource(
        &self,
        property: &str,
        value: Option<&'a Value>,
        resource_type: &str,
    ) -> Result<&'a str, LocalError> {
        if let Some(logical_id) = value.and_then(referenced_id)
            && let Some(resource) = self.template.resource(logical_id)
            && resource.resource_type == resource_type
        {
            return Ok(logical_id);
        }
        let reason = format!("{property} does not refer to a resource of the type {resource_type}");
        Err(self.template_error(reason))
    }

    /// Returns `None`, which means "unlimited", if the property is missing or −1.
    pub(super) fn read_number(&self, property: &str) -> Result<Option<u64>, LocalError> {
        let Some(value) = self.properties.get(property) else { return Ok(None) };
        if value.as_i64() == Some(UNLIMITED) {
            return Ok(None);
        }
        match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(self.template_error(format!("{property} is not a number"))),
        }
    }

    pub(super) fn reports_failures(&self) -> bool {
        let response_types = self.properties.get("FunctionResponseTypes").and_then(Value::as_array);
        response_types.is_some_and(|types| types.contains(&"ReportBatchItemFailures".into()))
    }

    fn read_rules(&self) -> Result<Rules, LocalError> {
        let batch_size = self.read_number("BatchSize")?.unwrap_or(DEFAULT_BATCH_SIZE);
        if !(1..=MAX_BATCH_SIZE).contains(&batch_size) {
            let reason = format!("BatchSize is {batch_size}; it must be 1 to {MAX_BATCH_SIZE}");
            return Err(self.template_error(reason));
        }
        let max_retries = self.read_number("MaximumRetryAttempts")?;
        let max_age_s = self.read_number("MaximumRecordAgeInSeconds")?;
        let bisect = self.properties.get("BisectBatchOnFunctionError");
        Ok(Rules {
            batch_size: usize::try_from(batch_size).unwrap_or(usize::MAX),
            bisect: bisect == Some(&Value::Bool(true)),
            reports_failures: self.reports_failures(),
            max_retries: max_retries.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
            max_record_age_ms: max_age_s.map(|age_s| age_s.saturating_mul(1_000)),
        })
    }
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};
    use serde_json::json;

    use super::*;

    fn read(change: impl Fn(&mut Map<String, Value>)) -> Result<Mapping, LocalError> {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let mut properties = template.resource("RelaySource").unwrap().properties.clone();
        change(&mut properties);
        Mapping::read(&template, &names, "RelaySource", &properties)
    }

    #[test]
    fn reads_the_mapping_of_the_template() {
        let mapping = read(|_| {}).unwrap();
        assert_eq!(mapping.table_name, "cellar-EntryTable");
        assert_eq!(mapping.function_id, "RelayFunction");
        assert_eq!(mapping.dead_letter_queue_id.as_deref(), Some("ChangeStreamDeadLetters"));
        assert_eq!(mapping.timeout, Duration::from_secs(60));
        let rules = Rules {
            batch_size: 100,
            bisect: true,
            reports_failures: true,
            max_retries: Some(100),
            max_record_age_ms: Some(12 * 3_600_000),
        };
        assert_eq!(mapping.rules, rules);
        let inserted = |letter: &str| json!({"eventName": "INSERT", "dynamodb": {"NewImage": {"T": {"S": letter}}}});
        assert!(mapping.filters.accept(&inserted("S")) && !mapping.filters.accept(&inserted("E")));
    }

    #[test]
    fn uses_the_defaults_of_lambda() {
        let mapping = read(|properties| {
            for property in [
                "BatchSize",
                "BisectBatchOnFunctionError",
                "FunctionResponseTypes",
                "MaximumRetryAttempts",
                "DestinationConfig",
                "FilterCriteria",
            ] {
                properties.remove(property);
            }
            properties.insert("MaximumRecordAgeInSeconds".to_owned(), json!(-1));
        })
        .unwrap();
        let rules = Rules {
            batch_size: 100,
            bisect: false,
            reports_failures: false,
            max_retries: None,
            max_record_age_ms: None,
        };
        assert_eq!((mapping.rules, mapping.dead_letter_queue_id), (rules, None));
        assert!(mapping.filters.accept(&json!({})));
    }

    #[test]
    fn rejects_unsupported_properties() {
        for (property, value) in [
            ("StartingPosition", json!("LATEST")),
            ("EventSourceArn", json!({"Fn::GetAtt": ["SnapshotQueue", "Arn"]})),
            ("EventSourceArn", json!("arn:aws:dynamodb:eu-central-1:0:table/T/stream/L")),
            ("FunctionName", json!({"Ref": "EntryTable"})),
            ("BatchSize", json!(0)),
            ("BatchSize", json!(1_001)),
            ("MaximumRetryAttempts", json!("many")),
            ("DestinationConfig", json!({"OnFailure": {"Destination": "arn:aws:sns:x:0:t"}})),
        ] {
            let error =
                read(|properties| drop(properties.insert(property.to_owned(), value.clone())));
            assert!(matches!(error, Err(LocalError::Template { .. })), "{property}: {value}");
        }
        let pattern = json!({"Filters": [{"Pattern": r#"{"a":[{"cidr":"::/0"}]}"#}]});
        let error = read(|properties| {
            properties.insert("FilterCriteria".to_owned(), pattern.clone());
        });
        assert!(matches!(error, Err(LocalError::Filter { .. })));
    }
}
